import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charactersIn, firstCharacters, hasMoreThan } from '../../../src/lib/text/characters.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const anyCount = fc.nat(45);

test('characters are counted and cut by code points', () => {
  fc.assert(
    fc.property(anyText, anyCount, (text, count) => {
      const codePoints = [...text];
      expect(charactersIn(text, 1_000)).toBe(codePoints.length);
      expect(charactersIn(text, count)).toBe(Math.min(count, codePoints.length));
      expect(hasMoreThan(text, count)).toBe(codePoints.length > count);
      expect(firstCharacters(text, count)).toBe(codePoints.slice(0, count).join(''));
    }),
  );
});

test.each([
  ['a Chinese character outside the BMP', '𠮷', 1],
  ['a family emoji', '👨‍👩‍👧‍👦', 7],
  ['a letter with two combining accents', 'e\u0301\u0302', 3],
  ['a lone surrogate', 'a\ud83d', 2],
])('%s: %j has %i', (_, text, count) => expect(charactersIn(text, 1_000)).toBe(count));
