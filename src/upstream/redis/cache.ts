/** The record cache that replicas share: memory in front, Redis behind it. */
import { type Cache, type CacheKey, type VersionToken, createMemoryCache, isUsable } from '../cache/memory.ts';
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
  const epoch = { known: '' };
  const updates = createUpdates(connection, keys, calls.updates, epoch);
  const invalidations = createInvalidations(connection, keys, calls.invalidations, epoch);
  let changes = 0;
  const onChange = () => {
    changes++;
    onInvalidation();
  };
  const lookups = new Lookups({
    connection,
    keys,
    call: calls.lookups,
    memory,
    invalidations,
    updates,
    epoch,
    onChange,
  });
  /** Each process knows of the last epochs, so that one of them notices if they are set back. */
  const question = setInterval(() => void lookups.confirm(), QUESTION_MS).unref();

  const versionNow = (key: CacheKey): VersionToken => ({ ...memory.version(), shared: lookups.version(key) });
  const mayShareAbsence = createAbsenceLimit();

  const cache: Cache = {
    moment: () => lookups.moment(),
    get(key, reader = { ...anybody, since: lookups.moment() }) {
      if (lookups.isCurrent(reader)) {
        const entry = lookups.current(key);
        // A read of this process under way stores what it gets.
        if (isUsable(entry, reader) || updates.lease(key)) return { entry, version: versionNow(key) };
      }
      // None is expected in Redis either: the question would be only for what is in memory.
      if (reader.isUnstored && !memory.find(key)) return { entry: undefined, version: versionNow(key) };
      return lookups.find(key, reader);
    },
    find: (key) => lookups.current(key),
    isCurrent(key, reader) {
      if (lookups.isCurrent(reader)) return true;
      const { since, cancellation } = reader;
      const question = { ...anybody, since, cancellation, isUnstored: true };
      return lookups.find(key, question).then(() => lookups.isCurrent(reader));
    },
    set(key, version = versionNow(key), entry) {
      if (!memory.set(key, version, entry)) return;
      if (!version.shared || (entry.isAbsent && !mayShareAbsence())) return;
      updates.store(key, version.shared, memory.find(key) ?? entry);
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
    epoch: () => changes,
    confirm: () => lookups.confirm(),
  };
  return {
    cache,
    flush: (withinMs: number): Promise<number> => {
      clearInterval(question);
      return invalidations.flush(withinMs);
    },
    unsent: invalidations.unsent,
    leases: updates.leases,
  };
}

/** How often a process asks for the epoch at the least. */
const QUESTION_MS = 5_000;

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
