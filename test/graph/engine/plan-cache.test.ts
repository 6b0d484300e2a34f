import { GraphQLError, type GraphQLInterfaceType, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Variables } from '../../../src/graph/engine/document.ts';
import { type Planner, createPlanCache } from '../../../src/graph/engine/plan-cache.ts';
import { schema } from '../../../src/graph/schema.ts';
import { planKeyOf } from '../../../src/graph/engine/plan-variables.ts';

const nobody = { isLoggedIn: false, filmTier: null };

function plannerFor(plans: ReturnType<typeof createPlanCache>, query: string): Planner {
  const document = parse(query);
  return plans.plannerFor(document, document.definitions[0] as OperationDefinitionNode);
}

describe('a plan is kept by what the variables decide', () => {
  const decisionsOf = (query: string, variables: readonly Variables[]) => {
    const steering = planKeyOf(schema, parse(query));
    return variables.map(steering);
  };

  test('a cursor decides by its presence, not by its text', () => {
    const query = 'query ($after: String) { subject(id: "1") { photos(first: 5, after: $after) { nodes { id } } } }';
    const [none, short, long] = decisionsOf(query, [{}, { after: 'a' }, { after: 'b'.repeat(900_000) }]);
    expect(short).not.toBe(none);
    expect(long).toBe(short);
  });

  test('a page size decides by whether the record embeds the page', () => {
    const query = 'query ($first: Int) { book(id: "1") { tags(first: $first) { name } } }';
    const [one, eight, nine, fifty] = decisionsOf(query, [{ first: 1 }, { first: 8 }, { first: 9 }, { first: 50 }]);
    expect(one).toBe(eight);
    expect(nine).not.toBe(eight);
    expect(nine).toBe(fifty);
  });

  test('a condition decides by its value; a label and a count of items decide nothing', () => {
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

  test('an argument of a field that no record embeds decides nothing', () => {
    const query = 'query ($id: ID!, $after: String) { book(id: $id) { annotations(after: $after) { nodes { id } } } }';
    expect(decisionsOf(query, [{ id: '1' }, { id: '2', after: 'x' }])).toEqual(['', '']);
  });

  test('equal decisions share one plan', () => {
    const planner = plannerFor(
      createPlanCache(schema),
      'query ($after: String) { celebrity(id: "1") { works(after: $after) { nodes { roles } } } }',
    );
    const plans = ['a', 'b', 'c'].map((after) => planner.planFor(nobody, { after }));
    expect(new Set(plans).size).toBe(1);
    expect(planner.planFor(nobody, {})).not.toBe(plans[0]);
  });
});

describe('what is kept of plans is bounded', () => {
  const large = (name: string) =>
    `query ${name}($if: Boolean!) { book(id: "1") @include(if: $if) { ${'id title '.repeat(100)} rating { average } } }`;

  test('for all documents and all that their variables decide, together', () => {
    const plans = createPlanCache(schema, { maxCachedFields: 100 });
    for (let at = 0; at < 100; at++) {
      const planner = plannerFor(plans, large(`Q${at}`));
      for (const flag of [true, false]) {
        planner.planFor(nobody, { if: flag });
        planner.planFor({ isLoggedIn: true, filmTier: 'basic' }, { if: flag });
        expect(plans.cachedFields()).toBeLessThanOrEqual(100);
      }
    }
    expect(plans.cachedFields()).toBeGreaterThan(50);
  });

  test('of a refused plan the refusal alone is kept, and it is not planned again', () => {
    const refusal = new GraphQLError('no');
    let checked = 0;
    const plans = createPlanCache(schema, { check: () => (checked++, refusal) });
    const planner = plannerFor(plans, '{ book(id: "1") { title summary authors publisher price pages } }');
    expect(planner.planFor(nobody, {})).toBe(refusal);
    expect(planner.planFor(nobody, {})).toBe(refusal);
    expect(checked).toBe(1);
    expect(plans.cachedFields()).toBeLessThan(5);
  });

  test('a plan that other variables may pass is asked again, and kept once it has passed', () => {
    const check = (_: unknown, { first }: Variables) => (first === 100 ? new GraphQLError('no') : undefined);
    const plans = createPlanCache(schema, { check });
    const planner = plannerFor(plans, 'query ($first: Int) { top250(first: $first) { nodes { title } } }');
    expect(planner.planFor(nobody, { first: 100 })).toBeInstanceOf(GraphQLError);
    expect(plans.cachedFields()).toBe(0);
    const plan = planner.planFor(nobody, { first: 3 });
    expect(plan).not.toBeInstanceOf(GraphQLError);
    expect(planner.planFor(nobody, { first: 100 })).toBeInstanceOf(GraphQLError);
    expect(planner.planFor(nobody, { first: 4 })).toBe(plan);
  });
});

describe('a plan is bounded while it is made', () => {
  const onEveryType = `query { ${Array.from({ length: 30 }, (_, at) => `n${at}: node(id: "Book:1") { ...F }`).join(' ')} }
    fragment F on Node { ${'id a: id b: id c: id d: id e: id f: id g: id '} }`;

  test('counting a field for every type that it may be of', () => {
    const plans = createPlanCache(schema, { maxFields: 1_000 });
    const refusal = plannerFor(plans, onEveryType).planFor(nobody, {});
    expect(refusal).toMatchObject({ extensions: { code: 'TOO_MANY_FIELDS', limit: 1_000 } });
  });

  test('and a type of which only the name is selected', () => {
    const plans = createPlanCache(schema);
    plannerFor(plans, '{ node(id: "Book:1") { __typename } }').planFor(nobody, {});
    expect(plans.cachedFields()).toBeGreaterThan(
      schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType).length,
    );
  });

  test('and repeats the error without planning', () => {
    const plans = createPlanCache(schema, { maxFields: 1_000 });
    const planner = plannerFor(plans, onEveryType);
    expect(planner.planFor(nobody, {})).toBe(planner.planFor(nobody, {}));
    expect(plans.cachedFields()).toBeLessThan(5);
  });

  test('selections that are merged into one field count too, twenty as one', () => {
    const plans = createPlanCache(schema, { maxFields: 10 });
    const refusal = plannerFor(plans, `{ book(id: "1") { ${'id '.repeat(250)} } }`).planFor(nobody, {});
    expect(refusal).toMatchObject({ extensions: { code: 'TOO_MANY_FIELDS', limit: 10 } });
  });
});
