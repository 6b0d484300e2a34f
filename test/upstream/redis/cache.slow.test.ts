import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cancel, createCancellationToken } from '../../../src/lib/cancellation.ts';
import {
  type CacheKey,
  type CacheLookup,
  type CacheReader,
  cacheKeyOf,
  isUsable,
} from '../../../src/upstream/cache/memory.ts';
import { createRedisCache } from '../../../src/upstream/redis/cache.ts';
import { openRedis } from '../../../src/upstream/redis/connection/connection.ts';
import { DEFAULT_TIMEOUTS, type SharedState, connectRedis } from '../../../src/upstream/redis/shared-state.ts';
import { BRIEF_TIMEOUTS, hasRedis, redisServer, until } from '../../support/redis.ts';
const book = (id = '7'): CacheKey => cacheKeyOf('public', `Book:${id}`, undefined, 'Book');
const film = cacheKeyOf('tier x', 'Subject:1', undefined, 'Subject', true);
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** As a part of the fields of a record, which is fresh for a minute. */
const entryOf = (value: Record<string, unknown>) => {
  const now = performance.now();
  return {
    value,
    bytes: 10,
    since: now,
    freshUntil: now + 60_000,
    keptUntil: now + 120_000,
  };
};

describe.skipIf(!hasRedis)('the cache that replicas share', () => {
  let server: Awaited<ReturnType<typeof redisServer>>;
  let redis: Redis;
  let namespaces = 0;
  const open: SharedState[] = [];

  beforeAll(async () => {
    server = await redisServer();
    redis = new Redis(server.url);
    redis.on('error', () => undefined);
  });
  afterAll(async () => {
    redis.disconnect();
    await Promise.all(open.map((each) => each.close()));
  });

  test('a write made while the client of Redis has given up is noted when it is connected again, without a further request', async () => {
    const connection = openRedis({ url: server.url, namespace: `cache ${namespaces++}` });
    const call = connection.channel({ what: 'of this test', timeoutMs: DEFAULT_TIMEOUTS.record });
    const calls = { lookups: call, updates: call, invalidations: call };
    const { cache, flush, unsent } = createRedisCache(connection, calls, {
      maxBytes: 1_000_000,
      events: '',
      onInvalidation: () => undefined,
    });
    await until(() => connection.redis.status === 'ready');
    connection.redis.disconnect();
    await until(() => connection.redis.status === 'end');
    expect(await cache.invalidate(['Book:7'])).toBe(false);
    expect(unsent()).toBe(1);
    await until(() => unsent() === 0);
    expect(connection.redis.status).toBe('ready');
    await flush(0);
    await connection.close();
  });

  /** Replicas of one facade. */
  const replicas = (count: number, url = server.url) => replicasAt(Array.from({ length: count }, () => url));

  async function replicasAt(urls: readonly string[]) {
    const namespace = `cache ${namespaces++}`;
    const all = urls.map((url) => connectRedis({ url, namespace }));
    open.push(...all);
    const made = all.map((shared) => replicaOf(shared));
    for (const { cache } of all) await until(async () => (await cache.get(book())).version.shared !== undefined);
    return made;
  }

  /** Operations of one replica. */
  function replicaOf({ cache, close, state }: SharedState) {
    /** A reader of an operation that begins now. */
    const begin = (members: readonly string[] = ['title'], more: Partial<CacheReader> = {}) => {
      const reader = {
        members,
        since: cache.readVersion!(),
        cancellation: createCancellationToken(),
        mayLease: true,
        ...more,
      };
      return { ...reader, get: async (key = book()): Promise<CacheLookup> => cache.get(key, reader) };
    };
    return {
      cache,
      close,
      unsent: () => state().unsent,
      refusals: () => state().refusals,
      begin,
      read: (members?: readonly string[]) => begin(members).get(),
    };
  }

  const commands = async () => {
    const stats = await redis.info('commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };

  test('all lookups of a tick are one command, and those of an operation that memory has are none after the first', async () => {
    const [one] = await replicas(1);
    const keys = Array.from({ length: 60 }, (_, id) => book(String(id)));
    const read = (operation = one!.begin()) => Promise.all(keys.map((key) => operation.get(key)));
    await one!.cache.invalidate(['Book:0']);
    one!.cache.set(film, (await one!.begin().get(film)).version, entryOf({})); // Redis has the scripts then
    await until(async () => (await redis.keys('*:entry:*')).length > 0);
    let before = await commands();
    const found = await read();
    expect((await commands()) - before).toBe(1);
    found.forEach(({ version }, at) => one!.cache.set(keys[at]!, version, entryOf({ title: at })));
    await until(async () => (await commands()) - before === 2); // all are written by one too
    before = await commands();
    const operation = one!.begin();
    const titles = (lookups: CacheLookup[]) => lookups.map(({ entry }) => (entry?.value as { title: number }).title);
    expect(titles(await read(operation))).toEqual(keys.map((_, at) => at));
    expect((await commands()) - before).toBe(1);
    expect(titles(await read(operation))).toEqual(keys.map((_, at) => at));
    expect((await commands()) - before).toBe(1);
  });

  test('what a mutation reads again is stored while another reader has the lease of before', async () => {
    const [one] = await replicas(1);
    expect((await one!.read()).release).toBeDefined();
    const mutation = one!.begin();
    await mutation.get(film);
    await one!.cache.invalidate(['Book:7']);
    one!.cache.set(book(), (await mutation.get()).version, entryOf({ title: 'new' }));
    expect((await one!.read()).entry?.value).toEqual({ title: 'new' });
  });

  test('after a deletion the process has the lease no more, and finds what another replica stored', async () => {
    const [one, two] = await replicas(2);
    expect((await one!.read()).release).toBeDefined();
    one!.cache.delete(book());
    let other: CacheLookup | undefined;
    await until(async () => (other = await two!.read()).release !== undefined);
    two!.cache.set(book(), other!.version, entryOf({ title: 'of two' }));
    await until(async () => (await one!.read()).entry !== undefined);
  });

  test('the log is asked for once a tick, together with the lookups of the tick, for all that have to know it', async () => {
    const [one, two] = await replicas(2);
    await one!.cache.invalidate(['Book:0']);
    expect(await one!.cache.confirm!()).toBe(true);
    const epoch = one!.cache.epoch!();
    const before = await commands();
    const asked = [...Array.from({ length: 50 }, () => one!.cache.confirm!()), one!.read(['title'])];
    await Promise.all(asked);
    expect((await commands()) - before).toBe(1);
    expect(one!.cache.epoch!()).toBe(epoch);
    await two!.cache.invalidate(['Book:8']);
    expect(one!.cache.epoch!()).toBe(epoch);
    expect(await one!.cache.confirm!()).toBe(true);
    expect(one!.cache.epoch!()).toBeGreaterThan(epoch);
  });

  test('an expired entry is sent only to who has none that is as new', async () => {
    const [one, two] = await replicas(2);
    const isExpired = { freshUntil: performance.now() - 1_000 };
    const stored = { ...entryOf({ title: 'x'.repeat(1_000) }), ...isExpired };
    one!.cache.set(book(), (await one!.read()).version, stored);
    await until(async () => (await redis.keys('*:entry:*')).length > 0);
    const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))![1]);
    const bytesOf = async (lookup: Promise<CacheLookup>) => {
      const before = await sent();
      expect((await lookup).entry?.value).toEqual(stored.value);
      return (await sent()) - before;
    };
    const info = (await redis.info('stats')).length;
    const reader = (members: string[]) => ({ mayLease: false, members });
    expect(await bytesOf(two!.begin(undefined, reader(['title'])).get())).toBeGreaterThan(1_000 + info);
    expect(await bytesOf(two!.begin(undefined, reader(['title'])).get())).toBeLessThan(1_000 + info);
    expect(await bytesOf(two!.begin(undefined, reader(['title', 'pages'])).get())).toBeGreaterThan(1_000 + info);
  });

  test('what one replica has stored another gets, with the fields of both', async () => {
    const [one, two] = await replicas(2);
    const { version } = await one!.read();
    one!.cache.set(book(), version, entryOf({ title: 'x', subtitle: undefined }));
    await until(async () => (await two!.read()).entry !== undefined);
    const lookup = await two!.read(['pages']);
    two!.cache.set(book(), lookup.version, entryOf({ pages: '9' }));
    const members = ['title', 'pages', 'subtitle'];
    await until(async () => isUsable((await one!.read(members)).entry, { members }));
    expect((await one!.read(members)).entry?.value).toEqual({ title: 'x', subtitle: undefined, pages: '9' });
  });

  test('a reader whose operation began before an answer of Redis does not have to ask again; a later one does', async () => {
    const [one, two] = await replicas(2);
    const { version } = await one!.read();
    one!.cache.set(book(), version, entryOf({ title: 'old' }));
    await until(async () => (await two!.read()).entry !== undefined);
    await one!.cache.invalidate(['Book:7']);
    expect((await two!.read()).entry).toBeUndefined();
  });

  test('a process keeps what is current, however much else is invalidated, also without the epoch', async () => {
    const [one, two] = await replicas(2);
    const { version } = await two!.read();
    two!.cache.set(book(), version, entryOf({ title: 'x' }));
    await until(async () => (await redis.keys('*:entry:*')).length > 0);
    for (let n = 0; n < 1_500; n += 500)
      await one!.cache.invalidate(Array.from({ length: 500 }, (_, at) => `Book:${1000 + n + at}`));
    const [entry] = (await redis.keys('*:entry:*')) as [string];
    const stored = await redis.dumpBuffer(entry);
    await redis.del(entry);
    expect((await two!.read()).entry).toBeDefined();
    await redis.restore(entry, 60_000, stored);
    for (const key of await redis.keys('*:epoch')) await redis.del(key);
    expect((await two!.read()).entry).toBeDefined();
  });

  test('who deletes what is not stored, as with an unknown token, leaves what others have stored of the record', async () => {
    const [one, two] = await replicas(2);
    one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'x' }));
    await until(async () => (await two!.read()).entry !== undefined);
    const epochs = async () => redis.mget((await redis.keys('*:epoch')).sort());
    const before = await epochs();
    const { text } = book();
    two!.cache.delete({ ...book(), text: `${text} of another`, partition: 'another' });
    await sleep(50);
    expect(await epochs()).toEqual(before);
    for (const each of [one, two]) expect((await each!.read()).entry?.value).toEqual({ title: 'x' });
  });

  test('an entry that is stored and deleted in one tick is not stored', async () => {
    const [one, two] = await replicas(2);
    one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'x' }));
    one!.cache.delete(book());
    await sleep(50);
    expect((await two!.read()).entry).toBeUndefined();
  });

  test('an entry is not used any more if Redis has evicted any note of whether one of its names was invalidated', async () => {
    for (const evicted of ['Book:7', 'Book', 'public']) {
      const [one, two, three] = await replicas(3);
      one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'old' }));
      await until(async () => (await two!.read()).entry !== undefined);
      await two!.cache.invalidate([evicted]);
      for (const key of await redis.keys(`*:counter:${evicted}`)) await redis.del(key);
      expect((await three!.read()).entry, evicted).toBeUndefined();
    }
  });

  test('the clocks of replicas may differ: what one stored is fresh for others as long as for itself', async () => {
    try {
      for (const aheadMs of [0, 600_000]) {
        const [one, two] = await replicas(2);
        vi.useFakeTimers({ toFake: ['Date', 'performance'] });
        vi.advanceTimersByTime(aheadMs);
        one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'x' }));
        await until(async () => (await redis.keys('*:entry:*')).length > 0);
        vi.useRealTimers();
        let found: CacheLookup | undefined;
        await until(async () => (found = await two!.read()).entry !== undefined);
        const left = found!.entry!.freshUntil - performance.now();
        expect(left).toBeGreaterThan(0);
        expect(left).toBeLessThanOrEqual(60_000);
        await redis.flushall();
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('an entry that cannot be read is replaced by the next response', async () => {
    const damages = [
      (text: string) => text.slice(0, -5),
      (text: string) => text.replace('"value":{', '"value":0,"":{'),
      (text: string) => text.replace(/"freshUntil":[^,]+/, '"freshUntil":null'),
      (text: string) => text.replace(/\n\d+ /, '\n'),
    ];
    for (const damage of damages) {
      await redis.flushall();
      const [one, two, three] = await replicas(3);
      one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'x' }));
      await until(async () => (await redis.keys('*:entry:*')).length > 0);
      const [key] = (await redis.keys('*:entry:*')) as [string];
      await redis.set(key, damage((await redis.get(key))!), 'KEEPTTL');
      const lookup = await two!.read();
      expect(lookup.entry).toBeUndefined();
      two!.cache.set(book(), lookup.version, entryOf({ title: 'y' }));
      await until(async () => (await three!.read()).entry !== undefined);
      expect((await three!.read()).entry!.value).toEqual({ title: 'y' });
    }
  });

  test('names of keys have no text that somebody searched for', async () => {
    const [one] = await replicas(1);
    const search = cacheKeyOf('public', '/v2/book/search', 'q=a+private+matter', '/v2/book/search');
    const { version } = await one!.begin(undefined, { members: undefined }).get(search);
    one!.cache.set(search, version, entryOf({ books: [] }));
    await until(async () => (await redis.keys('*:entry:*')).length > 0);
    expect(await redis.keys('*private*')).toEqual([]);
  });

  test('replicas that read events from another service share no events, and the rest', async () => {
    const namespace = `cache ${namespaces++}`;
    const all = ['x', 'y'].map((events) => connectRedis({ url: server.url, namespace, events }));
    open.push(...all);
    const [one, two] = all.map((shared) => replicaOf(shared));
    await until(async () => (await two!.read()).version.shared !== undefined);
    const event = cacheKeyOf('anonymous', 'Event:7', undefined, 'Event', false, 'events');
    for (const key of [event, book()]) {
      let found: CacheLookup | undefined;
      await until(async () => (found = await one!.begin().get(key)).version.shared !== undefined);
      one!.cache.set(key, found!.version, entryOf({ title: key.tag }));
    }
    const read = (key: CacheKey) => two!.begin(undefined, { mayLease: false }).get(key);
    await until(async () => (await read(book())).entry !== undefined);
    expect((await read(event)).entry).toBeUndefined();
    expect((await one!.begin().get(event)).entry).toBeDefined();
  });

  describe('when equal reads are made by several replicas', () => {
    test('one asks upstream, and the others get what it stores', async () => {
      const [one, two, three] = await replicas(3);
      const lookup = await one!.read();
      expect(lookup.release).toBeDefined();
      const others = Promise.all([two!.read(), two!.read(), three!.read()]);
      await turn();
      one!.cache.set(book(), lookup.version, entryOf({ title: 'x' }));
      for (const { entry, release } of await others) {
        expect(entry?.value).toEqual({ title: 'x' });
        expect(release).toBeUndefined();
      }
    });

    test('other readers of the process that asks look nothing up, until an invalidation or the end of the lease', async () => {
      const [one, two] = await replicas(2);
      await one!.read();
      const operation = one!.begin();
      await operation.get(film); // it knows what was invalidated before it
      const commandsOf = async (lookup: () => Promise<CacheLookup>) => {
        const before = await commands();
        await lookup();
        return (await commands()) - before;
      };
      expect(await commandsOf(operation.get)).toBe(0);
      const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
      const asked = await commandsOf(operation.get);
      later.mockRestore();
      expect(asked).toBe(1);
      await two!.cache.invalidate(['Book:7']);
      expect((await one!.read()).release).toBeDefined();
    });

    test('a holder that gets nothing lets one other ask, not all', async () => {
      const [one, two, three] = await replicas(3);
      const lookup = await one!.read();
      const asked: CacheLookup[] = [];
      const others = [two!, three!].map(async (replica) => {
        const found = await replica.read();
        asked.push(found);
        return found;
      });
      await turn();
      lookup.release!();
      const first = await Promise.race(others);
      expect(first.release).toBeDefined();
      for (let turns = 0; turns < 50; turns++) await turn();
      expect(asked).toHaveLength(1);
      first.release!();
      expect((await Promise.all(others)).every(({ release }) => release)).toBe(true);
    });

    test('the lease of a process that died ends by itself', async () => {
      const [one, two] = await replicas(2);
      await one!.read();
      const waiting = two!.read();
      const [lease] = await redis.keys('*{*}:lease:*');
      expect(await redis.pttl(lease!)).toBeGreaterThan(0);
      for (const key of await redis.keys('*:lease:*')) await redis.pexpire(key, 1);
      expect((await waiting).release).toBeDefined();
    });

    test('one that needs more fields than were stored reads the rest, and nobody waits for it', async () => {
      const [one, two] = await replicas(2);
      const { version } = await one!.read();
      const waiting = two!.read(['title', 'pages']);
      await turn();
      one!.cache.set(book(), version, entryOf({ title: 'x' }));
      const { entry, release } = await waiting;
      expect(entry?.value).toEqual({ title: 'x' });
      expect(release).toBeUndefined();
    });

    test('an invalidation in between: nothing old is stored or handed on, and nobody waits for the old read', async () => {
      const [one, two, three] = await replicas(3);
      const old = await one!.read();
      const waiting = two!.read();
      await turn();
      await three!.cache.invalidate(['Book:7']);
      const next = await waiting;
      expect(next).toMatchObject({ entry: undefined, release: expect.any(Function) as unknown });
      one!.cache.set(book(), old.version, entryOf({ title: 'old' }));
      await turn();
      next.release!();
      expect((await three!.read()).entry).toBeUndefined();
    });

    test('a wait ends with its operation, and a lease that comes for nobody is given back', async () => {
      const [one, two, three] = await replicas(3);
      const lookup = await one!.read();
      const operation = two!.begin();
      const waiting = operation.get();
      await until(async () => (await redis.keys('*:lease:*')).length > 0);
      for (let turns = 0; turns < 20; turns++) await turn();
      cancel(operation.cancellation, new Error('gone'));
      expect((await waiting).release).toBeUndefined();
      lookup.release!();
      expect((await three!.read()).release).toBeDefined();
    });

    test('a read with a token that upstream has not accepted neither waits nor makes others wait', async () => {
      const [one, two] = await replicas(2);
      const stranger = await one!.begin(undefined, { mayLease: false }).get();
      expect(stranger.release).toBeUndefined();
      expect((await two!.read()).release).toBeDefined();
      expect((await one!.begin(undefined, { mayLease: false }).get()).release).toBeUndefined();
    });

    test('when Redis goes away, those that wait ask upstream', async () => {
      const other = await redisServer();
      const [one, two] = await replicas(2, other.url);
      await one!.read();
      const waiting = two!.read();
      await turn();
      await other.stop();
      expect(await waiting).toMatchObject({ entry: undefined });
    });
  });

  test('while Redis is away, only what nothing writes is served from memory', async () => {
    const other = await redisServer();
    const [one] = await replicas(1, other.url);
    const operation = one!.begin();
    for (const key of [book(), film]) one!.cache.set(key, (await operation.get(key)).version, entryOf({ title: 'x' }));
    await other.stop();
    const later = one!.begin();
    expect((await later.get(film)).entry?.value).toEqual({ title: 'x' });
    expect((await later.get()).entry).toBeUndefined();
    await other.start();
    await until(async () => (await one!.read()).entry === undefined);
  });

  describe('when Redis refuses writes', () => {
    /** Redis answers reads, and each write with READONLY. */
    const readOnly = (admin: Redis) => admin.call('REPLICAOF', '127.0.0.1', '1');
    const writable = (admin: Redis) => admin.call('REPLICAOF', 'NO', 'ONE');

    test('hundreds of writes cost a few commands, each says that replicas may lag, and all reach them at last', async () => {
      const other = await redisServer();
      const admin = new Redis(other.url);
      const [one, two] = await replicas(2, other.url);
      await readOnly(admin);
      const before = Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))![1]);
      for (let id = 0; id < 300; id++) {
        expect(await one!.cache.invalidate([`Book:${id}`])).toBe(false);
        await one!.read();
      }
      const after = Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))![1]);
      expect(after - before).toBeLessThan(100);
      expect(one!.unsent()).toBe(300);
      expect(Object.keys(one!.refusals())).toEqual(['READONLY']);
      await writable(admin);
      await until(() => one!.unsent() === 0);
      await until(async () => (await two!.read()).version.shared !== undefined);
      admin.disconnect();
    });

    test('nobody waits for a response that a full one did not store', async () => {
      const other = await redisServer();
      const admin = new Redis(other.url);
      const [one] = await replicas(1, other.url);
      const { version } = await one!.begin(undefined, { mayLease: true }).get();
      const [lease] = await admin.keys('*:lease:*');
      await admin.pexpire(lease!, 3_600_000);
      await admin.config('SET', 'maxmemory', '1');
      one!.cache.set(book(), version, entryOf({ title: 'x' }));
      await until(async () => (await admin.exists(lease!)) === 0);
      expect(await admin.keys('*:entry:*')).toEqual([]);
      admin.disconnect();
    });

    test('a full one still takes note of a write', async () => {
      const other = await redisServer();
      const admin = new Redis(other.url);
      const [one, two] = await replicas(2, other.url);
      one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'old' }));
      await until(async () => (await two!.read()).entry !== undefined);
      await admin.config('SET', 'maxmemory', '1');
      expect((await two!.read()).entry).toBeDefined();
      expect(await one!.cache.invalidate(['Book:7'])).toBe(true);
      expect((await two!.read()).entry).toBeUndefined();
      await admin.config('SET', 'maxmemory', '0');
      await until(async () => (await two!.read()).version.shared !== undefined);
      expect((await two!.read()).entry).toBeUndefined();
      admin.disconnect();
    });
  });

  test('a second write of the same record is noted for itself, also while the note of the first is under way', async () => {
    const line = await slowLine(server.url);
    const [one, two] = await replicasAt([line.url, server.url]);
    const key = book('written twice');
    line.hold();
    const counter = `*:counter:${key.tag}`;
    await two!.begin(undefined, { mayLease: false }).get(key);
    const first = one!.cache.invalidate([key.tag]);
    await until(async () => (await redis.keys(counter)).length === 0);
    const between = await two!.begin(undefined, { mayLease: false }).get(key);
    two!.cache.set(key, between.version, entryOf({ title: 'before the second write' }));
    const second = one!.cache.invalidate([key.tag]);
    line.release();
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect((await two!.begin(undefined, { mayLease: false }).get(key)).entry).toBeUndefined();
  });

  test('a process that ends writes first what it could not write before', async () => {
    const other = await redisServer();
    const namespace = 'ending';
    const shared = connectRedis({ url: other.url, namespace, timeouts: BRIEF_TIMEOUTS });
    await until(async () => {
      shared.cache.set(book(), (await shared.cache.get(book())).version, entryOf({ title: 'x' }));
      return (await other.dump()).includes('counter:Book:7');
    });
    other.freeze();
    expect(await shared.cache.invalidate(['Book:7'])).toBe(false);
    const closed = shared.close(20_000);
    other.thaw();
    expect(await closed).toBe(0);
    expect(await other.dump()).not.toContain('counter:Book:7');
  });

  test('a process that ends says how many it could not write', async () => {
    const other = await redisServer();
    const shared = connectRedis({ url: other.url, namespace: 'lost', timeouts: BRIEF_TIMEOUTS });
    await until(async () => (await shared.cache.get(book())).version.shared !== undefined);
    await other.stop();
    await shared.cache.invalidate(['Book:7', 'Book:8']);
    expect(await shared.close(50)).toBe(2);
  });

  test('where a process cannot say which of many names it invalidated, everything is', async () => {
    const other = await redisServer();
    const [one, two] = await replicas(2, other.url);
    one!.cache.set(book(), (await one!.read()).version, entryOf({ title: 'x' }));
    await until(async () => (await two!.read()).entry !== undefined);
    await other.stop();
    for (let n = 0; n < 21; n++)
      await one!.cache.invalidate(Array.from({ length: 500 }, (_, at) => `Film:${500 * n + at}`));
    expect(one!.unsent()).toBe(1_000);
    await other.start();
    await until(() => one!.unsent() === 0);
    await until(async () => (await two!.read()).version.shared !== undefined);
    expect((await two!.read()).entry).toBeUndefined();
  });

  test(
    'no reader of any replica is shown the state before a write that was answered',
    { timeout: 60_000 },
    async () => {
      const all = await replicas(3);
      const replica = fc.integer({ min: 0, max: 2 });
      const id = fc.integer({ min: 0, max: 1 });
      const pause = fc.integer({ min: 0, max: 6 });
      const step = fc.record({ replica, id, pause, slow: pause, isWrite: fc.boolean(), isGroup: fc.boolean() });
      let run = 0;
      const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        run++;
        const truth = [1, 1];
        const answered = [1, 1];
        const work = async ({ replica: at, id: of, slow, isWrite, isGroup }: (typeof steps)[number]) => {
          const { cache, begin } = all[at]!;
          const key = cacheKeyOf('public', `Book:${run}-${of}`, undefined, `Book ${run}`);
          if (isWrite) {
            const written = isGroup ? [0, 1] : [of];
            for (const each of written) truth[each]!++;
            const made = [...truth];
            expect(await cache.invalidate([isGroup ? key.groupTag : key.tag])).toBe(true);
            for (const each of written) answered[each] = Math.max(answered[each]!, made[each]!);
            return;
          }
          const least = answered[of]!;
          const operation = begin();
          const lookup = await operation.get(key);
          if (isUsable(lookup.entry, operation)) {
            expect((lookup.entry.value as { title: number }).title).toBeGreaterThanOrEqual(least);
            return;
          }
          const title = truth[of]!;
          for (let turns = 0; turns < slow; turns++) await turn();
          if (slow === 6) lookup.release?.();
          else cache.set(key, lookup.version, entryOf({ title }));
          lookup.release?.();
        };
        const works: Promise<void>[] = [];
        for (const each of steps) {
          for (let turns = 0; turns < each.pause; turns++) await turn();
          works.push(work(each));
        }
        await Promise.all(works);
      });
      await fc.assert(property, { numRuns: process.env.THOROUGH ? 500 : 60 });
    },
  );
});

/** A connection to a Redis whose replies can be held back. */
async function slowLine(url: string) {
  const lines: { near: Socket; far: Socket }[] = [];
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => far.destroy());
    lines.push({ near, far });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  proxy.unref();
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    hold: () => lines.forEach(({ near, far }) => far.unpipe(near)),
    release: () => lines.forEach(({ near, far }) => far.pipe(near)),
  };
}
