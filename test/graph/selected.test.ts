/** Each field that is computed is selected by a test, with its value: nothing else shows what its resolver returns. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type GraphQLNamedType,
  type DocumentNode,
  TypeInfo,
  defaultFieldResolver,
  isInterfaceType,
  isObjectType,
  parse,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { expect, test } from 'vitest';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const files = ['graph', 'journey', 'engine', 'upstream', 'server'].flatMap((name) =>
  readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, name, file)),
);

/** Documents in the strings of a test. What a test puts together from parts is not read. */
function documentsIn(text: string): DocumentNode[] {
  return [...text.matchAll(/'([^'\n]*\{[^'\n]*)'|`([^`]*\{[^`]*)`/g)].flatMap(([, plain, template]) => {
    const document = (plain ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '1').trim();
    try {
      return [parse(/^(query|mutation|fragment|subscription|\{)/.test(document) ? document : `{ ${document} }`)];
    } catch {
      return [];
    }
  });
}

const typesOf = (type: GraphQLNamedType): readonly GraphQLNamedType[] =>
  isInterfaceType(type) ? schema.getPossibleTypes(type) : [type];

function selectedIn(document: DocumentNode): string[] {
  const found: string[] = [];
  const info = new TypeInfo(schema);
  const Field = { name: '' };
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name }) {
        const parent = info.getParentType();
        if (parent) for (const type of typesOf(parent)) found.push(`${type.name}.${(Field.name = name.value)}`);
      },
    }),
  );
  return found;
}

test('no computed field is left out', () => {
  const selected = new Set(files.flatMap((file) => documentsIn(readFileSync(file, 'utf8')).flatMap(selectedIn)));
  const computed = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) =>
      Object.values(isObjectType(type) ? type.getFields() : {})
        .filter((field) => field.resolve && field.resolve !== defaultFieldResolver && !fieldRule(field).endpoint)
        .map(({ name }) => `${type.name}.${name}`),
    );
  console.log(computed.length, selected.size);
  expect(computed.filter((name) => !selected.has(name))).toEqual([]);
});
