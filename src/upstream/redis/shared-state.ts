/**
 * What replicas share: cached records and the windows of the rate limit. Redis is optional at run time: while it is slow or unreachable,
 * records are read from upstream and rates are counted in this process.
 */
import type { OnAvailabilityChange } from '../availability.ts';
import { createRedisCache } from './cache.ts';
import { openRedis } from './connection.ts';
import { createRedisWindows } from './windows.ts';

/**
 * The longest that a request waits for Redis, in ms. Longer for the rate, because replicas that count separately may cause a 429; and for
 * invalidations, because others would serve old entries.
 */
export const DEFAULT_TIMEOUTS = { record: 50, window: 200 };

export function connectRedis(
  url: string,
  namespace: string,
  onAvailabilityChange?: OnAvailabilityChange,
  timeouts = DEFAULT_TIMEOUTS,
) {
  const connection = openRedis(url, namespace, onAvailabilityChange);
  const { channel } = connection;
  return {
    cache: createRedisCache(connection, channel('reads', timeouts.record), channel('invalidations', timeouts.window)),
    windows: createRedisWindows(connection, channel('the rate limit', timeouts.window)),
    close: connection.close,
  };
}
