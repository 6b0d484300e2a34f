import { expect, test } from 'vitest';
import { thorough } from '../support/optional.ts';
import { compareAll, unexplained } from './fewest.ts';

/** A fixed set of queries; `npm run oracle -- --fewest 2000` compares others. */
const QUERIES = thorough ? 400 : 30;
/** The share of queries that may make more calls by a rule: of 2,000 it is below 0.05, and a sample of 400 may have two hundredths more. */
const BY_RULE = 0.07;

/** Small queries of different shapes; `npm run oracle -- --brute 500` compares others. */
const SHAPES = thorough ? 400 : 20;

test('a small query makes no more calls than the fewest that any set of requests needs, or there is a reason', async () => {
  const summary = await compareAll('test', SHAPES, 0, true);
  expect(unexplained(summary)).toEqual([]);
  expect(summary.queries).toBe(SHAPES);
});

test('a generated query makes no more calls than a planner that tries all sets of requests, or there is a reason', async () => {
  const summary = await compareAll('test', QUERIES);
  const { queries, byRule } = summary;
  expect(unexplained(summary)).toEqual([]);
  if (thorough) expect(byRule).toBeLessThanOrEqual(queries * BY_RULE); // a share of few says nothing
});
