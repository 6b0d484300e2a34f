import { expect, test } from 'vitest';
import { printable, printableLine } from '../../../src/lib/text/printable.ts';

test('what controls a terminal is shown as an escape', () => {
  expect(printable('\u001b[2K\u001b[32mok')).toBe('\\u001b[2K\\u001b[32mok');
  expect(printable('a\rb\bc\u0000d\u007fe\u009bf')).toBe('a\\u000db\\u0008c\\u0000d\\u007fe\\u009bf');
  expect(printable('\u202egnirts\u202c \u2066x')).toBe('\\u202egnirts\\u202c \\u2066x');
  expect(printable('百年孤独 – “é” 🎬 a\tb')).toBe('百年孤独 – “é” 🎬 a\tb');
});

test('line feeds stay in a text and not in a line', () => {
  expect(printable('a\nb')).toBe('a\nb');
  expect(printableLine('a\nb')).toBe('a\\nb');
});

test('printed JSON is the same JSON', () => {
  const value = { '\u001b[2K\u009b': ['\u202e\n\u007f', '百'] };
  const json = printable(JSON.stringify(value, null, 2));
  expect(json).not.toMatch(/[\u007f-\u009f\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});
