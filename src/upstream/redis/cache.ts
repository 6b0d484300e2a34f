/** The record cache that replicas share: memory in front, Redis behind it. */
import { type Cache, type CacheEntry, type VersionToken, createMemoryCache, isUsable } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { createInvalidations } from './invalidations.ts';
import { createKeys } from './keys.ts';
import { Lookups } from './lookups.ts';
import { createUpdates } from './updates.ts';

export interface CacheCalls {
  lookups: RedisCall;
  updates: RedisCall;
  invalidations: RedisCall;
}

interface RedisCacheSettings {
  /** The most bytes of entries in memory. */
  maxBytes: number;
  /** Names the service of events. */
  events: string;
  /** Something was invalidated, by this process or by another. */
  onInvalidation: () => void;
}

export function createRedisCache(
  connection: RedisConnection,
  calls: CacheCalls,
  { maxBytes, events, onInvalidation }: RedisCacheSettings,
) {
  const keys = createKeys(connection, events);
  const memory = createMemoryCache(maxBytes);
  const updates = createUpdates(connection, keys, calls.updates);
  const invalidations = createInvalidations(connection, keys, calls.invalidations);
  const lookups = new Lookups({
    ...{ connection, keys, memory, updates, invalidations },
    call: calls.lookups,
    onChange: onInvalidation,
  });
  const versionOf = (entry?: CacheEntry): VersionToken => ({ memory: memory.version().memory, shared: entry?.shared });
  const cache: Cache = {
    readVersion: () => lookups.readVersion(),
    get(key, reader = { ...anybody, since: lookups.readVersion() }) {
      const entry = lookups.current(key);
      const version = isUsable(entry, reader) ? versionOf(entry) : lookups.underWay(key);
      if (!version) return lookups.find(key, reader);
      if (lookups.isCurrent(reader)) return { entry, version };
      return lookups.ask().then((isKnown) => (isKnown ? cache.get(key, reader) : lookups.find(key, reader)));
    },
    find: (key) => lookups.current(key),
    isCurrent: (reader) => lookups.isCurrent(reader) || lookups.ask().then(() => lookups.isCurrent(reader)),
    set(key, version = versionOf(lookups.current(key)), entry) {
      if (!memory.set(key, version, entry)) return;
      if (version.shared) updates.store(key, version.shared, memory.find(key) ?? entry);
    },
    delete(key) {
      updates.delete(key);
      return memory.delete(key);
    },
    invalidate(names) {
      memory.invalidate(names);
      onInvalidation();
      return invalidations.add(names);
    },
    size: memory.size,
    epoch: () => lookups.changes,
    confirm: lookups.confirm,
  };
  return { ...invalidations, cache };
}

/** For a lookup of its own. */
const anybody = { members: undefined, cancellation: undefined, mayLease: false };
