import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance } from '../../../src/lib/text/edit-distance.ts';

test.each([
  ['', '', 0],
  ['', 'ab', 2],
  ['depth', 'depth', 0],
  ['depht', 'depth', 1],
  ['deph', 'depth', 1],
  ['deepth', 'depth', 1],
  ['dapth', 'depth', 1],
  ['kitten', 'sitting', 3],
  ['home', 'host', 2],
])('from %j to %j are %i steps', (from, to, steps) => {
  expect(editDistance(from, to)).toBe(steps);
});

test('the distance is the same both ways, at most the longer length, and zero only for equal words', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      expect(distance === 0).toBe(a === b);
    }),
  );
});
