import { GraphQLError, type GraphQLInterfaceType, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type Tier, tiers } from '../../../src/api/endpoint.ts';
import { worstCaseOf } from '../../../src/engine/cost/call-cost.ts';
import type { OperationPlan } from '../../../src/engine/plan/operation-plan.ts';
import type { Variables } from '../../../src/engine/plan/document.ts';
import { type Planner, createPlanCache, planKeyOf } from '../../../src/engine/plan/plan-cache.ts';
import { schema } from '../../../src/graph/schema.ts';

const anonymous = { isLoggedIn: false, filmTier: null };

function plannerFor(plans: ReturnType<typeof createPlanCache>, query: string): Planner {
  const document = parse(query);
  return plans.plannerFor(document, document.definitions[0] as OperationDefinitionNode);
}

describe('the cache key of a plan', () => {
  const decisionsOf = (query: string, variables: readonly Variables[]) => {
    const steering = planKeyOf(schema, parse(query));
    return variables.map(steering);
  };

  test('contains the presence of a cursor, not its text', () => {
    const query = 'query ($after: String) { subject(id: "1") { photos(first: 5, after: $after) { nodes { id } } } }';
    const [none, short, long] = decisionsOf(query, [{}, { after: 'a' }, { after: 'b'.repeat(900_000) }]);
    expect(short).not.toBe(none);
    expect(long).toBe(short);
  });

  test('contains whether the record embeds the requested page size', () => {
    const query = 'query ($first: Int) { book(id: "1") { tags(first: $first) { name } } }';
    const [one, eight, nine, fifty] = decisionsOf(query, [{ first: 1 }, { first: 8 }, { first: 9 }, { first: 50 }]);
    expect(one).toBe(eight);
    expect(nine).not.toBe(eight);
    expect(nine).toBe(fifty);
  });

  test('contains the value of a condition, but neither a label nor an item count', () => {
    const query = `query ($if: Boolean!, $count: Int) {
      top250 { nodes @stream(if: $if, initialCount: $count) { title @include(if: $if) } }
    }`;
    const [yes, more, no] = decisionsOf(query, [
      { if: true, count: 1 },
      { if: true, count: 2 },
      { if: false, count: 1 },
    ]);
    expect(yes).toBe(more);
    expect(no).not.toBe(yes);
  });

  test('contains no argument of a field that no record embeds', () => {
    const query = 'query ($id: ID!, $after: String) { book(id: $id) { annotations(after: $after) { nodes { id } } } }';
    expect(decisionsOf(query, [{ id: '1' }, { id: '2', after: 'x' }])).toEqual(['', '']);
  });

  test('is equal for variables that need the same plan', () => {
    const planner = plannerFor(
      createPlanCache(schema),
      'query ($after: String) { celebrity(id: "1") { works(after: $after) { nodes { roles } } } }',
    );
    const plans = ['a', 'b', 'c'].map((after) => planner.planFor(anonymous, { after }));
    expect(new Set(plans).size).toBe(1);
    expect(planner.planFor(anonymous, {})).not.toBe(plans[0]);
  });
});

describe('the plan cache', () => {
  const large = (name: string) =>
    `query ${name}($if: Boolean!) { book(id: "1") @include(if: $if) { ${'id title '.repeat(100)} rating { average } } }`;

  test('limits the fields of all plans together, over all documents and variables', () => {
    const plans = createPlanCache(schema, { maxCachedFields: 100 });
    for (let at = 0; at < 100; at++) {
      const planner = plannerFor(plans, large(`Q${at}`));
      for (const flag of [true, false]) {
        planner.planFor(anonymous, { if: flag });
        planner.planFor({ isLoggedIn: true, filmTier: 'basic' }, { if: flag });
        expect(plans.cachedFields()).toBeLessThanOrEqual(100);
      }
    }
    expect(plans.cachedFields()).toBeGreaterThan(50);
  });

  test('has a plan of its own for callers of each tier', () => {
    const planner = plannerFor(createPlanCache(schema), '{ subject(id: "1") { title durations } }');
    const planOf = (filmTier: Tier | null) => planner.planFor({ isLoggedIn: false, filmTier }, {});
    expect(new Set([...tiers, null].map(planOf)).size).toBe(tiers.length + 1);
    expect(planOf('basic')).toBe(planOf('basic'));
  });

  test('stores only the error of a rejected plan, and does not plan again', () => {
    const rejection = new GraphQLError('no');
    let checked = 0;
    const plans = createPlanCache(schema, { check: () => (checked++, rejection) });
    const planner = plannerFor(plans, '{ book(id: "1") { title summary authors publisher price pages } }');
    expect(planner.planFor(anonymous, {})).toBe(rejection);
    expect(planner.planFor(anonymous, {})).toBe(rejection);
    expect(checked).toBe(1);
    expect(plans.cachedFields()).toBeLessThan(5);
  });

  test('counts the syntax tree that a plan holds', () => {
    const plans = createPlanCache(schema);
    plannerFor(plans, `{ book(id: "1") { ${'id '.repeat(1_000)} } }`).planFor(anonymous, {});
    expect(plans.cachedFields()).toBeGreaterThan(400);
  });

  test('throws a defect, rather than showing it as a limit', () => {
    const planner = plannerFor(createPlanCache(schema), 'subscription { nothing }');
    expect(() => planner.planFor(anonymous, {})).toThrow(TypeError);
  });

  test('does not store a plan that other variables make valid; it stores it once it is valid', () => {
    const check = (_: unknown, { first }: Variables) => (first === 100 ? new GraphQLError('no') : undefined);
    const plans = createPlanCache(schema, { check });
    const planner = plannerFor(plans, 'query ($first: Int) { top250(first: $first) { nodes { title } } }');
    expect(planner.planFor(anonymous, { first: 100 })).toBeInstanceOf(GraphQLError);
    expect(plans.cachedFields()).toBe(0);
    const plan = planner.planFor(anonymous, { first: 3 });
    expect(plan).not.toBeInstanceOf(GraphQLError);
    expect(planner.planFor(anonymous, { first: 100 })).toBeInstanceOf(GraphQLError);
    expect(planner.planFor(anonymous, { first: 4 })).toBe(plan);
  });
});

test('the calls of a plan are counted for each number of items that a variable selects, also of a list without pages', () => {
  const query = 'query ($first: Int) { book(id: "1") { tags(first: $first) { books { nodes { id } } } } }';
  const planner = plannerFor(createPlanCache(schema), query);
  const callsFor = (first: number) => {
    const plan = planner.planFor(anonymous, { first });
    return worstCaseOf(plan as OperationPlan, { first }).calls.max;
  };
  expect([10, 40, 10].map(callsFor)).toEqual([12, 42, 12]); // the book, its tags, and the books of each
});

describe('the field limit of a plan', () => {
  const onEveryType = `query { ${Array.from({ length: 30 }, (_, at) => `n${at}: node(id: "Book:1") { ...F }`).join(' ')} }
    fragment F on Node { ${'id a: id b: id c: id d: id e: id f: id g: id '} }`;

  test('counts a field for every type that it may belong to', () => {
    const plans = createPlanCache(schema, { maxFields: 1_000 });
    const rejection = plannerFor(plans, onEveryType).planFor(anonymous, {});
    expect(rejection).toMatchObject({ extensions: { code: 'TOO_MANY_FIELDS', limit: 1_000 } });
  });

  test('counts a type of which only __typename is selected', () => {
    const plans = createPlanCache(schema);
    plannerFor(plans, '{ node(id: "Book:1") { __typename } }').planFor(anonymous, {});
    expect(plans.cachedFields()).toBeGreaterThan(
      schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType).length,
    );
  });

  test('repeats the error without planning again', () => {
    const plans = createPlanCache(schema, { maxFields: 1_000 });
    const planner = plannerFor(plans, onEveryType);
    expect(planner.planFor(anonymous, {})).toBe(planner.planFor(anonymous, {}));
    expect(plans.cachedFields()).toBeLessThan(5);
  });

  test('counts twenty selections that are merged into one field as one', () => {
    const plans = createPlanCache(schema, { maxFields: 10 });
    const rejection = plannerFor(plans, `{ book(id: "1") { ${'id '.repeat(250)} } }`).planFor(anonymous, {});
    expect(rejection).toMatchObject({ extensions: { code: 'TOO_MANY_FIELDS', limit: 10 } });
  });

  test('visits a fragment once in a selection, however often other fragments spread it there', () => {
    const plans = createPlanCache(schema, { maxFields: 100 });
    const spreading = Array.from({ length: 30 }, (_, at) => `fragment F${at} on Book { ...F${at + 1} ...F${at + 1} }`);
    const query = `{ book(id: "1") { ...F0 } } ${spreading.join(' ')} fragment F30 on Book { title }`;
    const plan = plannerFor(plans, query).planFor(anonymous, {});
    expect(plan).not.toBeInstanceOf(GraphQLError);
    expect(plan).toMatchObject({ size: 4 });
  });
});
