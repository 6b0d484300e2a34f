import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { eventEndpoints } from '../../../src/api/event.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { noteEndpoints } from '../../../src/api/note.ts';
import { type Cache, createMemoryCache, cacheKeyOf } from '../../../src/upstream/cache/memory.ts';
import type { Cacheability } from '../../../src/upstream/cache/caching-header.ts';
import { type ResponseMeta, createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import { connectRedis } from '../../../src/upstream/redis.ts';
import { hasRedis, redisServer, until, withoutRedis } from '../../support/redis.ts';

const anonymous = { credential: 'own', hasToken: false };
const alice = { credential: 'a', hasToken: true };
const bob = { credential: 'b', hasToken: true };
const noHeaders: ResponseMeta = { bytes: 100, reuse: { noStore: false, isPrivate: false, maxAge: undefined } };
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
      // Date does not advance here, so Redis would never be retried after one timeout.
      const { cache } = connectRedis(url, `records ${names++}`, undefined, { record: 20_000, window: 20_000 });
      await until(async () => (await cache.get(cacheKeyOf('', '', ''))).version !== undefined);
      return cache;
    },
  ]);
}
test.skipIf(hasRedis)(withoutRedis, () => undefined);

describe.each(caches)('record cache %s', (_, open) => {
  let cache: Cache | undefined;
  const recordStore = async (ttlSeconds?: number) => createRecordCache({ ttlSeconds, cache: (cache = await open()) });
  /** Waits until earlier writes are visible: over a connection they take a few round trips. */
  const settled = async () => {
    for (let trip = 0; trip < 4; trip++) await cache?.get(cacheKeyOf('', '', ''));
  };

  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());
  const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

  test('fields from two responses are merged into one record, and a field known to be absent stays known', async () => {
    const records = await recordStore();
    const first = records.forViewer(anonymous);
    first.put(bookEndpoints.byId, 'Book', '7', { id: '7', title: '活着' }, ['id', 'title', 'subtitle'], noHeaders);
    await settled();
    first.put(bookEndpoints.byId, 'Book', '7', { id: '7', pages: '191' }, ['id', 'pages'], noHeaders);
    await settled();
    const cached = await records.forViewer(alice).get(bookEndpoints.byId, 'Book', '7');
    expect(cached).toMatchObject({ isFresh: true, value: { id: '7', title: '活着', pages: '191' } });
    expect('subtitle' in cached!.value).toBe(true);
    expect('summary' in cached!.value).toBe(false);
  });

  test('a merged record is as old as its oldest field', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], noHeaders);
    await settled();
    later(3000);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { pages: '1' }, ['pages'], noHeaders);
    await settled();
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toMatchObject({ isFresh: true, ageSeconds: 3000 });
    later(601);
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toMatchObject({
      isFresh: false,
      ageSeconds: 3601,
    });
    later(3600);
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });

  test('fields of an expired record are dropped when another field is loaded again', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], noHeaders);
    await settled();
    later(3601);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { pages: '1' }, ['pages'], noHeaders);
    await settled();
    expect((await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ pages: '1' });
  });

  test('films are cached separately for each credential, and removed with it', async () => {
    const records = await recordStore();
    for (const viewer of [alice, bob])
      records
        .forViewer(viewer)
        .put(filmEndpoints.subject, 'Subject', '1', { title: viewer.credential }, ['title'], noHeaders);
    await settled();
    expect((await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '1'))?.value).toEqual({ title: 'a' });
    expect(await records.forViewer(anonymous).get(filmEndpoints.subject, 'Subject', '1')).toBeUndefined();
    await records.invalidateCredential('a', false);
    expect(await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '1')).toBeUndefined();
    expect((await records.forViewer(bob).get(filmEndpoints.subject, 'Subject', '1'))?.value).toEqual({ title: 'b' });
  });

  test('viewer-specific data is never cached', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(alice);
    cacheOfViewer.put(noteEndpoints.byId, 'Note', '1', { title: 'mine' }, ['title'], noHeaders);
    cacheOfViewer.put(eventEndpoints.byId, 'Event', '1', { title: 'x', status: 'wish' }, ['title'], noHeaders);
    cacheOfViewer.putResponse(
      bookEndpoints.annotations,
      '/v2/book/7/annotations?count=20',
      { annotations: [{ privacy: 0 }] },
      noHeaders,
    );
    cacheOfViewer.putResponse(
      bookEndpoints.search,
      '/v2/book/search?fields=books.current_user_collection,id&q=x',
      { books: [] },
      noHeaders,
    );
    cacheOfViewer.putResponse(
      bookEndpoints.search,
      '/v2/book/search?q=x',
      { books: [{ current_user_collection: {} }] },
      noHeaders,
    );
    cacheOfViewer.put(
      bookEndpoints.byId,
      'Book',
      '7',
      { title: 'x', current_user_collection: { status: 'read' } },
      ['current_user_collection'],
      noHeaders,
    );
    await settled();
    for (const viewer of [alice, anonymous]) {
      const again = records.forViewer(viewer);
      expect(await again.get(noteEndpoints.byId, 'Note', '1')).toBeUndefined();
      expect(await again.get(eventEndpoints.byId, 'Event', '1')).toBeUndefined();
      expect(await again.getResponse(bookEndpoints.annotations, '/v2/book/7/annotations?count=20')).toBeUndefined();
      expect(await again.getResponse(bookEndpoints.search, '/v2/book/search?q=x')).toBeUndefined();
      expect((await again.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ title: 'x' });
    }
  });

  test('viewer-specific fields that upstream adds to a list are removed before it is cached', async () => {
    const records = await recordStore();
    const request = '/v2/book/search?fields=id,title&q=x';
    const answer = { books: [{ id: '7', current_user_collection: { status: 'read' } }, { id: '8' }] };
    records.forViewer(alice).putResponse(bookEndpoints.search, request, answer, noHeaders);
    await settled();
    expect(await records.forViewer(anonymous).getResponse(bookEndpoints.search, request)).toMatchObject({
      isFresh: true,
      value: { books: [{ id: '7' }, { id: '8' }] },
    });
    expect(JSON.stringify(await records.forViewer(anonymous).getResponse(bookEndpoints.search, request))).not.toContain(
      'status',
    );
    expect(answer.books[0]).toHaveProperty('current_user_collection');
  });

  test('a list of annotations cached without a token is not served to a client with a token', async () => {
    const records = await recordStore();
    records
      .forViewer(anonymous)
      .putResponse(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id', { annotations: [] }, noHeaders);
    await settled();
    expect(
      await records.forViewer(alice).getResponse(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id'),
    ).toBeUndefined();
  });

  test('Cache-Control of the response is obeyed', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(anonymous);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], withHeaders({ noStore: true }));
    cacheOfViewer.put(
      bookEndpoints.byId,
      'Book',
      '2',
      { title: 'x' },
      ['title'],
      withHeaders({ isPrivate: true, maxAge: 100 }),
    );
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '3', { title: 'x' }, ['title'], withHeaders({ maxAge: 10 }));
    records
      .forViewer(alice)
      .put(filmEndpoints.subject, 'Subject', '4', { title: 'x' }, ['title'], withHeaders({ isPrivate: true }));
    cacheOfViewer.put(
      filmEndpoints.subject,
      'Subject',
      '5',
      { title: 'x' },
      ['title'],
      withHeaders({ isPrivate: true }),
    );
    await settled();
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '1')).toBeUndefined();
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '2')).toBeUndefined();
    expect(await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '4')).toMatchObject({ isFresh: true });
    expect(await cacheOfViewer.get(filmEndpoints.subject, 'Subject', '5')).toBeUndefined();
    later(11);
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '3')).toMatchObject({ isFresh: false, ageSeconds: 11 });
  });

  test('a fixed time to live replaces all others, except no-store, and 0 turns the cache off', async () => {
    const fixed = (await recordStore(50)).forViewer(anonymous);
    fixed.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], withHeaders({ maxAge: 5 }));
    fixed.put(bookEndpoints.byId, 'Book', '2', { title: 'x' }, ['title'], withHeaders({ noStore: true }));
    await settled();
    later(49);
    expect(await fixed.get(bookEndpoints.byId, 'Book', '1')).toMatchObject({ isFresh: true });
    expect(await fixed.get(bookEndpoints.byId, 'Book', '2')).toBeUndefined();
    const off = (await recordStore(0)).forViewer(anonymous);
    off.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], noHeaders);
    await settled();
    expect(await off.get(bookEndpoints.byId, 'Book', '1')).toBeUndefined();
  });

  test('invalidation drops the named record or list for all viewers, and nothing else', async () => {
    const records = await recordStore();
    const cacheOfViewer = records.forViewer(anonymous);
    for (const id of ['7', '70']) {
      cacheOfViewer.put(bookEndpoints.byId, 'Book', id, { title: id }, ['title'], noHeaders);
      for (const query of ['', '?count=20', '?fields=id&start=20'])
        cacheOfViewer.putResponse(
          bookEndpoints.annotations,
          `/v2/book/${id}/annotations${query}`,
          { annotations: [] },
          noHeaders,
        );
    }
    await settled();
    await records.invalidate('Book:7');
    await records.invalidate('/v2/book/7/annotations');
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '70')).toMatchObject({ isFresh: true });
    for (const query of ['', '?count=20', '?fields=id&start=20']) {
      expect(
        await cacheOfViewer.getResponse(bookEndpoints.annotations, `/v2/book/7/annotations${query}`),
      ).toBeUndefined();
      expect(
        await cacheOfViewer.getResponse(bookEndpoints.annotations, `/v2/book/70/annotations${query}`),
      ).toMatchObject({
        isFresh: true,
      });
    }
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { title: 'new' }, ['title'], noHeaders);
    await settled();
    expect((await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ title: 'new' });
  });

  test('a response requested before its record was invalidated is not cached', async () => {
    const records = await recordStore();
    const reader = records.forViewer(anonymous);
    expect(await reader.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
    await records.invalidate('Book:7');
    reader.put(bookEndpoints.byId, 'Book', '7', { title: 'old' }, ['title'], noHeaders);
    await settled();
    expect(await records.forViewer(anonymous).get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });

  test('a deleted record is no longer served', async () => {
    const cacheOfViewer = (await recordStore()).forViewer(anonymous);
    cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], noHeaders);
    await settled();
    cacheOfViewer.delete(bookEndpoints.byId, 'Book', '7');
    await settled();
    expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });
});

test('the memory cache is bounded by bytes and evicts the least recently used records', async () => {
  const records = createRecordCache({ cache: createMemoryCache(1_000_000) }).forViewer(anonymous);
  const response = { ...noHeaders, bytes: 10_000 };
  for (let id = 0; id < 200; id++) {
    records.put(bookEndpoints.byId, 'Book', String(id), { title: 'x' }, ['title'], response);
    await records.get(bookEndpoints.byId, 'Book', '0');
  }
  const cached = await Promise.all(
    Array.from({ length: 200 }, async (_, id) => records.get(bookEndpoints.byId, 'Book', String(id))),
  );
  expect(cached.filter(Boolean).length).toBeLessThan(50);
  expect(cached[0]).toBeDefined();
  expect(cached[199]).toBeDefined();
});

test('when the table of invalidations overflows, too much is invalidated rather than too little', async () => {
  const records = createRecordCache();
  const cacheOfViewer = records.forViewer(anonymous);
  cacheOfViewer.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], noHeaders);
  await records.invalidate('Book:7');
  for (let other = 0; other < 20_001; other++) await records.invalidate(`Book:x${other}`);
  expect(await cacheOfViewer.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
});
