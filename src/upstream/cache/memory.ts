/** A cache of records and responses, in this process here or in Redis by the same interface. */
import { LRUCache } from 'lru-cache';

export interface CacheKey {
  /** Who may see the entry. */
  partition: string;
  /** Invalidates it in all partitions: `Book:7`, or the path of a list. */
  tag: string;
  /** Invalidates all entries of its kind: `Collection`, or the path of the endpoint, `/v2/book/user/:name/tags`. */
  groupTag: string;
  /** Partition, tag and request, separated by line breaks, which none of them contains. */
  text: string;
}

/** `request`: distinguishes entries of one tag: the query of a list. */
export const cacheKeyOf = (partition: string, tag: string, request: string, groupTag = tag): CacheKey => ({
  partition,
  tag,
  groupTag,
  text: `${partition}\n${tag}\n${request}`,
});

export interface CacheEntry {
  /** A record or a response. Never modified: it may be in use. */
  value: object;
  /** Approximate: the bytes of the responses that it was read from. */
  bytes: number;
  /** The times are in ms since the epoch. */
  since: number;
  freshUntil: number;
  keptUntil: number;
}

/** The state of a key's invalidations at a lookup. A response that was read before an invalidation is not stored after it. */
export type VersionToken = string | number;

export interface CacheLookup {
  entry: CacheEntry | undefined;
  /** Undefined if the cache did not respond. */
  version: VersionToken | undefined;
}

export interface Cache {
  get: (key: CacheKey) => CacheLookup | Promise<CacheLookup>;
  /** `make` gets the entry stored before. Stores nothing if the tag, the group or the partition was invalidated since the version. */
  set: (key: CacheKey, version: VersionToken | undefined, make: (before: CacheEntry | undefined) => CacheEntry) => void;
  /** False if it is certain that there was no entry. */
  delete: (key: CacheKey) => boolean;
  /** Drops all entries of a tag, a group or a partition. */
  invalidate: (name: string) => void | Promise<void>;
}

/** A parsed response takes more memory than its text. */
const HEAP_PER_BYTE = 2;
const ENTRY_OVERHEAD = 500;
/** How many invalidated names are remembered individually. */
const INVALIDATED_MAX = 20_000;

export function createMemoryCache(maxBytes: number): Cache {
  const entries = new LRUCache<string, CacheEntry & { version: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, text) => ENTRY_OVERHEAD + 2 * text.length + HEAP_PER_BYTE * bytes,
  });
  let latest = 0;
  /** Older versions count as invalidated: the names invalidated then are no longer remembered. */
  let oldestKnown = 0;
  const invalidated = new LRUCache<string, number>({
    max: INVALIDATED_MAX,
    dispose: (version, _, reason) => {
      if (reason === 'evict') oldestKnown = Math.max(oldestKnown, version);
    },
  });
  const isCurrent = (version: number, { tag, groupTag, partition }: CacheKey) =>
    version >= oldestKnown && [tag, groupTag, partition].every((name) => version >= (invalidated.get(name) ?? 0));

  function find(key: CacheKey): CacheEntry | undefined {
    const entry = entries.get(key.text);
    if (!entry) return undefined;
    if (entry.keptUntil > Date.now() && isCurrent(entry.version, key)) return entry;
    entries.delete(key.text);
    return undefined;
  }

  return {
    get: (key) => ({ entry: find(key), version: latest }),
    set(key, version = latest, make) {
      if (!isCurrent(Number(version), key)) return;
      entries.set(key.text, { ...make(find(key)), version: latest });
    },
    delete: (key) => entries.delete(key.text),
    invalidate(name) {
      invalidated.set(name, ++latest);
    },
  };
}
