/**
 * The record cache holds upstream records, not GraphQL responses, so that different queries share one record. Partitions:
 *
 * - public     the same for everybody, without `current_user_collection`
 * - anonymous  for callers without a token
 * - tier       per credential
 * Data of a viewer is never cached.
 */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import { type CacheParts, RecordHandle, ResponseHandle } from './cache-handle.ts';
import { type Cache, type CacheKey, cacheKeyOf, createMemoryCache } from './memory.ts';
import { mayHoldViewerData } from './redact.ts';

/** Seconds that a record is fresh, by kind, if upstream does not say. */
// A table is read down its columns.
// prettier-ignore
const recordSeconds: Readonly<Record<string, number>> = {
  Book:       3600,
  Subject:    3600,
  Celebrity:  3600,
  City:       3600,
  Event:        60, // people join all the time
  Annotation:   60,
  Collection:   30,
};
/** The same for lists, and for records requested by something other than their id. */
const responseSeconds: Readonly<Record<Share, number>> = { public: 300, tier: 300, anonymous: 30, viewer: 0 };
const MAX_BYTES = 64_000_000;

export interface CacheViewer {
  /** Identifies the credential of film calls; never the token itself. */
  credential: string;
  hasToken: boolean;
}

export type RecordCache = ReturnType<typeof createRecordCache>;

export interface RecordCacheSettings {
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds?: number | undefined;
  cache?: Cache | undefined;
}

export function createRecordCache({ ttlSeconds, cache: shared }: RecordCacheSettings = {}) {
  const cache = shared ?? createMemoryCache(MAX_BYTES);
  const hasEpochs = ttlSeconds !== 0 && !shared;
  let epoch = 0;
  /**
   * Drops from all partitions a record (`Book:7`), a list with any query (`/v2/book/7/annotations`, encoded as in the request), all records
   * of a kind (`Collection`), or all responses of an endpoint (`/v2/book/user/:name/collections`).
   */
  const invalidate = (tag: string): void | Promise<void> => {
    epoch++;
    return cache.invalidate(tag);
  };
  const drop = (key: CacheKey) => {
    if (cache.delete(key)) epoch++;
  };
  const parts: CacheParts = { cache, isShared: shared !== undefined && ttlSeconds !== 0, ttlSeconds, drop };
  return {
    invalidate,
    /** Drops what was read with a credential. What was read with the facade's own was shown to everybody without one. */
    invalidateCredential(credential: string, isOwn: boolean): void | Promise<void> {
      const partition = tierPartition(credential);
      return isOwn ? invalidate(partition) : cache.invalidate(partition);
    },
    /** Counts invalidations: a response may be reused in the epoch of its reads. Null if nothing is cached, or other processes invalidate too. */
    epoch: (): number | null => (hasEpochs ? epoch : null),
    forViewer: (viewer: CacheViewer): ViewerCache => new ViewerCache(parts, viewer),
  };
}

/** The cache as one caller may use it. */
export class ViewerCache {
  private readonly parts: CacheParts;
  private readonly viewer: CacheViewer;

  constructor(parts: CacheParts, viewer: CacheViewer) {
    this.parts = parts;
    this.viewer = viewer;
  }

  record(endpoint: Endpoint, kind: string, key: string): RecordHandle {
    const partition = this.partitionOf(endpoint);
    const cacheKey = partition === null ? null : cacheKeyOf(partition, `${kind}:${key}`, '', kind);
    const seconds = recordSeconds[kind] ?? responseSeconds[endpoint.share];
    return new RecordHandle(this.parts, cacheKey, endpoint, seconds, this.isPersonal(endpoint));
  }

  /** `request`: path and query, which are unique over all services. */
  response(endpoint: Endpoint, request: string): ResponseHandle {
    const seconds = responseSeconds[endpoint.share];
    return new ResponseHandle(this.parts, this.keyOf(endpoint, request), endpoint, seconds, this.isPersonal(endpoint));
  }

  private keyOf(endpoint: Endpoint, request: string): CacheKey | null {
    const partition = this.partitionOf(endpoint);
    if (partition === null) return null;
    const mark = request.indexOf('?');
    const query = mark < 0 ? '' : request.slice(mark + 1);
    if (this.viewer.hasToken && partition === 'public' && mayHoldViewerData(endpoint, query)) return null;
    return cacheKeyOf(partition, mark < 0 ? request : request.slice(0, mark), query, endpoint.path);
  }

  /** Null if the endpoint's data may not be cached for this viewer. */
  private partitionOf({ share }: Endpoint): string | null {
    const { credential, hasToken } = this.viewer;
    if (this.parts.ttlSeconds === 0 || share === 'viewer' || (share === 'anonymous' && hasToken)) return null;
    return share === 'tier' ? tierPartition(credential) : share;
  }

  /** Whether only this viewer gets what is cached of the endpoint. */
  private isPersonal({ share }: Endpoint): boolean {
    return share === 'tier' && this.viewer.hasToken;
  }
}

const tierPartition = (credential: string): string => `tier ${credential}`;
