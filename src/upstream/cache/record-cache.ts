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
import { mayHoldViewerData, redactViewerField, withoutViewerFields } from './redact.ts';

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

export interface Cached<Value> {
  value: Value;
  isFresh: boolean;
  /** In ms since the epoch. */
  freshUntil: number;
  ageSeconds: number;
}
export type CachedRecord = Cached<Json>;
type Lookup<Value> = Promise<Cached<Value> | undefined> | Cached<Value> | undefined;

export interface ResponseMeta {
  bytes: number;
  reuse: Cacheability;
}

/** The cache as one caller may use it. `request`: path and query, which are unique over all services. */
export interface ViewerCache {
  get: (endpoint: Endpoint, kind: string, key: string) => Lookup<Json>;
  /** `names`: the requested fields; those that the record lacks are cached as absent. Returns freshUntil; null if not reusable. */
  put: (
    endpoint: Endpoint,
    kind: string,
    key: string,
    record: Json,
    names: readonly string[],
    meta: ResponseMeta,
  ) => number | null;
  delete: (endpoint: Endpoint, kind: string, key: string) => void;
  getResponse: (endpoint: Endpoint, request: string) => Lookup<object>;
  /** Returns freshUntil; null if not reusable. */
  putResponse: (endpoint: Endpoint, request: string, response: object, meta: ResponseMeta) => number | null;
  deleteResponse: (endpoint: Endpoint, request: string) => void;
  /**
   * Reads in flight are shared only within one epoch, so that nobody gets a read that began before another replica wrote. Null: not shared
   * at all. Always '' with one replica, where a write ends the sharing of all reads in flight.
   */
  epochOfRecord: (endpoint: Endpoint, kind: string, key: string) => string | null;
  epochOfResponse: (endpoint: Endpoint, request: string) => string | null;
}

export interface CacheViewer {
  /** Identifies the credential of film calls; never the token itself. */
  credential: string;
  hasToken: boolean;
}

export interface RecordCache {
  forViewer: (viewer: CacheViewer) => ViewerCache;
  /**
   * Drops from all partitions a record (`Book:7`), a list with any query (`/v2/book/7/annotations`, encoded as in the request), all records
   * of a kind (`Collection`), or all responses of an endpoint (`/v2/book/user/:name/collections`).
   */
  invalidate: (tag: string) => void | Promise<void>;
  /** Drops what was read with a credential. What was read with the facade's own was shown to everybody without one. */
  invalidateCredential: (credential: string, isOwn: boolean) => void | Promise<void>;
  /** Counts invalidations: a response may be reused in the epoch of its reads. Null if nothing is cached, or other processes invalidate too. */
  epoch: () => number | null;
}

export interface RecordCacheSettings {
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds?: number | undefined;
  cache?: Cache | undefined;
}

export function createRecordCache({ ttlSeconds, cache: shared }: RecordCacheSettings = {}): RecordCache {
  const cache = shared ?? createMemoryCache(MAX_BYTES);
  const hasEpochs = ttlSeconds !== 0 && !shared;
  let epoch = 0;
  const invalidate = (tag: string) => {
    epoch++;
    return cache.invalidate(tag);
  };
  const drop = (key: CacheKey | null) => {
    if (key && cache.delete(key)) epoch++;
  };
  const parts: CacheParts = { cache, isShared: shared !== undefined, ttlSeconds, drop };
  return {
    invalidate,
    invalidateCredential: (credential, isOwn) => {
      const partition = tierPartition(credential);
      return isOwn ? invalidate(partition) : cache.invalidate(partition);
    },
    epoch: () => (hasEpochs ? epoch : null),
    forViewer: (viewer) => (ttlSeconds === 0 ? noCache : new PartitionedCache(parts, viewer)),
  };
}

const noCache: ViewerCache = {
  get: () => undefined,
  put: () => null,
  delete: () => undefined,
  getResponse: () => undefined,
  putResponse: () => null,
  deleteResponse: () => undefined,
  epochOfRecord: () => '',
  epochOfResponse: () => '',
};

interface CacheParts {
  cache: Cache;
  /** Other replicas read and invalidate it too. */
  isShared: boolean;
  ttlSeconds: number | undefined;
  drop: (key: CacheKey | null) => void;
}

class PartitionedCache implements ViewerCache {
  /** The version of each key at its first lookup: a response is not stored if its key was invalidated while the call was in flight. */
  private readonly versions = new Map<string, VersionToken | undefined>();
  private readonly parts: CacheParts;
  private readonly viewer: CacheViewer;

  constructor(parts: CacheParts, viewer: CacheViewer) {
    this.parts = parts;
    this.viewer = viewer;
  }

  get(endpoint: Endpoint, kind: string, key: string): Lookup<Json> {
    return this.lookUp(this.keyOfRecord(endpoint, kind, key)) as Lookup<Json>;
  }

  put(endpoint: Endpoint, kind: string, id: string, record: Json, names: readonly string[], meta: ResponseMeta) {
    const { bytes, reuse } = meta;
    const seconds = this.freshSeconds(endpoint, recordSeconds[kind] ?? responseSeconds[endpoint.share], reuse);
    const key = seconds === null ? null : this.keyOfRecord(endpoint, kind, id);
    if (!key || seconds === null) return null;
    const now = Date.now();
    const { since, freshUntil, keptUntil } = timesOf(now, seconds, reuse);
    this.store(key, (before) => {
      const merges = before !== undefined && before.freshUntil > now;
      const value: Json = merges ? shallowCopy(before.value) : {};
      for (const name of names) value[name] = undefined;
      Object.assign(value, record);
      redactViewerField(value);
      if (!merges) return { value, bytes, since, freshUntil, keptUntil };
      // A merged record is as old as its oldest field, and fresh no longer than any of them.
      return {
        value,
        bytes: bytes + before.bytes,
        since: Math.min(before.since, since),
        freshUntil: Math.min(before.freshUntil, freshUntil),
        keptUntil: Math.min(before.keptUntil, keptUntil),
      };
    });
    return freshUntil;
  }

  delete(endpoint: Endpoint, kind: string, key: string): void {
    this.parts.drop(this.keyOfRecord(endpoint, kind, key));
  }

  getResponse(endpoint: Endpoint, request: string): Lookup<object> {
    return this.lookUp(this.keyOfResponse(endpoint, request));
  }

  putResponse(endpoint: Endpoint, request: string, response: object, { bytes, reuse }: ResponseMeta): number | null {
    const seconds = this.freshSeconds(endpoint, responseSeconds[endpoint.share], reuse);
    const key = seconds === null ? null : this.keyOfResponse(endpoint, request);
    if (!key || seconds === null) return null;
    const value = endpoint.share === 'public' ? withoutViewerFields(response as Json, endpoint.list) : response;
    const times = timesOf(Date.now(), seconds, reuse);
    this.store(key, () => ({ value, bytes, ...times }));
    return times.freshUntil;
  }

  deleteResponse(endpoint: Endpoint, request: string): void {
    this.parts.drop(this.keyOfResponse(endpoint, request));
  }

  epochOfRecord(endpoint: Endpoint, kind: string, key: string): string | null {
    return this.parts.isShared ? this.epochOf(this.keyOfRecord(endpoint, kind, key)) : '';
  }

  epochOfResponse(endpoint: Endpoint, request: string): string | null {
    return this.parts.isShared ? this.epochOf(this.keyOfResponse(endpoint, request)) : '';
  }

  /** Null if the key is never cached: no version would show a write. While Redis fails, reads are shared as with one replica. */
  private epochOf(key: CacheKey | null): string | null {
    return key && String(this.versions.get(key.text) ?? '');
  }

  /** Null if the endpoint's data may not be cached for this viewer. */
  private partitionOf({ share }: Endpoint): string | null {
    const { credential, hasToken } = this.viewer;
    if (share === 'viewer' || (share === 'anonymous' && hasToken)) return null;
    return share === 'tier' ? tierPartition(credential) : share;
  }

  private keyOfRecord(endpoint: Endpoint, kind: string, key: string): CacheKey | null {
    const partition = this.partitionOf(endpoint);
    return partition === null ? null : cacheKeyOf(partition, `${kind}:${key}`, '', kind);
  }

  private keyOfResponse(endpoint: Endpoint, request: string): CacheKey | null {
    const partition = this.partitionOf(endpoint);
    if (partition === null) return null;
    const mark = request.indexOf('?');
    const query = mark < 0 ? '' : request.slice(mark + 1);
    if (this.viewer.hasToken && partition === 'public' && mayHoldViewerData(endpoint, query)) return null;
    return cacheKeyOf(partition, mark < 0 ? request : request.slice(0, mark), query, endpoint.path);
  }

  private lookUp(key: CacheKey | null): Lookup<object> {
    if (!key) return undefined;
    const found = this.parts.cache.get(key);
    return found instanceof Promise ? found.then((later) => this.cached(key, later)) : this.cached(key, found);
  }

  private cached({ text }: CacheKey, { entry, version }: CacheLookup): Cached<object> | undefined {
    if (!this.versions.has(text)) this.versions.set(text, version);
    if (!entry) return undefined;
    const { value, since, freshUntil } = entry;
    const now = Date.now();
    return { value, isFresh: now < freshUntil, freshUntil, ageSeconds: Math.max(0, Math.round((now - since) / 1000)) };
  }

  /** How long a response is fresh; null if it may not be stored. */
  private freshSeconds({ share }: Endpoint, byDefault: number, reuse: Cacheability): number | null {
    const { noStore, isPrivate, maxAge, age = 0 } = reuse;
    const isShared = share !== 'tier' || !this.viewer.hasToken;
    if (noStore || (isPrivate && isShared)) return null;
    return this.parts.ttlSeconds ?? Math.max(0, Math.min(maxAge ?? byDefault, MAX_AGE_SECONDS) - age);
  }

  private store(key: CacheKey, make: (before: CacheEntry | undefined) => CacheEntry): void {
    const version = this.versions.get(key.text);
    // The lookup failed, so invalidations since then are unknown.
    if (version === undefined && this.versions.has(key.text)) return;
    this.parts.cache.set(key, version, make);
  }
}

const tierPartition = (credential: string): string => `tier ${credential}`;

/** The times of an entry in ms since the epoch; `seconds`: how much longer the response is fresh. */
const timesOf = (now: number, seconds: number, { mustRevalidate, age = 0 }: Cacheability) => {
  const freshUntil = now + seconds * 1000;
  const keptUntil = mustRevalidate ? freshUntil : freshUntil + STALE_SECONDS * 1000;
  return { since: now - age * 1000, freshUntil, keptUntil };
};
