import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read.ts';
import { logOutages } from '../../src/server/observability/watch.ts';
import { createCancellationToken } from '../../src/lib/cancellation.ts';
import { createAvailabilityMonitor } from '../../src/upstream/availability.ts';
import { connectRedis } from '../../src/upstream/redis.ts';
import { createTransport } from '../../src/upstream/http/pool.ts';
import { hostile, inTurn, json, reset } from '../support/hostile.ts';
import { hasRedis, redisServer, until, withoutRedis } from '../support/redis.ts';

/** What is logged, as far as it is said by us. */
function logged() {
  const lines: object[] = [];
  const write = (line: string) => {
    const { time: _, pid: __, hostname: ___, ...told } = JSON.parse(line) as Record<string, unknown>;
    lines.push(told);
  };
  return { lines, onOutage: logOutages(pino({}, { write })) };
}
const WARN = 40;

test('a service that goes away and comes back is logged once each time, with the reason and no token', async () => {
  const service = await hostile(inTurn(reset, reset, reset, json('{}'), json('{}'), reset, json('{}')));
  const { lines, onOutage } = logged();
  const settings = { ...readConfig({}), readAttempts: 1, breakerFailures: 2, breakerPauseMs: 1, maxBreakerPauseMs: 1 };
  const transport = createTransport(
    { ...settings, baseUrl: service.url, eventBaseUrl: service.url },
    undefined,
    onOutage,
  );
  const asked = { service: 'catalog', method: 'GET', path: '/x', maxBytes: 10_000, requestLine: 'GET /x' } as const;
  const headers = ['authorization', 'Bearer demo-alice'];
  const answered = async () => {
    try {
      await transport.send({ ...asked, headers }, createCancellationToken());
      return true;
    } catch {
      return false;
    }
  };
  expect([await answered(), await answered()]).toEqual([false, false]);
  const away = { level: WARN, service: 'catalog', reason: 'ECONNRESET', msg: 'catalog is unreachable' };
  expect(lines).toEqual([away]);
  await until(answered); // it failed a trial on the way
  expect(lines).toEqual([away, { level: WARN, service: 'catalog', msg: 'catalog is reachable again' }]);
  expect([await answered(), await answered(), await answered()]).toEqual([true, false, true]);
  expect(lines).toHaveLength(2); // one failure is no outage
  await transport.close();
});

test('late now and then is not away', () => {
  const told: unknown[] = [];
  const presence = createAvailabilityMonitor((reason) => told.push(reason));
  for (let n = 0; n < 10; n++) {
    presence.onFailure('late');
    presence.onFailure('late');
    presence.onSuccess();
  }
  expect(told).toEqual([]);
  for (let n = 0; n < 10; n++) presence.onFailure('late');
  expect(told).toEqual(['late']);
  presence.onSuccess();
  presence.onSuccess();
  expect(told).toEqual(['late', undefined]);
});

test.skipIf(hasRedis)(withoutRedis, () => undefined);

describe.skipIf(!hasRedis)('Redis', () => {
  test('that ends, or only hangs, is logged once, and once when it is back', async () => {
    const server = await redisServer();
    const { lines, onOutage } = logged();
    const shared = connectRedis(server.url, 'outage', onOutage);
    const isThere = async () => (await shared.windows.state('nobody', 60_000)) !== undefined;
    const back = { level: WARN, service: 'redis', msg: 'redis is reachable again' };
    await until(isThere);
    expect(lines).toEqual([]); // it was there from the beginning

    await server.stop();
    await until(async () => lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ level: WARN, service: 'redis', msg: 'redis is unreachable' })]);
    await server.start();
    await until(isThere);
    expect(lines.slice(1)).toEqual([back]);

    server.freeze();
    await until(async () => {
      await isThere();
      return lines.length > 2;
    });
    server.thaw();
    await until(isThere);
    expect(lines.slice(2)).toEqual([
      { level: WARN, service: 'redis', reason: 'no answer in time', msg: 'redis is unreachable' },
      back,
    ]);
    await shared.close();
    expect(lines).toHaveLength(4); // that we left is no outage
  });
});
