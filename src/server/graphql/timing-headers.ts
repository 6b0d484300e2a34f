/** Headers that show in a browser's developer tools what an operation took, and what the rate limit leaves to its token. */
import type { LoggedCall } from '../../upstream/call-log.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { Exchange } from '../http/exchange.ts';

/** Returns a function that adds the headers when the operation has ended. */
export function timingHeaders({ headers }: Exchange): (operation: Operation) => Promise<void> {
  const startedAt = performance.now();
  return async ({ callLog: { calls }, rateBudget }) => {
    const sent = calls.filter(({ cached }) => !cached);
    const metrics = [
      `total;dur=${tenths(performance.now() - startedAt)}`,
      `upstream;desc="calls: ${sent.length}";dur=${tenths(timeOf(sent))}`,
      `cache;desc="calls: ${calls.length - sent.length}"`,
    ];
    headers.push('server-timing', metrics.join(', '));
    const budget = await rateBudget();
    if (!budget) return;
    const seconds = Math.max(0, Math.ceil((Date.parse(budget.resetsAt) - Date.now()) / 1000));
    headers.push('ratelimit-policy', `"films";q=${budget.limit};w=${WINDOW_SECONDS}`);
    headers.push('ratelimit', `"films";r=${budget.remaining};t=${seconds}`);
  };
}

const WINDOW_SECONDS = 60;

/** From the start of the first call to the end of the last. */
const timeOf = (calls: readonly LoggedCall[]): number =>
  calls.length === 0
    ? 0
    : Math.max(...calls.map(({ startMs, ms }) => startMs + ms)) - Math.min(...calls.map(({ startMs }) => startMs));

const tenths = (ms: number): string => ms.toFixed(1);
