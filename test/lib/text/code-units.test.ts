import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeUnitsOf } from '../../../src/lib/text/code-units.ts';

// Texts shorter and longer than the shared array.
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }), fc.nat(20_000))
    .map(([text, times]) => text.repeat(times)),
);

test('the code units of a text are those of charCodeAt, and there is room for two more', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const units = codeUnitsOf(text);
      expect(Array.from(units.subarray(0, text.length))).toEqual(text.split('').map((unit) => unit.charCodeAt(0)));
      expect(units.length).toBeGreaterThanOrEqual(text.length + 2);
    }),
    { numRuns: 50 },
  );
});
