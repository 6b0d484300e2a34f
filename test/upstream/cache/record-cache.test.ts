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

const nobody = { credential: 'own', hasToken: false };
const alice = { credential: 'a', hasToken: true };
const bob = { credential: 'b', hasToken: true };
const silent: ResponseMeta = { bytes: 100, reuse: { noStore: false, isPrivate: false, maxAge: undefined } };
const saying = (reuse: Partial<Cacheability>): ResponseMeta => ({
  bytes: 100,
  reuse: { ...silent.reuse, ...reuse },
});

const caches: [string, () => Promise<Cache>][] = [['in memory', () => Promise.resolve(createMemoryCache(1_000_000))]];
if (hasRedis) {
  let server: ReturnType<typeof redisServer> | undefined;
  let names = 0;
  caches.push([
    'in Redis',
    async () => {
      const { url } = await (server ??= redisServer());
      // As no time passes, a Redis that was late once would be left alone for ever.
      const { cache } = connectRedis(url, `records ${names++}`, undefined, { record: 20_000, window: 20_000 });
      await until(async () => (await cache.get(cacheKeyOf('', '', ''))).version !== undefined);
      return cache;
    },
  ]);
}
test.skipIf(hasRedis)(withoutRedis, () => undefined);

describe.each(caches)('records %s', (_, open) => {
  let cache: Cache | undefined;
  const recordStore = async (ttlSeconds?: number) => createRecordCache({ ttlSeconds, cache: (cache = await open()) });
  /** What is put is there when it is asked for, over a wire too: its few trips are over when as many later ones are. */
  const settled = async () => {
    for (let trip = 0; trip < 4; trip++) await cache?.get(cacheKeyOf('', '', ''));
  };

  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());
  const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

  test('two questions share one record, and what is known to be absent stays known', async () => {
    const records = await recordStore();
    const first = records.forViewer(nobody);
    first.put(bookEndpoints.byId, 'Book', '7', { id: '7', title: '活着' }, ['id', 'title', 'subtitle'], silent);
    await settled();
    first.put(bookEndpoints.byId, 'Book', '7', { id: '7', pages: '191' }, ['id', 'pages'], silent);
    await settled();
    const kept = await records.forViewer(alice).get(bookEndpoints.byId, 'Book', '7');
    expect(kept).toMatchObject({ isFresh: true, value: { id: '7', title: '活着', pages: '191' } });
    expect('subtitle' in kept!.value).toBe(true);
    expect('summary' in kept!.value).toBe(false);
  });

  test('a merged record is as old as its oldest name', async () => {
    const seen = (await recordStore()).forViewer(nobody);
    seen.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], silent);
    await settled();
    later(3000);
    seen.put(bookEndpoints.byId, 'Book', '7', { pages: '1' }, ['pages'], silent);
    await settled();
    expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toMatchObject({ isFresh: true, ageSeconds: 3000 });
    later(601);
    expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toMatchObject({ isFresh: false, ageSeconds: 3601 });
    later(3600);
    expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });

  test('what an old record had is not taken for fresh when a part of it is read anew', async () => {
    const seen = (await recordStore()).forViewer(nobody);
    seen.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], silent);
    await settled();
    later(3601);
    seen.put(bookEndpoints.byId, 'Book', '7', { pages: '1' }, ['pages'], silent);
    await settled();
    expect((await seen.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ pages: '1' });
  });

  test('films are kept for each credential apart, and go with it', async () => {
    const records = await recordStore();
    for (const who of [alice, bob])
      records.forViewer(who).put(filmEndpoints.subject, 'Subject', '1', { title: who.credential }, ['title'], silent);
    await settled();
    expect((await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '1'))?.value).toEqual({ title: 'a' });
    expect(await records.forViewer(nobody).get(filmEndpoints.subject, 'Subject', '1')).toBeUndefined();
    await records.invalidateCredential('a', false);
    expect(await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '1')).toBeUndefined();
    expect((await records.forViewer(bob).get(filmEndpoints.subject, 'Subject', '1'))?.value).toEqual({ title: 'b' });
  });

  test('nothing that is a viewer’s is kept', async () => {
    const records = await recordStore();
    const seen = records.forViewer(alice);
    seen.put(noteEndpoints.byId, 'Note', '1', { title: 'mine' }, ['title'], silent);
    seen.put(eventEndpoints.byId, 'Event', '1', { title: 'x', status: 'wish' }, ['title'], silent);
    seen.putResponse(
      bookEndpoints.annotations,
      '/v2/book/7/annotations?count=20',
      { annotations: [{ privacy: 0 }] },
      silent,
    );
    seen.putResponse(
      bookEndpoints.search,
      '/v2/book/search?fields=books.current_user_collection,id&q=x',
      { books: [] },
      silent,
    );
    seen.putResponse(bookEndpoints.search, '/v2/book/search?q=x', { books: [{ current_user_collection: {} }] }, silent);
    seen.put(
      bookEndpoints.byId,
      'Book',
      '7',
      { title: 'x', current_user_collection: { status: 'read' } },
      ['current_user_collection'],
      silent,
    );
    await settled();
    for (const who of [alice, nobody]) {
      const again = records.forViewer(who);
      expect(await again.get(noteEndpoints.byId, 'Note', '1')).toBeUndefined();
      expect(await again.get(eventEndpoints.byId, 'Event', '1')).toBeUndefined();
      expect(await again.getResponse(bookEndpoints.annotations, '/v2/book/7/annotations?count=20')).toBeUndefined();
      expect(await again.getResponse(bookEndpoints.search, '/v2/book/search?q=x')).toBeUndefined();
      expect((await again.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ title: 'x' });
    }
  });

  test('a list that an upstream fills unasked is kept without the viewer’s part', async () => {
    const records = await recordStore();
    const request = '/v2/book/search?fields=id,title&q=x';
    const answer = { books: [{ id: '7', current_user_collection: { status: 'read' } }, { id: '8' }] };
    records.forViewer(alice).putResponse(bookEndpoints.search, request, answer, silent);
    await settled();
    expect(await records.forViewer(nobody).getResponse(bookEndpoints.search, request)).toMatchObject({
      isFresh: true,
      value: { books: [{ id: '7' }, { id: '8' }] },
    });
    expect(JSON.stringify(await records.forViewer(nobody).getResponse(bookEndpoints.search, request))).not.toContain(
      'status',
    );
    expect(answer.books[0]).toHaveProperty('current_user_collection');
  });

  test('what everybody is told of a book’s annotations is not what a person is told', async () => {
    const records = await recordStore();
    records
      .forViewer(nobody)
      .putResponse(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id', { annotations: [] }, silent);
    await settled();
    expect(
      await records.forViewer(alice).getResponse(bookEndpoints.annotations, '/v2/book/7/annotations?fields=id'),
    ).toBeUndefined();
  });

  test('Cache-Control is obeyed', async () => {
    const records = await recordStore();
    const seen = records.forViewer(nobody);
    seen.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], saying({ noStore: true }));
    seen.put(bookEndpoints.byId, 'Book', '2', { title: 'x' }, ['title'], saying({ isPrivate: true, maxAge: 100 }));
    seen.put(bookEndpoints.byId, 'Book', '3', { title: 'x' }, ['title'], saying({ maxAge: 10 }));
    records
      .forViewer(alice)
      .put(filmEndpoints.subject, 'Subject', '4', { title: 'x' }, ['title'], saying({ isPrivate: true }));
    seen.put(filmEndpoints.subject, 'Subject', '5', { title: 'x' }, ['title'], saying({ isPrivate: true }));
    await settled();
    expect(await seen.get(bookEndpoints.byId, 'Book', '1')).toBeUndefined();
    expect(await seen.get(bookEndpoints.byId, 'Book', '2')).toBeUndefined();
    expect(await records.forViewer(alice).get(filmEndpoints.subject, 'Subject', '4')).toMatchObject({ isFresh: true });
    expect(await seen.get(filmEndpoints.subject, 'Subject', '5')).toBeUndefined();
    later(11);
    expect(await seen.get(bookEndpoints.byId, 'Book', '3')).toMatchObject({ isFresh: false, ageSeconds: 11 });
  });

  test('one setting takes the place of every time to live, and 0 keeps nothing', async () => {
    const fixed = (await recordStore(50)).forViewer(nobody);
    fixed.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], saying({ maxAge: 5 }));
    fixed.put(bookEndpoints.byId, 'Book', '2', { title: 'x' }, ['title'], saying({ noStore: true }));
    await settled();
    later(49);
    expect(await fixed.get(bookEndpoints.byId, 'Book', '1')).toMatchObject({ isFresh: true });
    expect(await fixed.get(bookEndpoints.byId, 'Book', '2')).toBeUndefined();
    const off = (await recordStore(0)).forViewer(nobody);
    off.put(bookEndpoints.byId, 'Book', '1', { title: 'x' }, ['title'], silent);
    await settled();
    expect(await off.get(bookEndpoints.byId, 'Book', '1')).toBeUndefined();
  });

  test('a clearing drops what it names, for everybody, and nothing else', async () => {
    const records = await recordStore();
    const seen = records.forViewer(nobody);
    for (const id of ['7', '70']) {
      seen.put(bookEndpoints.byId, 'Book', id, { title: id }, ['title'], silent);
      for (const query of ['', '?count=20', '?fields=id&start=20'])
        seen.putResponse(bookEndpoints.annotations, `/v2/book/${id}/annotations${query}`, { annotations: [] }, silent);
    }
    await settled();
    await records.invalidate('Book:7');
    await records.invalidate('/v2/book/7/annotations');
    expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
    expect(await seen.get(bookEndpoints.byId, 'Book', '70')).toMatchObject({ isFresh: true });
    for (const query of ['', '?count=20', '?fields=id&start=20']) {
      expect(await seen.getResponse(bookEndpoints.annotations, `/v2/book/7/annotations${query}`)).toBeUndefined();
      expect(await seen.getResponse(bookEndpoints.annotations, `/v2/book/70/annotations${query}`)).toMatchObject({
        isFresh: true,
      });
    }
    seen.put(bookEndpoints.byId, 'Book', '7', { title: 'new' }, ['title'], silent);
    await settled();
    expect((await seen.get(bookEndpoints.byId, 'Book', '7'))?.value).toEqual({ title: 'new' });
  });

  test('an answer that was on its way when its record was cleared is not kept', async () => {
    const records = await recordStore();
    const reader = records.forViewer(nobody);
    expect(await reader.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
    await records.invalidate('Book:7');
    reader.put(bookEndpoints.byId, 'Book', '7', { title: 'old' }, ['title'], silent);
    await settled();
    expect(await records.forViewer(nobody).get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });

  test('a record that is forgotten is gone', async () => {
    const seen = (await recordStore()).forViewer(nobody);
    seen.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], silent);
    await settled();
    seen.delete(bookEndpoints.byId, 'Book', '7');
    await settled();
    expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
  });
});

test('memory is bounded by bytes, and what was not asked for longest goes first', async () => {
  const records = createRecordCache({ cache: createMemoryCache(1_000_000) }).forViewer(nobody);
  const come = { ...silent, bytes: 10_000 };
  for (let id = 0; id < 200; id++) {
    records.put(bookEndpoints.byId, 'Book', String(id), { title: 'x' }, ['title'], come);
    await records.get(bookEndpoints.byId, 'Book', '0');
  }
  const kept = await Promise.all(
    Array.from({ length: 200 }, async (_, id) => records.get(bookEndpoints.byId, 'Book', String(id))),
  );
  expect(kept.filter(Boolean).length).toBeLessThan(50);
  expect(kept[0]).toBeDefined();
  expect(kept[199]).toBeDefined();
});

test('a table of clearings that overflows clears too much rather than too little', async () => {
  const records = createRecordCache();
  const seen = records.forViewer(nobody);
  seen.put(bookEndpoints.byId, 'Book', '7', { title: 'x' }, ['title'], silent);
  await records.invalidate('Book:7');
  for (let other = 0; other < 20_001; other++) await records.invalidate(`Book:x${other}`);
  expect(await seen.get(bookEndpoints.byId, 'Book', '7')).toBeUndefined();
});
