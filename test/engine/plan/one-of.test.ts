import { GraphQLDirective, type OperationDefinitionNode, buildSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { plainlyOf, variablesOf } from '../../../src/engine/plan/arguments.ts';

// No input of the schema is one of these yet: one that becomes so works.
const small = buildSchema(`
  input BookBy @oneOf { id: ID isbn: String }
  input Search { by: BookBy! }
  type Query { book(by: BookBy!): Int search(search: Search!): Int }
`);

const coerced = (type: string, value: unknown) => {
  const document = parse(`query ($value: ${type}!) { book(by: $value) }`);
  const operation = document.definitions[0] as OperationDefinitionNode;
  return variablesOf(small, operation, { maxErrors: 10, hideSuggestions: false })({ value });
};

describe('an input with @oneOf', () => {
  test.each([{ id: '1' }, { isbn: '2' }])('has exactly one member in a variable: %j is valid', (value) => {
    expect(coerced('BookBy', value)).toEqual({ coerced: { value } });
    expect(coerced('Search', { by: value })).toEqual({ coerced: { value: { by: value } } });
  });

  test.each([[{}], [{ id: '1', isbn: '2' }], [{ id: null }], [{ id: '1', isbn: null }], [{ other: '1' }]])(
    'has exactly one member in a variable: %j is rejected',
    (value) => {
      expect(coerced('BookBy', value).errors?.length).toBeGreaterThan(0);
      expect(coerced('Search', { by: value }).errors?.length).toBeGreaterThan(0);
      expect(plainlyOf(small.getType('BookBy') as never)).toBeUndefined();
    },
  );

  test.each([
    ['{ book(by: { id: "1" }) }', true],
    ['{ book(by: {}) }', false],
    ['{ book(by: { id: "1", isbn: "2" }) }', false],
    ['{ book(by: { id: null }) }', false],
    ['query ($id: ID!) { book(by: { id: $id }) }', true],
  ])('has exactly one member in a document: %s', (text, isValid) => {
    expect(validate(small, parse(text)).length === 0).toBe(isValid);
  });
});

test('the schema has the directive, so that clients and tools know it', () => {
  expect(schema.getDirective('oneOf')).toBeInstanceOf(GraphQLDirective);
});
