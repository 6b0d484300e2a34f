import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { worstCaseOf } from '../../../src/engine/cost/call-cost.ts';
import { needlessDefers } from '../../../src/engine/documents/needless-defer.ts';
import { planOperation } from '../../../src/engine/plan/plan-operation.ts';
import { schema } from '../../../src/graph/schema.ts';
import { journey } from '../../support/journey.ts';

const { facade } = await journey();
const caller = { isLoggedIn: true, filmTier: null };
const worstOf = (document: DocumentNode, operation: OperationDefinitionNode) =>
  worstCaseOf(planOperation(schema, document, operation, caller, {}), {});
const needless = (text: string, name?: string) => needlessDefers(parse(text), name, worstOf);

interface Plan {
  upstream: { max: number };
  needlessDefer?: { path: string; calls: number }[];
}

test('a deferred fragment that needs a call of its own gains something', () => {
  expect(needless('{ book(id: 1) { title ... @defer { annotations { totalCount } } } }')).toEqual([]);
  expect(needless('{ a: book(id: 1) { title } ... @defer { b: book(id: 2) { title } } }')).toEqual([]);
  expect(needless('{ top250(first: 5) { nodes { title ... @defer { summary } } } }')).toEqual([]);
});

test('one whose fields the same call brings gains nothing, and is told with its label and the calls without it', () => {
  expect(needless('{ book(id: 1) { title ... @defer(label: "more") { pages } } }')).toEqual([
    { path: 'book', label: 'more', calls: 1 },
  ]);
  expect(
    needless(
      'query A { viewer { isLoggedIn } } query B { top250 { nodes { title ...More @defer } } } fragment More on Subject { year }',
      'B',
    ),
  ).toEqual([{ path: 'top250.nodes', calls: 1 }]);
});

test('of nested fragments each is judged', () => {
  const text = '{ book(id: 1) { title ... @defer { annotations { totalCount ... @defer { nodes { id } } } } } }';
  expect(needless(text)).toEqual([{ path: 'book.annotations', calls: 2 }]);
});

test('a document without `@defer`, or of a name that it has not, has none', () => {
  expect(needless('{ book(id: 1) { title } }')).toEqual([]);
  expect(needless('query A { book(id: 1) { title ... @defer { pages } } }', 'B')).toEqual([]);
});

test('x-explain: plan tells it, and following it makes no more calls', async () => {
  const query = '{ book(id: "1003078") { title ... @defer { pages } } }';
  const plan = async (text: string) => {
    const headers = { 'content-type': 'application/json', 'x-explain': 'plan' };
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: text }),
    });
    const { extensions } = (await response.json()) as { extensions: Plan };
    return extensions;
  };
  const { needlessDefer: [told] = [] } = await plan(query);
  expect(told).toMatchObject({ path: 'book' });
  const without = await plan(query.replace('@defer', ''));
  expect(without.upstream.max).toBe(told!.calls);
  expect(without.needlessDefer).toBeUndefined();
});
