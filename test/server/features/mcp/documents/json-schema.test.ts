import { type OperationDefinitionNode, buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { inputSchemaOf } from '../../../../../src/server/features/mcp/documents/json-schema.ts';

test('the schema of a variable describes those values of an enum that have a description', () => {
  const kinds = buildSchema(`
    type Query { texts(kind: Kind!): Int }
    enum Kind { LONG "A line." SHORT }
  `);
  const document = parse('query ($kind: Kind!) { texts(kind: $kind) }');
  const { properties } = inputSchemaOf(kinds, document, document.definitions[0] as OperationDefinitionNode);
  expect(properties.kind).toEqual({ type: 'string', enum: ['LONG', 'SHORT'], description: 'SHORT: A line.' });
});
