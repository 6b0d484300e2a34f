import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { createPausedSockets } from '../../../src/server/http/paused-sockets.ts';
import { besieged } from '../../support/besieged.ts';
import { titledX, until } from '../../support/hostile.ts';

afterEach(() => void vi.useRealTimers());

const answered = titledX;
const slow = {
  callTimeoutMs: '60000',
  headersTimeoutMs: '60000',
  bodyTimeoutMs: '60000',
  operationTimeoutMs: '60000',
  shutdownMs: '60000',
};

/** A service that answers when it is let go, and a facade with room for so many. */
async function busy(maxRunningOperations: string, maxWaitingOperations: string) {
  const { books, facade, close } = await besieged({ ...slow, maxRunningOperations, maxWaitingOperations });
  const held: (() => void)[] = [];
  books.behave((socket, heard) => held.push(() => answered(socket, heard)));
  return { books, facade, close, letGo: () => held.splice(0).forEach((go) => go()) };
}

interface Told {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** Whether it came over the connection of the question before it. */
  again: boolean;
}

/** Somebody with one connection. */
function caller(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (path: string, body?: string) =>
    new Promise<Told>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const asked = request({ agent, port, host: '127.0.0.1', path, method: body ? 'POST' : 'GET', headers });
      asked.on('error', reject);
      asked.on('response', (response: IncomingMessage) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: text, again: asked.reusedSocket });
        });
      });
      asked.end(body);
    });
  return {
    read: (path: string) => send(path),
    ask: (id: number) => send('/graphql', JSON.stringify({ query: `{ book(id: ${id}) { title } }` })),
    leave: () => agent.destroy(),
  };
}

const book = '{"data":{"book":{"title":"x"}}}';

test('who is refused and asks again over the same connection is answered when there is room', async () => {
  const { books, facade, letGo } = await busy('1', '0');
  const first = caller(facade.port).ask(1);
  await until(() => books.heard.length === 1);
  const second = caller(facade.port);
  for (let n = 0; n < 5; n++) {
    const { status, headers, body, again } = await second.ask(2);
    expect([status, headers['retry-after'], again]).toEqual([503, '1', n > 0]);
    expect(body).toContain('"code":"OVERLOADED"');
  }
  letGo();
  expect(await first).toMatchObject({ status: 200, body: book });
  const waiting = setInterval(letGo, 5);
  let told = await second.ask(2);
  while (told.status === 503) told = await second.ask(2);
  clearInterval(waiting);
  expect(told).toMatchObject({ status: 200, body: book, again: true });
});

test('probes are answered while there is no room, over a connection that was refused too', async () => {
  const { books, facade, letGo } = await busy('1', '0');
  const taken = caller(facade.port).ask(1);
  await until(() => books.heard.length === 1);
  const refused = caller(facade.port);
  expect((await refused.ask(2)).status).toBe(503);
  for (const path of ['/health', '/ready', '/metrics']) {
    expect(await refused.read(path)).toMatchObject({ status: 200, again: true });
    expect(await caller(facade.port).read(path)).toMatchObject({ status: 200, again: false });
  }
  letGo();
  expect((await taken).body).toBe(book);
});

test('a crowd that asks again at once is answered, each with what it asked or with when to come again', async () => {
  const { books, facade } = await besieged({ ...slow, maxRunningOperations: '4', maxWaitingOperations: '4' });
  books.behave((socket, heard) => setTimeout(() => answered(socket, heard), 5));
  const told: Told[] = [];
  const crowd = Array.from({ length: 150 }, async (_, id) => {
    const { ask } = caller(facade.port);
    for (let served = 0; served < 3;) {
      const answer = await ask(id);
      told.push(answer);
      if (answer.status === 200) served++;
    }
  });
  await Promise.all(crowd);
  const [served, refused] = [told.filter(({ status }) => status === 200), told.filter(({ status }) => status !== 200)];
  expect(new Set(served.map(({ body }) => body))).toEqual(new Set([book]));
  expect(served).toHaveLength(450);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ status, headers }) => `${status} ${headers['retry-after']}`))).toEqual(
    new Set(['503 1']),
  );
  expect(told.filter(({ again }) => !again)).toHaveLength(150); // nobody had to connect anew
}, 600_000);

test('who leaves the line is forgotten', async () => {
  const { books, facade, letGo } = await busy('1', '0');
  const taken = caller(facade.port).ask(1);
  await until(() => books.heard.length === 1);
  for (let n = 0; n < 20; n++) {
    const refused = caller(facade.port);
    expect((await refused.ask(2)).status).toBe(503);
    refused.leave();
  }
  const metrics = async () => (await caller(facade.port).read('/metrics')).body;
  await expect.poll(metrics, { timeout: 60_000 }).toContain('catalog_connections_waiting 0');
  letGo();
  expect((await taken).body).toBe(book);
});

test('what stands in line when the server ends is answered', async () => {
  const { books, facade, close, letGo } = await busy('1', '0');
  const taken = caller(facade.port).ask(1);
  await until(() => books.heard.length === 1);
  const refused = Array.from({ length: 30 }, () => caller(facade.port));
  for (const { ask } of refused) expect((await ask(2)).status).toBe(503);
  const again = refused.map(({ ask }) => ask(2));
  await new Promise((resolve) => setImmediate(resolve)); // they are sent
  const closed = close();
  for (const { status } of await Promise.all(again)) expect(status).toBe(503);
  letGo();
  expect((await taken).body).toBe(book);
  await closed;
});

test('the line moves in the order in which it was joined, by as many as there is room for and the few that are refused', () => {
  vi.useFakeTimers();
  let room = 0;
  const line = createPausedSockets(() => room);
  const sockets = Array.from({ length: 200 }, () => new Duplex({ read: () => undefined }).resume() as Socket);
  for (const socket of sockets) line.pause(socket);
  const read = () => sockets.findIndex((socket) => socket.isPaused());
  expect([line.size(), read()]).toEqual([200, 0]);
  vi.advanceTimersByTime(10);
  const some = read();
  expect(some).toBeGreaterThan(0);
  expect(sockets.slice(some).every((socket) => socket.isPaused())).toBe(true);
  room = 50;
  vi.advanceTimersByTime(10);
  expect(read()).toBe(some + 50 + some); // each more would be a refusal, at the cost of a part of an answer
  expect(line.size()).toBe(sockets.filter((socket) => socket.isPaused()).length);
  room = 0;
  vi.advanceTimersByTime(1_000);
  expect([line.size(), read()]).toEqual([0, -1]);
});
