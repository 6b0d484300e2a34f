import { type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import {
  type ConnectionSettings,
  type Connections,
  trackConnections,
} from '../../../../src/server/http/connections/connections.ts';
import { Exchange } from '../../../../src/server/http/exchange.ts';
import { UnreadBytes } from '../../../../src/server/http/connections/unread-bytes.ts';
import { until } from '../../../support/hostile.ts';

const LONG = 3_600_000;
const running: { close: () => void }[] = [];
afterEach(() => running.splice(0).forEach(({ close }) => close()));

/** A server that holds responses back, and a function that connects to it. */
async function setUp({ idleMs = LONG, ...settings }: Partial<ConnectionSettings> & { idleMs?: number }) {
  const held: ServerResponse[] = [];
  const sockets: Socket[] = [];
  const connections: Connections[] = [];
  const unread = new UnreadBytes({ maxUnsentBytes: 1 }, () => undefined);
  const server = createServer((request, response) => {
    const connection = connections[0]!.open.get(request.socket)!;
    connection.exchange = new Exchange(request, response, unread, '', []);
    response.on('close', () => (connection.exchange = undefined));
    if (request.url === '/held') held.push(response);
    else response.end(request.url === '/over-the-limit' ? String(connection.isOverLimit) : 'here');
  });
  connections.push(
    trackConnections(server, { maxClientConnections: 100, connectionTimeoutMs: LONG, ...settings }, unread),
  );
  server.keepAliveTimeout = idleMs; // Node closes a second later
  server.on('connection', (socket: Socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({ close: () => (server.close(), server.closeAllConnections()) });
  const { port } = server.address() as AddressInfo;
  const call = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const client = { socket, read: 0, isCut: false, sendRequest: (path: string) => void socket.write(lineOf(path)) };
    socket.on('data', (chunk: Buffer) => (client.read += chunk.length));
    socket.on('close', () => (client.isCut = true));
    return client;
  };
  return { held, sockets, call, tracked: connections[0]! };
}

const lineOf = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

test('a connection that waits too long for its next request is closed, one that is used now and then is not', async () => {
  const { call } = await setUp({ idleMs: 1_000 });
  const [unused, used] = [call(), call()];
  unused.sendRequest('/');
  while (!unused.isCut) {
    used.sendRequest('/');
    await sleep(20);
  }
  expect(unused.read).toBeGreaterThan(0);
  expect(used.isCut).toBe(false);
});

test('a connection that waits for its response is closed after the longer connection timeout', async () => {
  // Long enough for a machine that stalls while the first responses are sent.
  const { call, held, sockets } = await setUp({ connectionTimeoutMs: 2_000 });
  const [waiting, unused] = [call(), call()];
  for (const each of [waiting, unused]) each.sendRequest('/');
  await until(() => sockets.length === 2 && sockets.every(({ timeout }) => timeout! > LONG));
  waiting.sendRequest('/held');
  await until(() => waiting.isCut);
  expect(held).toHaveLength(1);
  expect(unused.isCut).toBe(false);
});

test('the idle time begins when the response was read', async () => {
  const { call, held, sockets } = await setUp({ idleMs: 400 });
  const late = call();
  late.sendRequest('/held');
  await until(() => held.length === 1);
  late.socket.pause();
  held[0]!.end(LARGE);
  await until(() => sockets[0]!.timeout === LONG);
  late.socket.resume();
  await until(() => late.isCut);
  expect(late.read).toBeGreaterThan(LARGE.length);
});

test('a request that arrives while this process is busy is answered, although its connection was idle for too long', async () => {
  const { call, tracked } = await setUp({});
  const client = call();
  client.sendRequest('/');
  await until(() => client.read > 0);
  const once = client.read;
  tracked.limitIdle(50);
  client.sendRequest('/');
  for (const end = performance.now() + 100; performance.now() < end;);
  await until(() => client.isCut || client.read > once);
  expect(client.isCut).toBe(false);
});

/** Far more than socket buffers take if the client does not read. */
const LARGE = Buffer.alloc(32_000_000);

test('connections beyond the limit are marked, until others are closed', async () => {
  const { call } = await setUp({ maxClientConnections: 2 });
  const connectOnce = async () => {
    const client = call();
    let text = '';
    client.socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    client.sendRequest('/over-the-limit');
    await until(() => /(true|false)$/.test(text));
    return { client, isOverLimit: text.endsWith('true') };
  };
  const first = await connectOnce();
  const second = await connectOnce();
  const third = await connectOnce();
  expect([first, second, third].map(({ isOverLimit }) => isOverLimit)).toEqual([false, false, true]);
  for (const { client } of [first, third]) client.socket.destroy();
  const next = async () => {
    const { client, isOverLimit } = await connectOnce();
    client.socket.destroy();
    return isOverLimit;
  };
  await expect.poll(next).toBe(false);
});
