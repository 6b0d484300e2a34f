import { expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';
import { silence } from '../support/hostile.ts';

test('a replica accepts work while the circuit breaker of an upstream is open, and reports which', async () => {
  const { books, facade, execute } = await startFacade({
    headersTimeoutMs: '20',
    breakerFailures: '1',
    breakerPauseMs: '60000',
    maxBreakerPauseMs: '60000',
  });
  const reported = async () => {
    const ready = await fetch(`${facade.url}/ready`);
    const metrics = await (await fetch(`${facade.url}/metrics`)).text();
    const up = metrics.matchAll(/^catalog_upstream_up\{service="(\w+)"\} (\d)$/gm);
    return [ready.status, await ready.json(), Object.fromEntries([...up].map(([, name, value]) => [name, value]))];
  };
  const reachable = { catalog: 'reachable', events: 'reachable' };
  expect(await reported()).toEqual([200, { status: 'ready', upstreams: reachable }, { catalog: '1', events: '1' }]);
  books.behave(silence);
  await execute('{ book(id: 1) { title } }');
  const upstreams = { ...reachable, catalog: 'unreachable' };
  expect(await reported()).toEqual([200, { status: 'ready', upstreams }, { catalog: '0', events: '1' }]);
});
