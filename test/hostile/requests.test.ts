// Malformed HTTP requests over sockets: they are rejected with a code, and never become another request.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createFacade } from '../../src/facade.ts';
import { startFacade } from '../support/start-facade.ts';
import { expectAtRest } from '../support/atRest.ts';
import { json, silence, until } from '../support/hostile.ts';

const INSIDE = /node_modules|\.[jt]s:\d|\bat \S+ \(|\/src\//;
const respond = json('{"id":"7","title":"x"}');
const query = encodeURIComponent('{ book(id: 7) { title } }');

/** A client that sends raw bytes and collects the response. */
function client(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const received = { socket, text: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (received.text += chunk.toString()));
  socket.on('close', () => (received.isClosed = true));
  return received;
}

/** Resolves when the facade has read what was sent before. */
const hasRead = async (port: number) => void (await answerTo(port, head('GET', '/health', 'host: x')));

async function answerTo(port: number, request: string): Promise<string> {
  const received = client(port);
  received.socket.write(request);
  await until(() => received.isClosed);
  return received.text;
}

const head = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'connection: close', ...lines, '', ''].join('\r\n');
const body = '{"query":"{ __typename }"}';
const requestKinds: [name: string, request: (...lines: string[]) => string][] = [
  ['GET', (...lines) => head('GET', `/graphql?query=${query}`, ...lines)],
  ['server-sent events', (...lines) => head('GET', `/graphql?query=${query}`, 'accept: text/event-stream', ...lines)],
  [
    'POST',
    (...lines) =>
      head('POST', '/graphql', 'content-type: application/json', `content-length: ${body.length}`, ...lines) + body,
  ],
  ['a probe', (...lines) => head('GET', '/health', ...lines)],
];

test.each(requestKinds)('a malformed Host is rejected with a code: %s', async (_, request) => {
  const { facade } = await startFacade({}, { NODE_ENV: 'production' });
  for (const host of ['[', 'a b', 'x/y', 'x:y', 'user@x', '[::1', 'x\\y']) {
    const received = await answerTo(facade.port, request(`host: ${host}`));
    expect(received, host).toMatch(/^HTTP\/1.1 400 /);
    expect(received).toContain('"code":"BAD_REQUEST"');
    expect(received).not.toMatch(INSIDE);
  }
  const without = await answerTo(facade.port, request());
  expect(without).toMatch(/^HTTP\/1.1 400 /);
  expect(without).toContain('"code":"BAD_REQUEST"');
  for (const host of ['x', 'x:80', 'a-b.c_d:4000', '127.0.0.1:1', '[::1]:4000', '']) {
    expect(await answerTo(facade.port, request(`host: ${host}`)), host).toMatch(/^HTTP\/1.1 200 /);
  }
});

test('a malformed Host is rejected with a code: createFacade', async () => {
  const facade = createFacade({
    baseUrl: 'http://127.0.0.1:9',
    eventBaseUrl: 'http://127.0.0.1:9',
    logLevel: 'silent',
  });
  const response = await facade.fetch(new Request(`http://x/graphql?query=${query}`, { headers: { host: '[' } }));
  const text = await response.text();
  expect([response.status, JSON.parse(text).errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  expect(text).not.toMatch(INSIDE);
  await facade.close();
});

test.each(requestKinds.slice(0, 3))(
  'an unexpected error is logged, and clients see no details of it: %s',
  async (_, request) => {
    const failing = () => {
      throw new Error('an unexpected error');
    };
    const { upstream, close } = await startFacade();
    const { facade, logged } = await startFacade(
      {},
      { NODE_ENV: 'production' },
      { upstream: { ...upstream, forOperation: failing } },
    );
    const received = await answerTo(facade.port, request('host: x'));
    expect(received).toContain('"code":"INTERNAL_SERVER_ERROR"');
    expect(received).not.toMatch(INSIDE);
    expect(received).not.toContain('unexpected error');
    expect(logged.join('')).toContain('an unexpected error');
    await close();
  },
);

test('a request with more headers than Node reads is rejected, instead of running without some of them', async () => {
  const { books, facade } = await startFacade();
  books.behave(respond);
  const lines = (n: number) => ['host: x', ...Array.from({ length: n }, () => 'a:'), 'authorization: Bearer mine'];
  for (const n of [1_000, 1_999, 2_000, 5_000]) {
    const received = await answerTo(facade.port, head('GET', `/graphql?query=${query}`, ...lines(n)));
    expect(received, String(n)).toMatch(/^HTTP\/1.1 431 /);
    expect(received).toContain('"code":"HEADERS_TOO_LARGE"');
  }
  expect(books.requests).toEqual([]);
  expect(await answerTo(facade.port, head('GET', `/graphql?query=${query}`, ...lines(100)))).toMatch(/^HTTP\/1.1 200 /);
  expect(books.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer mine']);
});

test('when a client disconnects, its request is cancelled, and those pipelined behind it do not begin', async () => {
  const { books, facade } = await startFacade({}, { ACCESS_TOKEN: 'own' });
  books.behave(silence);
  const { socket } = client(facade.port);
  const requests = Array.from(
    { length: 20 },
    (_, id) => `GET /graphql?query=${encodeURIComponent(`{ book(id: ${id}) { title } }`)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  );
  socket.write(requests.join(''));
  await until(() => books.requests.length === 1);
  await hasRead(facade.port);
  expect(facade.state()).toMatchObject({ requestsRunning: 1, operationsRunning: 1, callsRunning: 1 });
  socket.resetAndDestroy();
  await expectAtRest(facade, { connections: true });
  await until(() => books.open() === 0); // its upstream call was cancelled
  expect(books.requests).toHaveLength(1);
});

test.each([
  ['queries', `GET /graphql?query=${query} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ['probes', 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n'],
  [
    'posts',
    `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ],
])('many pipelined %s run one after the other, and all are answered', async (_, request) => {
  const { books, facade } = await startFacade();
  books.behave(respond);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, facade.state().requestsRunning)));
  const received = client(facade.port);
  received.socket.write(request.repeat(1_000));
  await until(() => received.text.match(/HTTP\/1\.1 200/g)?.length === 1_000);
  clearInterval(watch);
  expect(most).toBeLessThanOrEqual(1);
  received.socket.write(request);
  await until(() => received.text.match(/HTTP\/1\.1 200/g)?.length === 1_001);
  received.socket.destroy();
  await expectAtRest(facade, { connections: true });
});

test('a client that pipelines requests without end is disconnected', async () => {
  const { books, facade } = await startFacade();
  books.behave(silence);
  const received = client(facade.port);
  const request = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
  received.socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nhost: x\r\n\r\n${request.repeat(10_000)}`);
  await until(() => received.isClosed);
  await expectAtRest(facade, { connections: true });
});

test('malformed HTTP behind a request writes nothing into the response that is being sent', async () => {
  const { books, facade } = await startFacade();
  const held: (() => unknown)[] = [];
  books.behave((socket, upstreamRequest) => {
    const answer = () => respond(socket, upstreamRequest);
    return upstreamRequest.path.includes('summary') ? held.push(answer) : answer();
  });
  const received = client(facade.port);
  const query = JSON.stringify({ query: '{ book(id: 7) { title ... @defer { summary } } }' });
  received.socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: multipart/mixed\r\ncontent-type: application/json\r\ncontent-length: ${query.length}\r\n\r\n${query}`,
  );
  await until(() => received.text.includes('"hasNext":true') && held.length === 1);
  received.socket.write('nonsense\r\n\r\n');
  await hasRead(facade.port);
  held[0]!();
  await until(() => received.isClosed);
  const [, first, ...others] = received.text.split('HTTP/1.1 ');
  expect(first).toMatch(/^200 [^]*"hasNext":true[^]*"hasNext":false[^]*--\r\n\r\n0\r\n\r\n$/);
  expect(others).toEqual([expect.stringMatching(/^400 [^]*"code":"BAD_REQUEST"/)]);
  await expectAtRest(facade, { connections: true });
});

test('the rejection of malformed HTTP is not sent instead of the response to the request before it', async () => {
  const { books, facade } = await startFacade();
  const held: (() => unknown)[] = [];
  books.behave((socket, upstreamRequest) => held.push(() => respond(socket, upstreamRequest)));
  const received = client(facade.port);
  received.socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await until(() => held.length === 1);
  received.socket.write('nonsense\r\n\r\n');
  await hasRead(facade.port);
  held[0]!();
  await until(() => received.isClosed);
  const [, first, ...others] = received.text.split('HTTP/1.1 ');
  expect(first).toMatch(/^200 [^]*{"data":{"book":{"title":"x"}}}$/);
  expect(others).toEqual([expect.stringMatching(/^400 [^]*"code":"BAD_REQUEST"/)]);
  await expectAtRest(facade, { connections: true });
});

test('a malformed chunked body is rejected with a code, once', async () => {
  const { facade } = await startFacade();
  const received = client(facade.port);
  received.socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\nnonsense\r\n',
  );
  await until(() => received.isClosed);
  expect(received.text).toMatch(/^HTTP\/1.1 400 /);
  expect(received.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  await expectAtRest(facade, { connections: true });
});
