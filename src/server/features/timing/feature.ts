/** The headers Server-Timing, RateLimit and RateLimit-Policy. */
import { WINDOW_MS } from '../../../upstream/limits/sliding-window.ts';
import type { UpstreamSession } from '../../../upstream/upstream-session.ts';
import type { Core } from '../../core.ts';
import type { Feature } from '../../feature.ts';

export const createTimingFeature = ({ config }: Pick<Core, 'config'>): Feature =>
  (config.serverTiming ?? config.explain)
    ? { headers: { stored: ['server-timing', 'cache;desc="response"'], ofRun: timingHeaders } }
    : {};

/**
 * Names and values of headers that show in a browser's developer tools how long it took since `startedAt`, and how many calls the rate
 * limit leaves to its token. Not for a response in parts: it begins before they are known.
 */
async function timingHeaders(session: UpstreamSession, startedAt: number): Promise<string[]> {
  const { calls } = session.callLog;
  // `dur` of upstream is the time from the start of the first call to the end of the last.
  let [sent, cached, from, to] = [0, 0, Infinity, 0];
  for (const { how, startMs, ms } of calls) {
    if (how === 'cached' || how === 'stale') cached++;
    if (how !== 'sent') continue;
    sent++;
    from = Math.min(from, startMs);
    to = Math.max(to, startMs + ms);
  }
  const metrics = [
    `total;dur=${(performance.now() - startedAt).toFixed(1)}`,
    `upstream;desc="calls: ${sent}";dur=${Math.max(0, to - from).toFixed(1)}`,
    `cache;desc="calls: ${cached}"`,
  ];
  const headers = ['server-timing', metrics.join(', ')];
  const budget = await session.rateBudget();
  if (!budget) return headers;
  const seconds = Math.max(0, Math.ceil((Date.parse(budget.resetsAt) - Date.now()) / 1000));
  headers.push('ratelimit-policy', `"films";q=${budget.limit};w=${WINDOW_MS / 1_000}`);
  headers.push('ratelimit', `"films";r=${budget.remaining};t=${seconds}`);
  return headers;
}
