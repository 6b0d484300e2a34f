import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { hasRedis, redisServer, until } from '../support/redis.ts';
import { replica } from '../support/replica.ts';
test.skipIf(!hasRedis)('a mutation says if Redis could not take note of it, and a metric does too', async () => {
  const redis = await redisServer();
  const { proxy } = await journey();
  const execute = await replica(proxy.url, { redisUrl: redis.url });
  const collect = (comment: string) =>
    execute(
      `mutation { collectBook(input: { bookId: "26340138", status: READ, comment: "${comment}", onConflict: UPDATE, isPrivate: false }) { collection { comment } } }`,
      'demo-alice',
    );
  const metric = async () => (await (await fetch(`${execute.url}/metrics`)).text()).split('\n');
  await until(async () => {
    const { data, errors, extensions } = await collect('noted');
    expect(errors).toBeUndefined();
    return data.collectBook !== null && extensions === undefined;
  });
  const admin = new Redis(redis.url);
  await admin.call('REPLICAOF', '127.0.0.1', '1');
  expect(await collect('not noted')).toMatchObject({
    data: { collectBook: { collection: { comment: 'not noted' } } },
    extensions: { replicasMayLag: true },
  });
  expect(await metric()).toContainEqual(expect.stringMatching(/^catalog_redis_invalidations_unsent [1-9]/));
  expect(await metric()).toContainEqual(expect.stringMatching(/^catalog_redis_refusals\{error="READONLY"\} [1-9]/));
  await admin.call('REPLICAOF', 'NO', 'ONE');
  await until(async () => (await metric()).includes('catalog_redis_invalidations_unsent 0'));
  expect((await collect('noted again')).extensions).toBeUndefined();
  admin.disconnect();
});
