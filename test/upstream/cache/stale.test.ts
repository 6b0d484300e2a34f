import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { facade } from '../../support/facade.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

const title = { path: '/v2/book/7', query: { fields: 'id,title' } };
const document = '{ book(id: 7) { title } }';
const rejection = (code: number) => ({ code, msg: 'x', request: 'x' });

/** A facade whose cached title of a book has expired. */
async function withExpiredRecord() {
  const setup = facade({ absentTtlSeconds: 0 });
  setup.service.intercept(title).reply(200, { id: '7', title: '活着' });
  await setup.execute(document);
  later(4000);
  return setup;
}

test.each([500, 502, 503])('an expired record is served when the service responds with status %i', async (status) => {
  const { service, execute } = await withExpiredRecord();
  service.intercept(title).reply(status, '');
  expect(await execute(document)).toEqual({
    data: { book: { title: '活着' } },
    extensions: { stale: [{ path: ['book'], ageSeconds: 4000 }] },
  });
});

test.each([3_600, -3_600])(
  'a record is served for its hour, no longer and no shorter, when the system clock is set by %i s meanwhile',
  async (jump) => {
    const { service, execute } = facade();
    service.intercept(title).reply(200, { id: '7', title: 'first' });
    await execute(document);
    vi.setSystemTime(Date.now() + jump * 1000);
    later(3_599);
    expect(await execute(document)).toEqual({ data: { book: { title: 'first' } } });
    later(2);
    service.intercept(title).reply(200, { id: '7', title: 'second' });
    expect(await execute(document)).toEqual({ data: { book: { title: 'second' } } });
  },
);

test('the age of an expired record includes the age that it had when it arrived', async () => {
  const { service, execute } = facade();
  service.intercept(title).reply(200, { id: '7', title: '活着' }, { headers: { age: '100' } });
  await execute(document);
  later(4000);
  service.intercept(title).reply(500, '');
  expect(await execute(document)).toMatchObject({ extensions: { stale: [{ ageSeconds: 4100 }] } });
});

test('an expired record is served when the connection fails or the rate limit is reached', async () => {
  const { service, execute } = await withExpiredRecord();
  service.intercept(title).replyWithError(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
  expect(await execute(document)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  service.intercept(title).reply(429, rejection(112), { headers: { 'retry-after': '9' } });
  expect(await execute(document)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  // During the pause after 429 no request is sent, and the expired record is served again.
  expect(await execute(document)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  expect(await execute('{ book(id: 8) { title } }')).toMatchObject({
    data: { book: null },
    errors: [{ extensions: { code: 'RATE_LIMITED', retryAfter: 9 } }],
  });
});

test.each([
  [401, rejection(103)],
  [403, rejection(1000)],
  [404, rejection(6000)],
])('an expired record is not served after a 4xx response, which also removes it: status %i', async (status, body) => {
  const { service, execute } = await withExpiredRecord();
  service.intercept(title).reply(status, body);
  expect(await execute(document)).toMatchObject({ data: { book: null } });
  service.intercept(title).reply(500, '');
  expect(await execute(document)).toMatchObject({
    data: { book: null },
    errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }],
  });
});

test.each([
  [404, rejection(6000), 'UPSTREAM_UNAVAILABLE'],
  [403, rejection(1001), undefined],
])(
  'status %i for a client with a token says what everybody gets of an expired public record',
  async (status, body, code) => {
    const { service, execute } = await withExpiredRecord();
    service.intercept(title).reply(status, body);
    expect(await execute(document, { token: 'mine' })).toMatchObject({ data: { book: null } });
    service.intercept(title).reply(500, '');
    const { data, errors } = await execute(document);
    expect(errors?.[0]?.extensions?.code).toBe(code);
    expect(data).toEqual({ book: code ? null : { title: '活着' } });
  },
);

test('an expired record is served for the fields it has, and the others fail with their error', async () => {
  const { service, execute } = await withExpiredRecord();
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,pages,title' } }).reply(500, '');
  const { data, errors, extensions } = await execute('{ book(id: 7) { title pages } }');
  expect(data).toEqual({ book: { title: '活着', pages: null } });
  expect(errors).toMatchObject([{ path: ['book', 'pages'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  expect(extensions).toEqual({ stale: [{ path: ['book'], ageSeconds: 4000 }] });
});

test('a fresh record is not reported as stale when further fields fail to load', async () => {
  const { service, execute } = facade();
  service.intercept(title).reply(200, { id: '7', title: '活着' });
  await execute(document);
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,pages' } }).reply(500, '');
  const { data, extensions } = await execute('{ book(id: 7) { title pages } }');
  expect(data).toEqual({ book: { title: '活着', pages: null } });
  expect(extensions).toBeUndefined();
});

test('an expired list is served too, and its stale records are reported by path', async () => {
  const { service, execute } = facade();
  const films = '{ top250(first: 2) { nodes { summary } } }';
  const list = { path: (path: string) => path.startsWith('/v2/movie/top250') };
  const subject = { path: (path: string) => path.startsWith('/v2/movie/subject/') };
  service.intercept(list).reply(200, {
    start: 0,
    count: 2,
    total: 2,
    subjects: [
      { id: '1', title: 'a' },
      { id: '2', title: 'b' },
    ],
  });
  service
    .intercept(subject)
    .reply(200, ({ path }) => ({ id: path.replace(/^.*\/|\?.*$/g, ''), summary: 'x' }))
    .times(2);
  const fresh = await execute(films);
  expect(fresh.data.top250.nodes).toEqual([{ summary: 'x' }, { summary: 'x' }]);
  later(3700);
  service
    .intercept({ path: () => true })
    .reply(500, '')
    .times(3);
  const { data, extensions } = await execute(films);
  expect(data).toEqual(fresh.data);
  const paths = (extensions!.stale as { path: unknown[] }[]).map(({ path }) => path);
  expect(paths.length).toBe(3);
  expect(paths[0]).toEqual(['top250']);
  for (const path of paths.slice(1)) expect(path.slice(0, 2)).toEqual(['top250', 'nodes']);
  for (const key of paths.flat()) expect(typeof key === 'number').toBe(/^\d+$/.test(String(key)));
});

test('an expired record is served for one hour after its expiry at most', async () => {
  const { service, execute } = await withExpiredRecord();
  later(3601);
  service.intercept(title).reply(500, '');
  expect(await execute(document)).toMatchObject({ data: { book: null }, errors: [{}] });
});

test('with the cache turned off nothing is served when the service fails', async () => {
  const { service, execute } = facade({ recordTtlSeconds: 0 });
  service.intercept(title).reply(200, { id: '7', title: '活着' });
  await execute(document);
  service.intercept(title).reply(500, '');
  expect(await execute(document)).toMatchObject({ data: { book: null }, errors: [{}] });
});

test('no record read with a token is served to it after its rejection', async () => {
  const { service, execute } = facade();
  const film = { path: '/v2/movie/subject/1', query: { fields: 'id,title' } };
  service.intercept(film).reply(200, { id: '1', title: '霸王别姬' });
  const mine = { token: 'mine' };
  expect(await execute('{ subject(id: 1) { title } }', mine)).toEqual({ data: { subject: { title: '霸王别姬' } } });
  expect(await execute('{ subject(id: 1) { title } }', mine)).toEqual({ data: { subject: { title: '霸王别姬' } } });
  service.intercept({ path: '/v2/note/1', query: { fields: 'id,title' } }).reply(401, rejection(106));
  expect(await execute('{ note(id: 1) { title } }', mine)).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
  service.intercept(film).reply(401, rejection(106));
  expect(await execute('{ subject(id: 1) { title } }', mine)).toMatchObject({
    data: { subject: null },
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
});

/** Bodies without an error code of the service. */
const foreign: [string, string | object][] = [
  ['a web page', '<!doctype html><title>404</title>'],
  ['no body', ''],
  ['a text', 'default backend - 404'],
  ['the JSON of a gateway', { message: 'no Route matched with those values' }],
  ['the JSON of a gateway with a code of its own', { code: 403, msg: 'Forbidden' }],
  ['a nested code', { error: { code: 1000, status: 'PERMISSION_DENIED' } }],
  ['a number', '1000'],
];
const page = foreign[0]![1];
const any = { path: () => true };

test.each(foreign)('a rejection with %s is of a gateway: the cached copy is served, and kept', async (_, body) => {
  for (const status of [400, 401, 403, 404, 410]) {
    const { service, execute } = await withExpiredRecord();
    const stale = { data: { book: { title: '活着' } }, extensions: { stale: [{}] } };
    service.intercept(title).reply(status, body);
    expect(await execute(document)).toMatchObject(stale);
    service.intercept(title).reply(500, '');
    expect(await execute(document)).toMatchObject(stale);
  }
});

test.each([
  ['a book of a signed-in person', '{ book(id: 7) { title } }', 'mine', { id: '7', title: '活着' }],
  ['a film', '{ subject(id: 7) { title } }', undefined, { id: '7', title: '活着' }],
  ['a film of a signed-in person', '{ subject(id: 7) { title } }', 'mine', { id: '7', title: '活着' }],
  ['a chart', '{ top250 { nodes { id } } }', undefined, { total: 1, subjects: [{ id: '7' }] }],
  ['a search', '{ searchBooks(query: "x") { nodes { id } } }', undefined, { total: 1, books: [{ id: '7' }] }],
])('%s is served from the cache when a gateway rejects the call', async (_, query, token, answer) => {
  for (const status of [401, 403, 404]) {
    const { service, execute } = facade({ accessToken: 'own' });
    const options = token === undefined ? {} : { token };
    service.intercept(any).reply(200, answer);
    const { data } = await execute(query, options);
    later(3700);
    service.intercept(any).reply(status, page);
    expect(await execute(query, options)).toMatchObject({ data, extensions: { stale: [{}] } });
    service.intercept(any).reply(500, '');
    expect(await execute(query, options)).toMatchObject({ data, extensions: { stale: [{}] } });
  }
});

test.each(foreign)(
  'without a cached copy a rejection with %s is a failure, which rejects no token',
  async (_, body) => {
    for (const status of [401, 403, 404]) {
      const { service, execute } = facade();
      service.intercept(title).reply(status, body);
      const { data, errors } = await execute(document, { token: 'mine' });
      expect(data).toEqual({ book: null });
      expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', upstream: { status } } }]);
      expect(errors![0]!.extensions.upstream).not.toHaveProperty('code');
      service.intercept(title).reply(200, { id: '7', title: '活着' });
      expect(await execute(document, { token: 'mine' })).toEqual({ data: { book: { title: '活着' } } });
    }
  },
);

test.each([
  ['a note', '{ note(id: 7) { title } }', 'mine', { id: '7', title: 'mine' }],
  ['an annotation', '{ annotation(id: 7) { abstract } }', undefined, { id: '7', abstract: 'mine' }],
  ['a collection', '{ node(id: "Collection:1:7") { ... on Collection { comment } } }', undefined, { id: 1 }],
])('%s of a person is denied when a gateway rejects the call: nobody knows why', async (_, query, token, answer) => {
  for (const [status, code] of [
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [404, 'UPSTREAM_INVALID_RESPONSE'],
  ] as const) {
    const { service, execute } = facade();
    const options = token === undefined ? {} : { token };
    service.intercept(any).reply(200, answer);
    await execute(query, options);
    later(400);
    service.intercept(any).reply(status, page);
    const { data, errors, extensions } = await execute(query, options);
    expect(Object.values(data as object)).toEqual([null]);
    expect(extensions).toBeUndefined();
    const message = `The service denied this with status ${status} and did not say why.`;
    expect(errors).toMatchObject([{ message, extensions: { code } }]);
  }
});
