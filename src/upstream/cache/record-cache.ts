/**
 * The record cache: upstream records, not GraphQL answers, so that two different questions share one record.
 *
 * - public     the same for everybody, once `current_user_collection` is struck
 * - anonymous  as long as no token was sent
 * - tier       per credential
 * Whatever belongs to a viewer is never here.
 */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import type { Cacheability } from './caching-header.ts';
import {
  type Cache,
  type CacheEntry,
  type CacheLookup,
  type VersionToken,
  type CacheKey,
  createMemoryCache,
  cacheKeyOf,
} from './memory.ts';

type Record_ = Record<string, unknown>;

/** Seconds that a record may be used again, by its kind, where upstream does not say. */
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
/** The same for lists, and for records asked otherwise than by their id. */
const responseSeconds: Readonly<Record<Share, number>> = { public: 300, tier: 300, anonymous: 30, viewer: 0 };
/** What is kept beyond that, to stand in while upstream fails. */
const STALE_SECONDS = 3600;
/** Longest that upstream's own word is taken for. */
const MAX_AGE_SECONDS = 86_400;
const MAX_BYTES = 64_000_000;
/** The member of a book that is the viewer's own. */
export const VIEWER_FIELD = 'current_user_collection';

/** Most often it is not there; to find that out by deleting it would take a call into the runtime. */
export function redactViewerField(record: Record_): void {
  if (VIEWER_FIELD in record) delete record[VIEWER_FIELD];
}

export interface CachedRecord {
  record: Record_;
  isFresh: boolean;
  /** Milliseconds, as Date.now() tells them. */
  freshUntil: number;
  ageSeconds: number;
}
export interface CachedResponse {
  response: unknown;
  isFresh: boolean;
  freshUntil: number;
  ageSeconds: number;
}

/** What came of a call, as far as the cache is concerned. */
export interface ResponseMeta {
  bytes: number;
  reuse: Cacheability;
}

/** The cache as one operation's credential sees it. */
export interface ViewerCache {
  get: (endpoint: Endpoint, kind: string, key: string) => Promise<CachedRecord | undefined> | CachedRecord | undefined;
  /** `names`: what is known of it, also where it is absent. Tells until when what came may be used again; null: not at all. */
  put: (
    endpoint: Endpoint,
    kind: string,
    key: string,
    record: Record_,
    names: readonly string[],
    came: ResponseMeta,
  ) => number | null;
  delete: (endpoint: Endpoint, kind: string, key: string) => void;
  /** `request`: the path with its query, which no other service has. */
  getResponse: (
    endpoint: Endpoint,
    request: string,
  ) => Promise<CachedResponse | undefined> | CachedResponse | undefined;
  /** Tells until when it may be used again; null: not at all. */
  putResponse: (endpoint: Endpoint, request: string, answer: object, came: ResponseMeta) => number | null;
  deleteResponse: (endpoint: Endpoint, request: string) => void;
  /**
   * Reads in flight are shared only within one epoch, so that nobody gets a read that began before another replica wrote. Null: not shared
   * at all. Always '' with one replica, where a write ends the sharing of all reads in flight.
   */
  epochOfRecord: (endpoint: Endpoint, kind: string, key: string) => string | null;
  epochOfResponse: (endpoint: Endpoint, request: string) => string | null;
}

/** Who asks, as far as the cache is concerned. */
export interface CacheViewer {
  /** Stands for the credential that film calls are made with; never the token itself. */
  credential: string;
  hasToken: boolean;
}

export interface RecordCache {
  forViewer: (partition: CacheViewer) => ViewerCache;
  /**
   * Drops, in all partitions, a record (`Book:7`), a list with any query (`/v2/book/7/annotations`, encoded as in the request), all records
   * of a kind (`Collection`), or all responses of an endpoint (`/v2/book/user/:name/collections`).
   */
  invalidate: (scope: string) => void | Promise<void>;
  /** Drops what was read with a credential; with the facade's own it was shown to everybody without one. */
  invalidateCredential: (credential: string, isOwn: boolean) => void | Promise<void>;
  /**
   * Counts what was dropped: what was read in one epoch may be shown again in the same. Null where nothing is kept, or other
   * processes drop too.
   */
  epoch: () => number | null;
}

export interface RecordCacheSettings {
  /** Takes the place of every time to live, also of upstream's max-age; 0: nothing is kept. */
  ttlSeconds?: number | undefined;
  cache?: Cache | undefined;
}

export function createRecordCache({ ttlSeconds, cache: shared }: RecordCacheSettings = {}): RecordCache {
  const cache = shared ?? createMemoryCache(MAX_BYTES);
  const hasEpochs = ttlSeconds !== 0 && !shared;
  let drops = 0;
  const clear = (name: string) => {
    drops++;
    return cache.invalidate(name);
  };
  const drop = (place: CacheKey | null) => {
    if (place && cache.delete(place)) drops++;
  };
  return {
    invalidate: clear,
    invalidateCredential: (credential, isOwn) =>
      isOwn ? clear(tierOf(credential)) : cache.invalidate(tierOf(credential)),
    epoch: () => (hasEpochs ? drops : null),
    forViewer: (partition) =>
      ttlSeconds === 0
        ? noCache
        : new PartitionedCache({ cache, isShared: shared !== undefined, ttlSeconds, drop }, partition),
  };
}

/** Where nothing is kept. */
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
  /** Other replicas read and clear it too. */
  isShared: boolean;
  cache: Cache;
  ttlSeconds: number | undefined;
  drop: (place: CacheKey | null) => void;
}

class PartitionedCache implements ViewerCache {
  /** When each place was looked at: what is cleared while a call is on its way is not brought back by its answer. */
  private readonly versions = new Map<string, VersionToken | undefined>();
  private readonly parts: CacheParts;
  private readonly viewer: CacheViewer;

  constructor(keeping: CacheParts, partition: CacheViewer) {
    this.parts = keeping;
    this.viewer = partition;
  }

  get(endpoint: Endpoint, kind: string, key: string): Promise<CachedRecord | undefined> | CachedRecord | undefined {
    return this.lookUp(this.keyOfRecord(endpoint, kind, key), asCachedRecord);
  }

  put(endpoint: Endpoint, kind: string, key: string, record: Record_, names: readonly string[], came: ResponseMeta) {
    const { bytes, reuse } = came;
    const seconds = this.secondsFor(endpoint, recordSeconds[kind] ?? responseSeconds[endpoint.share], reuse);
    const place = seconds === null ? null : this.keyOfRecord(endpoint, kind, key);
    if (!place || seconds === null) return null;
    const now = Date.now();
    const { since, freshUntil, keptUntil } = timesOf(now, seconds, reuse);
    this.store(place, (before) => {
      const merges = before !== undefined && before.freshUntil > now;
      const value: Record_ = merges ? shallowCopy(before.value) : {};
      for (const name of names) value[name] = undefined; // asked for and not there: known to have none
      Object.assign(value, record);
      redactViewerField(value);
      if (!merges) return { value, bytes, since, freshUntil, keptUntil };
      // A merged record is as old as its oldest name, and fresh no longer than any of them.
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

  getResponse(endpoint: Endpoint, request: string): Promise<CachedResponse | undefined> | CachedResponse | undefined {
    return this.lookUp(this.keyOfResponse(endpoint, request), asCachedResponse);
  }

  putResponse(endpoint: Endpoint, request: string, answer: object, { bytes, reuse }: ResponseMeta): number | null {
    const seconds = this.secondsFor(endpoint, responseSeconds[endpoint.share], reuse);
    const place = seconds === null ? null : this.keyOfResponse(endpoint, request);
    if (!place || seconds === null) return null;
    const value = endpoint.share === 'public' ? redactResponse(answer as Record_, endpoint.list) : answer;
    const now = Date.now();
    const times = timesOf(now, seconds, reuse);
    this.store(place, () => ({ value, bytes, ...times }));
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

  /** Null if the place is never cached: it has no mark that would show a write. Without Redis, reads are shared as with one replica. */
  private epochOf(place: CacheKey | null): string | null {
    return place && String(this.versions.get(place.key) ?? '');
  }

  private partitionOf({ share }: Endpoint): string | null {
    const { credential, hasToken } = this.viewer;
    if (share === 'viewer' || (share === 'anonymous' && hasToken)) return null;
    return share === 'tier' ? tierOf(credential) : share;
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

  private lookUp<T>(place: CacheKey | null, show: (entry: CacheEntry) => T): Promise<T | undefined> | T | undefined {
    if (!place) return undefined;
    const found = this.parts.cache.get(place);
    return found instanceof Promise
      ? found.then((came) => this.seen(place, came, show))
      : this.seen(place, found, show);
  }

  private seen<T>(place: CacheKey, { entry, version }: CacheLookup, show: (entry: CacheEntry) => T): T | undefined {
    if (!this.versions.has(place.key)) this.versions.set(place.key, version); // a call may be on its way since the first look
    return entry && show(entry);
  }

  /** Whether an answer may be kept, and how long it is fresh. */
  private secondsFor({ share }: Endpoint, byDefault: number, reuse: Cacheability): number | null {
    const { noStore, isPrivate, maxAge, age = 0 } = reuse;
    const isShared = share !== 'tier' || !this.viewer.hasToken;
    if (noStore || (isPrivate && isShared)) return null;
    return this.parts.ttlSeconds ?? Math.max(0, Math.min(maxAge ?? byDefault, MAX_AGE_SECONDS) - age);
  }

  private store(place: CacheKey, make: (before: CacheEntry | undefined) => CacheEntry): void {
    const mark = this.versions.get(place.key);
    // Looked at, and the cache did not answer: nobody knows what was cleared since.
    if (mark === undefined && this.versions.has(place.key)) return;
    this.parts.cache.set(place, mark, make);
  }
}

const asCachedRecord = ({ value, since, freshUntil }: CacheEntry): CachedRecord => ({
  record: value as Record_,
  ...age(since, freshUntil),
});
const asCachedResponse = ({ value, since, freshUntil }: CacheEntry): CachedResponse => ({
  response: value,
  ...age(since, freshUntil),
});

const tierOf = (credential: string): string => `tier ${credential}`;

const age = (since: number, freshUntil: number) => ({
  isFresh: Date.now() < freshUntil,
  freshUntil,
  ageSeconds: Math.max(0, Math.round((Date.now() - since) / 1000)),
});

/** The times of a cache entry in ms since the epoch; `seconds`: how much longer the response is fresh. */
const timesOf = (now: number, seconds: number, { mustRevalidate, age = 0 }: Cacheability) => {
  const freshUntil = now + seconds * 1000;
  const keptUntil = mustRevalidate ? freshUntil : freshUntil + STALE_SECONDS * 1000;
  return { since: now - age * 1000, freshUntil, keptUntil };
};

/**
 * Whether what a person is answered may differ from what everybody is: annotations, of which the person's own private ones may be told,
 * and books with the person's collection, which they carry unless `fields` leaves it out.
 */
function mayHoldViewerData({ list, path }: Endpoint, query: string): boolean {
  if (list === 'tags') return false;
  if (path.includes('annotation')) return true;
  const fields = /(?:^|&)fields=([^&]*)/.exec(query)?.[1];
  return fields === undefined || fields.split(',').includes(VIEWER_FIELD);
}

/** The answer without what it tells of the one who asked: an upstream that does not honour `fields` sends it unasked. */
function redactResponse(answer: Record_, list: string | undefined): Record_ {
  const items = list === undefined ? undefined : answer[list];
  const isTold = VIEWER_FIELD in answer || (Array.isArray(items) && items.some(hasViewerField));
  if (!isTold) return answer;
  const { [VIEWER_FIELD]: _, ...rest } = answer;
  return Array.isArray(items) ? { ...rest, [list!]: items.map(withoutViewerField) } : rest;
}

const hasViewerField = (item: unknown): item is Record_ =>
  typeof item === 'object' && item !== null && VIEWER_FIELD in item;

function withoutViewerField(item: unknown): unknown {
  if (!hasViewerField(item)) return item;
  const { [VIEWER_FIELD]: _, ...rest } = item;
  return rest;
}
