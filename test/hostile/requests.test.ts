// Requests that are not what HTTP says, over sockets: what is wrong is refused with a code, and never becomes another request.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createFacade } from '../../src/facade.ts';
import { besieged } from '../support/besieged.ts';
import { expectAtRest } from '../support/atRest.ts';
import { json, silence, until } from '../support/hostile.ts';

const INSIDE = /node_modules|\.[jt]s:\d|\bat \S+ \(|\/src\//;
const answered = json('{"id":"7","title":"x"}');
const query = encodeURIComponent('{ book(id: 7) { title } }');

/** A client that sends bytes as they are, and collects what comes back. */
function client(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const told = { socket, text: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (told.text += chunk.toString()));
  socket.on('close', () => (told.isClosed = true));
  return told;
}

async function answerTo(port: number, request: string): Promise<string> {
  const told = client(port);
  told.socket.write(request);
  await until(() => told.isClosed);
  return told.text;
}

const head = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'connection: close', ...lines, '', ''].join('\r\n');
const body = '{"query":"{ __typename }"}';
const ways: [name: string, request: (...lines: string[]) => string][] = [
  ['GET', (...lines) => head('GET', `/graphql?query=${query}`, ...lines)],
  ['server-sent events', (...lines) => head('GET', `/graphql?query=${query}`, 'accept: text/event-stream', ...lines)],
  [
    'POST',
    (...lines) =>
      head('POST', '/graphql', 'content-type: application/json', `content-length: ${body.length}`, ...lines) + body,
  ],
  ['a probe', (...lines) => head('GET', '/health', ...lines)],
];

test.each(ways)('a malformed Host is refused with a code: %s', async (_, request) => {
  const { facade } = await besieged({}, { NODE_ENV: 'production' });
  for (const host of ['[', 'a b', 'x/y', 'x:y', 'user@x', '[::1', 'x\\y']) {
    const told = await answerTo(facade.port, request(`host: ${host}`));
    expect(told, host).toMatch(/^HTTP\/1.1 400 /);
    expect(told).toContain('"code":"BAD_REQUEST"');
    expect(told).not.toMatch(INSIDE);
  }
  const without = await answerTo(facade.port, request());
  expect(without).toMatch(/^HTTP\/1.1 400 /);
  expect(without).toContain('"code":"BAD_REQUEST"');
  for (const host of ['x', 'x:80', 'a-b.c_d:4000', '127.0.0.1:1', '[::1]:4000', '']) {
    expect(await answerTo(facade.port, request(`host: ${host}`)), host).toMatch(/^HTTP\/1.1 200 /);
  }
});

test('a malformed Host is refused with a code: createFacade', async () => {
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

test.each(ways.slice(0, 3))(
  'what was not foreseen is logged, and no client sees where it happened: %s',
  async (_, request) => {
    const refused = () => {
      throw new Error('nobody thought of this');
    };
    const { upstream, close } = await besieged();
    const { facade, logged } = await besieged(
      {},
      { NODE_ENV: 'production' },
      { upstream: { ...upstream, forOperation: refused } },
    );
    const told = await answerTo(facade.port, request('host: x'));
    expect(told).toContain('"code":"INTERNAL_SERVER_ERROR"');
    expect(told).not.toMatch(INSIDE);
    expect(told).not.toContain('nobody thought');
    expect(logged.join('')).toContain('nobody thought of this');
    await close();
  },
);

test('a request with more headers than are read is refused, and does not run without one of them', async () => {
  const { books, facade } = await besieged();
  books.behave(answered);
  const lines = (n: number) => ['host: x', ...Array.from({ length: n }, () => 'a:'), 'authorization: Bearer mine'];
  for (const n of [1_000, 1_999, 2_000, 5_000]) {
    const told = await answerTo(facade.port, head('GET', `/graphql?query=${query}`, ...lines(n)));
    expect(told, String(n)).toMatch(/^HTTP\/1.1 431 /);
    expect(told).toContain('"code":"HEADERS_TOO_LARGE"');
  }
  expect(books.heard).toEqual([]);
  expect(await answerTo(facade.port, head('GET', `/graphql?query=${query}`, ...lines(100)))).toMatch(/^HTTP\/1.1 200 /);
  expect(books.heard.map(({ headers }) => headers.authorization)).toEqual(['Bearer mine']);
});

test('when a client leaves, the requests that it sent behind one another all end', async () => {
  const { books, facade } = await besieged({}, { ACCESS_TOKEN: 'own' });
  books.behave(silence);
  const { socket } = client(facade.port);
  const requests = Array.from(
    { length: 20 },
    (_, id) => `GET /graphql?query=${encodeURIComponent(`{ book(id: ${id}) { title } }`)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  );
  socket.write(requests.join(''));
  await until(() => books.heard.length === 20);
  expect(facade.state()).toMatchObject({ requestsRunning: 20, operationsRunning: 20, callsRunning: 20 });
  socket.resetAndDestroy();
  await expectAtRest(facade, { connections: true });
  await until(() => books.open() === 0); // each upstream call was given up
});

test('nothing is written into an answer that is being sent when what follows on the connection is no HTTP', async () => {
  const { books, facade } = await besieged();
  const held: (() => void)[] = [];
  books.behave((socket, heard) =>
    heard.path.includes('summary') ? held.push(() => undefined) : answered(socket, heard),
  );
  const told = client(facade.port);
  const query = JSON.stringify({ query: '{ book(id: 7) { title ... @defer { summary } } }' });
  told.socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: multipart/mixed\r\ncontent-type: application/json\r\ncontent-length: ${query.length}\r\n\r\n${query}`,
  );
  await until(() => told.text.includes('"hasNext":true'));
  told.socket.write('nonsense\r\n\r\n');
  await until(() => told.isClosed);
  expect(told.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  await expectAtRest(facade, { connections: true });
});

test('a refusal of what is no HTTP does not take the place of the answer to the request before it', async () => {
  const { books, facade } = await besieged();
  books.behave(silence);
  const told = client(facade.port);
  told.socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await until(() => books.heard.length === 1);
  told.socket.write('nonsense\r\n\r\n');
  await until(() => told.isClosed);
  expect(told.text).toBe('');
  await expectAtRest(facade, { connections: true });
});

test('a body that is no HTTP is refused with a code, once', async () => {
  const { facade } = await besieged();
  const told = client(facade.port);
  told.socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\nnonsense\r\n',
  );
  await until(() => told.isClosed);
  expect(told.text).toMatch(/^HTTP\/1.1 400 /);
  expect(told.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  await expectAtRest(facade, { connections: true });
});
