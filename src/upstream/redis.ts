/**
 * What replicas share: cached records and the windows of the rate limit. Redis is optional at run time: while it is slow or unreachable,
 * records are read from upstream and rates are counted in this process.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as IORedis from 'ioredis';
import { settlesWithin } from '../lib/promises.ts';
import { type OnAvailabilityChange, createAvailabilityMonitor, errorCodeOf } from './availability.ts';
import { createRedisCache } from './cache/redis.ts';
import { createRedisWindows } from './limits/redis-window.ts';
import { withTimeout } from './redis-call.ts';

/**
 * The longest that a request waits for Redis, in ms. Longer for the rate, because replicas that count separately may cause a 429; and for
 * invalidations, because others would serve old entries.
 */
export const DEFAULT_TIMEOUTS = { record: 50, window: 200 };
const RECONNECT_MS = 500;

/** `namespace`: entries of other namespaces are not visible. */
export function connectRedis(
  url: string,
  namespace: string,
  onAvailabilityChange?: OnAvailabilityChange,
  timeouts = DEFAULT_TIMEOUTS,
) {
  const keyPrefix = `catalog:${createHash('sha256').update(namespace).digest('base64url').slice(0, 8)}:`;
  // Loaded here because most facades run without it.
  const { Redis: Client } = createRequire(import.meta.url)('ioredis') as typeof IORedis;
  const redis = new Client(url, {
    keyPrefix,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(RECONNECT_MS, 50 * times),
  });
  const availability = createAvailabilityMonitor((reason) => onAvailabilityChange?.('redis', reason));
  let closing = false;
  // Without a listener an outage would end the process.
  redis.on('error', (error) => availability.onFailure(errorCodeOf(error), true));
  redis.on('close', () => {
    if (!closing) availability.onFailure('closed', true);
  });
  redis.on('ready', () => availability.onSuccess());
  const within = (timeoutMs: number) => withTimeout(redis, availability, timeoutMs);

  return {
    cache: createRedisCache(redis, within(timeouts.record), within(timeouts.window)),
    windows: createRedisWindows(redis, within(timeouts.window)),
    close: async (): Promise<void> => {
      closing = true;
      const ended = redis.quit().catch(() => undefined);
      await settlesWithin(timeouts.window, ended);
      redis.disconnect();
    },
  };
}
