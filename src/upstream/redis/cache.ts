/** The record cache in Redis, which replicas share. */
import { createHash, randomUUID } from 'node:crypto';
import type { Cache, CacheEntry, CacheKey, CacheLookup, VersionToken } from '../cache/memory.ts';
import type { RedisCall } from './channel.ts';
import type { RedisConnection } from './connection.ts';

/** How long a failed invalidation waits before it is repeated. */
const RETRY_MS = 500;
/** The longest that an entry is kept. Invalidations are remembered a little longer. */
const LIFE_MS = 7 * 86_400_000;
const INVALIDATION_LIFE_MS = LIFE_MS + 60_000;
/** With more invalidations unsent, everything is invalidated. */
const UNSENT_MAX = 10_000;
const EVERYTHING = '*';
const KEY_MAX = 200;

/**
 * Each invalidation of a tag, a group or a partition writes a new random version under its name. An entry stores the versions of its names
 * at the time of its read and is void under any other. So an invalidation is one write, reaches all replicas, and also voids responses
 * that are still in flight.
 */
export function createRedisCache(
  { redis, key: fullKey }: RedisConnection,
  inTime: RedisCall,
  invalidateInTime: RedisCall,
): Cache {
  const versionKey = (name: string): string => fullKey(`cleared:${short(name)}`);
  const entryKey = (key: CacheKey): string => fullKey(`kept:${short(key.text)}`);
  /** Invalidations that are not in Redis yet: until then nothing is read from it. */
  const unsent = new Set<string>();
  let retry: NodeJS.Timeout | undefined;

  async function sendInvalidations(): Promise<boolean> {
    if (unsent.size === 0) return true;
    const names = [...unsent];
    const write = (name: string) => redis.set(versionKey(name), randomUUID().slice(0, 8), 'PX', INVALIDATION_LIFE_MS);
    if (!(await invalidateInTime(() => Promise.all(names.map(write))))) {
      retryLater();
      return false;
    }
    for (const name of names) unsent.delete(name);
    return true;
  }

  /** Retries even without further requests: other replicas serve the old entries until the invalidation is in Redis. */
  function retryLater(): void {
    if (retry || redis.status === 'end') return;
    retry = setTimeout(() => {
      retry = undefined;
      void sendInvalidations();
    }, RETRY_MS).unref();
  }

  async function get(key: CacheKey): Promise<CacheLookup> {
    const none: CacheLookup = { entry: undefined, version: undefined };
    if (!(await sendInvalidations())) return none;
    const names = [EVERYTHING, key.tag, key.groupTag, key.partition];
    const found = await inTime(() => redis.mget(entryKey(key), ...names.map(versionKey)));
    if (!found) return none;
    const [text, ...versions] = found;
    const version = versions.map((each) => each ?? '').join('.');
    return { entry: text ? decodeEntry(text, version) : undefined, version };
  }

  async function set(key: CacheKey, version: VersionToken | undefined, make: MakeEntry): Promise<void> {
    const found = await get(key);
    // The response may be older than the current version: it is stored only if that was its version at the lookup before the call.
    if (found.version === undefined || (version ?? found.version) !== found.version) return;
    const entry = make(found.entry);
    const life = Math.min(LIFE_MS, Math.round(entry.keptUntil - Date.now()));
    if (life > 0) await inTime(() => redis.set(entryKey(key), encodeEntry(entry, found.version!), 'PX', life));
  }

  return {
    get,
    set(key, version, make) {
      set(key, version, make).catch(() => undefined); // the cache is optional
    },
    delete(key) {
      void inTime(() => redis.del(entryKey(key)));
      return true;
    },
    async invalidate(name) {
      if (unsent.size >= UNSENT_MAX) {
        unsent.clear();
        unsent.add(EVERYTHING);
      } else if (!unsent.has(EVERYTHING)) unsent.add(name);
      await sendInvalidations();
    },
  };
}

type MakeEntry = (before: CacheEntry | undefined) => CacheEntry;

/** A search text may be long. */
const short = (key: string): string =>
  key.length <= KEY_MAX ? key : createHash('sha256').update(key).digest('base64url');

/** As JSON. Replicas of other versions read it too: its names stay. */
interface StoredEntry extends CacheEntry {
  mark: string;
  /** Fields known to be absent: JSON has no undefined. */
  none?: string[];
}

function encodeEntry(entry: CacheEntry, version: VersionToken): string {
  const none = Object.entries(entry.value).flatMap(([name, value]) => (value === undefined ? [name] : []));
  return JSON.stringify({ ...entry, mark: String(version), none } satisfies StoredEntry);
}

function decodeEntry(text: string, version: string): CacheEntry | undefined {
  try {
    const { mark, none = [], ...entry } = JSON.parse(text) as StoredEntry;
    if (mark !== version || entry.keptUntil <= Date.now()) return undefined;
    for (const name of none) (entry.value as Record<string, unknown>)[name] = undefined;
    return entry;
  } catch {
    return undefined; // not an entry of this program
  }
}
