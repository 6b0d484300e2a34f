import { expect, test } from 'vitest';
import { parseJson } from '../../../src/lib/text/json.ts';
import { shallowCopy } from '../../../src/lib/objects.ts';

test.each([
  ['12345678901234567890', '12345678901234567890'],
  ['-12345678901234567890', '-12345678901234567890'],
  ['9007199254740993', '9007199254740993'],
  ['9007199254740991', 9007199254740991],
  ['1e300', 1e300],
  ['1.2345678901234567', 1.2345678901234567],
  ['123456789012345678.5', Number('123456789012345678.5')],
  ['"12345678901234567890"', '12345678901234567890'],
])('the number %s keeps its digits', (written, read) => {
  const text = `{"id":${written},"title":"says \\"9007199254740993, and more\\"","all":[${written},[{"id":${written}}]]}`;
  expect(parseJson(text, 64)).toEqual({
    id: read,
    title: 'says "9007199254740993, and more"',
    all: [read, [{ id: read }]],
  });
});

test('a large number is no way around the depth limit', () => {
  expect(() => parseJson('[12345678901234567890,[[[]]]]', 2)).toThrow(SyntaxError);
});

test.each([
  ['in an object', '{"id":"7","__proto__":{"price":"1"}}'],
  ['with escapes', '{"id":"7","\\u005f_proto__":{"price":"1"}}'],
  ['beside a large number', '{"id":"7","n":12345678901234567890,"__proto__":{"price":"1"}}'],
])('a member named __proto__ is left out: %s', (_, text) => {
  const record = parseJson(text, 64) as Record<string, unknown>;
  expect(Object.keys(record)).not.toContain('__proto__');
  expect(Object.assign({}, record).price).toBeUndefined();
  expect(shallowCopy(record).price).toBeUndefined();
  expect(({} as Record<string, unknown>).price).toBeUndefined();
});

test('members of a nested __proto__ are left out too', () => {
  const record = parseJson('{"list":[{"__proto__":{"price":"1"}}]}', 64) as { list: object[] };
  expect(Object.keys(record.list[0]!)).toEqual([]);
});
