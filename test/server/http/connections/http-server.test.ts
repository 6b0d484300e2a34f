import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { Agent, type IncomingMessage, get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { configWith } from '../../../support/config.ts';
import { made } from '../../../support/made.ts';
import { openServer } from '../../../support/open-server.ts';
import { createUpstream } from '../../../../src/upstream/client.ts';
import type { Facade } from '../../../../src/server/server.ts';
import { expectAtRest } from '../../../support/atRest.ts';
import { until } from '../../../support/hostile.ts';

const toClose: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of toClose.splice(0)) await each.close();
});

let slow: { started: () => void; until: Promise<unknown> } | undefined;
let written = 0;

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      word: { type: GraphQLString, args: { say: { type: GraphQLString } }, resolve: (_, { say }) => say ?? 'yes' },
      slow: {
        type: GraphQLString,
        resolve: async () => {
          slow?.started();
          await slow?.until;
          return 'done';
        },
      },
    },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: { write: { type: GraphQLString, resolve: () => String(++written) } },
  }),
});

async function open(
  env: NodeJS.ProcessEnv = {},
  tabs = [{ name: 'word', query: 'query Word { word }' }],
  graphiql?: string,
): Promise<Facade> {
  const config = configWith({ PORT: '0', ...env });
  const nowhere = { ...config, baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
  const upstream = createUpstream(catalogService, nowhere);
  toClose.push(upstream);
  const facade = await openServer(config, {
    schema,
    upstream,
    log: pino({ level: 'silent' }),
    tabs,
    graphiql: graphiql ?? (await made('graphiql')),
  });
  toClose.push(facade);
  return facade;
}

const json = { 'content-type': 'application/json' };
const post = (url: string, body: unknown, headers: Record<string, string> = json) =>
  fetch(`${url}/graphql`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
const codeOf = async (response: Response) => (await response.json()).errors[0].extensions.code;

test('a query in JSON is answered, by POST and by GET', async () => {
  const { url } = await open();
  const answer = await post(url, { query: 'query A($s: String) { word(say: $s) }', variables: { s: 'hi' } });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ data: { word: 'hi' } });
  expect(answer.headers.get('vary')).toBe('Authorization, Accept, x-explain, Accept-Encoding, Origin');
  expect(await (await fetch(`${url}/graphql?query={word}`)).json()).toEqual({ data: { word: 'yes' } });
});

test('an operationName, whatever its content, does not change the cached document of others', async () => {
  const { url } = await open();
  const [name, query] = ['A', 'query A {\n  word\n}'];
  for (const operationName of ['', 'A\nquery A {', '\nquery A {', '1 A'])
    await post(url, { query: '  word\n}', operationName });
  await post(url, { query, operationName: 'B' });
  for (const operationName of [name, '', null, undefined])
    expect(await (await post(url, { query, operationName })).json()).toEqual({ data: { word: 'yes' } });
});

test('invalid variables and unsupported operations are client errors with a code', async () => {
  const { url } = await open();
  for (const query of [
    'query($s: Boolean = true) { word @include(if: $s) }',
    'query($s: Boolean = true) { word @skip(if: $s) }',
  ])
    expect(await codeOf(await post(url, { query, variables: { s: null } }))).toBe('BAD_USER_INPUT');
  expect(await codeOf(await post(url, { query: 'subscription { x }' }))).not.toBe('INTERNAL_SERVER_ERROR');
  for (const parameters of ['query={word}&variables={bad', 'query={word}&extensions={bad']) {
    const answer = await fetch(`${url}/graphql?${parameters}`);
    expect([answer.status, await codeOf(answer)]).toEqual([400, 'BAD_REQUEST']);
  }
});

test('a safe request id of the client is used, otherwise one is created', async () => {
  const { url } = await open();
  const idFor = async (id: string) =>
    (await fetch(`${url}/health`, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
  expect(await idFor('a.b-C_9')).toBe('a.b-C_9');
  expect(await idFor('a b')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor('x'.repeat(65))).toMatch(/^[0-9a-f-]{36}$/);
});

test('an invalid document is rejected with a code', async () => {
  const { url } = await open();
  expect(await codeOf(await post(url, { query: '{' }))).toBe('GRAPHQL_PARSE_FAILED');
  expect(await codeOf(await post(url, { query: '{ nope }' }))).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('GET never runs a mutation', async () => {
  const { url } = await open();
  const before = written;
  const answer = await fetch(`${url}/graphql?query=mutation{write}`);
  expect(answer.status).toBe(405);
  expect(written).toBe(before);
});

test('a form or a bare document needs a header that other pages cannot send', async () => {
  const { url } = await open();
  const before = written;
  const form = 'query=mutation{write}';
  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/graphql',
    'multipart/form-data; boundary=x',
  ]) {
    const answer = await post(url, form, { 'content-type': type });
    expect([answer.status, await codeOf(answer)]).toEqual([415, 'CSRF_HEADER_REQUIRED']);
  }
  expect(written).toBe(before);
  const meant = { 'content-type': 'application/x-www-form-urlencoded', 'x-graphql-csrf': '1' };
  expect(await (await post(url, form, meant)).json()).toEqual({ data: { write: String(before + 1) } });
  const bare = { 'content-type': 'application/graphql', 'apollo-require-preflight': 'yes' };
  expect(await (await post(url, '{ word }', bare)).json()).toEqual({ data: { word: 'yes' } });
});

test('a malformed body is rejected with a code', async () => {
  const { url } = await open();
  for (const [body, code] of [
    ['', 'BAD_REQUEST'],
    ['{}', 'BAD_REQUEST'],
    ['null', 'BAD_REQUEST'],
    ['{"query":7}', 'BAD_REQUEST'],
    ['{"query":', 'BAD_REQUEST'],
    ['[{"query":"{word}"}]', 'BATCHING_OFF'],
  ]) {
    const answer = await post(url, body);
    expect([body, answer.status, await codeOf(answer)]).toEqual([body, 400, code]);
  }
});

test('a body beyond the limit is rejected, with or without Content-Length', async () => {
  const { url } = await open({ MAX_BODY_BYTES: '1000' });
  const large = JSON.stringify({ query: `{ word } #${'x'.repeat(2000)}` });
  const announced = await post(url, large);
  expect([announced.status, await codeOf(announced)]).toEqual([413, 'BODY_TOO_LARGE']);
  const init = { method: 'POST', headers: json, body: new Blob([large]).stream(), duplex: 'half' };
  const streamed = await fetch(`${url}/graphql`, init);
  expect([streamed.status, await codeOf(streamed)]).toEqual([413, 'BODY_TOO_LARGE']);
});

test.each([
  ['a body with Content-Length', 'application/json', `content-length: ${8_000_000}`, 'BODY_TOO_LARGE'],
  ['a chunked body', 'application/json', 'transfer-encoding: chunked', 'BODY_TOO_LARGE'],
  ['a form with Content-Length', 'multipart/form-data; boundary=x', `content-length: ${8_000_000}`, 'UPLOAD_TOO_LARGE'],
  ['a chunked form', 'multipart/form-data; boundary=x', 'transfer-encoding: chunked', 'UPLOAD_TOO_LARGE'],
])(
  'a client that reads the response only after its whole request was sent still gets the rejection: %s',
  async (_, type, length, code) => {
    const { port } = await open({ MAX_BODY_BYTES: '1000', MAX_UPLOAD_BYTES: '1000' });
    const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nx-graphql-csrf: 1\r\ncontent-type: ${type}\r\n${length}\r\n\r\n`;
    const part = '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n';
    const stuff = (type.startsWith('multipart') ? part : '').padEnd(80_000, ' ');
    const piece = length.startsWith('transfer') ? `${stuff.length.toString(16)}\r\n${stuff}\r\n` : stuff;
    const end = length.startsWith('transfer') ? '0\r\n\r\n' : '';
    const answer = await raw(port, head + piece.repeat(100) + end, { readsLast: true });
    expect(answer).toContain(code);
  },
);

test('an incomplete body times out', async () => {
  const { port } = await open({ REQUEST_BODY_TIMEOUT_MS: '100' });
  const answer = await raw(
    port,
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{',
  );
  expect(answer).toContain('408');
  expect(answer).toContain('REQUEST_TIMEOUT');
});

test('headers that are too large, too slow or malformed are rejected with a code', async () => {
  const { port } = await open({ MAX_HEADER_BYTES: '2000' });
  expect(await raw(port, `GET /health HTTP/1.1\r\nx: ${'y'.repeat(3000)}\r\n\r\n`)).toContain('HEADERS_TOO_LARGE');
  expect(await raw(port, 'hello\r\n\r\n')).toContain('BAD_REQUEST');
  const impatient = await open({ REQUEST_HEADERS_TIMEOUT_MS: '100' });
  expect(await raw(impatient.port, 'GET /health HTTP/1.1\r\nx: ')).toContain('REQUEST_TIMEOUT');
});

test('a response says whether its connection is kept alive, and for how long', async () => {
  const { url } = await open();
  const responses = [
    await post(url, { query: '{ word }' }),
    await fetch(`${url}/health`),
    await fetch(`${url}/nowhere`),
  ];
  for (const { headers } of responses)
    expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['keep-alive', 'timeout=65']);
  const last = [
    await post(`${url}/nowhere`, '{}'), // its body is not waited for
    await fetch(`${url}/health`, { headers: { connection: 'close' } }),
  ];
  for (const { headers } of last)
    expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['close', null]);
});

test('an unknown path is rejected with 404 in JSON', async () => {
  const { url } = await open();
  for (const path of ['/', '/graphql/x', '/constructor', '/__proto__']) {
    const answer = await fetch(url + path);
    expect([answer.status, await codeOf(answer)]).toEqual([404, 'NOT_FOUND']);
  }
  expect((await fetch(`${url}/graphql`, { method: 'PUT' })).status).toBe(405);
  expect((await fetch(`${url}/health`, { method: 'POST' })).status).toBe(405);
});

test('other origins get no CORS headers unless they are listed', async () => {
  const { url } = await open({ CORS_ORIGINS: 'https://shop.example' });
  const preflight = (origin: string) =>
    fetch(`${url}/graphql`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
  const listed = await preflight('https://shop.example');
  expect(listed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  expect(listed.headers.get('access-control-allow-headers')).toContain('authorization');
  expect(listed.headers.has('access-control-allow-credentials')).toBe(false);
  expect((await preflight('https://evil.example')).headers.has('access-control-allow-origin')).toBe(false);
  const request = await post(url, { query: '{ word }' }, { ...json, origin: 'https://shop.example' });
  expect(request.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  expect(request.headers.get('vary')).toContain('Origin');
});

test('GraphiQL opens with our example operations, loads nothing from other hosts and contains the demo token', async () => {
  const { url } = await open();
  const answer = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  const page = await answer.text();
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page).toContain('query Word { word }');
  expect(page).toContain('Bearer demo-alice');
  expect(page).not.toMatch(/<(script|link|img)[^>]+(src|href)="(https?:)?\/\//);
});

test('files of the GraphiQL page are compressed, immutable, and named by their content', async () => {
  const { url } = await open();
  const ofPage = async (accept: string) => {
    const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html', 'accept-encoding': accept } });
    return [page, await page.text()] as const;
  };
  const [page, html] = await ofPage('br');
  expect(html.length).toBeLessThan(10_000);
  const validator = { 'if-none-match': page.headers.get('etag')! };
  const again = await fetch(`${url}/graphql`, { headers: { accept: 'text/html', ...validator } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const files = [...new Set(html.match(/graphql\/assets\/[\w.-]+(?:js|css)\b/g))];
  expect(files).toHaveLength(7);
  const totals = { br: 0, gzip: 0 };
  for (const file of files) {
    expect(file).toMatch(/-[0-9a-f]{12}\.(?:js|css)$/);
    const texts = new Set<string>();
    for (const encoding of ['br', 'gzip', 'identity'] as const) {
      const answer = await fetch(`${url}/${file}`, { headers: { 'accept-encoding': encoding } });
      expect([answer.status, answer.headers.get('content-encoding') ?? 'identity']).toEqual([200, encoding]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.headers.get('content-type')).toMatch(/^text\/(?:javascript|css); charset=utf-8$/);
      if (encoding !== 'identity') totals[encoding] += Number(answer.headers.get('content-length'));
      texts.add(await answer.text());
    }
    expect(texts.size).toBe(1);
    expect((await fetch(`${url}/${file}`, { method: 'POST' })).status).toBe(405);
  }
  expect(totals.br).toBeLessThan(2_500_000);
  expect(totals.gzip).toBeLessThan(2_500_000);
  const introspection = await fetch(`${url}/graphql/assets/schema.json`);
  expect((await introspection.json()).data.__schema.queryType.name).toBe('Query');
  expect((await fetch(`${url}/graphql/assets/page-000000000000.js`)).status).toBe(404);
  const closed = await open({ INTROSPECTION: 'off' });
  expect((await fetch(`${closed.url}/graphql/assets/schema.json`)).status).toBe(404);
});

test.each([
  ['a form', 'POST', { 'content-type': 'application/x-www-form-urlencoded', 'x-graphql-csrf': '1' }],
  ['an event stream', 'POST', { 'content-type': 'application/json', accept: 'text/event-stream' }],
  ['QUERY', 'QUERY', { 'content-type': 'application/json' }],
])('an empty operation name counts as absent: %s', async (_, method, headers) => {
  const { url } = await open();
  const params = { query: '{ word }', operationName: '' };
  const isJson = headers['content-type'] === 'application/json';
  const body = isJson ? JSON.stringify(params) : new URLSearchParams(params).toString();
  const response = await fetch(`${url}/graphql`, { method, headers, body });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('{"data":{"word":"yes"}}')]);
});

test('a file of GraphiQL is read once, however many requests there are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'graphiql-'));
  cpSync(await made('graphiql'), folder, { recursive: true });
  const { url } = await open({}, [], folder);
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.br'));
  const bytes = async () => {
    const responses = ['br', 'gzip', 'identity'].map((encoding) =>
      fetch(`${url}/graphql/assets/${name!.slice(0, -3)}`, { headers: { 'accept-encoding': encoding } }),
    );
    return Promise.all(responses.map(async (response) => (await (await response).text()).length));
  };
  const first = await bytes();
  expect(first[0]).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
  expect(await bytes()).toEqual(first);
});

test('GraphiQL and introspection are off in production', async () => {
  const { url } = await open({ NODE_ENV: 'production' });
  const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  expect(await page.text()).not.toContain('GraphiQL');
  const [name] = readdirSync(await made('graphiql')).filter((file) => file.endsWith('.br'));
  expect((await fetch(`${url}/graphql/assets/${name!.slice(0, -3)}`)).status).toBe(404);
  expect(await codeOf(await post(url, { query: '{ __schema { types { name } } }' }))).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('metrics count operations, errors by code and requests', async () => {
  const { url } = await open();
  await post(url, { query: '{ word }' });
  await post(url, { query: '{ nope }' });
  await fetch(`${url}/nowhere`);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('catalog_operations_total{type="query",outcome="ok"} 1');
  expect(text).toContain('catalog_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1');
  expect(text).toContain('catalog_requests_total{path="other",status="404"} 1');
  expect(text).toContain('catalog_operation_seconds_bucket{le="+Inf",type="query"} 1');
});

test('closing waits for running operations, accepts no new connections and can be called twice', async () => {
  const facade = await open({ SHUTDOWN_MS: '60000' });
  let finish: (value?: unknown) => void = () => undefined;
  const until = new Promise((resolve) => (finish = resolve));
  const running = new Promise<void>((started) => (slow = { started, until }));
  const answer = post(facade.url, { query: '{ slow }' });
  await running;
  const closed = Promise.all([facade.close(), facade.close()]);
  await expect(post(facade.url, { query: '{ word }' })).rejects.toThrow();
  finish();
  expect(await (await answer).json()).toEqual({ data: { slow: 'done' } });
  await closed;
});

test('closing serves new connections for DRAIN_MS, while /ready responds with 503', async () => {
  const facade = await open({ DRAIN_MS: '3000' });
  const started = performance.now();
  const closed = facade.close();
  const ready = await fetch(`${facade.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'shutting down' }]);
  const answer = await post(facade.url, { query: '{ word }' });
  expect(await answer.json()).toEqual({ data: { word: 'yes' } });
  expect(answer.headers.get('connection')).toBe('close');
  await closed;
  expect(performance.now() - started).toBeGreaterThanOrEqual(2_990);
  await expect(post(facade.url, { query: '{ word }' })).rejects.toThrow();
});

test('an idle connection is not closed with the port but after its next response, so that no request meets a closing one', async () => {
  const facade = await open({ DRAIN_MS: '3000' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async () => {
    const request = get(`${facade.url}/graphql?query={word}`, { agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return [await text(response), response.headers.connection, request.reusedSocket];
  };
  const word = '{"data":{"word":"yes"}}';
  const closed = facade.close();
  // At first clients are sent away; at the end a proxy that is still there need not open connections.
  expect(await ask()).toEqual([word, 'close', false]);
  await expect.poll(async () => (await ask())[1]).toBe('keep-alive');
  await expect
    .poll(() => fetch(`${facade.url}/ready`, { headers: { connection: 'close' } }).catch(() => 'refused'))
    .toBe('refused');
  expect(await ask()).toEqual([word, 'close', true]);
  await closed;
  agent.destroy();
});

test('closing waits for running operations no longer than SHUTDOWN_MS', async () => {
  const facade = await open({ SHUTDOWN_MS: '100' });
  const running = new Promise<void>((started) => (slow = { started, until: new Promise(() => undefined) }));
  const answer = post(facade.url, { query: '{ slow }' }).catch(() => 'cut');
  await running;
  await facade.close();
  expect(await answer).toBe('cut');
});

test('an operation that never ends releases its slot at its deadline', async () => {
  const facade = await open({ MAX_RUNNING_OPERATIONS: '1', MAX_WAITING_OPERATIONS: '0', OPERATION_TIMEOUT_MS: '100' });
  const running = new Promise<void>((started) => (slow = { started, until: new Promise(() => undefined) }));
  const leaving = new AbortController();
  const init = { method: 'POST', headers: json, body: '{"query":"{ slow }"}', signal: leaving.signal };
  const stuck = fetch(`${facade.url}/graphql`, init).catch(() => 'left');
  await running;
  expect(await codeOf(await post(facade.url, { query: '{ word }' }))).toBe('OVERLOADED');
  await until(() => facade.state().operationsRunning === 0);
  expect(await (await post(facade.url, { query: '{ word }' })).json()).toEqual({ data: { word: 'yes' } });
  leaving.abort();
  expect(await stuck).toBe('left');
  await expectAtRest(facade);
});

/** Sends bytes as they are and returns the whole response. */
function raw(port: number, text: string, { readsLast = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const listen = () => socket.on('data', (chunk) => (answer += chunk.toString()));
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => readsLast && listen()));
    if (!readsLast) listen();
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('closing does not wait for a connection without any request', async () => {
  // Longer than the timeout of the test, so that a server that waits fails it.
  const facade = await open({ SHUTDOWN_MS: '600000' });
  const silent = connect(facade.port, '127.0.0.1');
  const closed = new Promise((resolve) => silent.once('close', resolve));
  await new Promise((resolve) => silent.once('connect', resolve));
  await facade.close();
  await closed;
});
