import { createServer } from 'node:http';
import { expect, test, vi } from 'vitest';
import { agent, facadeOver, post } from '../../../support/agent.ts';
import { until } from '../../../support/hostile.ts';
import { listen } from '../../../support/listen.ts';

/** It accepts no connection: nothing here calls it. */
const NOWHERE = 'http://127.0.0.1:9';
const message = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

const DIARY = (id: number) => message('tools/call', { name: 'Diary', arguments: { user: 'alice' } }, id);

test.each([
  ['lists of tools', message('tools/list')],
  ['the schema as a tool', message('tools/call', { name: 'schema' })],
  ['unknown methods', message('nothing')],
])('requests for %s take a place: beyond the share of agents they are rejected', async (_, body) => {
  const service = createServer(() => undefined);
  const onePlace = { mcpFree: 'on', maxRunningOperations: '8', maxWaitingOperations: '8', mcpShare: '7' };
  const { facade } = await facadeOver(await listen(service), onePlace);
  expect((await post(facade.url, body)).status).toBe(200);
  const call = post(facade.url, DIARY(1), { authorization: 'Bearer demo-alice' });
  await until(() => facade.state().callsRunning === 1);
  expect((await post(facade.url, body)).status).toBe(503);
  service.close().closeAllConnections();
  expect((await call).status).toBe(200);
  expect(facade.state()).toMatchObject({ operationsRunning: 0, operationsWaiting: 0 });
  expect((await post(facade.url, body)).status).toBe(200);
});

test('the one place of a facade is enough for a call and for what follows', async () => {
  const { facade } = await facadeOver(NOWHERE, { maxRunningOperations: '1', maxWaitingOperations: '4' });
  for (const body of [DIARY(1), message('tools/list', {}, 2), DIARY(3)])
    expect((await post(facade.url, body)).status).toBe(200);
  expect(facade.state().operationsRunning).toBe(0);
});

test('the text of the list of tools is made once', async () => {
  const { facade } = await facadeOver(NOWHERE);
  const { client } = await agent(facade.url);
  await client.close();
  const first = await post(facade.url, message('tools/list'));
  const stringify = vi.spyOn(JSON, 'stringify');
  const later = await post(facade.url, JSON.stringify(message('tools/list', {}, 'later')));
  const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length));
  stringify.mockRestore();
  expect(later.text).toBe(first.text.replace('"id":1', '"id":"later"'));
  expect(longest).toBeLessThan(Math.min(300, first.text.length));
});
