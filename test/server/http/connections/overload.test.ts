import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { startFacade } from '../../../support/start-facade.ts';
import { titledX, until } from '../../../support/hostile.ts';

const respond = titledX;
const slow = {
  callTimeoutMs: '60000',
  headersTimeoutMs: '60000',
  bodyTimeoutMs: '60000',
  operationTimeoutMs: '60000',
  shutdownMs: '60000',
};

/** A service that holds responses back, and a facade with limited slots. */
async function overloaded(maxRunningOperations: string, maxWaitingOperations: string) {
  const { books, facade, close } = await startFacade({ ...slow, maxRunningOperations, maxWaitingOperations });
  const held: (() => void)[] = [];
  books.behave((socket, upstreamRequest) => held.push(() => respond(socket, upstreamRequest)));
  return { books, facade, close, release: () => held.splice(0).forEach((go) => go()) };
}

interface Told {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** Whether it came over the same connection as the previous response. */
  reusedConnection: boolean;
}

/** A client with one connection. */
function createClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (path: string, body?: string) =>
    new Promise<Told>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const outgoing = request({ agent, port, host: '127.0.0.1', path, method: body ? 'POST' : 'GET', headers });
      outgoing.on('error', reject);
      outgoing.on('response', (response: IncomingMessage) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: text, reusedConnection: outgoing.reusedSocket });
        });
      });
      outgoing.end(body);
    });
  return {
    read: (path: string) => send(path),
    sendQuery: (id: number) => send('/graphql', JSON.stringify({ query: `{ book(id: ${id}) { title } }` })),
    disconnect: () => agent.destroy(),
  };
}

const book = '{"data":{"book":{"title":"x"}}}';

test('the rejection of a GET may not be stored, and that of a POST has no Cache-Control', async () => {
  const { books, facade, release } = await overloaded('1', '0');
  const first = createClient(facade.port).sendQuery(1);
  await until(() => books.requests.length === 1);
  const second = createClient(facade.port);
  const [read, sent] = [await second.read('/graphql?query={__typename}'), await second.sendQuery(2)];
  expect([read.status, read.headers['cache-control']]).toEqual([503, 'no-store']);
  expect([sent.status, sent.headers['cache-control']]).toEqual([503, undefined]);
  release();
  await first;
});

test('a rejected client that retries on the same connection is served when there is capacity', async () => {
  const { books, facade, release } = await overloaded('1', '0');
  const first = createClient(facade.port).sendQuery(1);
  await until(() => books.requests.length === 1);
  const second = createClient(facade.port);
  for (let n = 0; n < 5; n++) {
    const { status, headers, body, reusedConnection } = await second.sendQuery(2);
    expect([status, headers['retry-after'], reusedConnection]).toEqual([503, '1', n > 0]);
    expect(body).toContain('"code":"OVERLOADED"');
  }
  release();
  expect(await first).toMatchObject({ status: 200, body: book });
  const waiting = setInterval(release, 5);
  let responses = await second.sendQuery(2);
  while (responses.status === 503) responses = await second.sendQuery(2);
  clearInterval(waiting);
  expect(responses).toMatchObject({ status: 200, body: book, reusedConnection: true });
});

test('probes are served without capacity, also on a connection with a rejected request', async () => {
  const { books, facade, release } = await overloaded('1', '0');
  const running = createClient(facade.port).sendQuery(1);
  await until(() => books.requests.length === 1);
  const rejected = createClient(facade.port);
  expect((await rejected.sendQuery(2)).status).toBe(503);
  for (const path of ['/health', '/ready', '/metrics']) {
    expect(await rejected.read(path)).toMatchObject({ status: 200, reusedConnection: true });
    expect(await createClient(facade.port).read(path)).toMatchObject({ status: 200, reusedConnection: false });
  }
  release();
  expect((await running).body).toBe(book);
});

test('of many clients that retry at once, each gets its response or a 503 with Retry-After', async () => {
  const { books, facade } = await startFacade({ ...slow, maxRunningOperations: '4', maxWaitingOperations: '4' });
  books.behave((socket, upstreamRequest) => setTimeout(() => respond(socket, upstreamRequest), 5));
  const responses: Told[] = [];
  const crowd = Array.from({ length: 150 }, async (_, id) => {
    const { sendQuery } = createClient(facade.port);
    for (let served = 0; served < 3;) {
      const answer = await sendQuery(id);
      responses.push(answer);
      if (answer.status === 200) served++;
    }
  });
  await Promise.all(crowd);
  const [served, rejected] = [
    responses.filter(({ status }) => status === 200),
    responses.filter(({ status }) => status !== 200),
  ];
  expect(new Set(served.map(({ body }) => body))).toEqual(new Set([book]));
  expect(served).toHaveLength(450);
  expect(rejected.length).toBeGreaterThan(0);
  expect(new Set(rejected.map(({ status, headers }) => `${status} ${headers['retry-after']}`))).toEqual(
    new Set(['503 1']),
  );
  expect(responses.filter(({ reusedConnection }) => !reusedConnection)).toHaveLength(150); // no client had to reconnect
}, 600_000);

test('a client that retries at once is rejected a few times, and not as often as it can ask', async () => {
  const { books, facade } = await startFacade({ ...slow, maxRunningOperations: '1', maxWaitingOperations: '0' });
  books.behave((socket, upstreamRequest) => setTimeout(() => respond(socket, upstreamRequest), 300));
  const running = createClient(facade.port).sendQuery(1);
  await until(() => books.requests.length === 1);
  const { sendQuery } = createClient(facade.port);
  let rejected = 0;
  while ((await sendQuery(2)).status === 503) rejected++;
  expect(rejected).toBeGreaterThan(0);
  expect(rejected).toBeLessThan(20);
  expect((await running).body).toBe(book);
});

test('requests of clients that were just rejected are answered at shutdown', async () => {
  const { books, facade, close, release } = await overloaded('1', '0');
  const running = createClient(facade.port).sendQuery(1);
  await until(() => books.requests.length === 1);
  const rejected = Array.from({ length: 30 }, () => createClient(facade.port));
  for (const { sendQuery } of rejected) expect((await sendQuery(2)).status).toBe(503);
  const reusedConnection = rejected.map(({ sendQuery }) => sendQuery(2));
  await new Promise((resolve) => setImmediate(resolve)); // they are sent
  const closed = close();
  for (const { status } of await Promise.all(reusedConnection)) expect(status).toBe(503);
  release();
  expect((await running).body).toBe(book);
  await closed;
});

test('a request that has arrived is answered at shutdown', async () => {
  const { books, facade, close } = await startFacade(slow);
  books.behave(respond);
  const clients = Array.from({ length: 30 }, () => createClient(facade.port));
  for (const { sendQuery } of clients) expect((await sendQuery(1)).status).toBe(200);
  const answers = clients.map(({ sendQuery }) => sendQuery(2));
  await new Promise((resolve) => setImmediate(resolve)); // they are sent
  const closed = close();
  for (const { status, body } of await Promise.all(answers)) expect([status, body]).toEqual([200, book]);
  await closed;
});
