import {
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type OperationDefinitionNode,
  getNamedType,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { worstCaseOf } from '../../../src/engine/cost/call-cost.ts';
import { fieldRule } from '../../../src/engine/plan/read-declarations.ts';
import { describeItemCosts, itemFields } from '../../../src/engine/cost/describe-cost.ts';
import { planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { schema } from '../../../src/graph/schema.ts';

const lists = ['top250', 'comingSoon', 'inTheaters', 'searchSubjects', 'searchEvents'].filter(
  (name) => name in schema.getQueryType()!.getFields(),
);
const fieldOf = (list: string) => schema.getQueryType()!.getFields()[list]!;
const itemOf = (list: string) => {
  const connection = getNamedType(fieldOf(list).type) as GraphQLObjectType;
  return getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
};

function callsOf(query: string): number {
  const document = parse(query);
  const [operation] = document.definitions as OperationDefinitionNode[];
  const plan = planOperation(schema, document, operation!, { isLoggedIn: true, filmTier: null }, {});
  return worstCaseOf(plan, {}).calls.max;
}

describe('the description of a list', () => {
  test('lists the fields that cost a call per item', () => {
    expect(fieldOf('top250').description).toMatch(/All fields but .*`title`.* cost a call for each item/);
    expect(fieldOf('top250').description).not.toContain('`genres`');
  });

  test.each(lists)('agrees with the planned calls for every field of an item: %s', (list) => {
    const args = fieldOf(list).args.some(({ name }) => name === 'query') ? '(query: "x", first: 3)' : '(first: 3)';
    const { free, costly } = itemFields(itemOf(list), fieldRule(fieldOf(list)).representation!);
    const calls = (name: string) => {
      const field = itemOf(list).getFields()[name]!;
      if (field.args.some(({ type }) => String(type).endsWith('!'))) return undefined;
      const below = isObjectType(getNamedType(field.type)) ? ' { __typename }' : '';
      return callsOf(`{ ${list}${args} { nodes { ${name}${below} } } }`);
    };
    const wrong = [
      ...free.filter((name) => (calls(name) ?? 1) > 1),
      ...costly.filter((name) => (calls(name) ?? 4) < 4),
    ];
    expect(wrong).toEqual([]);
  });
});

describe('the description of a list whose representation provides', () => {
  const describedWith = (members: readonly string[]) => {
    const fieldOfItem = (name: string) => ({ type: GraphQLString, extensions: { rule: { needs: [name] } } });
    const fields = Object.fromEntries(['id', 'title', 'summary'].map((name) => [name, fieldOfItem(name)]));
    const item = new GraphQLObjectType({ name: 'Item', fields, extensions: { rule: { record: {} } } });
    const items = { type: new GraphQLList(item), extensions: { rule: { representation: { members } } } };
    const query = new GraphQLObjectType({ name: 'Query', fields: { items } });
    return describeItemCosts(new GraphQLSchema({ query })).getQueryType()!.getFields().items!.description;
  };

  test.each([
    ['all fields', ['id', 'title', 'summary'], undefined],
    ['most fields', ['id', 'title'], '`summary` cost a call for each item.'],
    ['few fields', ['id'], 'All fields but `id` cost a call for each item.'],
  ])('%s', (_, members, description) => {
    expect(describedWith(members)).toBe(description);
  });
});
