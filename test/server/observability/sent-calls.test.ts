import { expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../../../src/server/observability/metrics.ts';
import type { UsageReport } from '../../../src/server/features/usage/report.ts';
import { CLIENT_HEADERS, clientOf } from '../../../src/server/http/request/client.ts';
import { json, reset, until } from '../../support/hostile.ts';
import { startFacade } from '../../support/start-facade.ts';

const QUERY = 'query Book($id: ID!) { book(id: $id) { title } }';

/** What a header, the log, the trace and the metric say of the calls of each operation. */
async function openFacade(settings = {}, env = {}) {
  const metrics = createMetrics();
  const facade = await startFacade({ recordTtlSeconds: '1', ...settings }, { REQUEST_LOG: 'all', ...env }, { metrics });
  const said = async (id: string) => {
    const response = await fetch(facade.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-explain': 'trace', authorization: 'Bearer someone' },
      body: JSON.stringify({ query: QUERY, variables: { id } }),
    });
    const { extensions } = (await response.json()) as { extensions: { upstream: { calls: { how: string }[] } } };
    return {
      timing: Number(/upstream;desc="calls: (\d+)"/.exec(response.headers.get('server-timing')!)![1]),
      trace: extensions.upstream.calls.map(({ how }) => how),
    };
  };
  const logged = () =>
    facade.logged
      .map((line) => JSON.parse(line) as { msg: string; calls: number; cached: number })
      .filter(({ msg }) => msg === 'operation')
      .map(({ calls, cached }) => ({ calls, cached }));
  const sent = async () =>
    [...(await metrics.text()).matchAll(/^catalog_upstream_calls_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  return { ...facade, said, logged, sent };
}

test('of two equal operations at once, one has sent the call: in the header, the log, the trace and the metric', async () => {
  const { books, facade, said, logged, sent } = await openFacade();
  let requests = 0;
  books.behave(async (request, response) => {
    requests++;
    await until(() => facade.state().operationsRunning === 2);
    json('{"id":"7","title":"x"}')(request, response);
  });
  const both = await Promise.all([said('7'), said('7')]);
  expect(both.map(({ timing }) => timing).sort()).toEqual([0, 1]);
  expect(both.flatMap(({ trace }) => trace).sort()).toEqual(['joined', 'sent']);
  expect(logged().sort((a, b) => a.calls - b.calls)).toEqual([
    { calls: 0, cached: 0 },
    { calls: 1, cached: 0 },
  ]);
  expect([requests, await sent()]).toEqual([1, 1]);
});

test('a call that the cache answers, fresh or after a failure, was not sent', async () => {
  const { books, said, logged, sent } = await openFacade();
  books.behave(json('{"id":"7","title":"x"}'));
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await said('7');
  expect(await said('7')).toEqual({ timing: 0, trace: ['cached'] });
  books.behave(reset);
  vi.advanceTimersByTime(1_100);
  expect(await said('7')).toEqual({ timing: 1, trace: ['sent', 'stale'] });
  expect(logged()).toEqual([
    { calls: 1, cached: 0 },
    { calls: 0, cached: 1 },
    { calls: 1, cached: 1 },
  ]);
  expect(await sent()).toBe(2);
});

test('a call that the circuit breaker stops was not sent', async () => {
  const { books, said, logged, sent } = await openFacade({ breakerFailures: '1', breakerPauseMs: '60000' });
  books.behave(reset);
  let requests = 0;
  books.behave((request, response) => {
    requests++;
    reset(request, response);
  });
  await said('1');
  expect(await said('2')).toEqual({ timing: 0, trace: ['refused'] });
  expect(logged()).toEqual([
    { calls: 1, cached: 0 },
    { calls: 0, cached: 0 },
  ]);
  expect([requests, await sent()]).toEqual([1, 1]);
});

test('a client may name itself in each accepted header: it is logged, counted, and allowed by CORS', async () => {
  const names = CLIENT_HEADERS.filter((header) => header.endsWith('-name'));
  expect(names).toEqual(['apollographql-client-name', 'graphql-client-name', 'x-graphql-client-name', 'x-client-name']);
  const {
    books,
    execute,
    facade,
    logged: lines,
    url,
  } = await startFacade({ corsOrigins: 'https://app.example' }, { REQUEST_LOG: 'all', USAGE: 'on' });
  books.behave(json('{"id":"7","title":"x"}'));
  for (const name of names)
    await execute('{ book(id: "7") { title } }', {
      headers: { [name]: `by ${name}`, [name.replace('-name', '-version')]: '1.0' },
    });
  const logged = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'operation');
  expect(logged.map(({ client, clientVersion }) => [client, clientVersion])).toEqual(
    names.map((name) => [`by ${name}`, '1.0']),
  );
  const { operations } = (await (await fetch(`${facade.url}/usage`)).json()) as UsageReport;
  expect(operations.map(({ client, version }) => [client, version]).sort()).toEqual(
    names.map((name) => [`by ${name}`, '1.0']).sort(),
  );
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  });
  for (const header of CLIENT_HEADERS) expect(preflight.headers.get('access-control-allow-headers')).toContain(header);
});

test('an empty name does not hide another', () => {
  expect(clientOf({ 'apollographql-client-name': '', 'x-client-name': 'phone', 'x-client-version': '7' })).toEqual({
    name: 'phone',
    version: '7',
  });
  expect(clientOf({ 'graphql-client-version': '7' })).toBeUndefined();
});
