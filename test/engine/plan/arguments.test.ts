import fc from 'fast-check';
import { type VariableDefinitionNode, getOperationAST, parse } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { variablesOf } from '../../../src/engine/plan/arguments.ts';

const options = { maxErrors: 10, hideSuggestions: false };
const definitionsOf = (text: string): readonly VariableDefinitionNode[] =>
  getOperationAST(parse(text))!.variableDefinitions!;
const collecting = definitionsOf(
  'query ($input: CollectBookInput!, $ids: [ID!], $count: Int = 3, $flag: Boolean!) { __typename }',
);
const coerce = variablesOf(schema, { variableDefinitions: collecting }, options);
const errorsOf = (given: object) =>
  (coerce(given as Record<string, unknown>).errors ?? []).map(({ message }) => message);

const anyValue = fc.jsonValue({ maxDepth: 3, noUnicodeString: false, stringUnit: 'grapheme' });
const anyInput = fc.record(
  {
    bookId: fc.oneof(fc.constant('7'), anyValue),
    status: fc.oneof(fc.constant('READ'), fc.constant('REED'), anyValue),
    rating: fc.oneof(fc.constant(3), anyValue),
    tags: fc.oneof(fc.array(fc.oneof(fc.string({ maxLength: 5 }), anyValue), { maxLength: 15 }), anyValue),
    komment: anyValue,
  },
  { requiredKeys: [] },
);
const anyVariables = fc.record(
  { input: fc.oneof(anyInput, anyValue), ids: anyValue, count: anyValue, flag: fc.oneof(fc.boolean(), anyValue) },
  { requiredKeys: [] },
);

test('variables are coerced, and their errors reported, as graphql-js does it', () => {
  fc.assert(
    fc.property(anyVariables, (given) => {
      const theirs = getVariableValues(schema, collecting, given, options);
      const ours = coerce(given);
      expect(ours.coerced).toEqual(theirs.coerced);
      expect(ours.errors?.length).toBe(theirs.errors?.length);
      (ours.errors ?? []).forEach((error, index) => {
        const their = theirs.errors![index]!;
        expect(error.extensions).toEqual(their.extensions);
        expect(error.locations).toEqual(their.locations);
        if (their.message.length <= 100) expect(error.message).toBe(their.message);
      });
    }),
  );
});

test.each<[string, object]>([
  ['unknown members', Object.fromEntries(Array.from({ length: 60_000 }, (_, nth) => [`unknown${nth}`, 'x']))],
  ['a member with a long name', { ['x'.repeat(700_000)]: 1 }],
  ['a long text for an enum value', { bookId: '7', status: 'x'.repeat(700_000) }],
  ['a long text for a number', { bookId: '7', status: 'READ', rating: 'x'.repeat(700_000) }],
  ['a large object for a text', { bookId: '7', status: 'READ', comment: { a: ['x'.repeat(700_000)] } }],
  ['a long list of numbers for texts', { bookId: '7', status: 'READ', tags: Array.from({ length: 200_000 }, () => 1) }],
])('%s are reported in at most ten short errors', (_, input) => {
  const messages = errorsOf({ input, flag: true });
  expect(messages.length).toBeGreaterThan(0);
  expect(messages.length).toBeLessThanOrEqual(11);
  for (const message of messages) expect(message.length).toBeLessThan(1_000);
  expect(messages.join('\n')).not.toMatch(/x{101}/);
});

test('a variable that is not given has its default, and one that is given as null has none', () => {
  const input = { bookId: '7', status: 'READ' };
  for (const [given, count] of [
    [{ input, flag: true }, 3],
    [{ input, flag: true, count: null }, null],
    [{ input, flag: true, count: 5 }, 5],
  ] as const) {
    const { coerced } = coerce(given);
    expect(coerced).toEqual(getVariableValues(schema, collecting, given, options).coerced);
    expect(coerced).toMatchObject({ flag: true, count });
  }
});
