import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { agent, facadeOver, post } from '../../../support/agent.ts';

/** It accepts no connection: nothing here calls it. */
const NOWHERE = 'http://127.0.0.1:9';
const message = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Sends requests in one packet of one connection, and returns their statuses. */
const pipelined = (url: string, bodies: readonly object[]) =>
  new Promise<number[]>((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const head = `POST /mcp HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
    const socket = connect(Number(port), hostname).on('error', reject);
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
      if (statuses.length < bodies.length) return;
      socket.destroy();
      resolve(statuses);
    });
    const parts = bodies.map((body) => JSON.stringify(body));
    socket.write(parts.map((part) => `${head}content-length: ${part.length}\r\n\r\n${part}`).join(''));
  });

test.each([
  ['lists of tools', message('tools/list')],
  ['resources', message('resources/read', { uri: 'catalog://docs/errors.md' })],
  ['the schema as a resource', message('resources/read', { uri: 'catalog://schema.graphql' })],
  ['the schema as a tool', message('tools/call', { name: 'schema' })],
  ['unknown methods', message('nothing')],
])('requests for %s take a place: beyond the share of agents they are rejected', async (_, body) => {
  const settings = { mcpFree: 'on', maxRunningOperations: '8', maxWaitingOperations: '8', mcpShare: '25' };
  const { facade } = await facadeOver(NOWHERE, settings);
  await post(facade.url, body);
  const statuses = await pipelined(
    facade.url,
    Array.from({ length: 12 }, () => body),
  );
  expect([...new Set(statuses)].sort()).toEqual([200, 503]);
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(4);
  expect(facade.state()).toMatchObject({ operationsRunning: 0, operationsWaiting: 0 });
  expect((await post(facade.url, body)).status).toBe(200);
});

test('the one place of a facade is enough for a call and for what follows', async () => {
  const { facade } = await facadeOver(NOWHERE, { maxRunningOperations: '1', maxWaitingOperations: '4' });
  const call = (id: number) => message('tools/call', { name: 'Diary', arguments: { user: 'alice' } }, id);
  for (const body of [call(1), message('tools/list', {}, 2), call(3)])
    expect((await post(facade.url, body)).status).toBe(200);
  expect(facade.state().operationsRunning).toBe(0);
});

test.each(['tools/list', 'resources/list', 'resources/templates/list'])(
  'the text of %s is made once',
  async (method) => {
    const { facade } = await facadeOver(NOWHERE);
    const { client } = await agent(facade.url);
    await client.close();
    const first = await post(facade.url, message(method));
    const stringify = vi.spyOn(JSON, 'stringify');
    const later = await post(facade.url, JSON.stringify(message(method, {}, 'later')));
    const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length));
    stringify.mockRestore();
    expect(later.text).toBe(first.text.replace('"id":1', '"id":"later"'));
    expect(longest).toBeLessThan(Math.min(300, first.text.length));
  },
);
