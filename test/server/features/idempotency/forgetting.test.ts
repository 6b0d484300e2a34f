/** Redis servers that forget, and processes without one. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { type Flags, readConfig } from '../../../../src/config/read.ts';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createUpstream } from '../../../../src/upstream/client.ts';
import { keyLossIn } from '../../../../src/upstream/redis/connection/key-redis.ts';
import { keyedClient } from '../../../support/keyed-client.ts';
import { type ArrivedWrite, atOnce, lateService } from '../../../support/late-service.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';
import { startRedis } from '../../../support/redis-process.ts';
import { replica } from '../../../support/replica.ts';
const bodyOf = (content: string) =>
  JSON.stringify({
    query: `mutation ($content: String!) { createNoteComment(input: { noteId: "7", content: $content }) { comment { id content } } }`,
    variables: { content },
  });

async function start(onWrite: (write: ArrivedWrite) => void, flags: (url: string) => Flags) {
  const [redis, service] = await Promise.all([redisServer(), lateService(onWrite)]);
  const facade = async () => {
    const send = keyedClient((await replica(service.url, { upstreamSettleMs: '100', ...flags(redis.url) })).url);
    await until(async () => (await send(bodyOf('who is it'), randomUUID())).status === 200);
    return send;
  };
  const flush = async () => {
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
  };
  const send = await facade();
  service.comments.length = 0;
  return { redis, service, send, facade, flush };
}

test.skipIf(!hasRedis)(
  'a key that Redis forgets while its write runs is put back, and sent by nobody else',
  async () => {
    const held: ArrivedWrite[] = [];
    let holds = false;
    const onWrite = (write: ArrivedWrite) => (holds ? void held.push(write) : atOnce(write));
    const { redis, service, send, facade, flush } = await start(onWrite, (redisUrl) => ({ redisUrl }));
    const other = await facade();
    service.comments.length = 0;
    holds = true;
    const [key, content] = [randomUUID(), randomUUID()];
    const first = send(bodyOf(content), key);
    await until(() => held.length === 1);
    await flush();
    await until(async () => (await redis.dump()).includes(':key:')); // its run renews the lease
    expect(await other(bodyOf(content), key)).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    expect(held).toHaveLength(1);
    atOnce(held[0]!);
    const response = await first;
    expect(response.code).toBeUndefined();
    expect(await other(bodyOf(content), key)).toEqual({ ...response, isReplayed: true });
    expect(service.comments).toHaveLength(1);
  },
);

test.skipIf(!hasRedis)('keys are kept in the Redis of IDEMPOTENCY_REDIS_URL, and not in the shared one', async () => {
  const shared = await redisServer();
  const { redis, send } = await start(atOnce, (idempotencyRedisUrl) => ({ redisUrl: shared.url, idempotencyRedisUrl }));
  await send(bodyOf(randomUUID()), randomUUID());
  expect(await redis.dump()).toContain(':key:');
  expect(await shared.dump()).not.toContain(':key:');
});

test.skipIf(!hasRedis)('a Redis whose user may not ask for its limits is not said to be unreachable', async () => {
  const { port } = await startRedis();
  const admin = new Redis(port);
  await admin.call('ACL', 'SETUSER', 'facade', 'on', '>sesame', '~catalog:*', '+@all', '-info');
  await admin.quit();
  const idempotencyRedisUrl = `redis://facade:sesame@127.0.0.1:${port}`;
  const outages: unknown[] = [];
  const config = { ...readConfig({}), baseUrl: 'http://127.0.0.1:9', eventBaseUrl: 'http://127.0.0.1:9' };
  const upstream = createUpstream(
    catalogService,
    { ...config, idempotencyRedisUrl },
    { onOutage: (service, reason) => void outages.push([service, reason]) },
  );
  onTestFinished(upstream.close);
  expect(await upstream.checkRedis()).toBeUndefined();
  expect(await upstream.keysWarning()).toBeUndefined();
  expect(outages).toEqual([]);
});

test.each([
  ['maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n', false],
  ['maxmemory:1000\r\nmaxmemory_policy:noeviction\r\n', false],
  ['maxmemory:1000\r\nmaxmemory_policy:volatile-lru\r\n', true],
  ['maxmemory:1000\r\nmaxmemory_policy:allkeys-random\r\n', true],
  ['maxmemory:1000\r\nmaxmemory_policy:volatile-ttl\r\n', true],
  ['maxmemory:0\r\naof_enabled:1\r\n', false],
  ['maxmemory:0\r\naof_enabled:0\r\n', true],
])('a Redis with %j is warned of if it may lose keys', (info, isWarned) => {
  expect(keyLossIn(info) !== undefined).toBe(isWarned);
});
