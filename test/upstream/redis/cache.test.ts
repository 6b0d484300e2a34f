import { afterEach, expect, test, vi } from 'vitest';
import { createRedisCache } from '../../../src/upstream/redis/cache.ts';
import { type CacheKey, cacheKeyOf } from '../../../src/upstream/cache/memory.ts';
import type { RedisCall } from '../../../src/upstream/redis/channel.ts';
import type { RedisConnection } from '../../../src/upstream/redis/connection.ts';

afterEach(() => void vi.useRealTimers());

const connectionTo = (redis: object) => ({ redis, key: (name: string) => name }) as RedisConnection;

/** A cache in a Redis that can be unreachable, and the names of the versions that it wrote there. */
function cacheIn(state: { isReachable: boolean }) {
  const written: string[] = [];
  const redis = { status: 'ready', set: (name: string) => Promise.resolve(void written.push(name)) };
  const inTime: RedisCall = async (call) => (state.isReachable ? await call() : undefined);
  return { cache: createRedisCache(connectionTo(redis), inTime, inTime), written };
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

test('nothing is read from a Redis that does not take the invalidations, although it answers reads', async () => {
  const entry = JSON.stringify({ value: { id: '7' }, mark: '...', freshUntil: 1e15, keptUntil: 1e15 });
  let isReadOnly = false;
  const redis = {
    status: 'ready',
    set: () => (isReadOnly ? Promise.reject(new Error('READONLY')) : Promise.resolve('OK')),
    mget: () => Promise.resolve([entry, null, null, null, null]),
  };
  const inTime: RedisCall = async (call) => {
    try {
      return await call();
    } catch {
      return undefined;
    }
  };
  const cache = createRedisCache(connectionTo(redis), inTime, inTime);
  const key: CacheKey = { text: 'Book:7', tag: 'Book:7', groupTag: 'Book', partition: 'all' };
  expect((await cache.get(key)).entry).toMatchObject({ value: { id: '7' } });
  isReadOnly = true;
  await cache.invalidate('Book:7');
  expect((await cache.get(key)).entry).toBeUndefined();
  isReadOnly = false;
  expect((await cache.get(key)).entry).toMatchObject({ value: { id: '7' } });
});

test('an entry is void from the millisecond at which its time ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const key = cacheKeyOf('', 'Book:7', '');
  const stored = new Map<string, string>();
  const redis = {
    set: (name: string, value: string) => Promise.resolve(void stored.set(name, value)),
    mget: (...names: string[]) => Promise.resolve(names.map((name) => stored.get(name) ?? null)),
  };
  const cache = createRedisCache(
    connectionTo(redis),
    (call) => call(),
    (call) => call(),
  );
  const now = Date.now();
  const { version } = await cache.get(key);
  cache.set(key, version, () => ({
    value: { id: '7' },
    bytes: 1,
    since: now,
    freshUntil: now + 5,
    keptUntil: now + 9,
  }));
  await new Promise((resolve) => setImmediate(resolve));
  vi.setSystemTime(now + 8);
  expect((await cache.get(key)).entry?.value).toEqual({ id: '7' });
  vi.setSystemTime(now + 9);
  expect((await cache.get(key)).entry).toBeUndefined();
});
