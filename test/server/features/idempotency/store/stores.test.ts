/** The two stores of keys make the same promises. */
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Claim,
  type Held,
  type KeyStore,
  type Row,
  type StoreLimits,
} from '../../../../../src/server/features/idempotency/store/key-store.ts';
import { createMemoryStore } from '../../../../../src/server/features/idempotency/store/memory-store.ts';
import { createRedisStore } from '../../../../../src/server/features/idempotency/store/redis-store.ts';
import { openRedis } from '../../../../../src/upstream/redis/connection/connection.ts';
import { hasRedis, redisServer, until } from '../../../../support/redis.ts';
import { startRedis } from '../../../../support/redis-process.ts';
import { tcpRelay } from '../../../../support/tcp-relay.ts';

type MakeStore = (ttlMs?: number, limits?: StoreLimits) => Promise<KeyStore>;

async function connectTo(url: string, namespace: string = randomUUID()) {
  const connection = openRedis({ url, namespace, tls: {} });
  onTestFinished(() => connection.close());
  await until(() => connection.redis.status === 'ready');
  return connection;
}

/** Each call opens one database, under a namespace of its own. */
async function redisStores(): Promise<{ make: MakeStore; flush: () => Promise<unknown> }> {
  const connection = await connectTo((await redisServer()).url);
  return {
    make: async (ttlMs = 60_000, limits) => createRedisStore(connection, ttlMs, limits),
    flush: () => connection.redis.flushall(),
  };
}
const inMemory: MakeStore = async (ttlMs = 60_000, limits) => createMemoryStore(ttlMs, limits);
const inRedis: MakeStore = async (ttlMs, limits) => (await redisStores()).make(ttlMs, limits);
const stores = [{ name: 'memory', make: inMemory }, ...(hasRedis ? [{ name: 'Redis', make: inRedis }] : [])];

const heldBy = (name: string, token = 'alice', isNew = false): Held => ({
  name,
  holder: randomUUID(),
  account: { name: token, isNew },
});
const rowOf = (token = 'alice', more: Partial<Row> = {}): Row => ({
  ...{ fingerprint: 'a request', token, person: '', state: 'sending', text: 'a journal' },
  ...more,
});
const limits: StoreLimits = { rowsOfOne: 3, rows: 20, textOfOne: 1_000, text: 10_000 };

/** Claims a key and ends its run. */
async function used(store: KeyStore, name: string, row: Row | undefined, token = 'alice', isNew = false) {
  const held = heldBy(name, token, isNew);
  expect(await store.claim(held, rowOf(token))).toMatchObject({ kind: 'locked' });
  await store.end(held, row);
}
const kindOf = async (store: KeyStore, name: string, row = rowOf(), isNew = false) =>
  (await store.claim(heldBy(name, row.token, isNew), row))?.kind;

describe.each(stores)('keys in $name', ({ make }) => {
  test('have one holder at a time, whose end frees them with what is kept', async () => {
    const store = await make();
    const first = heldBy('a');
    expect(await store.claim(first, rowOf())).toEqual({ kind: 'locked' });
    expect(await kindOf(store, 'a')).toBe('held');
    expect(await store.save(first, rowOf())).toBeTypeOf('number');
    expect(await store.save(heldBy('a'), rowOf())).toBe('lost');
    await store.end(first, rowOf());
    const second = heldBy('a');
    const found = { ...rowOf(), isUncertain: false };
    expect(await store.claim(second, rowOf())).toMatchObject({ kind: 'locked', found });
    await store.end(heldBy('a'), undefined); // another request's
    expect(await store.save(second, rowOf())).toBeTypeOf('number');
    await store.end(second, undefined);
    expect(await store.claim(heldBy('a'), rowOf())).toEqual({ kind: 'locked' });
  });

  test('whose run has ended are not written by what comes late of it', async () => {
    const store = await make();
    const done = rowOf('alice', { state: 'done', text: 'a response' });
    for (const [name, row] of Object.entries({ free: undefined, done })) {
      const held = heldBy(name);
      await store.claim(held, rowOf());
      await store.end(held, row);
      expect(await store.save(held, rowOf())).toBe('lost');
      const claimed = await store.claim(heldBy(name), rowOf());
      expect(claimed).toEqual(row ? expect.objectContaining({ kind: 'found' }) : { kind: 'locked' });
    }
  });

  test('that are done show their response to every claim, and are locked by none', async () => {
    const store = await make();
    const done = rowOf('alice', { state: 'done', text: 'a response' });
    await used(store, 'a', done);
    for (const sender of [rowOf(), rowOf('bob'), rowOf('alice', { fingerprint: 'another' })])
      expect(await store.claim(heldBy('a'), sender)).toMatchObject({ kind: 'found', found: done });
  });

  test('are locked for their token or their person alone, and for the same request alone', async () => {
    const store = await make();
    await used(store, 'a', rowOf('alice', { person: 'her' }));
    expect(await kindOf(store, 'a', rowOf('renewed'))).toBe('found');
    expect(await kindOf(store, 'a', rowOf('bob', { person: 'him' }))).toBe('found');
    expect(await kindOf(store, 'a', rowOf('alice', { fingerprint: 'another' }))).toBe('found');
    expect(await kindOf(store, 'a', rowOf('renewed', { person: 'her' }))).toBe('locked');
  });

  test('are bounded for each token, who takes no row of another', async () => {
    const store = await make(60_000, limits);
    for (const name of ['a', 'b', 'c']) await used(store, name, rowOf());
    expect(await kindOf(store, 'd')).toBe('full');
    expect(await kindOf(store, 'a')).toBe('locked');
    expect(await kindOf(store, 'd', rowOf('bob'))).toBe('locked');
  });

  test('of tokens that are not accepted share a tenth, and leave the rest to others', async () => {
    const store = await make(60_000, limits);
    for (const name of ['a', 'b']) await used(store, name, rowOf(name), name, true);
    expect(await kindOf(store, 'c', rowOf('c'), true)).toBe('full');
    expect(await kindOf(store, 'c', rowOf('c'))).toBe('locked');
  });

  test('of requests that sent nothing are not counted', async () => {
    const store = await make(60_000, limits);
    for (let at = 0; at < 10; at++) await used(store, `${at}`, undefined);
    expect(await kindOf(store, 'a')).toBe('locked');
  });

  test('keep no response for which there is no room, and send nothing whose journal has none', async () => {
    const store = await make(60_000, limits);
    await used(store, 'a', rowOf('alice', { state: 'done', text: 'a'.repeat(700) }));
    await used(store, 'b', rowOf('alice', { state: 'done', text: 'b'.repeat(100) }));
    expect(await store.claim(heldBy('b'), rowOf())).toMatchObject({
      kind: 'found',
      found: { state: 'done', text: '' },
    });
    const held = heldBy('c');
    await store.claim(held, rowOf());
    expect(await store.save(held, rowOf('alice', { text: 'c'.repeat(200) }))).toBeTypeOf('number');
    expect(await store.save(held, rowOf('alice', { text: 'c'.repeat(400) }))).toBe('full');
  });

  test('have one clock, which says when they were written', async () => {
    const store = await make();
    const held = heldBy('a');
    await store.claim(held, rowOf());
    const before = (await store.save(held, rowOf())) as number;
    const saved = (await store.save(held, rowOf())) as number;
    await store.end(held, rowOf());
    const claimed = await store.claim(heldBy('a'), rowOf());
    const { savedAt } = (claimed as { found: { savedAt: number } }).found;
    expect([before <= saved, saved <= savedAt]).toEqual([true, true]);
  });
});

test('keys in memory are kept for their whole time after the last run, and then no longer', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = createMemoryStore(60_000);
  for (let at = 0; at < 3; at++) {
    await used(store, 'a', rowOf());
    vi.advanceTimersByTime(40_000);
  }
  vi.advanceTimersByTime(40_000);
  expect(await store.claim(heldBy('a'), rowOf())).toEqual({ kind: 'locked' });
});

describe.skipIf(!hasRedis)('keys in Redis', () => {
  test('whose holder died before it sent anything are free for everybody, once the lock is over', async () => {
    const { make } = await redisStores();
    const store = await make();
    await store.claim(heldBy('a'), rowOf('expired'));
    const other = rowOf('renewed', { fingerprint: 'another' });
    expect(await kindOf(store, 'a', other)).toBe('found');
    await until(async () => (await kindOf(store, 'a', other)) === 'locked');
  });

  test('of writes that were not sent, because Redis answered too late, are free as soon as it answers', async () => {
    const { port } = await startRedis();
    const relay = await tcpRelay(port);
    const namespace = randomUUID();
    const storeAt = async (at: number) =>
      createRedisStore(await connectTo(`redis://127.0.0.1:${at}`, namespace), 60_000);
    const [store, other] = await Promise.all([storeAt(relay.port), storeAt(port)]);
    const held = heldBy('a');
    await store.claim(held, rowOf());
    relay.delayReplies(1_500);
    expect(await store.save(held, rowOf())).toBeUndefined();
    await store.end(held, undefined);
    expect(await other.claim(heldBy('a'), rowOf())).toEqual({ kind: 'held' });
    relay.delayReplies(0);
    let claimed: Claim | undefined;
    await until(async () => (claimed = await other.claim(heldBy('a'), rowOf()))?.kind === 'locked');
    expect(claimed).toEqual({ kind: 'locked' });
  });

  test('that Redis has lost are put back by their holder, who then is the only one', async () => {
    const { make, flush } = await redisStores();
    const store = await make();
    const held = heldBy('a');
    await store.claim(held, rowOf());
    await flush();
    expect(await store.save(held, rowOf())).toBeTypeOf('number');
    expect(await kindOf(store, 'a')).toBe('held');
    await flush();
    await store.end(held, rowOf('alice', { state: 'done', text: 'a response' }));
    expect(await kindOf(store, 'a')).toBe('found');
  });
});
