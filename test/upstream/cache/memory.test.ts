import { expect, test } from 'vitest';
import { cacheKeyOf, createMemoryCache } from '../../../src/upstream/cache/memory.ts';

test('a response that several operations share is stored once, so replicas are not sent it again', () => {
  const memory = createMemoryCache(10_000);
  const now = performance.now();
  const read = (title: string, since = now) => ({
    value: { id: '7', title },
    bytes: 10,
    ...{ since, freshUntil: now + 60_000, keptUntil: now + 60_000 },
  });
  const store = (entry: ReturnType<typeof read>) => memory.set(cacheKeyOf('', 'Book:7', undefined), undefined, entry);
  expect(store(read('活着'))).toBe(true);
  expect(store(read('活着', now + 1))).toBe(false);
  expect(store(read('兄弟', now + 2))).toBe(true);
});
