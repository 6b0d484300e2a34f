import { expect, test } from 'vitest';
import { createOwnedCache } from '../../../../../src/server/features/idempotency/store/owned-cache.ts';

test('an owner with too many values loses those of their own that were written first', () => {
  const cache = createOwnedCache<string>({ ofOwner: 2, ofAll: 100 });
  cache.set('bob', 'x', 'of bob');
  cache.set('alice', 'a', '1');
  cache.set('alice', 'b', '2');
  cache.set('alice', 'a', '4');
  cache.set('alice', 'c', '3');
  expect(['a', 'b', 'c'].map((name) => cache.get(name))).toEqual(['4', undefined, '3']);
  expect(cache.get('x')).toBe('of bob');
});

test('beyond the bound of all owners, the one who has most loses values', () => {
  const cache = createOwnedCache<number>({ ofOwner: 100, ofAll: 10, sizeOf: (size) => size });
  cache.set('bob', 'x', 3);
  for (const name of ['a', 'b', 'c', 'd']) cache.set('alice', name, 2);
  expect(cache.get('x')).toBe(3);
  expect(['a', 'b', 'c', 'd'].map((name) => cache.get(name))).toEqual([undefined, 2, 2, 2]);
});

test('what was replaced or deleted counts no more', () => {
  const cache = createOwnedCache<number>({ ofOwner: 4, ofAll: 4, sizeOf: (size) => size });
  for (let at = 0; at < 5; at++) cache.set('alice', 'a', 4);
  cache.delete('a');
  cache.set('alice', 'b', 2);
  cache.set('bob', 'c', 2);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, 2, 2]);
});

test('a value that is too large for its owner is not kept', () => {
  const cache = createOwnedCache<number>({ ofOwner: 4, ofAll: 10, sizeOf: (size) => size });
  cache.set('alice', 'a', 5);
  expect(cache.get('a')).toBeUndefined();
});
