import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { createCachingWatch } from '../../../src/upstream/cache/caching-watch.ts';

const own = { isOwn: true };
const bob = { isOwn: false };

test('a time that is counted from the headers is computed for each response', () => {
  const watch = createCachingWatch('relaxed', undefined);
  const at = (date: string) =>
    watch.reuseOf(bookEndpoints.byId, own, {
      expires: 'Sun, 06 Nov 2033 12:01:00 GMT',
      date: `Sun, 06 Nov 2033 12:00:${date} GMT`,
    }).maxAge;
  expect([at('00'), at('50')]).toEqual([60, 10]);
  const aged = (age: string) => watch.reuseOf(bookEndpoints.byId, own, { 'cache-control': 'max-age=60', age }).age;
  expect([aged('1'), aged('2')]).toEqual([1, 2]);
});

test('responses of another scope, with another credential or other headers are judged by themselves', () => {
  const watch = createCachingWatch('strict', undefined);
  const isPrivate = { 'cache-control': 'private' };
  const refusals = [
    watch.reuseOf(filmEndpoints.subject, bob, isPrivate),
    watch.reuseOf(filmEndpoints.subject, own, isPrivate),
    watch.reuseOf(bookEndpoints.byId, bob, isPrivate),
    watch.reuseOf(bookEndpoints.byId, bob, { ...isPrivate, vary: 'X-User' }),
    watch.reuseOf(bookEndpoints.byId, bob, {}),
    watch.reuseOf(bookEndpoints.byId, bob, isPrivate),
    watch.reuseOf(bookEndpoints.byId, bob, { 'cache-control': 'no-store', expires: '0' }),
    watch.reuseOf(bookEndpoints.byId, bob, { 'cache-control': 'no-store', expires: '0' }),
  ].map(({ refusal }) => refusal);
  expect(refusals).toEqual([undefined, 'private', 'private', 'vary', undefined, 'private', 'no-store', 'no-store']);
  expect(watch.refused()).toEqual({ 'no-store': 2, 'no-cache': 0, private: 3, vary: 1 });
});
