/** Gauges: numbers that are read at each scrape. */
import { lostLines } from '../../../lib/log.ts';
import { version } from '../../../package.ts';
import type { UpstreamClient } from '../../../upstream/client.ts';
import type { ServiceState } from '../../../upstream/http/pool.ts';
import type { RedisState } from '../../../upstream/redis/connection/connection.ts';
import type { ServerState } from '../../http/connections/state.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** Registers the gauges of the program and its HTTP server. */
export function registerServerGauges(metrics: Metrics, state: () => ServerState): void {
  metrics.gauge('catalog_build_info', 'Always 1, with the version.', () => ({ [version]: 1 }), 'version');
  const gauge = (name: string, help: string, key: keyof ServerState) => metrics.gauge(name, help, () => state()[key]);
  gauge('catalog_requests_running', 'HTTP requests in progress.', 'requestsRunning');
  gauge('catalog_operations_running', 'Operations that hold a slot.', 'operationsRunning');
  gauge('catalog_operations_waiting', 'Operations that wait for a slot.', 'operationsWaiting');
  gauge('catalog_unsent_bytes', 'Response bytes that clients have not read yet.', 'unsentBytes');
  gauge('catalog_held_upload_bytes', 'Bytes of memory reserved for requests with files.', 'heldUploadBytes');
  const lost = 'Lines of the log that could not be written: the disk is full, or their reader is stuck or gone.';
  metrics.total('catalog_log_lines_lost_total', lost, lostLines);
}

/** Registers the gauges of each upstream. */
export function registerUpstreamGauges(metrics: Metrics, upstream: UpstreamClient): void {
  const { state, redis, keyRedis } = upstream;
  const ofEach = (read: (service: ServiceState) => number) => () =>
    Object.fromEntries(Object.entries(state()).map(([service, now]) => [service, read(now)]));
  const gauge = (name: string, help: string, read: (service: ServiceState) => number) =>
    metrics.gauge(name, help, ofEach(read), 'service');
  gauge(
    'catalog_upstream_up',
    '0 while the circuit breaker of the upstream is open, else 1.',
    ({ isOpen }) => +!isOpen,
  );
  gauge('catalog_upstream_calls_running', 'Upstream calls in flight.', ({ running }) => running);
  gauge('catalog_upstream_calls_waiting', 'Upstream calls that wait for a connection.', ({ waiting }) => waiting);
  const refused = '1 while the service refuses ACCESS_TOKEN, or calls without a token if that is not set.';
  const isRefused = (service: string) => [service, upstream.isOwnRefused(service) ? 1 : 0] as const;
  const refusals = () => Object.fromEntries(Object.keys(state()).map(isRefused));
  metrics.gauge('catalog_access_token_refused', refused, refusals, 'service');
  registerCacheGauges(metrics, upstream);
  if (redis ?? keyRedis) registerRedisGauges(metrics, upstream);
}

function registerCacheGauges(metrics: Metrics, { cacheSize, notStored, ownBudget }: UpstreamClient): void {
  metrics.gauge('catalog_cache_bytes', 'Bytes of the record cache in memory, estimated.', () => cacheSize().bytes);
  const refused = 'Responses that could be cached by their scope, and are not because of their headers, by reason.';
  metrics.total('catalog_cache_not_stored_total', refused, notStored, 'reason');
  const left = "Film calls that the rate limit leaves to the facade's own token now.";
  metrics.gauge('catalog_rate_limit_remaining', left, async () => (await ownBudget())?.remaining);
  const limit = "Film calls a minute of the facade's own token, if it has a limit.";
  metrics.gauge('catalog_rate_limit', limit, async () => (await ownBudget())?.limit);
}

function registerRedisGauges(metrics: Metrics, { redis, keyRedis }: UpstreamClient): void {
  const all = { ...(redis && { REDIS_URL: redis }), ...(keyRedis && { IDEMPOTENCY_REDIS_URL: keyRedis }) };
  const up = '1 while the Redis of the setting can be reached, and answers in time.';
  const isUp = () => Object.entries(all).map(([setting, state]) => [setting, state().isReachable ? 1 : 0] as const);
  metrics.gauge('catalog_redis_up', up, () => Object.fromEntries(isUp()), 'setting');
  const refused = 'Commands that Redis refused, by the first word of its error.';
  metrics.gauge('catalog_redis_refusals', refused, () => sums(all, 'refusals'), 'error');
  const late = 'Replies of Redis that came after the deadline of their call, by the kind of call.';
  metrics.total('catalog_redis_late_replies_total', late, () => sums(all, 'lateReplies'), 'calls');
  if (!redis) return;
  const unsent = 'Invalidations that are not in Redis yet: other replicas may serve what they concern.';
  metrics.gauge('catalog_redis_invalidations_unsent', unsent, () => redis().unsent);
}

/** The counts of all Redis together. */
function sums(all: Readonly<Record<string, () => RedisState>>, of: 'refusals' | 'lateReplies'): Record<string, number> {
  const total: Record<string, number> = {};
  for (const state of Object.values(all))
    for (const [name, count] of Object.entries(state()[of])) total[name] = (total[name] ?? 0) + count;
  return total;
}
