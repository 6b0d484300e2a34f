import { expect, test } from 'vitest';
import { shallowCopy, withMembers } from '../../src/lib/objects.ts';

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
