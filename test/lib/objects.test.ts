import { expect, test } from 'vitest';
import { shallowCopy, withMembers } from '../../src/lib/objects.ts';

test('a copy has the members, and what is put into it is not in the original', () => {
  const original = { a: 1, b: undefined };
  const copy = shallowCopy(original);
  copy.c = 3;
  expect(copy).toStrictEqual({ a: 1, b: undefined, c: 3 });
  expect(original).toStrictEqual({ a: 1, b: undefined });
});

test('of a member that both have, the second is taken, in the place of the first', () => {
  expect(Object.entries(withMembers({ a: 1, b: 2 }, { c: 3, a: 4 }))).toEqual([
    ['a', 4],
    ['b', 2],
    ['c', 3],
  ]);
});

test('a member __proto__ of an answer is nobody’s prototype', () => {
  const hostile = JSON.parse('{"__proto__": {"title": "made up"}, "id": "1"}') as object;
  for (const copy of [shallowCopy(hostile), withMembers({}, hostile)]) {
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy).toStrictEqual({ id: '1' });
  }
});
