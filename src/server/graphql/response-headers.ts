/** Headers of a response that depend on how its operation went: how long a client may keep it, and what it took. */
import type { ServerResponse } from 'node:http';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { LoggedCall } from '../../upstream/call-log.ts';
import { WINDOW_MS } from '../../upstream/limits/sliding-window.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { Exchange } from '../http/exchange.ts';

/**
 * Sets Cache-Control of the response to a read: `no-store`, until the returned function is called with the policy of the data. Responses
 * to a POST are not cached without such a header, so they get none. What may not be reused is revalidated each time.
 */
export function cacheControl(response: ServerResponse): (policy: CachePolicy) => void {
  response.setHeader('cache-control', 'no-store');
  return (policy) => {
    const seconds = secondsToKeep(policy);
    if (seconds > 0) response.setHeader('cache-control', `${policy.scope}, max-age=${seconds}`);
    else if (!policy.forbidsStoring) response.setHeader('cache-control', 'private, no-cache');
  };
}

/**
 * How long a client may keep a response; 0 if nothing was read. Also 0 for content that people write: it may be deleted or made private at
 * any time, and nobody can invalidate the caches of clients.
 */
export function secondsToKeep({ scope, freshUntil, mayChange }: CachePolicy): number {
  const seconds = Math.floor((freshUntil - Date.now()) / 1000);
  return scope === 'none' || mayChange || !Number.isFinite(seconds) ? 0 : Math.max(0, seconds);
}

/**
 * Returns a function that adds headers when the operation has ended. They show in a browser's developer tools how long it took, and how
 * many calls the rate limit leaves to its token.
 */
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
