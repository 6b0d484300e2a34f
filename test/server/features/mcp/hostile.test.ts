import { type ServerResponse, createServer } from 'node:http';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { facadeOver, post } from '../../../support/agent.ts';
import { thorough } from '../../../support/optional.ts';
import { until } from '../../../support/redis.ts';
import { listen } from '../../../support/listen.ts';

const SESSIONS = thorough ? 1_000 : 100;

/** A service whose responses the test controls. */
const held = new Set<ServerResponse>();
let service: string;
let facade: Awaited<ReturnType<typeof facadeOver>>['facade'];
beforeAll(async () => {
  const server = createServer((_, response) => {
    held.add(response);
    response.on('close', () => held.delete(response));
  });
  service = await listen(server);
  ({ facade } = await facadeOver(service, { maxRunningOperations: '16' }));
});
beforeEach(() => held.clear());

const message = (method: string, params: object = {}, id: number | string = 1) => ({
  ...{ jsonrpc: '2.0', id, method, params },
});
interface Result {
  result: { structuredContent: { errors?: { code: string }[] } };
}
const book = (id: number | string = 1) => message('tools/call', { name: 'Book', arguments: { id: `100${id}` } }, id);
const answerAll = () => {
  for (const response of held)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1","title":"A"}');
};
const isIdle = (of = facade) =>
  Object.entries(of.state()).every(([name, count]) => name === 'connections' || count === 0);

test('a client that disconnects while a call runs cancels it and its upstream calls', async () => {
  const leaving = new AbortController();
  const left = fetch(new URL('/mcp', facade.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(book()),
    signal: leaving.signal,
  });
  await until(() => held.size > 0);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await until(() => held.size === 0 && isIdle());
});

test('ten calls at once run no more operations than the share of agents', async () => {
  let refused = 0;
  const answers = Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const { text } = await post(facade.url, book(at));
      if (text.includes('OVERLOADED')) refused++;
      return JSON.parse(text) as Result;
    }),
  );
  await until(() => held.size >= 4 && refused === 6);
  expect(facade.state().operationsRunning).toBe(4);
  const answering = setInterval(answerAll, 5);
  const results = await answers;
  clearInterval(answering);
  expect(results).toHaveLength(10);
  const codes = results.map(({ result }) => result.structuredContent.errors?.[0]?.code);
  expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(6);
  await until(() => isIdle());
});

test('an argument with the name of a method of Object.prototype is unknown', async () => {
  const { text } = await post(facade.url, message('tools/call', { name: 'Book', arguments: { constructor: '1' } }));
  expect(text).toContain('There is no argument');
  expect(held.size).toBe(0);
});

test('hundreds of sessions that open, list and call leave no state behind, and no token in the log', async () => {
  const { facade, logged } = await facadeOver(service);
  const send = (at: number, sent: object) =>
    post(facade.url, sent, { 'mcp-session-id': String(at), authorization: `Bearer secret-${at}` });
  const session = async (at: number) => {
    const clientInfo = { name: `secret-${at}`, version: '1' };
    const opened = await send(
      at,
      message('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }),
    );
    const others = [
      await send(at, { jsonrpc: '2.0', method: 'notifications/initialized' }),
      await send(at, message('tools/list')),
      await send(at, message('tools/call', { name: 'Book', arguments: { id: 'no such book' } })),
    ];
    expect([opened, ...others].map(({ status }) => status)).toEqual([200, 202, 200, 200]);
    expect(opened.headers.get('mcp-session-id')).toBeNull();
  };
  for (let at = 0; at < SESSIONS; at += 20)
    await Promise.all(Array.from({ length: 20 }, (_, more) => session(at + more)));
  await until(() => isIdle(facade));
  expect(logged.length).toBeGreaterThan(SESSIONS);
  expect(logged.join('')).not.toContain('secret-');
});
