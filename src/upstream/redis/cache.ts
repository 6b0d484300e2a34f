/** The record cache that replicas share: memory in front, Redis behind it. */
import { randomUUID } from 'node:crypto';
import { type Cache, createMemoryCache, isUsable } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { Invalidations } from './invalidations.ts';
import { createKeys } from './keys.ts';
import { createLeases } from './leases.ts';
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
  const updates = createUpdates(connection, keys, calls.updates, randomUUID());
  const leases = createLeases(updates.owner, updates);
  let epoch = 0;
  const onLog = (names: readonly string[] | null, version: string) => {
    if (names) memory.invalidate(names, version);
    else memory.clear(version);
    if (names?.length === 0) return;
    epoch++;
    onInvalidation();
  };
  const invalidations = new Invalidations({ connection, keys, call: calls.invalidations, onLog });
  const lookups = new Lookups({
    connection,
    keys,
    call: calls.lookups,
    memory,
    invalidations,
    leases,
    discard: updates.discard,
  });

  const mayShareAbsence = createAbsenceLimit();

  const cache: Cache = {
    moment: () => lookups.moment(),
    get(key, reader = { ...anybody, since: lookups.moment() }) {
      if (lookups.isCurrent(reader)) {
        const found = memory.get(key);
        // A read of this process under way stores what it gets.
        if (isUsable(found.entry, reader) || leases.has(key)) return found;
      }
      // None is expected in Redis either: the question would be only for what is in memory.
      if (reader.isUnstored && !memory.find(key)) return { entry: undefined, version: memory.version() };
      return lookups.find(key, reader);
    },
    find: (key) => memory.find(key),
    isCurrent(key, reader) {
      if (lookups.isCurrent(reader)) return true;
      const { since, cancellation } = reader;
      const question = { ...anybody, since, cancellation, isUnstored: true };
      return lookups.find(key, question).then(() => lookups.isCurrent(reader));
    },
    set(key, version = memory.version(), entry) {
      if (!memory.set(key, version, entry)) return;
      if (entry.isAbsent && !mayShareAbsence()) return;
      leases.stored(key);
      updates.store(key, version, entry);
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
    size: () => memory.size(),
    epoch: () => epoch,
    confirm: () => lookups.confirm(),
  };
  return {
    cache,
    flush: (withinMs: number) => invalidations.flush(withinMs),
    unsent: () => invalidations.unsent(),
    leases: () => leases.size(),
  };
}

/** Absences that a process writes to Redis in a minute: made-up ids take no room there from records. */
const SHARED_ABSENCES_MAX = 2_000;
const MINUTE_MS = 60_000;

/** Whether one more may be shared. */
function createAbsenceLimit(): () => boolean {
  let [since, shared] = [performance.now(), 0];
  return () => {
    const now = performance.now();
    if (now - since >= MINUTE_MS) [since, shared] = [now, 0];
    return ++shared <= SHARED_ABSENCES_MAX;
  };
}

/** For a lookup of its own. */
const anybody = { members: undefined, cancellation: undefined, isRefresh: false, mayLease: false };
