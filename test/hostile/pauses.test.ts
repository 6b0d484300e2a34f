import { expect, test } from 'vitest';
import type { GraphQLResponse } from '../support/facade.ts';
import { json, silence, titledX, until } from '../support/hostile.ts';
import { codesIn, startFacade } from '../support/start-facade.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

const book = (id: number) => `{ book(id: "${id}") { title } }`;
const film = (id: number) => `{ subject(id: "${id}") { title } }`;
const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const record = json('{"id":"7","title":"x"}');
const limited = '{"msg":"rate_limit_exceeded2","code":112,"request":"GET /v2/book/7"}';
const secondsOf = ({ errors }: GraphQLResponse) => errors?.map(({ extensions }) => extensions.retryAfter);

const search = '{ searchBooks(query: "x", first: 1) { nodes { title } } }';
const chart = '{ top250(first: 1) { nodes { title } } }';

test.each([502, 503, 504])(
  'a %i with Retry-After is not tried again, and no other question is asked of the endpoint before the time is over',
  async (status) => {
    const { books, execute } = await startFacade();
    books.behave(json('', status, { 'retry-after': '30' }));
    const first = await execute(book(1));
    expect([codesIn(first), secondsOf(first)]).toEqual([['UPSTREAM_UNAVAILABLE'], [30]]);
    for (const query of [book(1), book(2), book(3)]) {
      const result = await execute(query);
      expect(codesIn(result)).toEqual(['UPSTREAM_UNAVAILABLE']);
      expect(secondsOf(result)![0]).toBeGreaterThan(20);
    }
    expect(books.requests).toHaveLength(1);
  },
);

test('a search that answers 503 with Retry-After stops no other endpoint, whoever is asked and however often', async () => {
  const { books, execute } = await startFacade();
  books.behave((socket, request) =>
    (request.path.startsWith('/v2/book/search') ? json('', 503, { 'retry-after': '30' }) : titledX)(socket, request),
  );
  for (let turn = 1; turn <= 5; turn++) {
    expect(codesIn(await execute(search))).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect((await execute(book(turn))).data).toEqual({ book: { title: 'x' } });
    expect((await execute(film(turn))).data).toEqual({ subject: { title: 'x' } });
  }
  expect(books.requests.filter(({ path }) => path.startsWith('/v2/book/search'))).toHaveLength(1);
});

test('once three endpoints say so, the whole service is asked nothing before the time is over, a write neither', async () => {
  const { books, execute } = await startFacade();
  books.behave(titledX);
  await execute(book(1), as('alice'));
  books.behave(json('', 503, { 'retry-after': '30' }));
  for (const query of [book(1), film(1), search]) await execute(query);
  for (const query of [chart, collect]) {
    const result = await execute(query, as('alice'));
    expect(codesIn(result)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(secondsOf(result)![0]).toBeGreaterThan(20);
  }
  expect(books.requests).toHaveLength(4);
});

test('a search that never answers stops no other endpoint', async () => {
  const { books, execute, upstream } = await startFacade({ headersTimeoutMs: '300', breakerFailures: '3' });
  books.behave((socket, request) => (request.path.startsWith('/v2/book/search') ? silence : titledX)(socket, request));
  const lost = Promise.all([1, 2, 3, 4, 5, 6].map((page) => execute(search.replace('"x"', `"${page}"`))));
  await until(() => books.requests.length === 6);
  expect((await execute(book(1))).data).toEqual({ book: { title: 'x' } });
  expect((await lost).flatMap(codesIn)).toEqual(Array(6).fill('UPSTREAM_TIMEOUT'));
  expect(upstream.state().catalog.isOpen).toBe(false);
  expect((await execute(film(2))).data).toEqual({ subject: { title: 'x' } });
});

test('a service that answers 503 without a wait is tried again as before', async () => {
  const { books, execute } = await startFacade();
  books.behave(json('', 503, { 'retry-after': '0' }));
  await execute(book(1));
  expect(books.requests).toHaveLength(3);
});

test('questions that wait for a connection are not sent after a 503 with Retry-After', async () => {
  const { books, execute } = await startFacade({ maxConnections: '1' });
  const unavailable = json('', 503, { 'retry-after': '30' });
  books.behave((socket, request) => setTimeout(() => unavailable(socket, request), 100));
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => execute(book(id))));
  expect(results.flatMap(codesIn)).toEqual(Array(6).fill('UPSTREAM_UNAVAILABLE'));
  expect(books.requests).toHaveLength(1);
});

test('the event service is still asked while the catalog takes no calls', async () => {
  const { books, events, execute } = await startFacade();
  books.behave(json('', 503, { 'retry-after': '30' }));
  await execute(book(1));
  await execute('{ event(id: "7") { title } }');
  expect([books.requests.length, events.requests.length]).toEqual([1, 1]);
});

test('a 403 with Retry-After pauses that group of endpoints for that token alone', async () => {
  const { books, execute } = await startFacade();
  books.behave(record);
  await execute(book(7), as('alice'));
  await execute(book(7), as('bob'));
  books.behave(json('', 403, { 'retry-after': '30' }));
  const refused = await execute(book(1), as('alice'));
  expect(secondsOf(refused)).toEqual([30]);
  const paused = await execute(book(2), as('alice'));
  expect(codesIn(paused)).toEqual(['RATE_LIMITED']);
  expect(books.requests).toHaveLength(3);
  books.behave(record);
  expect((await execute(book(7), as('bob'))).data).toEqual({ book: { title: 'x' } });
});

test('a facade without a token keeps a pause for all that it reads without one', async () => {
  const { books, execute } = await startFacade();
  books.behave(json(limited, 429, { 'retry-after': '30' }));
  expect(codesIn(await execute(book(1)))).toEqual(['RATE_LIMITED']);
  expect(codesIn(await execute('{ user(id: "1") { annotations { nodes { id } } } }'))).toEqual(['RATE_LIMITED']);
  expect(books.requests).toHaveLength(1);
});

test('a 403 without Retry-After pauses nothing', async () => {
  const { books, execute } = await startFacade();
  books.behave(json('', 403, { 'retry-after': '-30' }));
  for (let call = 0; call < 3; call++) expect(secondsOf(await execute(book(1)))).toEqual([undefined]);
  expect(books.requests).toHaveLength(3);
});

test.each([403, 429, 503])('a %i for a token that was never accepted leaves everybody else alone', async (status) => {
  const { books, execute } = await startFacade();
  books.behave(json(status === 429 ? limited : '', status, { 'retry-after': '30' }));
  await execute(book(1), as('made-up'));
  expect(codesIn(await execute(book(2), as('made-up')))).toEqual(['RATE_LIMITED']);
  expect(books.requests).toHaveLength(1);
  books.behave(record);
  expect((await execute(book(7))).data).toEqual({ book: { title: 'x' } });
});

test('reads of a service that answers 503 do not use up a basic minute', async () => {
  const { books, execute } = await startFacade({ filmTier: 'basic' }, { ACCESS_TOKEN: 'app' });
  books.behave(json('', 503));
  for (let id = 1; id <= 10; id++) await execute(film(id));
  // Each is tried once; again only while half of the 20 calls of this address are left.
  expect(books.requests).toHaveLength(16);
  books.behave(record);
  expect((await execute(film(7))).data).toEqual({ subject: { title: 'x' } });
});
