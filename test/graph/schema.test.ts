import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  Kind,
  NoDeprecatedCustomRule,
  buildClientSchema,
  buildSchema,
  getDirectiveValues,
  introspectionFromSchema,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  printSchema,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { expect, test } from 'vitest';

const text = readFileSync('schema.graphql', 'utf8');

/** The fields that may be null or have nullable items, with their descriptions and @semanticNonNull levels. */
function nullableFields(sdl: string) {
  const built = buildSchema(sdl);
  const directive = built.getDirective('semanticNonNull')!;
  const owners = Object.values(built.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  return owners
    .filter((type) => !isIntrospectionType(type))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const own = isNonNullType(field.type) ? field.type.ofType : field.type;
        const isNullable = own === field.type || (isListType(own) && !isNonNullType(own.ofType));
        const levels = field.astNode && getDirectiveValues(directive, field.astNode)?.levels;
        return isNullable ? [{ name: `${type.name}.${field.name}`, text: field.description ?? '', levels }] : [];
      }),
    );
}

/** Names of definitions without a description, or deprecated without a reason. */
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

test('a mutation of a record names it by `id`, but for the two kinds that its description excepts', () => {
  const { Mutation, ...types } = buildSchema(text).getTypeMap();
  const mutations = Object.values((Mutation as GraphQLObjectType).getFields());
  const others = mutations.flatMap(({ name, args }) => {
    const fields = (types[args[0]!.type.toString().replace('!', '')] as GraphQLInputObjectType).getFields();
    const changes = /^(update|replace|delete|add|remove|join|leave|like|unlike)/.test(name);
    return changes && !fields['id']
      ? [
          `${name}(${Object.keys(fields)
            .filter((field) => field.endsWith('Id'))
            .join(', ')})`,
        ]
      : [];
  });
  expect(others.sort()).toEqual([
    'deleteCollection(bookId)',
    'deleteNoteComment(commentId, noteId)',
    'replaceCollection(bookId)',
    'updateCollection(bookId)',
  ]);
  for (const name of ['`bookId`', '`noteId` and `commentId`']) expect(Mutation?.description).toContain(name);
});

test('the published operations are valid and use no deprecated field', () => {
  const schema = buildSchema(text);
  const files = readdirSync('operations').filter((file) => file.endsWith('.graphql'));
  expect(files.length).toBeGreaterThan(5);
  const document = parse(files.map((file) => readFileSync(join('operations', file), 'utf8')).join('\n'));
  const problems = validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule]);
  expect(problems.map(({ message }) => message)).toEqual([]);
});

test('every nullable field either describes when it is null or has @semanticNonNull', () => {
  const fields = nullableFields(text);
  expect(fields.length).toBeGreaterThan(250);
  const described = fields.filter((field) => /\bNull if [^.]+\./.test(field.text));
  const marked = fields.filter(({ levels }) => levels !== undefined);
  expect(
    fields.filter((field) => !described.includes(field) && !marked.includes(field)).map(({ name }) => name),
  ).toEqual([]);
  expect(described.filter((field) => marked.includes(field)).map(({ name }) => name)).toEqual([]);
  expect(marked.every((field) => field.text.includes('Null only beside an error.'))).toBe(true);
  // Only `nodes` has nullable items.
  expect(new Set(marked.map(({ levels }) => JSON.stringify(levels)))).toEqual(new Set(['[0]']));
  expect(marked.map(({ name }) => name)).toContain('Mutation.collectBook');
});

test('@semanticNonNull does not change the introspection of types and fields', () => {
  const { __schema } = introspectionFromSchema(buildSchema(text));
  expect(__schema.directives.map(({ name }) => name)).toContain('semanticNonNull');
  // Introspection does not contain directives of fields; nothing else may differ from the printed schema.
  const unmarked = text
    .replace(/^#.*\n\n/, '')
    .replaceAll(/(?<!directive) @semanticNonNull(?:\(levels: [^)]*\))?/g, '');
  expect(`${printSchema(buildClientSchema({ __schema }))}\n`).toBe(unmarked);
});
