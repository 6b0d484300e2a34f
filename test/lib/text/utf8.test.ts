import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOf } from '../../../src/lib/text/utf8.ts';

// Characters of one to four bytes, in texts shorter and longer than the limit between the two decoders.
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.tuple(fc.string({ unit: 'binary', maxLength: 10 }), fc.nat(400)).map(([text, times]) => text.repeat(times)),
);

test('UTF-8 bytes are decoded as by Buffer.toString', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(textOf(Buffer.from(text))).toBe(Buffer.from(text).toString());
    }),
  );
});

test('a range of a buffer is decoded by itself', () => {
  fc.assert(
    fc.property(texts, texts, texts, (before, text, after) => {
      const bytes = Buffer.from(before + text + after);
      const from = Buffer.byteLength(before);
      expect(textOf(bytes, from, from + Buffer.byteLength(text))).toBe(Buffer.from(text).toString());
    }),
  );
});

test.each([
  '',
  '\0',
  '\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}',
  '雨'.repeat(341),
  '雨'.repeat(342),
  '\ufeff',
  '\ufeff'.repeat(342),
])('edge cases: %j', (text) => {
  expect(textOf(Buffer.from(text))).toBe(text);
});
