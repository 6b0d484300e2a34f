import { describe, expect, test } from 'vitest';
import { cutToFit } from '../../../../src/server/features/mcp/cut-response.ts';

const ROOM = 2_000;
const lengthOf = (value: unknown) => JSON.stringify(value).length;

describe('a response that is cut', () => {
  test('fits the limit, and uses most of it', () => {
    const { value, cuts } = cutToFit({ list: Array.from({ length: 1_000 }, () => ({ n: 1 })) }, ROOM);
    const { list } = value as { list: unknown[] };
    expect(lengthOf(value)).toBeLessThanOrEqual(ROOM);
    expect(lengthOf(value)).toBeGreaterThan(0.7 * ROOM);
    expect(cuts).toEqual([{ path: 'list', shown: list.length, of: 1_000 }]);
  });

  test('has the longest texts that fit if its lists have one item', () => {
    const { value, cuts } = cutToFit({ texts: ['一'.repeat(5_000), 'unused'], other: null }, ROOM);
    const { texts } = value as { texts: string[] };
    expect(texts).toHaveLength(1);
    expect(lengthOf(value)).toBeLessThanOrEqual(ROOM);
    expect(lengthOf(value)).toBeGreaterThan(0.95 * ROOM);
    expect(cuts).toEqual([expect.objectContaining({ path: 'texts', shown: 1 })]);
  });

  test('has the page info of upstream where the edges failed, however little fits', () => {
    const pageInfo = { hasNextPage: false, endCursor: 'x' };
    const texts = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`text${at}`, '一'.repeat(100)]));
    const { value } = cutToFit({ list: { edges: null, pageInfo, __cursors_after: null }, items: [1], ...texts }, ROOM);
    expect(value).toMatchObject({ list: { edges: null, pageInfo }, items: [], text0: `${'一'.repeat(19)}…` });
  });

  test('has as many members of each object as fit if nothing else can be cut, and says so', () => {
    const record = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`member${at}`, at]));
    const records = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`record${at}`, record]));
    const { value, cuts } = cutToFit(records, ROOM);
    expect(lengthOf(value)).toBeLessThanOrEqual(ROOM);
    const shown = Object.keys(value as object).length;
    expect(shown).toBeGreaterThan(5);
    expect(cuts[0]).toEqual({ path: '', shown, of: 30 });
    expect(cutToFit({ ['a'.repeat(3_000)]: 1 }, ROOM)).toEqual({ value: {}, cuts: [{ path: '', shown: 0, of: 1 }] });
  });

  test('counts the cuts that do not fit among those that are named', () => {
    const lists = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`list${at}`, Array(100).fill('text')]));
    const { cuts } = cutToFit(lists, ROOM);
    expect(lengthOf(cuts)).toBeLessThanOrEqual(800);
    expect(cuts.at(-1)).toEqual({ path: 'cut', shown: cuts.length - 1, of: 50 });
  });
});
