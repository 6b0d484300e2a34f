/**
 * What replicas share: cached records and the windows of the rate limit. Redis is optional at run time: while it is slow or unreachable,
 * records are read from upstream and rates are counted in this process.
 */
import type { TlsFiles } from '../../config/upstream-tls.ts';
import type { OnAvailabilityChange } from '../availability.ts';
import { createRedisCache } from './cache.ts';
import { openRedis } from './connection/connection.ts';
import { createRedisWindows } from './windows.ts';
import { CACHE_MAX_BYTES } from '../../lib/remember.ts';

/**
 * The longest that a request waits for Redis, in ms: without an answer it makes calls that cost more. Longer for the rate, because replicas
 * that count separately may cause a 429; and for invalidations, because others would serve old entries.
 */
export const DEFAULT_TIMEOUTS = { record: 250, window: 500 };

export interface SharedStateSettings {
  url: string;
  /** Certificates and a key in PEM. */
  tls?: TlsFiles;
  /** Keys of other namespaces are not visible. */
  namespace: string;
  /** Names the service of events: only replicas that read events from the same one share them. */
  events?: string;
  /** The most bytes of entries in memory, in front of Redis. */
  maxBytes?: number;
  onAvailabilityChange?: OnAvailabilityChange | undefined;
  onInvalidation?: () => void;
  timeouts?: typeof DEFAULT_TIMEOUTS;
}

export type SharedState = ReturnType<typeof connectRedis>;

export function connectRedis({
  url,
  tls = {},
  namespace,
  events = namespace,
  maxBytes = CACHE_MAX_BYTES.records,
  onAvailabilityChange,
  onInvalidation = () => undefined,
  timeouts = DEFAULT_TIMEOUTS,
}: SharedStateSettings) {
  const report = (reason: string | undefined) => onAvailabilityChange?.('redis', reason);
  const connection = openRedis({ url, namespace, tls, report });
  const { channel } = connection;
  const calls = {
    lookups: channel({ what: 'lookups', timeoutMs: timeouts.record }),
    updates: channel({ what: 'entries', timeoutMs: timeouts.window }),
    invalidations: channel({ what: 'invalidations', timeoutMs: timeouts.window }),
  };
  const { cache, flush, unsent } = createRedisCache(connection, calls, { maxBytes, events, onInvalidation });
  return {
    connection,
    cache,
    state: () => ({
      ...connection.state(),
      /** Invalidations that are not written yet. */
      unsent: unsent(),
    }),
    windows: createRedisWindows(connection, channel({ what: 'the rate limit', timeoutMs: timeouts.window })),
    /** Writes first what other replicas have to know. Returns the number of invalidations that it could not write in time. */
    close: async (withinMs = 0): Promise<number> => {
      const lost = await flush(withinMs);
      await connection.close();
      return lost;
    },
  };
}
