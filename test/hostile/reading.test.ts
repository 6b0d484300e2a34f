// Clients that do not read their answers: what waits for them is bounded, and keeps nobody out.
import { subscribe } from 'node:diagnostics_channel';
import { type Socket, connect } from 'node:net';
import { expect, test } from 'vitest';
import { expectAtRest } from '../support/atRest.ts';
import { besieged } from '../support/besieged.ts';
import { json, until } from '../support/hostile.ts';

const MEGABYTES = 1_000_000;
const LONG = '600000';
/** About 12 MB, and more than the system takes from a server whose client does not read. */
const fields = 'a: summary b: summary c: summary d: summary';
const large = json(JSON.stringify({ id: '7', title: 'x', summary: '活'.repeat(MEGABYTES) }));
const slow = { maxAnswerBytes: '100000000', operationTimeoutMs: '600000', recordTtlSeconds: '60' };

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
  'requests that are sent behind one another': () => get().repeat(2),
};

/** Sockets of servers in this process. */
const serverSockets = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  serverSockets.add(socket);
  socket.once('close', () => serverSockets.delete(socket));
});
const bufferedBy = (port: number) =>
  [...serverSockets].reduce((sum, { localPort, writableLength }) => sum + (localPort === port ? writableLength : 0), 0);

/** Sends the request and never reads. */
function deaf(port: number, request: string) {
  const client = { isCut: false };
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.once('close', () => (client.isCut = true));
  socket.pause();
  socket.write(request);
  return { ...client, socket };
}

test.each(Object.keys(requests))('what waits for clients that do not read is bounded: %s', async (kind) => {
  const BOUND = 30 * MEGABYTES;
  const { books, facade, metrics } = await besieged({
    ...slow,
    maxUnsentBytes: String(BOUND),
    connectionTimeoutMs: LONG,
  });
  books.behave(large);
  const seen: number[] = [];
  const look = () => void seen.push(Math.max(facade.state().unsentBytes, bufferedBy(facade.port)));
  const watching = setInterval(look, 1);
  const clients = Array.from({ length: 12 }, () => deaf(facade.port, requests[kind]!()));
  const isCut = async () => /catalog_unread_connections_total [1-9]/.test(await metrics.text());
  await expect.poll(isCut, { timeout: 60_000 }).toBe(true);
  await until(() => facade.state().operationsRunning === 0);
  clearInterval(watching);
  look(); // on a busy machine, the interval may never have fired in between
  expect(Math.max(...seen)).toBeGreaterThan(BOUND / 3);
  expect(Math.max(...seen)).toBeLessThanOrEqual(BOUND);
  // Who reads gets the whole answer meanwhile.
  const read = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ book(id: 7) { ${fields} } }` }),
  });
  expect((await read.text()).length).toBeGreaterThan(4 * MEGABYTES);
  for (const { socket } of clients) socket.destroy();
  await expectAtRest(facade);
});

test.each(Object.keys(requests))('a client that reads nothing for long is cut off: %s', async (kind) => {
  const { books, facade, metrics } = await besieged({ ...slow, connectionTimeoutMs: '1000' });
  books.behave(large);
  const clients = Array.from({ length: 3 }, () => deaf(facade.port, requests[kind]!()));
  await expect.poll(() => metrics.text(), { timeout: 60_000 }).toContain('catalog_unread_connections_total 3');
  await expectAtRest(facade, { connections: true });
  for (const { socket } of clients) socket.destroy();
});

test('a client that reads slowly is not cut off', async () => {
  const { books, facade } = await besieged({ ...slow, connectionTimeoutMs: '1500' });
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
