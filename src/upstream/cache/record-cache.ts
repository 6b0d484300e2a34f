/**
 * The record cache holds upstream records, not GraphQL responses, so that different queries share one record. Partitions:
 *
 * - public     the same for everybody, without `current_user_collection`
 * - anonymous  for callers without a token
 * - tier       per credential
 * Data of a viewer is never cached.
 */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import type { Cacheability } from './caching-header.ts';
import {
  type Cache,
  type CacheEntry,
  type CacheKey,
  type CacheLookup,
  type VersionToken,
  cacheKeyOf,
  createMemoryCache,
} from './memory.ts';
import { VIEWER_FIELD, mayHoldViewerData, withoutViewerFields } from './redact.ts';

type Json = Record<string, unknown>;

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
/** How much longer an entry is kept, to be served while upstream fails. */
const STALE_SECONDS = 3600;
/** A longer max-age of upstream is cut to this. */
const MAX_AGE_SECONDS = 86_400;
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

/** What all callers share. */
interface CacheParts {
  cache: Cache;
  /** Other replicas read and invalidate it too. */
  isShared: boolean;
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds: number | undefined;
  drop: (key: CacheKey) => void;
}

/** The cache as one caller may use it. */
export class ViewerCache {
  readonly parts: CacheParts;
  private readonly viewer: CacheViewer;

  constructor(parts: CacheParts, viewer: CacheViewer) {
    this.parts = parts;
    this.viewer = viewer;
  }

  record(endpoint: Endpoint, kind: string, key: string): RecordHandle {
    const partition = this.partitionOf(endpoint);
    const cacheKey = partition === null ? null : cacheKeyOf(partition, `${kind}:${key}`, '', kind);
    return new RecordHandle(this, cacheKey, endpoint, recordSeconds[kind]);
  }

  /** `request`: path and query, which are unique over all services. */
  response(endpoint: Endpoint, request: string): ResponseHandle {
    return new ResponseHandle(this, this.keyOf(endpoint, request), endpoint);
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
  isPersonal({ share }: Endpoint): boolean {
    return share === 'tier' && this.viewer.hasToken;
  }
}

export interface Cached {
  value: Json;
  isFresh: boolean;
  /** In ms since the epoch. */
  freshUntil: number;
  ageSeconds: number;
}

export interface ResponseMeta {
  bytes: number;
  reuse: Cacheability;
}

type Times = Pick<CacheEntry, 'since' | 'freshUntil' | 'keptUntil'>;

/** What is cached of one record or response, as one caller may use it during one operation. */
class CacheHandle {
  private readonly viewer: ViewerCache;
  private readonly key: CacheKey | null;
  protected readonly endpoint: Endpoint;
  private readonly seconds: number;
  /** At the first lookup: a response is not stored if its key was invalidated while the call was in flight. Null before it. */
  private version: VersionToken | undefined | null = null;

  /** `key`: null if nothing may be cached. `seconds`: how long a response is fresh if upstream does not say. */
  constructor(
    viewer: ViewerCache,
    key: CacheKey | null,
    endpoint: Endpoint,
    seconds = responseSeconds[endpoint.share],
  ) {
    this.viewer = viewer;
    this.key = key;
    this.endpoint = endpoint;
    this.seconds = seconds;
  }

  get(): Promise<Cached | undefined> | Cached | undefined {
    if (!this.key) return undefined;
    const found = this.viewer.parts.cache.get(this.key);
    return found instanceof Promise ? found.then((later) => this.cached(later)) : this.cached(found);
  }

  delete(): void {
    if (this.key) this.viewer.parts.drop(this.key);
  }

  /**
   * Reads in flight are shared only within one epoch, so that nobody gets a read that began before another replica wrote. Always '' with
   * one replica, where a write ends the sharing of all reads in flight. Null: not shared at all, because no version would show a write.
   */
  epoch(): string | null {
    if (!this.viewer.parts.isShared) return '';
    // While Redis fails there is no version, and reads are shared as with one replica.
    return this.key && String(this.version ?? '');
  }

  private cached({ entry, version }: CacheLookup): Cached | undefined {
    if (this.version === null) this.version = version;
    if (!entry) return undefined;
    const { value, since, freshUntil } = entry;
    const now = Date.now();
    const ageSeconds = Math.max(0, Math.round((now - since) / 1000));
    return { value: value as Json, isFresh: now < freshUntil, freshUntil, ageSeconds };
  }

  /** Stores what `make` makes of the entry stored before. Returns its freshUntil; null if the response is not reusable. */
  protected store(
    { noStore, isPrivate, maxAge, mustRevalidate, age = 0 }: Cacheability,
    make: (times: Times, before: CacheEntry | undefined) => CacheEntry,
  ): number | null {
    const { key, version, viewer, endpoint } = this;
    if (!key || noStore || (isPrivate && !viewer.isPersonal(endpoint))) return null;
    const { cache, ttlSeconds } = viewer.parts;
    const seconds = ttlSeconds ?? Math.max(0, Math.min(maxAge ?? this.seconds, MAX_AGE_SECONDS) - age);
    const now = Date.now();
    const freshUntil = now + seconds * 1000;
    const keptUntil = mustRevalidate ? freshUntil : freshUntil + STALE_SECONDS * 1000;
    const times: Times = { since: now - age * 1000, freshUntil, keptUntil };
    // Without a version the lookup failed, so invalidations since then are unknown.
    if (version !== undefined) cache.set(key, version ?? undefined, (before) => make(times, before));
    return freshUntil;
  }
}

export class RecordHandle extends CacheHandle {
  /** `names`: the requested fields; those that the record lacks are cached as absent. Returns freshUntil; null if not reusable. */
  put(record: Json, names: readonly string[], { bytes, reuse }: ResponseMeta): number | null {
    return this.store(reuse, (times, before) => {
      const merges = before !== undefined && before.freshUntil > Date.now();
      const value: Json = merges ? shallowCopy(before.value) : {};
      for (const name of names) value[name] = undefined;
      Object.assign(value, record);
      // `delete` is a call into the runtime, and nearly always the field is absent.
      if (VIEWER_FIELD in value) delete value[VIEWER_FIELD];
      if (!merges) return { value, bytes, ...times };
      // A merged record is as old as its oldest field, and fresh no longer than any of them.
      return {
        value,
        bytes: bytes + before.bytes,
        since: Math.min(before.since, times.since),
        freshUntil: Math.min(before.freshUntil, times.freshUntil),
        keptUntil: Math.min(before.keptUntil, times.keptUntil),
      };
    });
  }
}

export class ResponseHandle extends CacheHandle {
  /** Returns freshUntil; null if not reusable. */
  put(response: object, { bytes, reuse }: ResponseMeta): number | null {
    const { share, list } = this.endpoint;
    const value = share === 'public' ? withoutViewerFields(response as Json, list) : response;
    return this.store(reuse, (times) => ({ value, bytes, ...times }));
  }
}

const tierPartition = (credential: string): string => `tier ${credential}`;
