import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Dispatcher } from 'undici';
import { bookEndpoints } from '../../src/api/book.ts';
import { readConfig } from '../../src/config/read.ts';
import { createMetrics } from '../../src/server/observability/metrics.ts';
import { logOutages, observeCalls } from '../../src/server/observability/watch.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { connectRedis } from '../../src/upstream/redis/shared-state.ts';
import type { UpstreamFailure } from '../../src/upstream/errors.ts';
import { createTransport } from '../../src/upstream/http/pool.ts';
import { hostile, inTurn, json, reset } from '../support/hostile.ts';
import { hasRedis, redisServer, until, waitBriefly } from '../support/redis.ts';

/** Collects the properties of log lines that are set by us, not by pino. */
function logCollector() {
  const lines: object[] = [];
  const write = (line: string) => {
    const { time: _, pid: __, hostname: ___, ...reported } = JSON.parse(line) as Record<string, unknown>;
    lines.push(reported);
  };
  return { lines, onOutage: logOutages(pino({}, { write })) };
}
const WARN = 40;

test('an outage is logged once when it begins, with its reason and without the token, and once when it ends', async () => {
  const service = await hostile(inTurn(reset, reset, reset, json('{}'), json('{}'), reset, json('{}')));
  const { lines, onOutage } = logCollector();
  const settings = { ...readConfig({}), readAttempts: 1, breakerFailures: 2, breakerPauseMs: 1, maxBreakerPauseMs: 1 };
  const transport = createTransport(
    { ...settings, baseUrl: service.url, eventBaseUrl: service.url },
    undefined,
    onOutage,
  );
  const call = { service: 'catalog', method: 'GET', path: '/x', maxBytes: 10_000 } as const;
  const headers = ['authorization', 'Bearer demo-alice'];
  const succeeds = async () => {
    try {
      await transport.send({ ...call, headers }, createCancellationToken());
      return true;
    } catch {
      return false;
    }
  };
  expect([await succeeds(), await succeeds()]).toEqual([false, false]);
  const unreachable = { level: WARN, service: 'catalog', reason: 'ECONNRESET', msg: 'catalog is unreachable' };
  expect(lines).toEqual([unreachable]);
  await until(succeeds); // a failed trial call on the way is not logged
  expect(lines).toEqual([unreachable, { level: WARN, service: 'catalog', msg: 'catalog is reachable again' }]);
  expect([await succeeds(), await succeeds(), await succeeds()]).toEqual([true, false, true]);
  expect(lines).toHaveLength(2); // a single failure is no outage
  await transport.close();
});

test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])(
  '%s is trouble of this machine: it opens no circuit breaker, is no outage of the service, and is logged as what it is',
  async (code) => {
    const { lines, onOutage } = logCollector();
    const settings = { ...readConfig({}), baseUrl: 'http://a.example', eventBaseUrl: 'http://a.example' };
    const dispatch = (_: object, handler: Dispatcher.DispatchHandler) => {
      handler.onError!(Object.assign(new Error('no connection'), { code }));
      return true;
    };
    const transport = createTransport(
      { ...settings, breakerFailures: 2 },
      { dispatch } as unknown as Dispatcher,
      onOutage,
    );
    const call = { service: 'catalog', method: 'GET', path: '/x', maxBytes: 10 } as const;
    let failure: unknown;
    for (let n = 0; n < 5; n++)
      failure = await transport
        .send({ ...call, headers: [] }, createCancellationToken())
        .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', wasSent: false, details: { ownTrouble: code } });
    expect(transport.state().catalog).toMatchObject({ isOpen: false, running: 0 });
    expect(lines).toEqual([]);
    const { details } = failure as UpstreamFailure;
    const write = (line: string) => void lines.push(JSON.parse(line) as object);
    const observe = observeCalls(createMetrics(), pino({}, { write }));
    const seen = {
      endpoint: bookEndpoints.byId,
      outcome: 'UPSTREAM_UNAVAILABLE',
      how: 'sent',
      ms: 1,
      failure: details,
    } as const;
    for (let n = 0; n < 5; n++) observe({ ...seen });
    expect(lines).toMatchObject([{ service: 'catalog', reason: code, request: 'GET /x' }]);
  },
);

describe.skipIf(!hasRedis)('Redis', () => {
  test('an outage of Redis, stopped or hanging, is logged once when it begins and once when it ends', async () => {
    waitBriefly();
    const server = await redisServer();
    const { lines, onOutage } = logCollector();
    const shared = connectRedis({ url: server.url, namespace: 'outage', onAvailabilityChange: onOutage });
    const isReachable = async () => (await shared.windows.state('nobody', 60_000)) !== undefined;
    const reachable = { level: WARN, service: 'redis', msg: 'redis is reachable again' };
    await until(isReachable);
    expect(lines).toEqual([]); // reachable from the beginning

    await server.stop();
    await until(async () => lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ level: WARN, service: 'redis', msg: 'redis is unreachable' })]);
    await server.start();
    await until(async () => (await isReachable()) && lines.length > 1);
    expect(lines.slice(1)).toEqual([reachable]);

    server.freeze();
    await until(async () => {
      await isReachable();
      return lines.length > 2;
    });
    server.thaw();
    await until(async () => (await isReachable()) && lines.length > 3);
    expect(lines.slice(2)).toEqual([
      { level: WARN, service: 'redis', reason: 'no answer in time', msg: 'redis is unreachable' },
      reachable,
    ]);
    await shared.close();
    expect(lines).toHaveLength(4); // closing our own connection is no outage
  });
});
