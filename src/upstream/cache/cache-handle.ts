/** What is cached of one record or response, as one caller may use it during one operation. */
import type { Endpoint } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import type { Cacheability } from './caching-header.ts';
import type { Cache, CacheEntry, CacheKey, CacheLookup, VersionToken } from './memory.ts';
import { VIEWER_FIELD, withoutViewerFields } from './redact.ts';

type Json = Record<string, unknown>;

/** How much longer an entry is kept, to be served while upstream fails. */
const STALE_SECONDS = 3600;
/** A longer max-age of upstream is cut to this. */
const MAX_AGE_SECONDS = 86_400;

export interface Cached<Value> {
  value: Value;
  isFresh: boolean;
  /** In ms since the epoch. */
  freshUntil: number;
  ageSeconds: number;
}
export type CachedRecord = Cached<Json>;

export interface ResponseMeta {
  bytes: number;
  reuse: Cacheability;
}

/** What all handles share. */
export interface CacheParts {
  cache: Cache;
  /** Other replicas read and invalidate it too. */
  isShared: boolean;
  /** Replaces every time to live, also the max-age of upstream; 0: nothing is cached. */
  ttlSeconds: number | undefined;
  drop: (key: CacheKey) => void;
}

type Times = Pick<CacheEntry, 'since' | 'freshUntil' | 'keptUntil'>;

class CacheHandle<Value extends object> {
  private readonly parts: CacheParts;
  private readonly key: CacheKey | null;
  protected readonly endpoint: Endpoint;
  private readonly seconds: number;
  private readonly isPersonal: boolean;
  private wasLookedUp = false;
  /** At the first lookup: a response is not stored if its key was invalidated while the call was in flight. */
  private version: VersionToken | undefined = undefined;

  /** `key`: null if nothing may be cached. `seconds`: how long a response is fresh if upstream does not say. */
  constructor(parts: CacheParts, key: CacheKey | null, endpoint: Endpoint, seconds: number, isPersonal: boolean) {
    this.parts = parts;
    this.key = key;
    this.endpoint = endpoint;
    this.seconds = seconds;
    this.isPersonal = isPersonal;
  }

  get(): Promise<Cached<Value> | undefined> | Cached<Value> | undefined {
    if (!this.key) return undefined;
    const found = this.parts.cache.get(this.key);
    return found instanceof Promise ? found.then((later) => this.cached(later)) : this.cached(found);
  }

  delete(): void {
    if (this.key) this.parts.drop(this.key);
  }

  /**
   * Reads in flight are shared only within one epoch, so that nobody gets a read that began before another replica wrote. Always '' with
   * one replica, where a write ends the sharing of all reads in flight. Null: not shared at all, because no version would show a write.
   */
  epoch(): string | null {
    if (!this.parts.isShared) return '';
    // While Redis fails there is no version, and reads are shared as with one replica.
    return this.key && String(this.version ?? '');
  }

  private cached({ entry, version }: CacheLookup): Cached<Value> | undefined {
    if (!this.wasLookedUp) this.version = version;
    this.wasLookedUp = true;
    if (!entry) return undefined;
    const { value, since, freshUntil } = entry;
    const now = Date.now();
    const ageSeconds = Math.max(0, Math.round((now - since) / 1000));
    return { value: value as Value, isFresh: now < freshUntil, freshUntil, ageSeconds };
  }

  /** Stores what `make` makes of the entry stored before. Returns its freshUntil; null if the response is not reusable. */
  protected store(reuse: Cacheability, make: (times: Times, before: CacheEntry | undefined) => CacheEntry) {
    const seconds = this.freshSeconds(reuse);
    if (!this.key || seconds === null) return null;
    const times = timesOf(seconds, reuse);
    // Without a version the lookup failed, so invalidations since then are unknown.
    if (this.version !== undefined || !this.wasLookedUp)
      this.parts.cache.set(this.key, this.version, (before) => make(times, before));
    return times.freshUntil;
  }

  /** How long a response is fresh; null if it may not be stored. */
  private freshSeconds({ noStore, isPrivate, maxAge, age = 0 }: Cacheability): number | null {
    if (noStore || (isPrivate && !this.isPersonal)) return null;
    return this.parts.ttlSeconds ?? Math.max(0, Math.min(maxAge ?? this.seconds, MAX_AGE_SECONDS) - age);
  }
}

export class RecordHandle extends CacheHandle<Json> {
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

export class ResponseHandle extends CacheHandle<object> {
  /** Returns freshUntil; null if not reusable. */
  put(response: object, { bytes, reuse }: ResponseMeta): number | null {
    const { share, list } = this.endpoint;
    const value = share === 'public' ? withoutViewerFields(response as Json, list) : response;
    return this.store(reuse, (times) => ({ value, bytes, ...times }));
  }
}

/** The times of an entry; `seconds`: how much longer the response is fresh. */
function timesOf(seconds: number, { mustRevalidate, age = 0 }: Cacheability): Times {
  const now = Date.now();
  const freshUntil = now + seconds * 1000;
  const keptUntil = mustRevalidate ? freshUntil : freshUntil + STALE_SECONDS * 1000;
  return { since: now - age * 1000, freshUntil, keptUntil };
}
