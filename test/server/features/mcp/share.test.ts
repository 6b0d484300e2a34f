import { createServer } from 'node:http';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agent, facadeOver } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';
import { thorough } from '../../../support/optional.ts';
import { listen } from '../../../support/listen.ts';

const folder = mkdtempSync(join(tmpdir(), 'share-'));
writeFileSync(
  join(folder, 'films.graphql'),
  'query Film($id: ID!) { subject(id: $id) { title } }\nquery Book($id: ID!) { book(id: $id) { title } }',
);
const ids = [
  '1291546',
  '1291561',
  '1291571',
  '1291552',
  '1291543',
  '1292052',
  '1292720',
  '1295644',
  '3541415',
  '1889243',
];
const film = (at: number) => ({ id: ids[at % ids.length]! });

/** Calls of an agent that ignores `retryAfter`. */
const CALLS = thorough ? 1_000 : 200;

test('an agent that loops hundreds of times gets a quarter of the rate limit, causes no 429, and leaves people the rest', async () => {
  const setup = await journey({ mcp: 'on', mcpOperations: folder, recordTtlSeconds: '0' });
  const { call } = await agent(setup.facade.url, 'demo-bob');
  // The origin counts 40 calls a minute itself, so a 429 would be visible.
  const counts = { made: 0, rejected: 0 };
  setup.proxy.start();
  let last = await call('Film', film(0));
  for (let at = 0; at < CALLS; at++) {
    last = await call('Film', film(at));
    if (last.isError) counts.rejected++;
    else counts.made++;
  }
  const statuses = setup.proxy.stop().map(({ status }) => status);
  expect([statuses.length, statuses.includes(429)]).toEqual([10, false]);
  expect(counts.made).toBe(9);
  expect(counts.rejected).toBe(CALLS - 9);
  expect(last.output.errors![0]).toMatchObject({
    code: 'RATE_LIMITED',
    message: 'The share that all agents may use of the rate limit is reached.',
    retryAfter: expect.any(Number) as number,
    whatToDo: expect.stringContaining('retryAfter') as string,
  });
  expect(last.output.cost).toMatchObject({ calls: { catalog: 0, events: 0 }, left: { limit: 10, remaining: 0 } });

  setup.proxy.start();
  const people = Array.from({ length: 31 }, (_, at) => `a${at}: subject(id: "${ids[at % ids.length]}") { title }`);
  const responses = [];
  for (const each of people) responses.push(await setup.execute(`{ ${each} }`, { token: 'demo-bob' }));
  const passed = setup.proxy.stop();
  expect(responses.filter(({ errors }) => errors === undefined)).toHaveLength(30);
  expect(passed.filter(({ status }) => status === 429)).toEqual([]);
});

test('agents of another credential have their own quota, and calls of other endpoints are not counted', async () => {
  const setup = await journey({
    mcp: 'on',
    mcpOperations: folder,
    recordTtlSeconds: '0',
    filmTier: 'basic',
    mcpShare: '10',
  });
  const anonymous = await agent(setup.facade.url);
  for (let at = 0; at < 4; at++) expect((await anonymous.call('Film', film(at))).isError).toBe(false);
  const { isError, output } = await anonymous.call('Film', film(0));
  expect([isError, output.cost.left]).toMatchObject([true, { limit: 4, remaining: 0 }]);
  expect((await (await agent(setup.facade.url, 'demo-bob')).call('Film', film(0))).isError).toBe(false);
  expect((await anonymous.call('Book', { id: '1003078' })).isError).toBe(false);
});

test('agents run at most their share of the operations, and others are rejected with retryAfter', async () => {
  const held: (() => void)[] = [];
  const service = createServer((_, response) => {
    held.push(() =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1003078","title":"A"}'),
    );
  });
  const { facade } = await facadeOver(await listen(service), { mcpOperations: folder, maxRunningOperations: '8' });
  const { call } = await agent(facade.url);
  const calls = Array.from({ length: 5 }, (_, at) => call('Book', { id: `100307${at}` }));
  const rejected = await Promise.race(calls);
  expect(rejected.output.errors![0]).toMatchObject({ code: 'OVERLOADED', retryAfter: 1 });
  while (held.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(facade.state().operationsRunning).toBe(2);
  const person = fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ book(id: "1003079") { title } }' }),
  });
  while (held.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const go of held) go();
  expect((await person).status).toBe(200);
  const all = await Promise.all(calls);
  expect(all.filter(({ output }) => output.errors?.[0]?.code === 'OVERLOADED')).toHaveLength(3);
});

test('a person’s request neither shares an upstream call with an agent nor is rejected with it', async () => {
  const setup = await journey({ mcp: 'on', mcpOperations: folder, recordTtlSeconds: '0' });
  const { call } = await agent(setup.facade.url, 'demo-bob');
  const execute = () => setup.execute(`{ subject(id: "${ids[0]}") { title } }`, { token: 'demo-bob' });
  await execute();
  setup.proxy.start();
  const both = await Promise.all([call('Film', film(0)), execute()]);
  expect(setup.proxy.stop()).toHaveLength(2);
  expect([both[0].isError, both[1].errors]).toEqual([false, undefined]);
  while (!(await call('Film', film(0))).isError);
  const [rejected, result] = await Promise.all([call('Film', film(0)), execute()]);
  expect([rejected.isError, result.errors]).toEqual([true, undefined]);
});
