import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { createCachingWatch } from '../../../src/upstream/cache/caching-watch.ts';

const own = { isOwn: true };
const sent = ['x-user', 'bob'];
const bob = { isOwn: false };

test('a time that is counted from the headers is computed for each response', () => {
  const watch = createCachingWatch({ upstreamCache: 'relaxed', recordTtlSeconds: undefined });
  const at = (date: string) =>
    watch.reuseOf(
      bookEndpoints.byId,
      own,
      {
        expires: 'Sun, 06 Nov 2033 12:01:00 GMT',
        date: `Sun, 06 Nov 2033 12:00:${date} GMT`,
      },
      sent,
    ).maxAge;
  expect([at('00'), at('50')]).toEqual([60, 10]);
  const aged = (age: string) =>
    watch.reuseOf(bookEndpoints.byId, own, { 'cache-control': 'max-age=60', age }, sent).age;
  expect([aged('1'), aged('2')]).toEqual([1, 2]);
});

test('responses of another scope, with another credential or other headers are judged by themselves', () => {
  const watch = createCachingWatch({ upstreamCache: 'strict', recordTtlSeconds: undefined });
  const isPrivate = { 'cache-control': 'private' };
  const refusals = [
    watch.reuseOf(filmEndpoints.subject, bob, isPrivate, sent),
    watch.reuseOf(filmEndpoints.subject, own, isPrivate, sent),
    watch.reuseOf(bookEndpoints.byId, bob, isPrivate, sent),
    watch.reuseOf(bookEndpoints.byId, bob, { ...isPrivate, vary: 'X-User' }, sent),
    watch.reuseOf(bookEndpoints.byId, bob, {}, sent),
    watch.reuseOf(bookEndpoints.byId, bob, isPrivate, sent),
    watch.reuseOf(bookEndpoints.byId, bob, { 'cache-control': 'no-store', expires: '0' }, sent),
    watch.reuseOf(bookEndpoints.byId, bob, { 'cache-control': 'no-store', expires: '0' }, sent),
  ].map(({ refusal }) => refusal);
  expect(refusals).toEqual([undefined, 'private', 'private', 'vary', undefined, 'private', 'no-store', 'no-store']);
  expect(watch.refused()).toEqual({ 'no-store': 2, 'no-cache': 0, private: 3, vary: 1, expired: 0 });
});
