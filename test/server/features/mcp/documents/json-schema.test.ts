import { type OperationDefinitionNode, buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { dataSchemaOf, inputSchemaOf } from '../../../../../src/server/features/mcp/documents/json-schema.ts';

const schema = buildSchema(`
  type Query { thing: Thing, parts: [Part!]! }
  interface Thing { id: ID! }
  type Text implements Thing { id: ID!, text: String, kind: Kind!, more: Link }
  type Photo implements Thing { id: ID!, width: Int!, more: Size }
  type Link { url: String! }
  type Size { bytes: Int! }
  union Part = Text | Photo
  enum Kind { LONG SHORT }
`);

function propertiesOf(query: string) {
  const document = parse(query);
  return dataSchemaOf(schema, document, document.definitions[0] as OperationDefinitionNode).properties;
}

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

test('the schema of the data has the selected fields by their response keys, with null where the type allows it', () => {
  expect(propertiesOf('{ thing { id other: id ... on Text { text kind } } }')).toMatchObject({
    thing: {
      type: ['object', 'null'],
      properties: { id: text, other: text, text: textOrNull, kind: { ...text, enum: ['LONG', 'SHORT'] } },
    },
  });
});

test('a union has the fields of all its types, those of fragments too, and its name', () => {
  expect(
    propertiesOf('{ parts { __typename ...P ... on Text { text } } } fragment P on Photo { width }'),
  ).toMatchObject({
    parts: { type: 'array', items: { type: 'object', properties: { __typename: text, width: {}, text: textOrNull } } },
  });
});

test('fields of different types with one response key have the fields of all these types', () => {
  expect(propertiesOf('{ parts { ... on Text { more { url } } ... on Photo { more { bytes } } } }')).toMatchObject({
    parts: {
      items: {
        properties: { more: { type: ['object', 'null'], properties: { url: text, bytes: { type: 'integer' } } } },
      },
    },
  });
});

test('the schema of a variable describes those values of an enum that have a description', () => {
  const kinds = buildSchema(`
    type Query { texts(kind: Kind!): Int }
    enum Kind { LONG "A line." SHORT }
  `);
  const document = parse('query ($kind: Kind!) { texts(kind: $kind) }');
  const { properties } = inputSchemaOf(kinds, document, document.definitions[0] as OperationDefinitionNode);
  expect(properties.kind).toEqual({ ...text, enum: ['LONG', 'SHORT'], description: 'SHORT: A line.' });
});
