import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DocumentNode,
  Kind,
  NoDeprecatedCustomRule,
  buildSchema,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { expect, test } from 'vitest';

const text = readFileSync('schema.graphql', 'utf8');

/** Names of what may have a description and has none, or is deprecated without a reason. */
function undescribed(document: DocumentNode): string[] {
  const names: string[] = [];
  const path: string[] = [];
  visit(document, {
    enter(node) {
      if (!('description' in node) && !/Definition$/.test(node.kind)) return;
      if (!('name' in node) || !node.name || node.kind === Kind.DIRECTIVE_DEFINITION) return;
      path.push(node.name.value);
      if (!('description' in node) || !node.description?.value.trim()) names.push(path.join('.'));
      const deprecated = 'directives' in node && node.directives?.find(({ name }) => name.value === 'deprecated');
      if (deprecated && !deprecated.arguments?.length) names.push(`${path.join('.')} @deprecated`);
    },
    leave(node) {
      if (!('description' in node) && !/Definition$/.test(node.kind)) return;
      if ('name' in node && node.name && node.kind !== Kind.DIRECTIVE_DEFINITION) path.pop();
    },
  });
  return names;
}

test('every type, field, argument and value has a description, and every deprecation a reason', () => {
  expect(undescribed(parse(text))).toEqual([]);
  expect(undescribed(parse('type Query { "." a: Int @deprecated b(c: Int): Int }'))).toEqual([
    'Query',
    'Query.a @deprecated',
    'Query.b',
    'Query.b.c',
  ]);
});

test('the published operations are valid and use nothing deprecated', () => {
  const schema = buildSchema(text);
  const files = readdirSync('operations').filter((file) => file.endsWith('.graphql'));
  expect(files.length).toBeGreaterThan(5);
  const document = parse(files.map((file) => readFileSync(join('operations', file), 'utf8')).join('\n'));
  const problems = validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule]);
  expect(problems.map(({ message }) => message)).toEqual([]);
});
