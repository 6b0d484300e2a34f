import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createRedisCache } from '../../../src/upstream/cache/redis.ts';
import type { RedisCall } from '../../../src/upstream/redis-call.ts';

/** A cache in a Redis that can be unreachable, and the names of the versions that it wrote there. */
function cacheIn(state: { isReachable: boolean }) {
  const written: string[] = [];
  const redis = { status: 'ready', set: (name: string) => Promise.resolve(void written.push(name)) };
  const inTime: RedisCall = async (call) => (state.isReachable ? await call() : undefined);
  return { cache: createRedisCache(redis as unknown as Redis, inTime, inTime), written };
}

test('invalidations that did not reach Redis are written once it is reachable', async () => {
  const state = { isReachable: false };
  const { cache, written } = cacheIn(state);
  await cache.invalidate('Book:7');
  await cache.invalidate('Book:7');
  state.isReachable = true;
  await cache.invalidate('Book:8');
  await cache.invalidate('Book:9');
  expect(written).toEqual(['cleared:Book:7', 'cleared:Book:8', 'cleared:Book:9']);
});

test('more than 10,000 such invalidations become one that invalidates everything', async () => {
  const state = { isReachable: false };
  const { cache, written } = cacheIn(state);
  for (let id = 0; id <= 10_001; id++) await cache.invalidate(`Book:${id}`);
  state.isReachable = true;
  await cache.invalidate('Book:7');
  expect(written).toEqual(['cleared:*']);
});
