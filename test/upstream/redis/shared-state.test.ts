import { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { unspecified } from '../../../src/upstream/cache/caching-header.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { cacheKeyOf } from '../../../src/upstream/cache/memory.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { DEFAULT_TIMEOUTS, connectRedis } from '../../../src/upstream/redis/shared-state.ts';
import { BRIEF_TIMEOUTS, hasRedis, redisServer, until } from '../../support/redis.ts';

const anonymous = { credential: { id: 'own', isOwn: true, accepted: false } };
const noHeaders = { bytes: 100, reuse: unspecified };
const limits = { slots: 2, perAddress: 2, holdMs: 75_000 };
const anyKey = cacheKeyOf('', '', '');
let slots = 0;
const slot = (window: string) => ({ window, id: String(slots++), address: '' });
describe.skipIf(!hasRedis)('state shared by replicas', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  async function replica(url: string, { namespace = 'one service', timeouts = DEFAULT_TIMEOUTS } = {}) {
    const shared = connectRedis({ url, namespace, timeouts });
    const records = createRecordCache({ cache: shared.cache });
    const isReachable = async () => (await shared.windows.state('nobody', limits.holdMs)) !== undefined;
    const read = async () => (await records.forViewer(anonymous).record(bookEndpoints.byId, 'Book', '7').get())?.value;
    const write = async (title: string) => {
      const handle = records.forViewer(anonymous).record(bookEndpoints.byId, 'Book', '7');
      await handle.get(['title']);
      handle.putRecord({ title }, ['title'], noHeaders);
    };
    await until(isReachable);
    return { ...shared, records, isReachable, read, write };
  }

  test('a record cached by one replica is served by the other, and invalidation reaches both', async () => {
    const { url } = await redisServer();
    const [one, two] = [await replica(url), await replica(url)];
    await one.write('x');
    await until(async () => (await two.read())?.title === 'x');
    await two.records.invalidate(['Book:7']);
    expect(await one.read()).toBeUndefined();
    await Promise.all([one.close(), two.close()]);
  });

  test('replicas with another namespace share no records', async () => {
    const { url } = await redisServer();
    const [one, two] = [await replica(url), await replica(url, { namespace: 'another' })];
    await one.write('x');
    await until(async () => (await one.read()) !== undefined);
    expect(await two.read()).toBeUndefined();
    await Promise.all([one.close(), two.close()]);
  });

  test('two replicas share one rate limit window, which says when a slot is free again', async () => {
    const { url } = await redisServer();
    const [one, two] = [await replica(url), await replica(url)];
    const first = slot('alice');
    expect(await one.windows.take(first, limits)).toBe(0);
    expect(await two.windows.take(slot('alice'), limits)).toBe(0);
    expect(await one.windows.take(slot('alice'), limits)).toBeGreaterThan(61_000);
    expect(await two.windows.take(slot('bob'), limits)).toBe(0);
    one.windows.settle(first);
    await until(async () => Number((await two.windows.state('alice', limits.holdMs))?.backInMs) <= 60_000);
    expect(await two.windows.take(slot('alice'), limits)).toBeGreaterThan(30_000);
    one.windows.release(first);
    await until(async () => (await two.windows.state('alice', limits.holdMs))?.taken === 1);
    await Promise.all([one.close(), two.close()]);
  });

  test('setting the clock of Redis back keeps no window full', async () => {
    const { url } = await redisServer();
    const one = await replica(url);
    const redis = new Redis(url);
    const take = () => one.windows.take(slot('alice'), limits);
    expect([await take(), await take()]).toEqual([0, 0]);
    const [key] = await redis.keys('*window:alice');
    const slots = await redis.zrange(key!, '0', '-1', 'WITHSCORES');
    // The scores as if they had been written while the clock was an hour ahead.
    for (let at = 0; at < slots.length; at += 2) await redis.zadd(key!, Number(slots[at + 1]) + 3_600_000, slots[at]!);
    expect(await one.windows.state('alice', limits.holdMs)).toMatchObject({ taken: 0 });
    expect([await take(), await take()]).toEqual([0, 0]);
    expect(await take()).toBeGreaterThan(0);
    redis.disconnect();
    await one.close();
  });

  test('of slots that replicas take at once there are never more than a window has', async () => {
    const { url } = await redisServer();
    const all = [await replica(url), await replica(url), await replica(url)];
    const many = { slots: 40, perAddress: 40, holdMs: 75_000 };
    const takeAll = (each: (typeof all)[number]) =>
      Array.from({ length: 20 }, () => each.windows.take(slot('alice'), many));
    const waits = await Promise.all(all.flatMap(takeAll));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(40);
    for (const wait of waits) expect(wait === 0 || Number(wait) > 60_000).toBe(true);
    expect((await all[0]!.windows.state('alice', many.holdMs))?.taken).toBe(40);
    await Promise.all(all.map((each) => each.close()));
  });

  test('an address gets its share of a window', async () => {
    const { url } = await redisServer();
    const { windows, close } = await replica(url);
    const take = (address: string) =>
      windows.take({ ...slot('own'), address }, { slots: 5, perAddress: 2, holdMs: 75_000 });
    expect(await Promise.all([take('1.1.1.1'), take('1.1.1.1'), take('1.1.1.11'), take('1.1.1.11')])).toEqual([
      0, 0, 0, 0,
    ]);
    expect(await take('1.1.1.1')).toBeGreaterThan(0);
    expect(await take('2.2.2.2')).toBe(0);
    await close();
  });

  test('an unresponsive Redis is waited for once, briefly', async () => {
    const server = await redisServer();
    const one = await replica(server.url, { timeouts: BRIEF_TIMEOUTS });
    server.freeze();
    vi.useFakeTimers({ toFake: ['performance'] }); // no time passes, so it is not retried
    const timers = vi.spyOn(globalThis, 'setTimeout');
    for (let reads = 0; reads < 21; reads++) expect(await one.read()).toBeUndefined();
    // Other clients of this process may wait to connect again.
    expect(timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === BRIEF_TIMEOUTS.record)).toHaveLength(1);
    vi.useRealTimers();
    server.thaw();
    await until(async () => {
      await one.write('x');
      return (await one.read())?.title === 'x';
    });
    await one.close();
  });

  test('the cache works without Redis while it is unreachable, and uses it again afterwards', async () => {
    const server = await redisServer();
    const one = await replica(server.url);
    await one.write('x');
    await until(async () => (await one.read())?.title === 'x');
    await server.stop();
    expect(await one.read()).toBeUndefined();
    expect(await one.windows.take(slot('alice'), limits)).toBeUndefined();
    await server.start();
    await until(one.isReachable);
    await until(async () => {
      await one.write('y'); // again, in case the log was not asked for yet
      return (await one.read())?.title === 'y';
    });
    await one.close();
  });

  test('records invalidated while Redis is unreachable are invalidated when it is reachable again', async () => {
    const server = await redisServer();
    const one = await replica(server.url, { timeouts: BRIEF_TIMEOUTS });
    await until(async () => {
      await one.write('x');
      return (await one.read())?.title === 'x';
    });
    server.freeze();
    await one.records.invalidate(['Book:7']);
    server.thaw();
    await until(async () => (await one.cache.get(anyKey)).version !== undefined);
    expect(await one.read()).toBeUndefined();
    await one.close();
  });

  test('an invalidation that timed out reaches the other replica without further requests to the first', async () => {
    const server = await redisServer();
    const [one, two] = [await replica(server.url, { timeouts: BRIEF_TIMEOUTS }), await replica(server.url)];
    await until(async () => {
      await one.write('x');
      return (await two.read())?.title === 'x';
    });
    server.freeze();
    await one.records.invalidate(['Book:8']); // times out: Redis is not used for a while
    await one.records.invalidate(['Book:7']);
    server.thaw();
    await until(async () => (await two.read()) === undefined);
    await Promise.all([one.close(), two.close()]);
  });

  test('invalid values in Redis are ignored, and a full Redis can still be read', async () => {
    const { url } = await redisServer();
    const one = await replica(url);
    const redis = new Redis(url);
    await until(async () => {
      await one.write('x');
      await one.windows.take(slot('alice'), limits);
      return (await one.read())?.title === 'x' && (await redis.keys('*')).length >= 2;
    });
    const keys = await redis.keys('*');
    await redis.config('SET', 'maxmemory', '1');
    await one.write('y');
    expect((await one.read())?.title).toMatch(/[xy]/);
    expect([0, undefined]).toContain(await one.windows.take(slot('bob'), limits));
    await redis.config('SET', 'maxmemory', '0');
    for (const garbage of ['', 'x', '{', '[]', 'null', '7', '{"record":7}', '\0', Buffer.from([0xff, 0xfe])]) {
      for (const key of keys) await redis.set(key, garbage);
      expect((await one.read())?.title).toBeUndefined();
      expect([0, undefined]).toContain(await one.windows.take(slot('alice'), limits));
    }
    for (const key of keys) await redis.multi().del(key).lpush(key, 'a list').exec();
    expect((await one.read())?.title).toBeUndefined();
    expect([0, undefined]).toContain(await one.windows.take(slot('alice'), limits));
    redis.disconnect();
    await one.close();
  });

  test('every key expires', async () => {
    const server = await redisServer();
    const { url } = server;
    const one = await replica(url);
    await one.records.invalidate(['Book:8']);
    await one.windows.take(slot('alice'), limits);
    await until(async () => {
      await one.write('x'); // again, in case Redis timed out
      return (await one.read()) !== undefined;
    });
    const redis = new Redis(url);
    const keys = await redis.keys('*');
    expect(keys.map((key) => key.split(':')[2]).sort()).toEqual([
      ...['counter', 'counter', 'counter', 'counter'], // a book, all books, what is public, and everything
      ...['entry', 'epoch', 'window'],
    ]);
    for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
    expect(await server.dump()).toContain('"title":"x"');
    redis.disconnect();
    await one.close();
  });
});
