/** Where kept records lie: in this process, or in Redis behind the same few words. */
import { LRUCache } from 'lru-cache';

/** Where one entry lies. */
export interface CacheKey {
  /** Who may see it. */
  partition: string;
  /** What a change clears it by, whoever may see it: `Book:7`, or the path of a list. */
  tag: string;
  /** The name that clears all entries of its kind: `Collection`, or the path of the endpoint, `/v2/book/user/:name/tags`. */
  groupTag: string;
  /** The three in one; a line break is in no path, name or partition. */
  key: string;
}

/** `request` tells entries of one scope apart: the query of a list. */
export const cacheKeyOf = (partition: string, tag: string, request: string, groupTag = tag): CacheKey => ({
  partition,
  tag,
  groupTag,
  key: `${partition}\n${tag}\n${request}`,
});

export interface CacheEntry {
  /** A record, or an answer. Never written into: it may be in use. */
  value: object;
  /** About what it takes: the bytes of the answers that it came in. */
  bytes: number;
  /** Milliseconds, as Date.now() tells them. */
  since: number;
  freshUntil: number;
  keptUntil: number;
}

/** When a place was looked at, in the cache's own count of what was cleared: what was read before a clearing is not kept after it. */
export type VersionToken = string | number;

export interface CacheLookup {
  entry: CacheEntry | undefined;
  /** Undefined where the cache could not be asked. */
  version: VersionToken | undefined;
}

export interface Cache {
  get: (place: CacheKey) => CacheLookup | Promise<CacheLookup>;
  /** `make` gets the entry stored before. Stores nothing if the scope, the group or the partition was cleared since the mark. */
  set: (place: CacheKey, mark: VersionToken | undefined, make: (before: CacheEntry | undefined) => CacheEntry) => void;
  /** False where it is known that nothing was there. */
  delete: (place: CacheKey) => boolean;
  /** Drops all entries of a scope, a group or a partition. */
  invalidate: (name: string) => void | Promise<void>;
}

/** A parsed answer takes more room than its text. */
const HEAP_PER_BYTE = 2;
const ENTRY_OVERHEAD = 500;
/** Names whose clearing is remembered one by one. */
const CLEARED_MAX = 20_000;

export function createMemoryCache(maxBytes: number): Cache {
  const kept = new LRUCache<string, CacheEntry & { mark: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, key) => ENTRY_OVERHEAD + 2 * key.length + HEAP_PER_BYTE * bytes,
  });
  let clearings = 0;
  /** Everything marked before this counts as cleared: what stood in for it is no longer remembered. */
  let floor = 0;
  const cleared = new LRUCache<string, number>({
    max: CLEARED_MAX,
    dispose: (at, _, reason) => {
      if (reason === 'evict') floor = Math.max(floor, at);
    },
  });
  const isCurrent = (mark: number, { tag, groupTag, partition }: CacheKey) =>
    mark >= floor && [tag, groupTag, partition].every((name) => mark >= (cleared.get(name) ?? 0));

  function find(place: CacheKey): CacheEntry | undefined {
    const entry = kept.get(place.key);
    if (!entry) return undefined;
    if (entry.keptUntil > Date.now() && isCurrent(entry.mark, place)) return entry;
    kept.delete(place.key);
    return undefined;
  }

  return {
    get: (place) => ({ entry: find(place), version: clearings }),
    set(place, mark = clearings, make) {
      if (!isCurrent(Number(mark), place)) return;
      kept.set(place.key, { ...make(find(place)), mark: clearings });
    },
    delete: (place) => kept.delete(place.key),
    invalidate(name) {
      cleared.set(name, ++clearings);
    },
  };
}
