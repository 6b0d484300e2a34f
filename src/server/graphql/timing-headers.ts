/** Headers that show in a browser's developer tools how long an operation took, and how many calls the rate limit leaves to its token. */
import type { LoggedCall } from '../../upstream/call-log.ts';
import { WINDOW_MS } from '../../upstream/limits/sliding-window.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { Exchange } from '../http/exchange.ts';

/** Returns a function that adds the headers when the operation has ended. */
export function timingHeaders({ headers }: Exchange): (operation: Operation) => Promise<void> {
  const startedAt = performance.now();
  return async (operation) => {
    const { calls } = operation.callLog;
    const sent = calls.filter(({ cached }) => !cached);
    const metrics = [
      `total;dur=${(performance.now() - startedAt).toFixed(1)}`,
      `upstream;desc="calls: ${sent.length}";dur=${timeOf(sent).toFixed(1)}`,
      `cache;desc="calls: ${calls.length - sent.length}"`,
    ];
    headers.push('server-timing', metrics.join(', '));
    const budget = await operation.rateBudget();
    if (!budget) return;
    const seconds = Math.max(0, Math.ceil((Date.parse(budget.resetsAt) - Date.now()) / 1000));
    headers.push('ratelimit-policy', `"films";q=${budget.limit};w=${WINDOW_MS / 1_000}`);
    headers.push('ratelimit', `"films";r=${budget.remaining};t=${seconds}`);
  };
}

/** From the start of the first call to the end of the last. */
const timeOf = (calls: readonly LoggedCall[]): number =>
  calls.length === 0
    ? 0
    : Math.max(...calls.map(({ startMs, ms }) => startMs + ms)) - Math.min(...calls.map(({ startMs }) => startMs));
