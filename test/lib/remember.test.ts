import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';
import { atMost } from '../../src/lib/remember.ts';

test('the entry that was used least recently is evicted by one entry too many, also if others are replaced', () => {
  const evicted: string[] = [];
  const table = new LRUCache<string, number>({
    ...atMost(3),
    dispose: (_, key, reason) => void (reason === 'evict' && evicted.push(key)),
  });
  for (const key of ['a', 'b', 'c']) table.set(key, 1);
  table.set('b', 2);
  table.get('a');
  expect([table.size, evicted]).toEqual([3, []]);
  table.set('d', 1);
  table.set('e', 1);
  expect([[...table.keys()], evicted]).toEqual([
    ['e', 'd', 'a'],
    ['c', 'b'],
  ]);
});

test('an empty table takes no memory for its entries', () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const tables = Array.from({ length: 100 }, () => new LRUCache<string, number>(atMost(20_000)));
  expect(used() - before).toBeLessThan(10_000_000); // 32 MB for two pointers an entry
  expect(tables).toHaveLength(100);
});
