import { createServer } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { alice, settingsFor } from '../support/embedded.ts';
import { listen } from '../support/listen.ts';
import { hasRedis } from '../support/redis.ts';
import { startRedis } from '../support/redis-process.ts';
import { service } from '../support/service.ts';
import type { Answered, Asked } from './program.ts';
import { embedWith } from './run.ts';

const { url } = await service();
const options = settingsFor(url);

/** What the shop was asked, and with which token. */
let requests: { path: string; token: string | undefined }[] = [];
beforeEach(() => void (requests = []));
const book = { id: '6082808', title: 'Of the shop' };
const sellers = [{ isbn: '9787544253994', stock: 3, price: '39.50', seller_id: '7', book }];
const shop = await listen(
  createServer(({ url: path = '', headers }, response) => {
    requests.push({ path, token: headers.authorization });
    const found = /^\/v2\/book\/isbn\/(\d+)$/.exec(path)
      ? { isbn: path.split('/').at(-1), stock: 3, price: headers.authorization ?? '39.50', seller_id: '7' }
      : path.startsWith('/sellers/7/books')
        ? { start: 0, count: 20, total: 1, books: sellers }
        : path.startsWith('/sellers/7/favourites')
          ? { start: 0, count: 20, total: 1, books: [book] }
          : path === '/sellers/7/favourite'
            ? book
            : path.startsWith('/sellers/7')
              ? { id: '7', name: 'Seven', town: 'Town' }
              : undefined;
    if (path === '/sellers/71') return void response.end('{"name":"Seven"}');
    if (path === '/sellers/401') return void response.writeHead(401).end('{}');
    const code = path === '/sellers/8' ? 7 : path === '/sellers/9' ? 8 : undefined;
    if (code !== undefined)
      return void response.writeHead(code === 7 ? 404 : 403).end(JSON.stringify({ code, msg: 'no', request: path }));
    if (path.includes('9787500000000')) return void response.writeHead(503).end();
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
  }),
);

/** What a facade with the shop answers, in a process of its own. */
async function answers(settings: object, ...asked: Asked[]) {
  const facade = { extension: 'shop', services: ['shop'], options, asked } as const;
  const [answered] = await embedWith({ baseUrl: shop, ...settings }, facade);
  if (!answered || 'problems' in answered) throw new Error(JSON.stringify(answered));
  return answered.answers;
}
const problemsWith = async (settings: object) =>
  (
    (await embedWith(settings, { extension: 'shop', services: ['shop'], options })) as Extract<
      Answered,
      { problems: unknown }
    >[]
  )[0]!.problems;

const availability = '{ book(id: "6082808") { title availability { inStock seller { name } } } }';
const data = { book: { title: '百年孤独', availability: { inStock: 3, seller: { name: 'Seven' } } } };
const explained = (query: string, how: string, headers: object = {}) => ({
  query,
  headers: { 'x-explain': how, ...headers },
});

test('a second service is joined by a field: planned, priced, explained and counted in metrics', async () => {
  const list = '{ searchBooks(query: "a", first: 3) { nodes { availability { price } } } }';
  const [plan, traced, ofList, metrics] = await answers(
    {},
    explained(availability, 'plan'),
    explained(availability, 'trace'),
    explained(list, 'plan'),
    { query: '', path: '/metrics' },
  );
  expect(plan!.body.extensions!.upstream).toMatchObject({
    max: 3,
    services: { catalog: { min: 1, max: 1 }, events: { max: 0 }, shop: { max: 2 } },
  });
  expect(traced!.body.data).toEqual(data);
  expect(traced!.body.extensions!.upstream).toMatchObject({
    calls: [
      { service: 'catalog', path: '/v2/book/6082808', fields: 'id,isbn13,title' },
      { service: 'shop', path: '/v2/book/isbn/9787544253994', field: 'book.availability', status: 200 },
      { service: 'shop', path: '/sellers/7', field: 'book.availability.seller' },
    ],
  });
  // One call a book, as the shop has no endpoint for several.
  expect(ofList!.body.extensions!.upstream).toMatchObject({ services: { catalog: { max: 1 }, shop: { max: 3 } } });
  expect(metrics!.text).toContain(
    'catalog_upstream_calls_total{service="shop",endpoint="GET /sellers/:id",outcome="200"} 1',
  );
  expect(metrics!.text).toContain('catalog_upstream_calls_running{service="shop"} 0');
});

test('records and lists of a second service are batched, and found by node', async () => {
  const query = `{ a: seller(id: "7") { name books(first: 1) { nodes { price } } } b: node(id: "Seller:7") { ... on Seller { town } } }`;
  const [answer] = await answers({ hasFields: true }, { query });
  expect(answer!.body.data).toEqual({
    a: { name: 'Seven', books: { nodes: [{ price: '39.50' }] } },
    b: { town: 'Town' },
  });
  expect(requests.map(({ path }) => path).sort()).toEqual([
    '/sellers/7',
    '/sellers/7/books?count=1&fields=price&start=0',
  ]);
});

test.each([
  'books(first: 1) { nodes { book { $ } } }',
  'favourite { $ }',
  'chosen { $ }',
  'favourites(first: 1) { nodes { $ } }',
])('what a program or its service does not say of a book is loaded from the catalog: %s', async (field) => {
  const selected = field.replace('$', 'title publisher viewerCollection { status }');
  const [answer] = await answers({}, { query: `{ seller(id: "7") { ${selected} } }`, headers: alice });
  expect(answer!.text).toContain(
    '{"title":"Of the shop","publisher":"南海出版公司","viewerCollection":{"status":"READ"}}',
  );
});

describe('what a second service says', () => {
  const bob = { authorization: 'Bearer demo-bob' };
  const asked = [
    { query: availability, headers: alice },
    { query: availability, headers: bob },
    { query: availability },
  ];

  test('is of the caller for whom it was read, unless it is declared otherwise', async () => {
    const read = await answers({}, ...asked, { query: availability, isGet: true });
    for (const { body } of read) expect(body.data).toEqual(data);
    expect(requests).toHaveLength(8);
    expect(read.at(-1)!.caching).toBe('private, no-cache');
  });

  test('is read for each caller even where their calls are equal and at the same time', async () => {
    const facade = {
      extension: 'shop',
      services: ['shop'],
      options,
      asked: asked.slice(0, 2),
      isAtOnce: true,
    } as const;
    const read = (share: string) => embedWith({ baseUrl: shop, share }, facade);
    const both = { answers: [{ body: { data } }, { body: { data } }] };
    expect(await read('viewer')).toMatchObject([both]);
    expect(requests.filter(({ path }) => path.startsWith('/v2'))).toHaveLength(2);
    requests = [];
    expect(await read('public')).toMatchObject([both]);
    expect(requests.filter(({ path }) => path.startsWith('/v2'))).toHaveLength(1);
  });

  test('is shared between callers where it is declared public', async () => {
    const read = await answers({ share: 'public' }, ...asked, { query: availability, isGet: true });
    for (const { body } of read) expect(body.data).toEqual(data);
    expect(requests).toHaveLength(2);
    expect(read.at(-1)!.caching).toMatch(/^public, max-age=/);
  });

  test.skipIf(!hasRedis)(
    'is shared between processes by Redis where it is public, and is not in Redis where it is not',
    async () => {
      const { port } = await startRedis();
      const facade = {
        ...({ extension: 'shop', services: ['shop'] } as const),
        options: { ...options, redisUrl: `redis://127.0.0.1:${port}` },
        // What is read last may not be stored yet when the process ends.
        asked: [{ query: availability }, { query: '{ book(id: "1220562") { title } }' }],
      };
      const callsWith = async (share: string) => {
        requests = [];
        const answered = await embedWith({ baseUrl: shop, share }, facade);
        expect(answered).toMatchObject([{ answers: [{ body: { data } }, { body: { data: {} } }] }]);
        return requests.length;
      };
      expect([await callsWith('viewer'), await callsWith('viewer'), await callsWith('public')]).toEqual([2, 2, 2]);
      expect(await callsWith('public')).toBe(0);
    },
  );

  test('is not mixed up with what the catalog says at the same path', async () => {
    const both = '{ bookByIsbn(isbn: "9787544253994") { title availability { price } } }';
    const [first, second] = await answers({ share: 'public' }, { query: both }, { query: both });
    expect(first!.body.data).toEqual({ bookByIsbn: { title: '百年孤独', availability: { price: '39.50' } } });
    expect(second!.body).toEqual(first!.body);
    expect(requests).toHaveLength(1);
  });
});

describe('the token of a caller', () => {
  const asked = [{ query: availability, headers: alice }, { query: availability }];
  const tokens = () => requests.map(({ token }) => token);

  test('goes to no second service', async () => {
    await answers({}, ...asked);
    expect(tokens()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('goes to one that is declared to get it, and is not replaced by that of the facade', async () => {
    await answers({ token: 'caller' }, ...asked);
    expect(tokens()).toEqual([alice.authorization, alice.authorization, undefined, undefined]);
  });

  test('is that for which a caller gets an answer, whatever others were answered before', async () => {
    const query = '{ book(id: "6082808") { availability { price } } }';
    const bob = { authorization: 'Bearer demo-bob' };
    const headers = [alice, bob, {}, bob, alice];
    const read = await answers({ token: 'caller' }, ...headers.map((each) => ({ query, headers: each })));
    expect(read.map(({ body }) => (body.data as { book: { availability: unknown } }).book.availability)).toEqual(
      [alice, bob, { authorization: '39.50' }, bob, alice].map(({ authorization: price }) => ({ price })),
    );
  });

  test('is not sent to one with a token of its own', async () => {
    await answers({ token: { own: 'of-the-shop' } }, ...asked);
    expect(tokens()).toEqual(Array(4).fill('Bearer of-the-shop'));
  });
});

test('a value that a request cannot carry makes no call, and its field says so', async () => {
  const wrong = [
    ['{}', 'isbn', 'missing'],
    ['{"isbn":null}', 'isbn', 'missing'],
    ['{"isbn":""}', 'isbn', 'empty'],
    ['{"isbn":{"of":1}}', 'isbn', 'no text or number'],
    ['{"isbn":["1"]}', 'isbn', 'no text or number'],
    ['{"isbn":true}', 'isbn', 'no text or number'],
    ['{"isbn":"1","of":{}}', 'of', 'no text or number'],
  ] as const;
  const asked = wrong.map(([like]) => ({ query: `{ offer(like: ${JSON.stringify(like)}) { inStock } }` }));
  const read = await answers({}, ...asked, explained(asked[0]!.query, 'plan'));
  expect(requests).toEqual([]);
  wrong.forEach(([, name, what], at) =>
    expect(read[at]!.body).toMatchObject({
      data: { offer: null },
      errors: [{ message: `No call was made: \`${name}\` of GET /v2/book/isbn/:isbn is ${what}.`, path: ['offer'] }],
    }),
  );
  const sent = { query: '{ offer(like: "{\\"isbn\\":9787544253994}") { inStock } }' };
  expect((await answers({}, sent))[0]!.body).toEqual({ data: { offer: { inStock: 3 } } });
});

test('a client cannot lead a call to another path of a service, and is told so', async () => {
  const asked = ['.', '..'].map((isbn) => ({
    query: `{ offer(like: ${JSON.stringify(JSON.stringify({ isbn }))}) { inStock } }`,
  }));
  const read = await answers({ token: { own: 'of-the-shop' } }, ...asked, explained(asked[0]!.query, 'plan'));
  expect(requests).toEqual([]);
  for (const { body } of read.slice(0, 2))
    expect(body).toMatchObject({
      data: { offer: null },
      errors: [{ path: ['offer'], extensions: { code: 'BAD_USER_INPUT', parameter: 'isbn' } }],
    });
  expect(JSON.stringify(read[2]!.body)).not.toContain('INTERNAL_SERVER_ERROR');
});

test('a service that refuses the facade itself asks no caller to log in', async () => {
  const asked = { query: '{ seller(id: "401") { name } }', headers: alice };
  const codes: unknown[] = [];
  for (const token of ['none', { own: 'of-the-shop' }, 'caller']) {
    const [answer] = await answers({ token }, asked);
    codes.push((answer!.body.errors![0] as { extensions: object }).extensions);
  }
  const upstream = { service: 'shop', status: 401 };
  expect(codes).toMatchObject([
    { code: 'UPSTREAM_REFUSED', advice: 'report', upstream },
    { code: 'UPSTREAM_REFUSED', advice: 'report', upstream },
    { code: 'UNAUTHENTICATED', advice: 'log-in', upstream },
  ]);
});

test('a second service has an error table of its own: which mean that there is none, and what clients get', async () => {
  const row = { msg: 'no', drops: true };
  const errors = {
    7: { ...row, status: 404, client: 'SELLER_NOT_FOUND', means: 'absent' },
    8: { ...row, status: 403, client: 'SELLER_CLOSED', means: 'rejected' },
  };
  const [none, closed] = await answers(
    { errors },
    { query: '{ seller(id: "8") { name } }' },
    { query: '{ seller(id: "9") { name } }' },
  );
  expect(none!.body).toEqual({ data: { seller: null } });
  const upstream = { service: 'shop', status: 403, code: 8, message: 'no', request: 'GET /sellers/9' };
  expect(closed!.body).toMatchObject({
    data: { seller: null },
    errors: [{ path: ['seller'], extensions: { code: 'SELLER_CLOSED', upstream } }],
  });
});

test('the price of a record of a second service says what its cache saves, and usage counts its calls', async () => {
  const query = '{ seller(id: "7") { name } }';
  const facade = {
    ...({ extension: 'shop', services: ['shop'] } as const),
    options: { ...options, usage: true },
    asked: [explained(query, 'plan'), { query }, explained(query, 'plan'), { query: '', path: '/usage' }],
  };
  const [answered] = await embedWith({ baseUrl: shop, share: 'public' }, facade);
  const { answers: read } = answered as Extract<Answered, { answers: unknown }>;
  const [before, , after, usage] = read;
  expect(before!.body.extensions!.upstream).toMatchObject({ min: 1, max: 1, services: { shop: { min: 1, max: 1 } } });
  expect(after!.body.extensions!.upstream).toMatchObject({ min: 0, max: 1, services: { shop: { min: 0, max: 1 } } });
  expect(JSON.parse(usage!.text)).toMatchObject({ operations: [{ calls: 1 }] });
});

test('what is absent in a second service is null, and its failure costs its own field alone', async () => {
  const [none, failed] = await answers(
    {},
    { query: '{ seller(id: "6") { name } }' },
    { query: '{ book(id: "6082808") { title } seller(id: "9787500000000") { name } }' },
  );
  expect(none!.body).toEqual({ data: { seller: null } });
  expect(failed!.body).toMatchObject({
    data: { book: { title: '百年孤独' }, seller: null },
    errors: [
      { path: ['seller'], extensions: { code: 'UPSTREAM_UNAVAILABLE', upstream: { service: 'shop', status: 503 } } },
    ],
  });
});

test('a second service is in /ready and catalog_upstream_up; one that is unreachable takes no replica out', async () => {
  const calls = Array.from({ length: 5 }, (_, id) => ({ query: `{ seller(id: "${id}") { name } }` }));
  for (const [baseUrl, state, up] of [
    [shop, 'reachable', 1],
    ['http://127.0.0.1:1', 'unreachable', 0],
  ] as const) {
    const [ready, metrics] = (
      await answers({ baseUrl }, ...calls, { query: '', path: '/ready' }, { query: '', path: '/metrics' })
    ).slice(calls.length);
    expect([ready!.status, ready!.body]).toEqual([
      200,
      { status: 'ready', upstreams: { catalog: 'reachable', events: 'reachable', shop: state } },
    ]);
    expect(metrics!.text).toContain(`catalog_upstream_up{service="shop"} ${up}\n`);
  }
});

test('the calls a minute of a second service are its own: beyond them a field is RATE_LIMITED', async () => {
  const other = (id: number) => ({ query: `{ seller(id: "7") { name } book(id: "6082808") { title } } #${id}` });
  const [first, second, third] = await answers({ callsAMinute: 2 }, other(1), other(2), other(3));
  expect(first!.body.errors).toBeUndefined();
  expect([second, third].at(-1)!.body).toMatchObject({
    data: { book: { title: '百年孤独' }, seller: null },
    errors: [
      {
        path: ['seller'],
        extensions: { code: 'RATE_LIMITED', upstream: { service: 'shop', request: 'GET /sellers/7' }, retryAfter: 60 },
      },
    ],
  });
});

test('a response without the member of its key is an error, and the log says which member that is', async () => {
  const facade = {
    ...({ extension: 'shop', services: ['shop'] } as const),
    options: { ...options, logLevel: 'info' },
    isLogged: true,
    asked: [{ query: '{ seller(id: "71") { name } }' }],
  } as const;
  const [answered] = await embedWith({ baseUrl: shop }, facade);
  expect(answered).toMatchObject({
    answers: [{ body: { data: { seller: null }, errors: [{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }] } }],
    log: expect.stringContaining('"reason":"the response has no member `id`; see `key`"'),
  });
});

test('the limit of calls of an operation counts those of all services', async () => {
  const facade = {
    extension: 'shop',
    services: ['shop'],
    options: { ...options, maxUpstreamCalls: 2 },
    asked: [{ query: availability }],
  } as const;
  const [answered] = await embedWith({ baseUrl: shop }, facade);
  expect(answered).toMatchObject({ answers: [{ body: { errors: [{ extensions: { code: 'TOO_MANY_CALLS' } }] } }] });
  expect(requests).toEqual([]);
});

test('a service that cannot be used is refused at the start, with all that is wrong', async () => {
  expect(await problemsWith({ name: 'events', baseUrl: 'ftp://a', token: { own: '' }, callsAMinute: 0 })).toEqual([
    'the service events: its name must not be catalog, events, redis, resolvers',
    'the service events: baseUrl must be an http:// or https:// address without user, query or fragment',
    "the service events: token must be 'none', 'caller' or { own: a bearer token }",
    'the service events: callsAMinute must be a whole number from 1',
  ]);
  expect(await problemsWith({ timeoutMs: 300, tokens: 'none', shared: 'public' })).toEqual([
    'the service shop: timeoutMs is not an option',
    'the service shop: tokens is not an option. Did you mean token?',
    'the service shop: shared is not an option. Did you mean share?',
  ]);
  expect(await problemsWith({ ofStock: { lists: 'books' } })).toEqual([
    'the service shop: GET /v2/book/isbn/:isbn: lists is not an option. Did you mean list?',
  ]);
  expect(await problemsWith({ share: 'public', token: 'caller' })).toEqual(
    [
      '/v2/book/isbn/:isbn',
      '/sellers/:id',
      '/sellers/:id/books',
      '/sellers/:id/favourite',
      '/sellers/:id/favourites',
    ].map(
      (path) => `the service shop: share of ${path} must be viewer, because its calls carry the token of the caller`,
    ),
  );
  const facade = { extension: 'shop', options } as const;
  const refused = await embedWith(
    {},
    ...([['shop', 'shop'], ['again'], []] as const).map((services) => ({ ...facade, services })),
  );
  expect(refused).toEqual([
    { problems: ['the service shop: its name is that of another one'] },
    { problems: ['services[0] must be what service() of catalog-graphql/extend returns'] },
    { problems: expect.arrayContaining(['Book.availability calls the service shop, which services lacks']) },
  ]);
});
