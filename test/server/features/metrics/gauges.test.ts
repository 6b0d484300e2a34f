import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createLog } from '../../../../src/lib/log.ts';
import { readConfig } from '../../../../src/config/read.ts';
import { logOutages } from '../../../../src/server/observability/watch.ts';
import { createUpstream } from '../../../../src/upstream/client.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { startFacade } from '../../../support/start-facade.ts';
test.skipIf(!hasRedis)('metric and log say which of two Redis cannot be reached', async () => {
  const [shared, keys] = await Promise.all([redisServer(), redisServer()]);
  const { lines, facade } = await facadeOver({ REDIS_URL: shared.url, IDEMPOTENCY_REDIS_URL: keys.url });
  const up = async () => ((await facade.metrics.text()).match(/^catalog_redis_up\{.*$/gm) ?? []).sort();
  const setting = (name: string, value: number) => `catalog_redis_up{setting="${name}"} ${value}`;
  const bothUp = [setting('IDEMPOTENCY_REDIS_URL', 1), setting('REDIS_URL', 1)];
  await until(async () => isDeepStrictEqual(await up(), bothUp));

  await keys.stop();
  await until(() => lines.length > 0);
  expect(lines[0]).toContain('"msg":"redis of idempotency keys is unreachable"');
  expect(await up()).toEqual([setting('IDEMPOTENCY_REDIS_URL', 0), setting('REDIS_URL', 1)]);
});

test.skipIf(!hasRedis)('a Redis of idempotency keys alone has metrics, and none of a shared Redis', async () => {
  const keys = await redisServer();
  const { facade } = await facadeOver({ IDEMPOTENCY_REDIS_URL: keys.url });
  const samples = async () => (await facade.metrics.text()).match(/^catalog_redis_.*$/gm);
  const isUp = ['catalog_redis_up{setting="IDEMPOTENCY_REDIS_URL"} 1'];
  await until(async () => isDeepStrictEqual(await samples(), isUp));
});

async function facadeOver(env: NodeJS.ProcessEnv) {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const away = { BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9' };
  const settings = { ...readConfig({ ...away, ...env }), baseUrl: away.BASE_URL, eventBaseUrl: away.EVENT_BASE_URL };
  const upstream = createUpstream(catalogService, settings, { onOutage: logOutages(log) });
  onTestFinished(() => upstream.close());
  return { lines, facade: await startFacade({}, {}, { upstream }) };
}
