/** The record cache that replicas share: memory in front, Redis behind it. */
import { type Cache, createMemoryCache } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { createInvalidations } from './invalidations.ts';
import { createKeys } from './keys.ts';
import { Lookups } from './lookups.ts';
import { createUpdates } from './updates.ts';

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
  calls: Record<'lookups' | 'updates' | 'invalidations', RedisCall>,
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
  const cache: Cache = {
    readVersion: () => lookups.sent,
    get: (key, reader = { members: undefined, since: lookups.sent, cancellation: undefined, mayLease: false }) =>
      lookups.get(key, reader),
    find: (key) => lookups.current(key),
    isCurrent: (reader) => lookups.isCurrent(reader) || lookups.ask().then(() => lookups.isCurrent(reader)),
    set(key, version = lookups.versionOf(lookups.current(key)?.shared), entry) {
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
