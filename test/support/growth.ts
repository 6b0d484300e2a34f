import { expect } from 'vitest';

/** Quadratic work of the amounts in the tests takes much longer. */
const HARMLESS_MS = 20;

/**
 * Fails if CPU time grows faster than the amount of work. Linear work takes about as long as the sum of its parts, a few times that when
 * memory fills up; quadratic work takes `parts` times as long. The best of three counts, because a garbage collection may come in between;
 * work of a few milliseconds harms nobody, and a single collection would decide about it.
 */
export async function expectTimeToGrowWith(amount: number, work: (amount: number) => unknown, parts = 100) {
  const maxRatio = Math.sqrt(parts); // between linear and quadratic
  let [inParts, whole] = [Infinity, Infinity];
  for (let turn = 0; turn < 3; turn++) {
    inParts = Math.min(inParts, await time(parts, () => work(amount / parts)));
    whole = Math.min(whole, await time(1, () => work(amount)));
    if (whole < Math.max(HARMLESS_MS, maxRatio * inParts)) return;
  }
  expect(whole / inParts).toBeLessThan(maxRatio);
}

/** In ms; on a busy machine the time of the clock has that of other programs in it. */
async function time(times: number, work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let each = 0; each < times; each++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
