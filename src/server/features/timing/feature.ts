/** The headers Server-Timing and RateLimit-Policy. */
import { WINDOW_MS } from '../../../upstream/limits/sliding-window.ts';
import type { RateLimitState } from '../../../upstream/limits/rate-limiter.ts';
import type { UpstreamSession } from '../../../upstream/upstream-session.ts';
import type { Core } from '../../core.ts';
import type { Feature } from '../../feature.ts';

export const createTimingFeature = ({ config }: Pick<Core, 'config'>): Feature =>
  config.explain ? { headers: { stored: ['server-timing', 'cache;desc="response"'], ofRun: timingHeaders } } : {};

/**
 * Names and values of headers that show in a browser's developer tools how long it took since `startedAt`, and the rate limit of its
 * token. Not for a response in parts: it begins before they are known.
 */
function timingHeaders(
  { callLog: { calls } }: UpstreamSession,
  startedAt: number,
  left: RateLimitState | null,
): string[] {
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
  if (left) headers.push('ratelimit-policy', `"films";q=${left.limit};w=${WINDOW_MS / 1_000}`);
  return headers;
}
