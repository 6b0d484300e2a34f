import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { startFacade, codesIn } from '../support/start-facade.ts';
import { json, silence, titledX, until, xml } from '../support/hostile.ts';
import { thorough } from '../support/optional.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

const many = (n: number, text: (i: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join(' ');
const deepBook = (levels: number): string =>
  levels <= 1
    ? 'id'
    : levels === 2
      ? 'series { id }'
      : levels === 3
        ? 'series { books { totalCount } }'
        : `series { books { nodes { ${deepBook(levels - 3)} } } }`;
const respond = titledX;
/** Text that no response may contain: paths, stacks and internal errors. */
const INSIDE = /node_modules|\.[jt]s:\d|\bat \S+ \(|ECONN|undici|maximum call stack/i;

const limits: [code: string, within: string, over: string][] = [
  ['DOCUMENT_TOO_LONG', `{ __typename } #${'x'.repeat(19_000)}`, `{ __typename } #${'x'.repeat(20_000)}`],
  [
    'TOO_MANY_TOKENS',
    `{ book(id: 7) { id ${many(900, () => 'id')} } }`,
    `{ book(id: 7) { ${many(4_000, () => 'id')} } }`,
  ],
  ['TOO_DEEP', `{ book(id: 7) { ${deepBook(13)} } }`, `{ book(id: 7) { ${deepBook(14)} } }`],
  ['TOO_MANY_FIELDS', `{ book(id: 7) { ${many(999, () => 'id')} } }`, `{ book(id: 7) { ${many(1_000, () => 'id')} } }`],
  [
    'TOO_MANY_FRAGMENTS',
    `{ book(id: 7) { ...F0 } } ${many(100, (i) => `fragment F${i} on Book { id ${i < 99 ? `...F${i + 1}` : ''} }`)}`,
    `{ book(id: 7) { ...F0 } } ${many(101, (i) => `fragment F${i} on Book { id ${i < 100 ? `...F${i + 1}` : ''} }`)}`,
  ],
  [
    'TOO_MANY_ALIASES',
    `{ book(id: 7) { ${many(60, (i) => `a${i}: id`)} } }`,
    `{ book(id: 7) { ${many(61, (i) => `a${i}: id`)} } }`,
  ],
  ['TOO_MANY_ROOT_FIELDS', `{ ${many(30, () => '__typename')} }`, `{ ${many(31, () => '__typename')} }`],
  [
    'TOO_MANY_MUTATIONS',
    `mutation { ${many(10, () => '__typename')} }`,
    `mutation { ${many(11, () => '__typename')} }`,
  ],
  [
    'TOO_MANY_DIRECTIVES',
    `{ book(id: 7) { ${many(50, () => 'id @include(if: true)')} } }`,
    `{ book(id: 7) { ${many(51, () => 'id @include(if: true)')} } }`,
  ],
];

const { books, execute } = await startFacade({ maxUpstreamCalls: '1000000' });
books.behave(respond);

test.each(limits)('%s is reported beyond its limit, not at it', async (code, within, over) => {
  expect(codesIn(await execute(within))).not.toContain(code);
  const rejected = await execute(over);
  expect(codesIn(rejected)).toContain(code);
  expect(rejected.data).toBeUndefined();
});

test('unused fragments count towards the limits', async () => {
  const unused = (fields: string) => `{ __typename } fragment F on Book { ${fields} }`;
  expect(codesIn(await execute(unused(many(1_001, () => 'id'))))).toEqual(['TOO_MANY_FIELDS']);
  expect(codesIn(await execute(unused(many(61, (i) => `a${i}: id`))))).toEqual(['TOO_MANY_ALIASES']);
});

test.each<[string, (n: number) => string]>([
  ['lists', (n) => `{ book(id: ${'['.repeat(n - 2)}1${']'.repeat(n - 2)}) { id } }`],
  ['a default', (n) => `query ($a: Int = ${'['.repeat(n - 1)}1${']'.repeat(n - 1)}) { __typename }`],
  ['types', (n) => `query ($a: ${'['.repeat(n - 1)}Int${']'.repeat(n - 1)}) { __typename }`],
  ['inline fragments', (n) => `{ __typename ${'...{ '.repeat(n - 1)} __typename ${'}'.repeat(n - 1)} }`],
])('nested %s are limited before parsing', async (_, nested) => {
  const { execute } = await startFacade({ maxNesting: '50' });
  // The lexer finds no bracket in these strings and comments, and the escaped quotes do not end the block string.
  const texts = 'query Q($s: String = """[[ \\b \\""" [""", $t: String = "[\\"[") { __typename } # [[[\n';
  for (const before of ['', texts]) {
    expect(codesIn(await execute(before + nested(50)))).not.toContain('TOO_DEEP');
    expect(await execute(before + nested(51))).toMatchObject({
      errors: [{ extensions: { code: 'TOO_DEEP', limit: 50 } }],
    });
  }
});

test('fields that are merged must have the same @stream arguments', async () => {
  const { execute } = await startFacade();
  const list = (nodes: string) => execute(`{ top250(first: 3) { ${nodes} } }`);
  const rejected = await list('nodes @stream(initialCount: 1) { id } ... { nodes { title } }');
  expect(codesIn(rejected)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  expect(rejected.errors?.[0]?.message).toContain('differing stream directives');
  expect(
    (await list('nodes @stream(initialCount: 1) { id } ... { nodes @stream(initialCount: 1) { title } }')).errors?.[0]
      ?.message ?? '',
  ).not.toContain('stream directives');
});

test('aliases in introspection count, and its depth is limited', async () => {
  expect(codesIn(await execute(`{ ${many(61, (i) => `a${i}: __typename`)} }`))).toContain('TOO_MANY_ALIASES');
  const round =
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }';
  expect(codesIn(await execute(round))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
});

test('an overflowing cost is reported as a safe integer and rejected', async () => {
  const deepest = { maxDepth: '500', maxNesting: '1000', maxFields: '10000', maxTokens: '100000' };
  const { books, execute } = await startFacade({ ...deepest, maxDocumentCharacters: '1000000' });
  books.behave(respond);
  const pages = (levels: number, first: string, inside: string): string =>
    levels ? `series { books(first: ${first}) { nodes { ${pages(levels - 1, first, inside)} } } }` : inside;
  const calls = 'annotations(first: 3) { nodes { id } }';
  const requests: [query: string, variables?: Record<string, unknown>][] = [];
  // From 8 levels on the cost is inexact. Of 129 levels, validation would compare too many fields of one name.
  for (const levels of [7, 8, 120]) {
    requests.push([`{ book(id: 7) { ${pages(levels, '100', calls)} } }`]);
    for (const n of [100, 2 ** 31 - 1])
      requests.push([`query ($n: Int) { book(id: 7) { ${pages(levels, '$n', calls)} } }`, { n }]);
    requests.push([`{ book(id: 7) { ${pages(levels, '100', pages(2, '0', calls))} } }`]);
  }
  for (const [query, variables = {}] of requests) {
    const response = await execute(query, { variables });
    expect(codesIn(response), query.slice(0, 200)).toEqual(['TOO_MANY_CALLS']);
    const { limit, actual } = response.errors![0]!.extensions;
    expect([limit, Number.isSafeInteger(actual)]).toEqual([250, true]);
    expect(response.errors![0]!.message).toContain(String(actual));
    const planned = await execute(query, { variables, headers: { 'x-explain': 'plan' } });
    expect(planned.extensions).toMatchObject({ upstream: { max: actual, services: { catalog: { max: actual } } } });
  }
  expect(books.requests).toEqual([]);
  // Without upstream calls on these levels, they cost nothing.
  expect(codesIn(await execute(`{ book(id: 7) { ${pages(1, '100', 'id')} } }`))).toEqual([]);
});

// Without limits each takes exponential time in its length. A slow machine takes a second for all of them.
const monsters: [name: string, document: string][] = [
  [
    'fragments that double',
    `{ book(id: 7) { ...F0 } } ${many(90, (i) => `fragment F${i} on Book { ...F${i + 1} ...F${i + 1} }`)} fragment F90 on Book { id }`,
  ],
  [
    'fragments that double below different fields',
    `{ book(id: 7) { ...F0 } } ${many(20, (i) => `fragment F${i} on Book { series { books { nodes { ...F${i + 1} } } } viewerCollection { book { ...F${i + 1} } } }`)} fragment F20 on Book { id }`,
  ],
  [
    'a cycle of fragments',
    `{ book(id: 7) { ...F0 } } ${many(90, (i) => `fragment F${i} on Book { id ...F${(i + 1) % 90} }`)}`,
  ],
  ['a fragment that spreads itself', '{ book(id: 7) { ...F } } fragment F on Book { id ...F }'],
  [
    'fragments that all spread each other',
    `{ book(id: 7) { ${many(34, (i) => `...F${i}`)} } } ${many(34, (i) => `fragment F${i} on Book { id ${many(34, (j) => `...F${j}`)} }`)}`,
  ],
  ['the same field a thousand times', `{ book(id: 7) { ${many(990, () => 'id')} } }`],
  [
    'the same pair of subtrees, nested',
    `{ book(id: 7) { ${(function twice(n: number): string {
      return n ? `series { books { nodes { ${twice(n - 1)} } } } `.repeat(2) : many(20, () => 'id title');
    })(4)} } }`,
  ],
  ['nested lists', `{ book(id: ${'['.repeat(1_900)}${']'.repeat(1_900)}) { id } }`],
  ['nested objects', `{ book(id: ${'{a:'.repeat(990)}1${'}'.repeat(990)}) { id } }`],
  ['nested fields', `${'{book'.repeat(1_900)}${'}'.repeat(1_900)}`],
  ['nested inline fragments', `{ book(id: 7) ${'{ ... on Book '.repeat(690)} { id } ${'}'.repeat(690)} }`],
  ['many pairs of equal fields', `{ __schema { types { ${many(900, () => 'name')} } } }`],
  [
    'fields that differ in their arguments',
    `{ __typename } fragment F on Query { ${many(350, (i) => `book(id: ${i}) { id }`)} }`,
  ],
  ['nested types', `query ($a: ${'['.repeat(1_900)}Int${']'.repeat(1_900)}) { book(id: $a) { id } }`],
  ['a hundred unknown fields', `{ book(id: 7) { ${many(990, (i) => `titel${i}`)} } }`],
  ['a thousand unknown fragments', `{ book(id: 7) { ${many(990, (i) => `...X${i}`)} } }`],
  ['a thousand anonymous operations', many(900, () => '{ __typename }')],
  ['text that is no document', '}{'.repeat(2_000)],
  ['a string that never ends', `{ book(id: "${'x'.repeat(10_000)}`],
];

test.each(monsters)(
  '%s: answered quickly, also when repeated, without internals in the response',
  async (_, document) => {
    for (let n = 0; n < 3; n++) {
      const response = await execute(document);
      for (const code of codesIn(response))
        expect(code).toMatch(/^(TOO_|DOCUMENT_TOO_|GRAPHQL_|OPERATION_RESOLUTION_|BAD_USER_INPUT)/);
      expect(JSON.stringify(response)).not.toMatch(INSIDE);
    }
  },
);

test('variables nested as deeply as a body allows cause no server error', async () => {
  const { url } = await startFacade();
  const deep = '['.repeat(400_000) + ']'.repeat(400_000);
  for (const query of [
    'query ($a: ID!) { book(id: $a) { id } }',
    'query ($a: [ID!]!) { nodes(ids: $a) { id } }',
    '{ __typename }',
  ]) {
    for (const extra of ['', `,"extensions":{"a":${deep.slice(390_000, 410_000)}}`]) {
      const body = `{"query":${JSON.stringify(query)},"variables":{"a":${deep}}${extra}}`;
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      expect(response.status).toBeLessThan(500);
      expect(await response.text()).not.toMatch(INSIDE);
    }
  }
  const form = new FormData();
  form.set('operations', `{"query":"{ __typename }","variables":{"a":${deep}}}`);
  form.set('map', '{}');
  const response = await fetch(url, { method: 'POST', body: form, headers: { 'x-graphql-csrf': '1' } });
  expect(response.status).toBeLessThan(500);
  expect(await response.text()).not.toMatch(INSIDE);
});

test('names of Object.prototype are ordinary names in documents, variables, bodies and paths', async () => {
  for (let n = 0; n < 4; n++) {
    const response = await execute(
      'query ($constructor: ID!, $toString: Boolean!) { __proto__: book(id: $constructor) { constructor: id toString: title } hasOwnProperty: __typename @include(if: $toString) }',
      { variables: { constructor: '7', toString: true } },
    );
    const result = JSON.stringify(response);
    expect(result).toContain('"__proto__":{"constructor":"Book:7","toString":"x"}');
    expect(result).toContain('"hasOwnProperty":"Query"');
    expect(Object.keys(response)).toEqual(['data']);
  }
  const { url } = await startFacade();
  const body =
    '{"query":"{ __typename }","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"variables":{"__proto__":{"polluted":1}}}';
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  expect([200, 400]).toContain(response.status);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  expect((await (await fetch(url.replace('/graphql', '/__proto__'))).json()).errors[0].extensions.code).toBe(
    'NOT_FOUND',
  );
});

test('suggestions and introspection are off in production, unless they are turned on', async () => {
  const invalid = [
    '{ boook(id: 7) { id } }',
    '{ book(id: 7) { titel } }',
    '{ book(idd: 7) { id } }',
    '{ book(id: 7) { ... on Bok { id } } }',
  ];
  const variable = { variables: { i: { bookId: '7', statuss: 'READ' } } };
  const collect = 'mutation ($i: CollectBookInput!) { collectBook(input: $i) { __typename } }';
  const responsesWith = async (env: NodeJS.ProcessEnv) => {
    const { execute } = await startFacade({}, env);
    const responses = [
      ...(await Promise.all(invalid.map((query) => execute(query)))),
      await execute(collect, variable),
      await execute('{ __schema { types { name } } }'),
    ];
    return JSON.stringify(responses);
  };
  const production = await responsesWith({ NODE_ENV: 'production' });
  expect(production).not.toMatch(/did you mean/i);
  expect(production).toContain('GRAPHQL_VALIDATION_FAILED');
  expect(production).not.toContain('BookConnection');
  const switched = await responsesWith({ NODE_ENV: 'production', INTROSPECTION: 'on' });
  expect(switched).toContain('Did you mean \\"book\\"');
  expect(switched).toContain('BookConnection');
});

const rows = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap(
  (table) => Object.values(table) as { method: string; path: string }[],
);
const shapes = rows
  .filter(({ method }) => method === 'GET')
  .map(({ path }) => new RegExp(`^${path.replace(/:\w+/g, '(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+')}$`));
const parameters = new Set([
  'fields',
  'q',
  'tag',
  'start',
  'count',
  'city',
  'order',
  'sort',
  'status',
  'rating',
  'from',
  'to',
  'type',
  'loc',
  'start-index',
  'max-results',
  'user_id',
  'format',
  'page',
  'day_type',
  'location',
]);

test('ids and strings change no path, parameter or header of an upstream call', { timeout: 900_000 }, async () => {
  const { books, events, execute } = await startFacade({ maxUpstreamCalls: '100000' });
  books.behave(respond);
  events.behave(xml('<feed xmlns="http://www.w3.org/2005/Atom"/>'));
  const document = `query ($s: String!, $id: ID!) {
    book(id: $id) { id } event(id: $id) { id } celebrity(id: $id) { id } note(id: $id) { id } node(id: $id) { id }
    byIsbn: bookByIsbn(isbn: $s) { id } found: searchBooks(query: $s, tag: $s) { totalCount }
    events: searchEvents(query: $s) { totalCount } cinema: inTheaters(city: $s) { totalCount } city(id: $id) { events { totalCount } }
    next: searchBooks(query: "x", after: $s) { totalCount }
  }`;
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '/',
      '..',
      '.',
      '%2e%2e',
      '%2F',
      '?',
      '#',
      '&',
      '=',
      ';',
      '\\',
      '\r\n',
      '\r\nx-evil: 1\r\n\r\n',
      ' HTTP/1.1',
      '\0',
      'Book:',
      '7',
      '@evil.example',
      '//evil.example',
      ',',
      '&fields=',
      '\u{10ffff}',
      '\ud800',
    ),
  );
  const hostileText = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
  await fc.assert(
    fc.asyncProperty(hostileText, async (text) => {
      books.requests.length = 0;
      events.requests.length = 0;
      const response = await execute(document, {
        variables: { s: text, id: text },
        headers: { authorization: 'Bearer caller' },
      });
      expect(codesIn(response)).not.toContain('INTERNAL_SERVER_ERROR');
      for (const { method, path, headers } of [...books.requests, ...events.requests]) {
        expect(method).toBe('GET');
        const [pathname = '', query = '', ...more] = path.split('?');
        expect(more).toEqual([]);
        expect(pathname).not.toMatch(/\/\.{1,2}(\/|$)/);
        expect(
          shapes.some((shape) => shape.test(pathname)),
          pathname,
        ).toBe(true);
        for (const pair of query.split('&').filter(Boolean)) {
          expect(pair).toMatch(/^[\w-]+=[\w.~!*'(),%-]*$/);
          expect(parameters).toContain(pair.split('=')[0]);
        }
        expect(headers).not.toHaveProperty('x-evil');
        expect(headers.authorization).toBe('Bearer caller');
      }
    }),
    { numRuns: thorough ? 150 : 50 },
  );
});

test('an Authorization header without a bearer token is sent nowhere', async () => {
  const { books, execute } = await startFacade();
  books.behave(respond);
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer a b', 'secret']) {
    const response = await execute('{ book(id: 7) { id title } }', { headers: { authorization } });
    expect(codesIn(response)).toEqual(['UNAUTHENTICATED']);
    expect(JSON.stringify(response)).not.toContain(
      authorization.split(' ').at(-1) === 'Bearer' ? 'Basic' : authorization,
    );
  }
  expect(books.requests).toEqual([]);
});

test('a bearer token may follow several spaces, as HTTP allows', async () => {
  const { books, execute } = await startFacade();
  books.behave(respond);
  await execute('{ book(id: 7) { id title } }', { headers: { authorization: 'bearer   secret ' } });
  expect(books.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret']);
});

test('a connection without a request is closed', async () => {
  const { facade } = await startFacade({ requestHeadersTimeoutMs: '200' });
  const socket = connect(facade.port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('close', () => resolve()).resume());
});

test('a client that does not read blocks no other client, and is disconnected', async () => {
  const { books, facade, execute } = await startFacade({
    maxRunningOperations: '1',
    maxWaitingOperations: '0',
    connectionTimeoutMs: '700',
    maxResponseBytes: '50000000',
  });
  books.behave(json(JSON.stringify({ id: '7', title: 'x', summary: '活'.repeat(1_000_000) })));
  const socket = connect(facade.port, '127.0.0.1').on('error', () => undefined);
  const body = JSON.stringify({ query: '{ book(id: 7) { a: summary b: summary c: summary d: summary } }' });
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.pause();
  await until(() => books.requests.length === 1);
  await expect.poll(async () => (await execute('{ __typename }')).data).toEqual({ __typename: 'Query' });
  const metrics = async () => (await fetch(`${facade.url}/metrics`)).text();
  await expect.poll(metrics).toContain('catalog_requests_running 1'); // the metrics request itself
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let read = 0;
  socket.on('data', (chunk: Buffer) => (read += chunk.length));
  socket.resume();
  await closed;
  expect(read).toBeLessThan(12_000_000); // the response has at least 12 MB
});

test('requests beyond the capacity are rejected at once, and admitted ones are completed', async () => {
  const { books, url, facade, execute } = await startFacade({ maxRunningOperations: '2', maxWaitingOperations: '2' });
  const held: (() => void)[] = [];
  books.behave((socket, request) => held.push(() => respond(socket, request)));
  const admitted = Array.from({ length: 4 }, (_, i) => execute(`{ book(id: ${i}) { title } }`));
  await until(() => held.length === 2);
  const metrics = async () => (await fetch(`${facade.url}/metrics`)).text();
  await expect.poll(metrics).toContain('catalog_operations_waiting 2');

  const rejected = await fetch(url, {
    method: 'POST',
    body: '{"query":"{ __typename }"}',
    headers: { 'content-type': 'application/json' },
  });
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await rejected.json()).errors[0].extensions.code).toBe('OVERLOADED');
  expect((await fetch(`${facade.url}/health`)).status).toBe(200);

  const pump = setInterval(() => held.splice(0).forEach((go) => go()), 5);
  expect((await Promise.all(admitted)).map(({ data }) => data)).toEqual(Array(4).fill({ book: { title: 'x' } }));
  clearInterval(pump);
  expect((await execute('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('a client that disconnects while it waits frees its place in the queue', async () => {
  const { books, url, facade } = await startFacade({ maxRunningOperations: '1', maxWaitingOperations: '1' });
  books.behave(silence);
  const clients = [new AbortController(), new AbortController()];
  const init = {
    method: 'POST',
    body: '{"query":"{ book(id: 7) { title } }"}',
    headers: { 'content-type': 'application/json' },
  };
  const metrics = async () => (await fetch(`${facade.url}/metrics`)).text();
  const requests = [];
  for (const [waiting, { signal }] of clients.entries()) {
    requests.push(fetch(url, { ...init, signal }).catch(() => 'gone'));
    await expect.poll(metrics).toContain(`catalog_operations_waiting ${waiting}`);
    await until(() => books.requests.length === 1);
  }
  clients[1]?.abort();
  await expect.poll(metrics).toContain('catalog_operations_waiting 0');
  clients[0]?.abort();
  await expect.poll(metrics).toContain('catalog_operations_running 0');
  expect(await Promise.all(requests)).toEqual(['gone', 'gone']);
});

test('requests on connections beyond the limit are rejected, except probes', async () => {
  const { facade, url } = await startFacade({ maxClientConnections: '1' });
  const first = connect(facade.port, '127.0.0.1');
  await new Promise((resolve) => first.once('connect', resolve));
  const init = { method: 'POST', body: '{"query":"{ __typename }"}', headers: { 'content-type': 'application/json' } };
  const rejected = await fetch(url, init);
  expect([rejected.status, rejected.headers.get('retry-after'), rejected.headers.get('connection')]).toEqual([
    503,
    '1',
    'close',
  ]);
  expect((await rejected.json()).errors[0].extensions.code).toBe('OVERLOADED');
  const probe = await fetch(`${facade.url}/health`);
  // If it were kept, a client with another connection would be rejected as long as both are open.
  expect([probe.status, probe.headers.get('connection')]).toEqual([200, 'close']);
  await probe.text();
  first.destroy();
  await expect.poll(async () => (await fetch(url, init)).text()).toContain('"Query"');
});
