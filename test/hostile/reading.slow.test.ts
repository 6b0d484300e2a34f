// Clients that do not read their responses: buffered bytes are bounded, and other clients are served.
import { subscribe } from 'node:diagnostics_channel';
import { type Socket, connect } from 'node:net';
import { expect, test } from 'vitest';
import { expectAtRest } from '../support/atRest.ts';
import { sampleOf } from '../support/optional.ts';
import { startFacade } from '../support/start-facade.ts';
import { json, titledX, until } from '../support/hostile.ts';

const MEGABYTES = 1_000_000;
const LONG = '600000';
/** About 12 MB, far more than socket buffers take if the client does not read. */
const fields = 'a: summary b: summary c: summary d: summary';
const large = json(JSON.stringify({ id: '7', title: 'x', summary: '活'.repeat(MEGABYTES) }));
const slow = { maxResponseBytes: '100000000', operationTimeoutMs: '600000', recordTtlSeconds: '60' };

const get = () =>
  `GET /graphql?query=${encodeURIComponent(`{ book(id: 7) { ${fields} } }`)} HTTP/1.1\r\nhost: x\r\n\r\n`;
const post = (query: string, headers = '') => {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nhost: x\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
const requests: Record<string, () => string> = {
  'the fast path': () => post(`{ book(id: 7) { ${fields} } }`),
  GET: get,
  'incremental delivery': () => post(`{ book(id: 7) { id ... @defer { ${fields} } } }`, 'accept: multipart/mixed\r\n'),
  'pipelined requests': () => get().repeat(2),
};

const serverSockets = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  serverSockets.add(socket);
  socket.once('close', () => serverSockets.delete(socket));
});
const bufferedBy = (port: number) =>
  [...serverSockets].reduce((sum, { localPort, writableLength }) => sum + (localPort === port ? writableLength : 0), 0);

/** Sends the request and never reads. */
function connectWithoutReading(port: number, request: string) {
  const client = { isDisconnected: false };
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.once('close', () => (client.isDisconnected = true));
  socket.pause();
  socket.write(request);
  return { ...client, socket };
}

test.each(sampleOf(Object.keys(requests), 2))(
  'the bytes buffered for clients that do not read are bounded: %s',
  async (kind) => {
    const BOUND = 30 * MEGABYTES;
    const { books, facade, metrics } = await startFacade({
      ...slow,
      maxUnsentBytes: String(BOUND),
      connectionTimeoutMs: LONG,
    });
    books.behave(large);
    const measured: number[] = [];
    const measure = () => void measured.push(Math.max(facade.state().unsentBytes, bufferedBy(facade.port)));
    const timer = setInterval(measure, 1);
    // Their responses together are twice the bound.
    const clients = Array.from({ length: 5 }, () => connectWithoutReading(facade.port, requests[kind]!()));
    const isDisconnected = async () => /catalog_unread_connections_total [1-9]/.test(await metrics.text());
    await expect.poll(isDisconnected).toBe(true);
    await until(() => facade.state().operationsRunning === 0);
    clearInterval(timer);
    measure(); // on a busy machine the interval may never have fired
    expect(Math.max(...measured)).toBeGreaterThan(BOUND / 3);
    expect(Math.max(...measured)).toBeLessThanOrEqual(BOUND);
    // Meanwhile, a client that reads gets the whole response.
    const read = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ book(id: 7) { ${fields} } }` }),
    });
    expect((await read.text()).length).toBeGreaterThan(4 * MEGABYTES);
    for (const { socket } of clients) socket.destroy();
    await expectAtRest(facade);
  },
);

test.each(sampleOf(Object.keys(requests), 2, 1))(
  'a client that reads nothing for long is disconnected: %s',
  async (kind) => {
    const { books, facade, metrics } = await startFacade({ ...slow, connectionTimeoutMs: '1000' });
    books.behave(large);
    const clients = Array.from({ length: 3 }, () => connectWithoutReading(facade.port, requests[kind]!()));
    await expect.poll(() => metrics.text()).toContain('catalog_unread_connections_total 3');
    await expectAtRest(facade, { connections: true });
    for (const { socket } of clients) socket.destroy();
  },
);

test('a request behind a response that its client does not read begins when that is read', async () => {
  const { books, facade } = await startFacade({ ...slow, connectionTimeoutMs: LONG });
  books.behave((socket, request) => (request.path.includes('/8') ? titledX : large)(socket, request));
  const behind = `GET /graphql?query=${encodeURIComponent('{ book(id: 8) { title } }')} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const { socket } = connectWithoutReading(facade.port, get() + behind);
  await until(() => facade.state().unsentBytes > MEGABYTES && facade.state().operationsRunning === 0);
  // What was to begin with the end of the operation has begun by then.
  await fetch(`${facade.url}/health`);
  expect(facade.state()).toMatchObject({ requestsRunning: 1 });
  expect(books.requests).toHaveLength(1);
  const read: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void read.push(chunk)).resume();
  await until(() => books.requests.length === 2);
  await until(() => Buffer.concat(read.slice(-2)).toString().includes('"title":"x"}}}'));
  socket.destroy();
  await expectAtRest(facade);
});

test('a client that reads slowly is not disconnected', async () => {
  const { books, facade } = await startFacade({ ...slow, connectionTimeoutMs: '1500' });
  books.behave(large);
  const socket = connect(facade.port, '127.0.0.1').on('error', () => undefined);
  socket.write(requests['the fast path']!().replace('host: x', 'host: x\r\nconnection: close'));
  let read = 0;
  let pauseAt = MEGABYTES;
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read < pauseAt) return;
      pauseAt += MEGABYTES;
      socket.pause();
      setTimeout(() => socket.resume(), 200);
    });
  });
  expect(read).toBeGreaterThan(12 * MEGABYTES);
  await expectAtRest(facade, { connections: true });
});

test('the bytes of bodies that are never completed are bounded', async () => {
  const BOUND = 5 * MEGABYTES;
  const { facade } = await startFacade({ maxUnsentBytes: String(BOUND), requestBodyTimeoutMs: LONG });
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 990000\r\n\r\n{"query":"`;
  const sent = head + ' '.repeat(900_000);
  const clients = Array.from({ length: 20 }, () => connectWithoutReading(facade.port, sent));
  await until(() => facade.state().unsentBytes > BOUND / 2 && facade.state().connections <= 6); // five bodies are within the bound
  expect(facade.state().unsentBytes).toBeLessThanOrEqual(BOUND);
  const response = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ __typename } #${' '.repeat(900_000)}` }),
  });
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_TOO_LONG' } }] });
  for (const { socket } of clients) socket.destroy();
  await expectAtRest(facade);
});

test('a body that arrives slowly is read', async () => {
  const { facade } = await startFacade({ connectionTimeoutMs: '1000' });
  const socket = connect(facade.port, '127.0.0.1').on('error', () => undefined);
  const body = JSON.stringify({ query: '{ __typename }', variables: { long: 'x'.repeat(200_000) } });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  for (let at = 0; at < body.length; at += 10_000) {
    socket.write(body.slice(at, at + 10_000));
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await until(() => text.includes('{"data":{"__typename":"Query"}}'));
  socket.destroy();
  await expectAtRest(facade, { connections: true });
});
