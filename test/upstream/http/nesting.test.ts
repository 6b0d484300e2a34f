import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/lib/text/json.ts';

const padding = ' '.repeat(300_000);
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test.each([
  ['short', ''],
  ['long', padding],
])('a %s text is parsed like JSON.parse, unless it is deeper than allowed', (_, before) => {
  const value = fc.jsonValue({ maxDepth: 6 });
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 7 }), (original, maxDepth) => {
      const text = before + JSON.stringify(original);
      if (depthOf(original) > maxDepth) expect(() => parseJson(text, maxDepth)).toThrow(SyntaxError);
      else expect(parseJson(text, maxDepth)).toEqual(JSON.parse(text));
    }),
    { numRuns: 200, seed: 1 },
  );
});

test.each([
  ['brackets in a string', '{"a":"[[[{{{","b":"\\"[[[","c":"\\\\"}'],
  ['brackets in a name', '{"[[[{{{":[1]}'],
])('%s do not count as depth', (_, text) => {
  expect(parseJson(text, 2)).toEqual(JSON.parse(text));
  expect(parseJson(padding + text, 2)).toEqual(JSON.parse(text));
});

test.each(['', '[', '"[[[[[', '{"a":"\\"', '[[[', '{"__proto__":[[[]]]}'])(
  'malformed JSON is rejected, in a short and a long text: %j',
  (text) => {
    expect(() => parseJson(text, 2)).toThrow(SyntaxError);
    expect(() => parseJson(padding + text, 2)).toThrow(SyntaxError);
  },
);

test('the deepest text that fits into a response is rejected without an overflow', () => {
  for (const depth of [100_000, 1_900_000])
    expect(() => parseJson('['.repeat(depth) + ']'.repeat(depth), 64)).toThrow(SyntaxError);
});
