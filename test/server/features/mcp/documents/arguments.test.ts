import { type OperationDefinitionNode, buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { checkedArguments } from '../../../../../src/server/features/mcp/documents/arguments.ts';
import { inputSchemaOf } from '../../../../../src/server/features/mcp/documents/json-schema.ts';

const schema = buildSchema(`
  scalar DateTime
  scalar URL
  type Query { find(list: [String], lists: [[Int!]!], part: Part, parts: [Part!]): Int }
  enum Kind { LONG SHORT }
  input Part { id: ID!, kind: Kind, at: DateTime, size: Float, names: [String!], more: Inner }
  input Inner { id: ID!, size: Float, names: [String!] }
`);
const types = {
  list: ['[String!]', ['a']],
  listOfLists: ['[[Int!]!]', [[1], []]],
  whole: ['Int', 7],
  number: ['Float', 1.5],
  flag: ['Boolean', false],
  text: ['String', 'a'],
  id: ['ID', '7'],
  kind: ['Kind', 'LONG'],
  time: ['DateTime', '2020-01-01T00:00:00Z'],
  address: ['URL', 'https://a.example'],
  part: ['Part', { id: '1', names: ['a'], more: { id: '2' } }],
} as const;
const argumentsOf = (type: string, given: object) => {
  const document = parse(`query Find($it: ${type}) { find }`);
  return checkedArguments(
    inputSchemaOf(schema, document, document.definitions[0] as OperationDefinitionNode),
    given as never,
  );
};

const values = [['a'], [[1], []], 7, 1.5, false, 'a', '["a"]', '7', 'true', { id: '1' }, '{"id":"1"}'];
const has = (type: string, value: unknown): boolean => {
  if (type.startsWith('['))
    return Array.isArray(value) && value.every((each) => has(type.slice(1, -1).replace(/!$/, ''), each));
  if (type === 'Int') return Number.isInteger(value);
  if (type === 'Float') return typeof value === 'number';
  if (type === 'Boolean') return typeof value === 'boolean';
  return type === 'Part' ? typeof value === 'object' && !Array.isArray(value) : typeof value === 'string';
};

test.each(Object.entries(types))(
  '%s: a value of another type is refused, and one of its own is taken',
  (_, [type, own]) => {
    expect(argumentsOf(type, { it: own })).toEqual({ it: own });
    for (const it of values)
      if (has(type, it)) expect(argumentsOf(type, { it })).toEqual({ it });
      else
        expect(() => argumentsOf(type, { it }), `${type} ${JSON.stringify(it)}`).toThrow(
          /^The argument it(\[\d\])* must be /,
        );
  },
);

test('null is what is left out, where it may be, and refused elsewhere', () => {
  expect(argumentsOf('Int', { it: null })).toEqual({});
  expect(argumentsOf('Part', { it: { id: '1', kind: null, more: { id: '2', names: null } } })).toEqual({
    it: { id: '1', more: { id: '2' } },
  });
  expect(argumentsOf('[String]', { it: ['a', null] })).toEqual({ it: ['a', null] });
  expect(() => argumentsOf('Int!', { it: null })).toThrow('The argument it is required.');
  expect(() => argumentsOf('[String!]', { it: ['a', null] })).toThrow('The argument it[1] must be a text.');
  expect(() => argumentsOf('Part', { it: { id: null } })).toThrow('The argument it.id must be a text.');
});

test('what is wrong within an object or a list is named by its place', () => {
  expect(() => argumentsOf('[Part!]', { it: [{ id: '1' }, { id: '1', names: 'a' }] })).toThrow(
    'The argument it[1].names must be a list.',
  );
  expect(() => argumentsOf('Part', { it: { id: '1', more: { id: '2', size: '1' } } })).toThrow(
    'The argument it.more.size must be a number.',
  );
});
