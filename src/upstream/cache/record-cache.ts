/**
 * The record cache holds upstream records, not GraphQL responses, so that different queries share one record. Partitions:
 *
 * - public     the same for everybody, without the member of the viewer
 * - anonymous  for callers without a token
 * - tier       per credential
 * Data of a viewer is never cached.
 */
import { type CacheParts, type CacheViewer, ViewerCache, tierPartition } from './handle.ts';
import type { LifetimeSettings } from './lifetime.ts';
import { type Cache, createMemoryCache } from './memory.ts';
import { CACHE_MAX_BYTES } from '../../lib/remember.ts';

export type RecordCache = ReturnType<typeof createRecordCache>;

/** By default upstream says how long records are fresh, and absence is not remembered. `cache`: one that other replicas use too. */
export function createRecordCache({
  ttlSeconds,
  absentTtlSeconds = 0,
  cache: shared,
}: Partial<LifetimeSettings> & { cache?: Cache | undefined } = {}) {
  const cache: Cache = shared ?? createMemoryCache(CACHE_MAX_BYTES.records);
  let epoch = 0;
  /**
   * Drops from all partitions records (`Book:7`), lists with any query (`/v2/book/7/tags`, encoded as in the request), all records
   * of a kind (`Collection`), or all responses of an endpoint (`/v2/book/user/:name/collections`). False if other replicas may still have
   * them.
   */
  const invalidate = (names: readonly string[]): boolean | Promise<boolean> => {
    epoch++;
    return cache.invalidate(names);
  };
  const parts: CacheParts = {
    ...{ cache, ttlSeconds, absentTtlSeconds, isShared: shared !== undefined, unstored: new Set() },
    drop: (key) => {
      if (cache.delete(key)) epoch++;
    },
  };
  return {
    invalidate,
    /** Drops what was read with the credential of a client. */
    invalidateCredential: (credential: string) => cache.invalidate([tierPartition(credential)]),
    /** Counts invalidations: a response may be reused in the epoch of its reads, once that is confirmed. Null if nothing is cached. */
    epoch: (): number | null => (ttlSeconds === 0 ? null : epoch + (cache.epoch?.() ?? 0)),
    /** Undefined if no other process invalidates: then the epoch is always current. */
    confirmEpoch: cache.confirm,
    forViewer: (viewer: CacheViewer): ViewerCache => new ViewerCache(parts, viewer),
    /** The size of the entries in memory. */
    size: () => cache.size(),
  };
}
