/** A cache of records and responses, in this process here or in Redis by the same interface. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';

export interface CacheKey {
  /** Who may see the entry. */
  partition: string;
  /** Invalidates it in all partitions: `Book:7`, or the path of a list. */
  tag: string;
  /** Invalidates all entries of its kind: `Collection`, or the path of the endpoint, `/v2/book/user/:name/tags`. */
  groupTag: string;
  /** Partition, tag and request, separated by line breaks, which none of them contains. */
  text: string;
  /** Entries of a record may be merged: each has some of its members. */
  isRecord: boolean;
  /** No write of the interface changes it. */
  isReadOnly: boolean;
  /** Where it comes from. */
  service: Endpoint['service'];
}

/** `request`: distinguishes entries of one tag: the query of a list; undefined for a record. */
export const cacheKeyOf = (
  partition: string,
  tag: string,
  request: string | undefined,
  groupTag = tag,
  isReadOnly = false,
  service: Endpoint['service'] = 'catalog',
): CacheKey => ({
  partition,
  tag,
  groupTag,
  text: `${partition}\n${tag}\n${request ?? ''}`,
  isRecord: request === undefined,
  isReadOnly,
  service,
});

export interface CacheEntry {
  /** A record or a response. Never modified: it may be in use. */
  value: Record<string, unknown>;
  /** Approximate: the bytes of the responses that it was read from. */
  bytes: number;
  /** The times are by performance.now(): a clock that is set keeps nothing for longer, and drops nothing. */
  since: number;
  freshUntil: number;
  keptUntil: number;
  /** Upstream said that there is no such record: the value is empty. */
  isAbsent?: boolean;
  /** When Redis said last that it is current, and of what. */
  shared?: SharedVersion | undefined;
}

/** What Redis says of a key. */
export interface SharedVersion {
  /** While it is the same, nothing at all was invalidated. */
  epoch: number;
  /** While it is the same, none of the names of the key was invalidated. */
  stamp: string;
}

/** The state of all invalidations at a lookup. A response that was read before an invalidation of its key is not stored after it. */
export interface VersionToken {
  memory: number;
  /** Undefined without Redis, or if it does not say. */
  shared?: SharedVersion | undefined;
}

/** Who looks up an entry, for one operation. */
export interface CacheReader {
  /** The members of a record that are needed; undefined for a whole response. */
  readonly members: readonly string[] | undefined;
  /** The read version when its operation began. */
  readonly since: number;
  readonly cancellation: CancellationToken | undefined;
  /** It may be the one that asks upstream for all replicas. */
  readonly mayLease: boolean;
}

export interface CacheLookup {
  entry: CacheEntry | undefined;
  version: VersionToken;
  /** Other replicas wait until the reader has stored a response, or has called this. */
  release?: (() => void) | undefined;
}

export interface Cache {
  /** The present, for readers of an operation that begins now. Undefined if entries are always current. */
  readVersion?: () => number;
  get: (key: CacheKey, reader?: CacheReader) => CacheLookup | Promise<CacheLookup>;
  /** What is in memory, whether or not it is current. */
  find: (key: CacheKey) => CacheEntry | undefined;
  /** Whether everything is known here that was invalidated before the reader's operation began. */
  isCurrent: (reader: CacheReader) => boolean | Promise<boolean>;
  /** Stores nothing if the tag, the group or the partition was invalidated since the version. A record gets the members in addition. */
  set: (key: CacheKey, version: VersionToken | undefined, entry: CacheEntry) => void;
  /** False if there was no entry in this process. */
  delete: (key: CacheKey) => boolean;
  /** Drops all entries of these tags, groups and partitions. False if other replicas may still have them. */
  invalidate: (names: readonly string[]) => boolean | Promise<boolean>;
  /** The size of the entries in memory. */
  size: () => CacheSize;
  /** Counts what other replicas invalidated, as far as it is known here. Undefined if there are none. */
  epoch?: () => number;
  /** Resolves when everything is known here that was invalidated before the call; with false if it cannot be known. */
  confirm?: () => Promise<boolean>;
}

export interface CacheSize {
  entries: number;
  /** An estimate. */
  bytes: number;
}

/** Whether the entry has all that is needed, and may be used without a call. */
export const isUsable = (
  entry: CacheEntry | undefined,
  { members }: Pick<CacheReader, 'members'>,
): entry is CacheEntry => entry !== undefined && entry.freshUntil > performance.now() && hasMembers(entry, members);

export const hasMembers = ({ value, isAbsent }: CacheEntry, members: readonly string[] | undefined): boolean =>
  members === undefined || isAbsent === true || members.every((member) => member in value);

/** A record with the members of both, the newer value of each: as old as its oldest member, and fresh no longer than any of them. */
export const mergedEntry = (before: CacheEntry, after: CacheEntry): CacheEntry => ({
  value:
    before.since > after.since
      ? Object.assign(shallowCopy(after.value), before.value)
      : Object.assign(shallowCopy(before.value), after.value),
  bytes: before.bytes + after.bytes,
  since: Math.min(before.since, after.since),
  freshUntil: Math.min(before.freshUntil, after.freshUntil),
  keptUntil: Math.min(before.keptUntil, after.keptUntil),
});

/** Operations that share a response all store it, at nearly the same time. */
const SAME_READ_MS = 1000;
function isSameRead(before: CacheEntry, { value, since }: CacheEntry): boolean {
  if (before.since <= since - SAME_READ_MS) return false;
  for (const member in value) if (before.value[member] !== value[member] || !(member in before.value)) return false;
  return true;
}

/** A parsed response takes more memory than its text. */
const HEAP_PER_BYTE = 2;
const ENTRY_OVERHEAD = 500;
/** How many invalidated names are remembered individually. */
const INVALIDATED_MAX = 20_000;

export type MemoryCache = ReturnType<typeof createMemoryCache>;

export function createMemoryCache(maxBytes: number) {
  const entries = new LRUCache<string, CacheEntry & { version: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, text) => ENTRY_OVERHEAD + 2 * text.length + HEAP_PER_BYTE * bytes,
  });
  let latest = 0;
  /** Older versions count as invalidated: the names invalidated then are no longer remembered. */
  let oldestKnown = 0;
  const invalidated = new LRUCache<string, number>({
    ...atMost(INVALIDATED_MAX),
    noDisposeOnSet: true,
    dispose: (version) => void (oldestKnown = Math.max(oldestKnown, version)),
  });
  const isCurrent = (version: number, { tag, groupTag, partition }: CacheKey) =>
    version >= oldestKnown &&
    version >= (invalidated.get(tag) ?? 0) &&
    version >= (invalidated.get(groupTag) ?? 0) &&
    version >= (invalidated.get(partition) ?? 0);

  function find(key: CacheKey): CacheEntry | undefined {
    const entry = entries.get(key.text);
    if (!entry) return undefined;
    if (entry.keptUntil > performance.now() && isCurrent(entry.version, key)) return entry;
    entries.delete(key.text);
    return undefined;
  }

  let now: VersionToken = { memory: 0 };

  return {
    isCurrent: () => true,
    find,
    /** Changes with each invalidation. */
    version: () => now,
    get: (key: CacheKey): CacheLookup => ({ entry: find(key), version: now }),
    /** False if it had all of the entry, or the entry is out of date. */
    set(key: CacheKey, { memory: version, shared }: VersionToken = now, entry: CacheEntry): boolean {
      if (!isCurrent(version, key)) return false;
      const found = find(key);
      const isMergeable = !entry.isAbsent && !found?.isAbsent && found?.shared?.stamp === shared?.stamp;
      const before = isMergeable ? found : undefined;
      const now = performance.now();
      if (before !== undefined && before.freshUntil > now && isSameRead(before, entry)) return false;
      const merges =
        key.isRecord &&
        before !== undefined &&
        before.freshUntil > now &&
        (before.since > entry.since || !hasMembers(entry, Object.keys(before.value)));
      entries.set(key.text, { ...(merges ? mergedEntry(before, entry) : entry), shared, version: latest });
      return true;
    },
    delete: (key: CacheKey): boolean => entries.delete(key.text),
    size: (): CacheSize => ({ entries: entries.size, bytes: entries.calculatedSize }),
    invalidate(names: readonly string[]): boolean {
      if (names.length > 0) latest++;
      for (const name of names) invalidated.set(name, latest);
      now = { memory: latest };
      return true;
    },
  };
}
