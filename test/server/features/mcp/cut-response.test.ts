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
});
