import { describe, expect, test } from 'vitest';
import { cutToFit } from '../../../../src/server/features/mcp/cut-response.ts';

const ROOM = 2_000;
const fitted = (data: unknown) => cutToFit(data, ROOM)!;
const lengthOf = (value: unknown) => JSON.stringify(value).length;

describe('a response that is cut', () => {
  test('fits the limit, and uses most of it', () => {
    const { value, cuts } = fitted({ list: Array.from({ length: 1_000 }, () => ({ n: 1 })) });
    const { list } = value as { list: unknown[] };
    expect(lengthOf(value)).toBeLessThanOrEqual(ROOM);
    expect(lengthOf(value)).toBeGreaterThan(0.7 * ROOM);
    expect(cuts).toEqual([{ path: 'list', shown: list.length, of: 1_000 }]);
  });

  test('has the longest texts that fit if its lists have one item', () => {
    const { value, cuts } = fitted({ texts: ['一'.repeat(5_000), 'unused'], other: null });
    const { texts } = value as { texts: string[] };
    expect(texts).toHaveLength(1);
    expect(lengthOf(value)).toBeLessThanOrEqual(ROOM);
    expect(lengthOf(value)).toBeGreaterThan(0.95 * ROOM);
    expect(cuts).toEqual([expect.objectContaining({ path: 'texts', shown: 1 })]);
  });

  test('has the page info of upstream where the edges failed', () => {
    const pageInfo = { hasNextPage: false, endCursor: 'x' };
    const items = Array.from({ length: 1_000 }, () => 'text');
    const { value } = fitted({ list: { edges: null, pageInfo, __cursors_after: null }, items });
    expect(value).toMatchObject({ list: { edges: null, pageInfo } });
  });

  test('is none if it does not fit with one item in each list, and texts of twenty characters', () => {
    const record = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`member${at}`, at]));
    const records = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`record${at}`, record]));
    expect(cutToFit(records, ROOM)).toBeUndefined();
  });

  test('names ten cuts, and counts them all', () => {
    const lists = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`list${at}`, Array(100).fill('text')]));
    const { cuts } = fitted(lists);
    expect(cuts).toHaveLength(11);
    expect(cuts.at(-1)).toEqual({ path: 'cut', shown: 10, of: 50 });
  });
});
