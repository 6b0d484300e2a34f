import { describe, expect, test } from 'vitest';
import { agent } from '../support/agent.ts';
import { json } from '../support/hostile.ts';
import { codesIn, startFacade } from '../support/start-facade.ts';

const LIMIT = 5;
const ITEMS = 20;
const OTHERS = { mcp: 'on', mcpFree: 'on', mcpOperations: 'operations' };
const { url, books, execute } = await startFacade({ maxUpstreamCalls: String(LIMIT), ...OTHERS });

/** It sends no book beside an annotation, which usually has one. */
const service: Parameters<typeof books.behave>[0] = (socket, request) => {
  const [, id] = /^\/v2\/book\/(\d+)/.exec(request.path) ?? [];
  const annotations = Array.from({ length: ITEMS }, (_, at) => ({ id: `${at}`, book_id: `${at + 1}` }));
  const body = id ? { id, title: `title ${id}` } : { count: ITEMS, start: 0, total: ITEMS, annotations };
  json(JSON.stringify(body))(socket, request);
};
books.behave(service);

const list = (first: number) => `user(id: "a") { annotations(first: ${first}) { nodes { book { title } } } }`;
const plan = { 'x-explain': 'plan' };

interface Shown {
  user: { annotations: { nodes: { book: { title: string } | null }[] } };
}

describe('a query of which more calls than MAX_UPSTREAM_CALLS are possible and not likely', () => {
  test('runs, stops at the limit, and has an error at each field that was not loaded', async () => {
    const before = books.requests.length;
    const response = await execute(`{ ${list(ITEMS)} }`);
    expect(books.requests.length - before).toBe(LIMIT);
    const { nodes } = (response.data as unknown as Shown).user.annotations;
    const loaded = nodes.flatMap(({ book }) => (book ? [book.title] : []));
    expect(loaded).toEqual(['title 1', 'title 2', 'title 3', 'title 4']);
    const missing = nodes.flatMap(({ book }, at) => (book ? [] : [['user', 'annotations', 'nodes', at, 'book']]));
    expect(response.errors?.map(({ path }) => path)).toEqual(missing);
    expect(new Set(codesIn(response))).toEqual(new Set(['TOO_MANY_CALLS']));
    expect(response.errors?.[0]?.extensions).toMatchObject({ limit: LIMIT });
  });

  test('makes no more calls in parts', async () => {
    const before = books.requests.length;
    const query = `{ viewer { isLoggedIn } ... @defer { ${list(ITEMS)} } }`;
    const headers = { 'content-type': 'application/json', accept: 'multipart/mixed' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const text = await response.text();
    expect(books.requests.length - before).toBe(LIMIT);
    expect(text.match(/"code":"TOO_MANY_CALLS"/g)).toHaveLength(ITEMS - (LIMIT - 1));
    expect(text).toContain('title 4');
  });

  test('makes no more calls for an agent', async () => {
    const { call } = await agent(url.replace('/graphql', ''));
    const before = books.requests.length;
    const { output } = await call('query', { query: `{ ${list(ITEMS)} }` });
    expect(books.requests.length - before).toBe(LIMIT);
    expect(output.errors?.map(({ code }) => code)).toContain('TOO_MANY_CALLS');
  });

  test('says in its plan where it stops', async () => {
    const { extensions } = await execute(`{ ${list(ITEMS)} }`, { headers: plan });
    expect(extensions).toMatchObject({ upstream: { likely: 1, max: 1 + ITEMS }, stopsAt: LIMIT });
    expect(extensions).not.toHaveProperty('limit');
    const { extensions: short } = await execute(`{ ${list(2)} }`, { headers: plan });
    expect(short).not.toHaveProperty('stopsAt');
  });

  test('is rejected before any call if POSSIBLE_CALLS_FACTOR times as many are possible', async () => {
    const before = books.requests.length;
    const query = `{ ${list(60)} }`;
    const response = await execute(query);
    expect(response.errors).toHaveLength(1);
    expect(response.errors?.[0]?.message).toContain('may cost 61 calls');
    const { extensions } = response.errors![0]!;
    expect(extensions).toMatchObject({
      ...{ code: 'TOO_MANY_CALLS', limit: 10 * LIMIT, actual: 61, likely: 1, most: 61 },
      coordinate: 'Book.title',
    });
    expect((await execute(query, { headers: plan })).extensions).toMatchObject({ limit: 10 * LIMIT });
    expect(books.requests.length).toBe(before);
  });
});

test('a query that is likely to make more calls than MAX_UPSTREAM_CALLS is rejected before any call', async () => {
  const before = books.requests.length;
  const query = `{ nodes(ids: [${Array.from({ length: LIMIT + 1 }, (_, at) => `"Book:${at + 1}"`).join(' ')}]) { id } }`;
  const { errors } = await execute(query);
  expect(errors?.[0]?.message).toContain('is likely to cost 6 calls');
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'TOO_MANY_CALLS',
    limit: LIMIT,
    actual: 6,
    likely: 6,
    most: 6,
  });
  expect((await execute(query, { headers: plan })).extensions).toMatchObject({ limit: LIMIT });
  expect(books.requests.length).toBe(before);
});

test('with POSSIBLE_CALLS_FACTOR=1 all possible calls must be within the limit', async () => {
  const strict = await startFacade({ maxUpstreamCalls: String(LIMIT), possibleCallsFactor: '1' });
  strict.books.behave(service);
  expect(codesIn(await strict.execute(`{ ${list(LIMIT)} }`))).toEqual(['TOO_MANY_CALLS']);
  expect(strict.books.requests).toEqual([]);
  expect(codesIn(await strict.execute(`{ ${list(LIMIT - 1)} }`))).toEqual([]);
});

test('a mutation of which more calls are possible is rejected before anything is written', async () => {
  const before = books.requests.length;
  const query = `mutation { likeNote(input: { id: "1" }) { note { author { annotations(first: ${ITEMS}) { nodes { book { title } } } } } } }`;
  const response = await execute(query, { headers: { authorization: 'Bearer alice' } });
  expect(response.errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', limit: LIMIT });
  expect(response).not.toHaveProperty('data');
  expect(books.requests.length).toBe(before);
});
