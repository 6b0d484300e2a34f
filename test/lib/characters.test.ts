import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charactersIn, firstCharacters, hasMoreThan } from '../../src/lib/characters.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const anyCount = fc.nat(45);

test('characters are code points, whatever the text', () => {
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
  ['a Chinese character beyond the first plane', '𠮷', 1],
  ['a family of four', '👨‍👩‍👧‍👦', 7],
  ['a letter with two accents of their own', 'e\u0301\u0302', 3],
  ['half a surrogate pair', 'a\ud83d', 2],
])('%s: %j has %i', (_, text, count) => expect(charactersIn(text, 1_000)).toBe(count));
