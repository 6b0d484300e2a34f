import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/lib/parse-json.ts';

const padding = ' '.repeat(300_000);
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test.each([
  ['short', ''],
  ['long', padding],
])('a %s text is read as JSON.parse reads it, unless it is deeper than allowed', (_, before) => {
  const value = fc.jsonValue({ maxDepth: 6 });
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 7 }), (written, most) => {
      const text = before + JSON.stringify(written);
      if (depthOf(written) > most) expect(() => parseJson(text, most)).toThrow(SyntaxError);
      else expect(parseJson(text, most)).toEqual(JSON.parse(text));
    }),
    { numRuns: 200, seed: 1 },
  );
});

test.each([
  ['brackets in a text', '{"a":"[[[{{{","b":"\\"[[[","c":"\\\\"}'],
  ['brackets in a name', '{"[[[{{{":[1]}'],
])('%s are no depth', (_, text) => {
  expect(parseJson(text, 2)).toEqual(JSON.parse(text));
  expect(parseJson(padding + text, 2)).toEqual(JSON.parse(text));
});

test.each(['', '[', '"[[[[[', '{"a":"\\"', '[[[', '{"__proto__":[[[]]]}'])('%j is refused, short or long', (text) => {
  expect(() => parseJson(text, 2)).toThrow(SyntaxError);
  expect(() => parseJson(padding + text, 2)).toThrow(SyntaxError);
});

test('the deepest text that is allowed anywhere is refused, not a fault', () => {
  for (const depth of [100_000, 1_900_000])
    expect(() => parseJson('['.repeat(depth) + ']'.repeat(depth), 64)).toThrow(SyntaxError);
});
