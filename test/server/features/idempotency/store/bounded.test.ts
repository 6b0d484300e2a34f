import { expect, test } from 'vitest';
import { createBounded } from '../../../../../src/server/features/idempotency/store/bounded.ts';

/** A store of sizes. Names begin with their owner. */
function sizes(limits: { ofOwner: number; ofAll: number }) {
  const kept = createBounded<number>(limits);
  return {
    kept,
    put: (name: string, size = 1, until = 10) => kept.set(name, size, until, size),
    valuesOf: (...names: string[]) => names.map((name) => kept.get(name, 0)),
  };
}

test('an owner with too many values loses those of their own that were written first', () => {
  const { put, valuesOf } = sizes({ ofOwner: 2, ofAll: 100 });
  for (const name of ['bob.x', 'alice.a', 'alice.b', 'alice.a', 'alice.c']) put(name);
  expect(valuesOf('alice.a', 'alice.b', 'alice.c', 'bob.x')).toEqual([1, undefined, 1, 1]);
});

test('beyond the bound of all owners, the one who has most loses values', () => {
  const { put, valuesOf } = sizes({ ofOwner: 100, ofAll: 10 });
  put('bob.x', 3);
  for (const name of ['alice.a', 'alice.b', 'alice.c', 'alice.d']) put(name, 2);
  expect(valuesOf('bob.x', 'alice.a', 'alice.b', 'alice.c', 'alice.d')).toEqual([3, undefined, 2, 2, 2]);
});

test('what was replaced or deleted counts no more', () => {
  const { put, valuesOf, kept } = sizes({ ofOwner: 4, ofAll: 4 });
  for (let at = 0; at < 5; at++) put('alice.a', 4);
  kept.delete('alice.a');
  put('alice.b', 2);
  put('bob.c', 2);
  expect(valuesOf('alice.a', 'alice.b', 'bob.c')).toEqual([undefined, 2, 2]);
});

test('a value that is too large for its owner is not kept', () => {
  const { put, valuesOf } = sizes({ ofOwner: 4, ofAll: 10 });
  put('alice.a', 5);
  expect(valuesOf('alice.a')).toEqual([undefined]);
});

test('what is over is not there, and a pinned value stays for its time whatever else its owner has', () => {
  const { put, kept } = sizes({ ofOwner: 2, ofAll: 2 });
  kept.set('alice.pinned', 1, 20, 1, true);
  for (const name of ['alice.a', 'alice.b', 'alice.c']) put(name);
  expect([kept.get('alice.pinned', 0), kept.get('alice.pinned', 20), kept.get('alice.c', 10)]).toEqual([
    1,
    undefined,
    undefined,
  ]);
  kept.sweep(30);
  expect([kept.get('alice.pinned', 0), kept.pinned()]).toEqual([undefined, 0]);
});
