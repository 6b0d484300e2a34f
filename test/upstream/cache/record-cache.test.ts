import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { eventEndpoints } from '../../../src/api/event.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { noteEndpoints } from '../../../src/api/note.ts';
import { type Cache, createMemoryCache, cacheKeyOf } from '../../../src/upstream/cache/memory.ts';
import { type Cacheability, unspecified } from '../../../src/upstream/cache/caching-header.ts';
import { type CacheHandle, type ResponseMeta, ageOf } from '../../../src/upstream/cache/handle.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { connectRedis } from '../../../src/upstream/redis/shared-state.ts';
import { hasRedis, redisServer, until } from '../../support/redis.ts';

const anonymous = { credential: { id: 'own', isOwn: true, accepted: false } };
const alice = { credential: { id: 'a', isOwn: false, accepted: false } };
const bob = { credential: { id: 'b', isOwn: false, accepted: false } };
const noHeaders: ResponseMeta = { bytes: 100, reuse: unspecified };
const withHeaders = (reuse: Partial<Cacheability>): ResponseMeta => ({
  bytes: 100,
  reuse: { ...noHeaders.reuse, ...reuse },
});

const caches: [string, () => Promise<Cache>][] = [['in memory', () => Promise.resolve(createMemoryCache(1_000_000))]];
if (hasRedis) {
  let server: ReturnType<typeof redisServer> | undefined;
  let names = 0;
  caches.push([
    'in Redis',
    async () => {
      const { url } = await (server ??= redisServer());
      const { cache } = connectRedis({ url, namespace: `records ${names++}` });
      await until(async () => (await cache.get(cacheKeyOf('', '', ''))).version.shared !== undefined);
      return cache;
    },
  ]);
}
describe.each(caches)('record cache %s', (where, open) => {
  // What replicas share ages by the clock of Redis, which does not advance here.
  const testOfAge = test.runIf(where === 'in memory');
  let cache: Cache | undefined;
  const recordStore = async (ttlSeconds?: number) => createRecordCache({ ttlSeconds, cache: (cache = await open()) });
  /** Waits until earlier writes are visible: over a connection they take a few round trips. */
  const settled = async () => {
    for (let trip = 0; trip < 4; trip++) await cache?.get(cacheKeyOf('', '', ''));
  };

  /** As each reader does, before it has something to store. */
  async function looked<Handle extends { get: () => unknown }>(handle: Handle): Promise<Handle> {
    await handle.get();
    return handle;
  }

  const seen = async (handle: CacheHandle) => {
    const entry = await handle.get();
    return entry && { value: entry.value, isFresh: handle.isFresh(entry), ageSeconds: ageOf(entry) };
  };

  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

  test('fields from two responses are merged into one record, and a field known to be absent stays known', async () => {
    const records = await recordStore();
    const first = records.forViewer(anonymous);
    (await looked(first.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { id: '7', title: '活着' },
      ['id', 'title', 'subtitle'],
      noHeaders,
    );
    await settled();
    (await looked(first.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { id: '7', pages: '191' },
      ['id', 'pages'],
      noHeaders,
    );
    await settled();
    const cached = await seen(records.forViewer(alice).record(bookEndpoints.byId, 'Book', '7'));
    expect(cached).toMatchObject({ isFresh: true, value: { id: '7', title: '活着', pages: '191' } });
    expect('subtitle' in cached!.value).toBe(true);
    expect('summary' in cached!.value).toBe(false);
  });

  testOfAge('a merged record is as old as its oldest field', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { title: 'x' },
      ['title'],
      noHeaders,
    );
    await settled();
    later(3000);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { pages: '1' },
      ['pages'],
      noHeaders,
    );
    await settled();
    expect(await seen(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).toMatchObject({
      isFresh: true,
      ageSeconds: 3000,
    });
    later(601);
    expect(await seen(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).toMatchObject({
      isFresh: false,
      ageSeconds: 3601,
    });
    later(3600);
    expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get()).toBeUndefined();
  });

  testOfAge('fields of an expired record are dropped when another field is loaded again', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { title: 'x' },
      ['title'],
      noHeaders,
    );
    await settled();
    later(3601);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { pages: '1' },
      ['pages'],
      noHeaders,
    );
    await settled();
    expect((await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get())?.value).toEqual({ pages: '1' });
  });

  test('films are cached separately for each credential, and removed with it', async () => {
    const records = await recordStore();
    for (const viewer of [alice, bob])
      (await looked(records.forViewer(viewer).record(filmEndpoints.subject, 'Subject', '1'))).putRecord(
        { title: viewer.credential.id },
        ['title'],
        noHeaders,
      );
    await settled();
    expect((await records.forViewer(alice).record(filmEndpoints.subject, 'Subject', '1').get())?.value).toEqual({
      title: 'a',
    });
    expect(await records.forViewer(anonymous).record(filmEndpoints.subject, 'Subject', '1').get()).toBeUndefined();
    await records.invalidateCredential('a');
    expect(await records.forViewer(alice).record(filmEndpoints.subject, 'Subject', '1').get()).toBeUndefined();
    expect((await records.forViewer(bob).record(filmEndpoints.subject, 'Subject', '1').get())?.value).toEqual({
      title: 'b',
    });
  });

  test('viewer-specific data is never cached', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(alice);
    (await looked(cacheOfViewer.record(noteEndpoints.byId, 'Note', '1'))).putRecord(
      { title: 'mine' },
      ['title'],
      noHeaders,
    );
    (await looked(cacheOfViewer.record(eventEndpoints.byId, 'Event', '1'))).putRecord(
      { title: 'x', status: 'wish' },
      ['title'],
      noHeaders,
    );
    (await looked(cacheOfViewer.response(bookEndpoints.annotations, '/v2/book/7/annotations?count=20'))).put(
      { annotations: [{ privacy: 0 }] },
      noHeaders,
    );
    (
      await looked(
        cacheOfViewer.response(bookEndpoints.search, '/v2/book/search?fields=books.current_user_collection,id&q=x'),
      )
    ).put({ books: [] }, noHeaders);
    (await looked(cacheOfViewer.response(bookEndpoints.search, '/v2/book/search?q=x'))).put(
      { books: [{ current_user_collection: {} }] },
      noHeaders,
    );
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { title: 'x', current_user_collection: { status: 'read' } },
      ['current_user_collection'],
      noHeaders,
    );
    await settled();
    for (const viewer of [alice, anonymous]) {
      const again = records.forViewer(viewer);
      expect(await again.record(noteEndpoints.byId, 'Note', '1').get()).toBeUndefined();
      expect(await again.record(eventEndpoints.byId, 'Event', '1').get()).toBeUndefined();
      expect(await again.response(bookEndpoints.annotations, '/v2/book/7/annotations?count=20').get()).toBeUndefined();
      expect(await again.response(bookEndpoints.search, '/v2/book/search?q=x').get()).toBeUndefined();
      expect((await again.record(bookEndpoints.byId, 'Book', '7').get())?.value).toEqual({ title: 'x' });
    }
  });

  test('viewer-specific fields that upstream adds to a list are removed before it is cached', async () => {
    const records = await recordStore();
    const request = '/v2/book/search?fields=id,title&q=x';
    const answer = { books: [{ id: '7', current_user_collection: { status: 'read' } }, { id: '8' }] };
    (await looked(records.forViewer(alice).response(bookEndpoints.search, request))).put(answer, noHeaders);
    await settled();
    expect(await seen(records.forViewer(anonymous).response(bookEndpoints.search, request))).toMatchObject({
      isFresh: true,
      value: { books: [{ id: '7' }, { id: '8' }] },
    });
    expect(
      JSON.stringify(await records.forViewer(anonymous).response(bookEndpoints.search, request).get()),
    ).not.toContain('status');
    expect(answer.books[0]).toHaveProperty('current_user_collection');
  });

  test('a list of annotations cached without a token is not served to a client with a token', async () => {
    const records = await recordStore();
    (
      await looked(records.forViewer(anonymous).response(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id'))
    ).put({ annotations: [] }, noHeaders);
    await settled();
    expect(
      await records.forViewer(alice).response(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id').get(),
    ).toBeUndefined();
  });

  testOfAge('Cache-Control of the response is obeyed', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(anonymous);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '1'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ refusal: 'no-store' }),
    );
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '2'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ refusal: 'private', maxAge: 100 }),
    );
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '3'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ maxAge: 10 }),
    );
    (await looked(cacheOfViewer.record(filmEndpoints.subject, 'Subject', '5'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ refusal: 'no-cache' }),
    );
    await settled();
    expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '1').get()).toBeUndefined();
    expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '2').get()).toBeUndefined();
    expect(await cacheOfViewer.record(filmEndpoints.subject, 'Subject', '5').get()).toBeUndefined();
    later(11);
    expect(await seen(cacheOfViewer.record(bookEndpoints.byId, 'Book', '3'))).toMatchObject({
      isFresh: false,
      ageSeconds: 11,
    });
  });

  test('a fixed time to live replaces all others, except no-store, and 0 turns the cache off', async () => {
    const fixed = (await recordStore(50)).forViewer(anonymous);
    (await looked(fixed.record(bookEndpoints.byId, 'Book', '1'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ maxAge: 5 }),
    );
    (await looked(fixed.record(bookEndpoints.byId, 'Book', '2'))).putRecord(
      { title: 'x' },
      ['title'],
      withHeaders({ refusal: 'no-store' }),
    );
    await settled();
    later(49);
    expect(await seen(fixed.record(bookEndpoints.byId, 'Book', '1'))).toMatchObject({ isFresh: true });
    expect(await fixed.record(bookEndpoints.byId, 'Book', '2').get()).toBeUndefined();
    const off = (await recordStore(0)).forViewer(anonymous);
    (await looked(off.record(bookEndpoints.byId, 'Book', '1'))).putRecord({ title: 'x' }, ['title'], noHeaders);
    await settled();
    expect(await off.record(bookEndpoints.byId, 'Book', '1').get()).toBeUndefined();
  });

  test('invalidation drops the named record or list for all viewers, and nothing else', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(anonymous);
    for (const id of ['7', '70']) {
      (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', id))).putRecord(
        { title: id },
        ['title'],
        noHeaders,
      );
      for (const query of ['', '?count=20', '?fields=id&start=20'])
        (await looked(cacheOfViewer.response(bookEndpoints.annotations, `/v2/book/${id}/annotations${query}`))).put(
          { annotations: [] },
          noHeaders,
        );
    }
    await settled();
    await records.invalidate(['Book:7']);
    await records.invalidate(['/v2/book/7/annotations']);
    expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get()).toBeUndefined();
    expect(await seen(cacheOfViewer.record(bookEndpoints.byId, 'Book', '70'))).toMatchObject({ isFresh: true });
    for (const query of ['', '?count=20', '?fields=id&start=20']) {
      expect(
        await cacheOfViewer.response(bookEndpoints.annotations, `/v2/book/7/annotations${query}`).get(),
      ).toBeUndefined();
      expect(
        await seen(cacheOfViewer.response(bookEndpoints.annotations, `/v2/book/70/annotations${query}`)),
      ).toMatchObject({
        isFresh: true,
      });
    }
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { title: 'new' },
      ['title'],
      noHeaders,
    );
    await settled();
    expect((await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get())?.value).toEqual({ title: 'new' });
  });

  test('a response requested before its record was invalidated is not cached', async () => {
    const records = await recordStore();
    const handle = records.forViewer(anonymous).record(bookEndpoints.byId, 'Book', '7');
    expect(await handle.get()).toBeUndefined();
    await records.invalidate(['Book:7']);
    handle.putRecord({ title: 'old' }, ['title'], noHeaders);
    await settled();
    expect(await records.forViewer(anonymous).record(bookEndpoints.byId, 'Book', '7').get()).toBeUndefined();
  });

  test('a deleted record is no longer served', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    (await looked(cacheOfViewer.record(bookEndpoints.byId, 'Book', '7'))).putRecord(
      { title: 'x' },
      ['title'],
      noHeaders,
    );
    await settled();
    cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').delete();
    await settled();
    expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get()).toBeUndefined();
  });
});

test('a memory cache counts its invalidations, and one that is turned off has no count', async () => {
  const records = createRecordCache({});
  expect(records.epoch()).toBe(0);
  await records.invalidate(['Book:7']);
  expect(records.epoch()).toBe(1);
  expect(createRecordCache({ ttlSeconds: 0 }).epoch()).toBeNull();
});

test('the memory cache is bounded by bytes and evicts the least recently used records', async () => {
  const records = createRecordCache({ cache: createMemoryCache(1_000_000) }).forViewer(anonymous);
  const response = { ...noHeaders, bytes: 10_000 };
  for (let id = 0; id < 200; id++) {
    records.record(bookEndpoints.byId, 'Book', String(id)).putRecord({ title: 'x' }, ['title'], response);
    await records.record(bookEndpoints.byId, 'Book', '0').get();
  }
  const cached = await Promise.all(
    Array.from({ length: 200 }, async (_, id) => records.record(bookEndpoints.byId, 'Book', String(id)).get()),
  );
  expect(cached.filter(Boolean).length).toBeLessThan(50);
  expect(cached[0]).toBeDefined();
  expect(cached[199]).toBeDefined();
});

test('when the table of invalidations overflows, too much is invalidated rather than too little', async () => {
  const records = createRecordCache();
  const cacheOfViewer = records.forViewer(anonymous);
  cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').putRecord({ title: 'x' }, ['title'], noHeaders);
  await records.invalidate(['Book:7']);
  for (let other = 0; other < 20_001; other++) await records.invalidate([`Book:x${other}`]);
  expect(await cacheOfViewer.record(bookEndpoints.byId, 'Book', '7').get()).toBeUndefined();
});
