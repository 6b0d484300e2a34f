import {
  type FieldNode,
  type VariableDefinitionNode,
  buildSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  parse,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { argumentsOf, variablesOf } from '../../../src/engine/plan/arguments.ts';

const options = { maxErrors: 10, hideSuggestions: false };
const definitionsOf = (text: string): readonly VariableDefinitionNode[] =>
  getOperationAST(parse(text))!.variableDefinitions!;
const collecting = definitionsOf(
  'query ($input: CollectBookInput!, $ids: [ID!], $count: Int = 3, $flag: Boolean!) { __typename }',
);
const coerce = variablesOf(schema, { variableDefinitions: collecting }, options);
const errorsOf = (given: object) =>
  (coerce(given as Record<string, unknown>).errors ?? []).map(({ message }) => message);

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
});

test('a long message begins with the variable and ends with the reason', () => {
  const [message] = errorsOf({ input: { bookId: '7', status: 'READ', rating: 'x'.repeat(700_000) }, flag: true });
  expect(message).toMatch(
    /^Variable "\$input" got invalid value "x+…" at "input\.rating"; Int cannot represent .+: "x+…"$/,
  );
});

test.each([
  {},
  { id: '1' },
  { id: '1', after: 'x' },
  { id: '1', after: null },
  { id: 1, after: 'x' },
  { after: 'x' },
  { id: '1', after: 'x', other: 'y' },
])('variables that are texts are coerced as graphql-js does it: %j', (given) => {
  const variableDefinitions = definitionsOf('query ($id: ID!, $after: String = "a") { __typename }');
  const theirs = getVariableValues(schema, variableDefinitions, given, options);
  expect(variablesOf(schema, { variableDefinitions }, options)(given)).toEqual(theirs);
});

const { list } = buildSchema(
  'type Query { list(text: String!, more: String = "m", size: Int = 20, tags: [String!]): ID }',
)
  .getQueryType()!
  .getFields();
const coercedBy = (coerce: () => object): unknown => {
  try {
    return Object.entries(coerce());
  } catch (error) {
    return (error as Error).message;
  }
};

test.each(['text: "a", size: 3', 'text: $a, size: 3', 'size: $c, more: $b, text: $a', 'text: $a, tags: [$b]'])(
  'arguments are coerced as graphql-js does it, whatever the variables were before: (%s)',
  (given) => {
    const [node] = getOperationAST(parse(`{ list(${given}) }`))!.selectionSet.selections as readonly FieldNode[];
    const args = argumentsOf(list!, node!);
    const values = [{}, { a: 'x' }, { a: 'x', b: 'y', c: 2 }, { a: 'z', b: null, c: null }, { a: 'z', b: 'w', c: 5 }];
    for (const variables of [...values, ...values.reverse()])
      expect(coercedBy(() => args(variables))).toEqual(coercedBy(() => getArgumentValues(list!, node!, variables)));
  },
);
