import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { readConfig } from '../../src/config/read.ts';
import { createHealth } from '../../src/server/health.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { startFacade } from '../support/start-facade.ts';
import { hostile, silence } from '../support/hostile.ts';

afterEach(() => void vi.useRealTimers());

const upOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^catalog_upstream_up\{service="(\w+)"\} (\d)$/gm)].map(([, name, up]) => [name, Number(up)]),
  );

test('readiness is checked again after a while, even if the clock was set back', async () => {
  const service = await hostile();
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const address = { baseUrl: service.url, eventBaseUrl: service.url };
  const config = { ...readConfig({ BASE_URL: service.url, EVENT_BASE_URL: service.url }), ...address };
  const check = createHealth(config, createUpstream(catalogService, config));
  expect(await check()).toEqual({ catalog: 'reachable', events: 'reachable' });
  await service.close();
  expect(await check()).toEqual({ catalog: 'reachable', events: 'reachable' });
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  expect(await check()).toEqual({ catalog: 'unreachable', events: 'unreachable' });
});

test.each([['catalog'], ['events'], ['catalog', 'events']])(
  'a replica accepts work while its upstreams are unreachable, and reports which: %s %s',
  async (...away) => {
    const down = 'http://127.0.0.1:1';
    const env = {
      ...(away.includes('catalog') && { BASE_URL: down }),
      ...(away.includes('events') && { EVENT_BASE_URL: down }),
    };
    const { facade } = await startFacade({}, env);
    const stateOf = (name: string) => (away.includes(name) ? 'unreachable' : 'reachable');
    const ready = await fetch(`${facade.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', upstreams: { catalog: stateOf('catalog'), events: stateOf('events') } },
    ]);
    const metrics = await (await fetch(`${facade.url}/metrics`)).text();
    expect(upOf(metrics)).toEqual({
      catalog: away.includes('catalog') ? 0 : 1,
      events: away.includes('events') ? 0 : 1,
    });
  },
);

test('an upstream that accepts connections but answers nothing is unreachable once its circuit breaker opens', async () => {
  const metrics = createMetrics();
  const { books, facade, execute } = await startFacade(
    { headersTimeoutMs: '20', breakerFailures: '1', breakerPauseMs: '60000', maxBreakerPauseMs: '60000' },
    {},
    { metrics },
  );
  books.behave(silence);
  await execute('{ book(id: 1) { title } }');
  const ready = await fetch(`${facade.url}/ready`);
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { upstreams: { catalog: 'unreachable', events: 'reachable' } },
  ]);
  expect(upOf(await (await fetch(`${facade.url}/metrics`)).text())).toEqual({ catalog: 0, events: 1 });
});

test('/ready does not wait for an upstream that takes long to connect', async () => {
  const url = await fullServer();
  const { facade } = await startFacade({ connectTimeoutMs: '600000' }, { BASE_URL: url });
  const ready = await fetch(`${facade.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', upstreams: { catalog: 'unknown', events: 'reachable' } },
  ]);
  expect(upOf(await (await fetch(`${facade.url}/metrics`)).text())).toEqual({ catalog: 1, events: 1 });
});

/** The URL of a stopped process whose queue of connections is full: Linux ignores further ones. */
async function fullServer(): Promise<string> {
  const program = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  await once(sockets[0]!, 'connect');
  return `http://127.0.0.1:${port}`;
}
