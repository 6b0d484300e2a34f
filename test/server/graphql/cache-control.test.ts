import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startFacade } from '../../support/start-facade.ts';
import { type Behaviour, json } from '../../support/hostile.ts';
import { serviceHeaders } from '../../../src/api/service-headers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

const book = { id: '7', title: '活着', pages: '191' };
const film = { id: '1', title: '肖申克的救赎' };
const rejection = JSON.stringify({ code: 1000, msg: 'x', request: 'x' });

/** Responds by path, with 404 for all others. */
const byPath =
  (responses: Record<string, Behaviour>): Behaviour =>
  (socket, request) =>
    (responses[request.path.split('?', 1)[0]!] ?? json(JSON.stringify({ code: 6000, msg: 'x', request: 'x' }), 404))(
      socket,
      request,
    );

/** A facade with the record cache turned on, and a service with these responses. */
async function facade(responses: Record<string, Behaviour>, upstreamCache: 'relaxed' | 'strict' = 'relaxed') {
  const setup = await startFacade({ recordTtlSeconds: undefined, upstreamCache });
  setup.books.behave(byPath(responses));
  const get = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${setup.url}?${new URLSearchParams({ query }).toString()}`, { headers });
  return {
    ...setup,
    get,
    cacheControl: async (...args: Parameters<typeof get>) => (await get(...args)).headers.get('cache-control'),
  };
}

/** Responds with the requested fields of a record, as the service does. */
const projected =
  (record: Record<string, unknown>): Behaviour =>
  (socket, request) => {
    const fields = new URL(request.path, 'http://x').searchParams.get('fields')?.split(',') ?? Object.keys(record);
    json(JSON.stringify(Object.fromEntries(fields.map((name) => [name, record[name]]))))(socket, request);
  };
const bookThere = { '/v2/book/7': projected(book) };
const alice = { authorization: 'Bearer demo-alice' };

test('the response to a GET is public for as long as the records in it are fresh', async () => {
  const { cacheControl } = await facade(bookThere);
  expect(await cacheControl('{ book(id: 7) { title } }')).toBe('public, max-age=3600');
  later(600);
  expect(await cacheControl('{ book(id: 7) { title } }')).toBe('public, max-age=3000');
});

test('the response with a list is public for the shorter time that lists are fresh', async () => {
  const { cacheControl } = await facade({
    '/v2/book/search': json(JSON.stringify({ start: 0, count: 20, total: 1, books: [book] })),
  });
  const search = '{ searchBooks(query: "活") { nodes { title } } }';
  expect(await cacheControl(search)).toBe('public, max-age=300');
  later(100);
  expect(await cacheControl(search)).toBe('public, max-age=200');
});

test('max-age is the shortest remaining time of all records in the response, and of all parts of a record', async () => {
  const { cacheControl } = await facade({
    ...bookThere,
    '/v2/movie/subject/1': json(JSON.stringify(film), 200, { 'cache-control': 'max-age=120' }),
  });
  expect(await cacheControl('{ book(id: 7) { title } subject(id: 1) { title } }')).toBe('public, max-age=120');
  later(1000);
  expect(await cacheControl('{ book(id: 7) { title pages } }')).toBe('public, max-age=2600');
  expect(await cacheControl('{ book(id: 7) { pages } }')).toBe('public, max-age=2600');
});

test('with a token it is never public', async () => {
  const { cacheControl } = await facade(bookThere);
  expect(await cacheControl('{ book(id: 7) { title } }')).toBe('public, max-age=3600');
  expect(await cacheControl('{ book(id: 7) { title } }', alice)).toBe('private, max-age=3600');
  expect(await cacheControl('{ book(id: 7) { title pages } }', alice)).toMatch(/^private, /);
  expect(await cacheControl('{ book(id: 7) { title } }', { authorization: 'Basic eDp5' })).toBe('no-store');
});

test.each([
  ['the collection of the viewer', '{ book(id: 7) { title viewerCollection { status } } }'],
  ['the viewer', '{ book(id: 7) { title } viewer { isLoggedIn } }'],
  ['annotations, which may be private', '{ book(id: 7) { title annotations { totalCount } } }'],
])('a response with data of the viewer is revalidated each time: %s', async (_, query) => {
  const mine = { ...book, current_user_collection: { id: 1, book_id: '7', status: 'read', user_id: '1' } };
  const { get } = await facade({
    '/v2/book/7': json(JSON.stringify(mine)),
    '/v2/book/7/annotations': json(JSON.stringify({ start: 0, count: 20, total: 0, annotations: [] })),
  });
  const response = await get(query, alice);
  expect(await response.json()).not.toHaveProperty('errors');
  expect(response.headers.get('cache-control')).toBe('private, no-cache');
  const etag = response.headers.get('etag')!;
  const current = await get(query, { ...alice, 'if-none-match': etag });
  expect([current.status, current.headers.get('cache-control'), await current.text()]).toEqual([
    304,
    'private, no-cache',
    '',
  ]);
  const other = await get(query, { authorization: 'Bearer other', 'if-none-match': etag });
  expect(other.status).toBe(200);
});

test('a page that was kept is sent again once its content has changed or was deleted', async () => {
  const { get, books } = await facade(bookThere);
  const query = '{ book(id: 7) { annotations { totalCount } } }';
  const total = (count: number) =>
    byPath({ '/v2/book/7/annotations': json(JSON.stringify({ start: 0, count: 20, total: count, annotations: [] })) });
  books.behave(total(1));
  const etag = (await get(query, alice)).headers.get('etag')!;
  expect((await get(query, { ...alice, 'if-none-match': etag })).status).toBe(304);
  books.behave(total(0));
  expect((await get(query, { ...alice, 'if-none-match': etag })).status).toBe(200);
});

test.each([
  ['annotations', '{ book(id: 7) { title annotations { totalCount } } }'],
  ['a shelf', '{ book(id: 7) { title } user(id: "alice") { bookCollections { totalCount } } }'],
  ['a collection', '{ book(id: 7) { title collection(userId: "alice") { status } } }'],
])('a response with content of users is revalidated each time, because they may withdraw it: %s', async (_, query) => {
  const { get, books } = await facade({
    ...bookThere,
    '/v2/book/7/annotations': json(JSON.stringify({ start: 0, count: 20, total: 0, annotations: [] })),
    '/v2/book/user/alice/collections': json(JSON.stringify({ start: 0, count: 20, total: 0, collections: [] })),
    '/v2/book/7/collection': json(JSON.stringify({ id: 1, book_id: '7', status: 'read', user_id: '1' })),
  });
  for (let time = 0; time < 2; time++) {
    const response = await get(query);
    expect(await response.json()).not.toHaveProperty('errors');
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
  }
  expect(books.requests).toHaveLength(2); // the facade caches it, because its own cache is invalidated by writes
});

test('Cache-Control follows what is done with the caching headers of upstream', async () => {
  const responses = {
    '/v2/book/7': json(JSON.stringify(book), 200, { 'cache-control': 'no-store' }),
    '/v2/book/8': json(JSON.stringify({ ...book, id: '8' }), 200, { 'cache-control': 'private, max-age=60' }),
    '/v2/book/9': json(JSON.stringify({ ...book, id: '9' }), 200, serviceHeaders),
    '/v2/book/10': json(JSON.stringify({ ...book, id: '10' }), 200, { vary: 'Authorization' }),
  };
  const shown = async (mode: 'relaxed' | 'strict') => {
    const { cacheControl } = await facade(responses, mode);
    return Promise.all([7, 8, 9, 10].map((id) => cacheControl(`{ book(id: ${id}) { title } }`)));
  };
  const never = 'private, no-cache';
  expect(await shown('relaxed')).toEqual(['no-store', 'public, max-age=60', 'public, max-age=3600', never]);
  expect(await shown('strict')).toEqual(['no-store', never, never, never]);
});

test('a response with the absence of a record, of which upstream says no-store, is not stored', async () => {
  const absent = JSON.stringify({ code: 6000, msg: 'x', request: 'x' });
  const { get } = await facade({ '/v2/book/7': json(absent, 404, { 'cache-control': 'no-store' }) });
  const response = await get('{ book(id: 7) { title } }');
  expect(await response.json()).toEqual({ data: { book: null } });
  expect([response.headers.get('cache-control'), response.headers.get('etag')]).toEqual(['no-store', null]);
});

test('a response with errors, with extensions or with stale data is not stored', async () => {
  const { get, books } = await facade({
    ...bookThere,
    '/v2/book/9': json(rejection, 403),
  });
  const result = async (query: string, headers?: Record<string, string>) => {
    const response = await get(query, headers);
    return { ...(await response.json()), cacheControl: response.headers.get('cache-control') } as Record<
      string,
      unknown
    >;
  };
  expect(await result('{ book(id: 7) { title } other: book(id: 9) { title } }')).toMatchObject({
    errors: [{}],
    cacheControl: 'no-store',
  });
  expect(await result('{ book(id: 7) { title } other: book(id: 404) { title } }')).toEqual({
    data: { book: { title: '活着' }, other: null },
    cacheControl: 'private, no-cache',
  });
  expect(await result('{ book(id: 7) { title } other: bookByIsbn(isbn: "9787544253994") { title } }')).toEqual({
    data: { book: { title: '活着' }, other: null },
    cacheControl: 'private, no-cache',
  });
  expect(await result('{ book(id: 7) { title } }', { 'x-explain': 'trace' })).toMatchObject({
    extensions: {},
    cacheControl: 'no-store',
  });
  expect(await result('{ book(id: 7) { title } }')).toMatchObject({ cacheControl: 'public, max-age=3600' });
  later(3601);
  books.behave(json('', 503));
  expect(await result('{ book(id: 7) { title } }')).toMatchObject({
    data: { book: { title: '活着' } },
    extensions: { stale: [{}] },
    cacheControl: 'no-store',
  });
});

test('a rejected GET is not cacheable', async () => {
  const { url, cacheControl } = await facade(bookThere);
  expect(await cacheControl('{')).toBe('no-store');
  expect(await cacheControl('{ nope }')).toBe('no-store');
  expect(await cacheControl('mutation { deleteNote(input: { id: "1" }) { __typename } }')).toBe('no-store');
  expect(await cacheControl('{ __typename }')).toBe('private, no-cache');
  expect((await fetch(url)).headers.get('cache-control')).toBe('no-store');
});

test('an error that is sent before the route of the graph has begun is not cacheable, and that of a POST has no header', async () => {
  const { url } = await facade(bookThere);
  const tooLong = { method: 'QUERY', body: 'x'.repeat(2_000_000) };
  const shown = async (path: string, init: RequestInit) => {
    const response = await fetch(url.replace('/graphql', path), init);
    return [response.status, response.headers.get('cache-control')];
  };
  const headers = { 'x-explain': 'nothing' };
  expect(await shown('/graphql?query={__typename}', { headers })).toEqual([400, 'no-store']);
  expect(await shown('/graphql?query={__typename}', { headers, method: 'HEAD' })).toEqual([400, 'no-store']);
  expect(await shown('/graphql', tooLong)).toEqual([413, 'no-store']);
  expect(await shown('/nothing', {})).toEqual([404, 'no-store']);
  const body = JSON.stringify({ query: '{ __typename }' });
  const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
  expect(await shown('/graphql', post)).toEqual([400, null]);
});

test.each(['multipart/mixed', 'text/event-stream'])(
  'a response that is sent in parts is not stored, nor one that is whole in a media type for parts: %s',
  async (accept) => {
    const { get } = await facade(bookThere);
    for (const query of ['{ book(id: 7) { title ... @defer { subtitle } } }', '{ book(id: 7) { title } }']) {
      const response = await get(query, { accept });
      expect(await response.text()).toContain('活着');
      const { headers } = response;
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null]);
      expect(headers.get('content-type')).toContain(accept);
    }
  },
);

test('with the cache turned off every response is revalidated', async () => {
  const { books, url } = await startFacade();
  books.behave(byPath(bookThere));
  const response = await fetch(`${url}?query={book(id:7){title}}`);
  expect(await response.json()).toEqual({ data: { book: { title: '活着' } } });
  expect(response.headers.get('cache-control')).toBe('private, no-cache');
});

test.each(['application/json', 'multipart/mixed', 'text/event-stream'])(
  'a response to a POST has no Cache-Control, whole, in parts or with errors: %s',
  async (accept) => {
    const { url } = await facade(bookThere);
    for (const query of [
      '{ book(id: 7) { title } }',
      '{ book(id: 7) { title ... @defer { pages } } }',
      '{ nothing }',
    ]) {
      const headers = { 'content-type': 'application/json', accept };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
      expect(await response.text()).toContain(query.includes('title') ? '活着' : 'GRAPHQL_VALIDATION_FAILED');
      expect([query, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
        query,
        expect.stringContaining(accept),
        null,
      ]);
    }
  },
);

test('Vary names the headers that affect a response', async () => {
  const { get } = await facade(bookThere);
  expect((await get('{ book(id: 7) { title } }')).headers.get('vary')).toBe(
    'Authorization, Accept, x-explain, Accept-Encoding, Origin',
  );
});
