import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { needlessDefers } from '../../../src/engine/documents/needless-defer.ts';
import { journey } from '../../support/journey.ts';
import { worstWith } from '../../support/worst-with.ts';

const { execute } = await journey();
const needless = (text: string, name?: string) => needlessDefers(parse(text), name, worstWith({}));

interface Plan {
  upstream: { max: number };
  needlessDefer?: { path: string; calls: number }[];
}

test('a deferred fragment that needs a call of its own gains something', () => {
  expect(needless('{ book(id: 1) { title ... @defer { annotations { totalCount } } } }')).toEqual([]);
  expect(needless('{ a: book(id: 1) { title } ... @defer { b: book(id: 2) { title } } }')).toEqual([]);
  expect(needless('{ top250(first: 5) { nodes { title ... @defer { summary } } } }')).toEqual([]);
});

test('a deferred fragment whose fields the same call brings gains nothing: its label and the calls without it are told', () => {
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

test('each of nested fragments is judged', () => {
  const text = '{ book(id: 1) { title ... @defer { annotations { totalCount ... @defer { nodes { id } } } } } }';
  expect(needless(text)).toEqual([{ path: 'book.annotations', calls: 2 }]);
});

test('nothing is told of a document without `@defer`, or without the named operation', () => {
  expect(needless('{ book(id: 1) { title } }')).toEqual([]);
  expect(needless('query A { book(id: 1) { title ... @defer { pages } } }', 'B')).toEqual([]);
});

test('x-explain: plan tells of it, and without the directive no more calls are planned', async () => {
  const query = '{ book(id: "1003078") { title ... @defer { pages } } }';
  const plan = async (text: string) => {
    const { extensions } = await execute(text, { headers: { 'x-explain': 'plan' } });
    return extensions as unknown as Plan;
  };
  const { needlessDefer: [told] = [] } = await plan(query);
  expect(told).toMatchObject({ path: 'book' });
  const without = await plan(query.replace('@defer', ''));
  expect(without.upstream.max).toBe(told!.calls);
  expect(without.needlessDefer).toBeUndefined();
});
