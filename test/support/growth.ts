import { expect } from 'vitest';

/**
 * Fails where time grows faster than the amount of work. The whole takes about as long as all its parts, a few times that where the
 * memory fills; with a time that grows by the square it takes `parts` times as long. The best of three counts: a machine may stall.
 */
export async function expectTimeToGrowWith(amount: number, work: (amount: number) => unknown, parts = 100) {
  const tooMuch = Math.sqrt(parts); // far from both
  let [inParts, whole] = [Infinity, Infinity];
  for (let turn = 0; turn < 3; turn++) {
    inParts = Math.min(inParts, await time(parts, () => work(amount / parts)));
    whole = Math.min(whole, await time(1, () => work(amount)));
    if (whole < tooMuch * inParts) return;
  }
  expect(whole / inParts).toBeLessThan(tooMuch);
}

async function time(times: number, work: () => unknown): Promise<number> {
  const started = performance.now();
  for (let each = 0; each < times; each++) await work();
  return performance.now() - started;
}
