import { expect, test } from 'vitest';
import { listIn, shallowCopy, withMembers } from '../../src/lib/objects.ts';

test('a shallow copy has the members, and changing it does not change the original', () => {
  const original = { a: 1, b: undefined };
  const copy = shallowCopy(original);
  copy.c = 3;
  expect(copy).toStrictEqual({ a: 1, b: undefined, c: 3 });
  expect(original).toStrictEqual({ a: 1, b: undefined });
});

test('if both objects have a member, the second value is kept at the first position', () => {
  expect(Object.entries(withMembers({ a: 1, b: 2 }, { c: 3, a: 4 }))).toEqual([
    ['a', 4],
    ['b', 2],
    ['c', 3],
  ]);
});

test('a member __proto__ of a response becomes no prototype', () => {
  const response = JSON.parse('{"__proto__": {"title": "made up"}, "id": "1"}') as object;
  for (const copy of [shallowCopy(response), withMembers({}, response)]) {
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy).toStrictEqual({ id: '1' });
  }
});

test.each([
  ['a list', '["a","b"]', ['a', 'b']],
  ['an empty list', '[]', []],
  ['a list with gaps as PHP writes it', '{"0":"a","2":"b"}', ['a', 'b']],
  ['one that does not begin at 0', '{"3":"a"}', ['a']],
  ['more than ten items in another order', '{"10":"c","9":"b","0":"a"}', ['a', 'b', 'c']],
  ['keys beyond the index of an array', '{"99999999999":"b","99999999998":"a"}', ['a', 'b']],
])('%s is a list', (_, text, items) => {
  expect(listIn(JSON.parse(text))).toEqual(items);
});

test.each(['{}', '{"id":"7"}', '{"0":"a","id":"7"}', '{"-1":"a"}', '{"01":"a"}', '{"1.5":"a"}', 'null', '"0"', '7'])(
  '%s is no list',
  (text) => {
    expect(listIn(JSON.parse(text))).toBeUndefined();
  },
);
