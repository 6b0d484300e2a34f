/**
 * Writes entries and ends leases: all of a tick in one command. Who has the lease of an entry asks upstream for all replicas; the others wait
 * for the entry. A lease ends when the entry is stored, when a reader of this process needs it no more, or by its time.
 */
import type { CacheEntry, CacheKey, SharedVersion, VersionToken } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { encodeEntry } from './entries.ts';
import { LEASE_MS, LIFE_MS, RECORDS_MAX, type RedisKeys } from './keys.ts';
import { UPDATE } from './scripts/cache-scripts.ts';
import { defineScript } from './scripts/script.ts';

interface Update {
  key: CacheKey;
  isDeleted?: boolean;
  /** `stamp`: that of what is stored; `fresh`: for how many ms, `life`: ms to keep. */
  stamp?: string | undefined;
  fresh?: number;
  life?: number;
  text?: string;
}

export type Updates = ReturnType<typeof createUpdates>;

export function createUpdates(connection: RedisConnection, keys: RedisKeys, call: RedisCall) {
  const update = defineScript(connection, 'catalogUpdate', UPDATE);
  /** Entries of which a reader of this process holds the lease: with what it stores the response, and when the lease ends. */
  const held = new Map<string, { version: VersionToken; end: number }>();
  /** Those of this tick. */
  const updates = new Map<string, Update>();
  /** Ends the lease if it does nothing else. */
  function add(key: CacheKey, what: Partial<Update> = {}): void {
    if (updates.size === 0) setImmediate(flush);
    updates.set(key.text, { key, ...updates.get(key.text), ...what });
  }
  function flush(): void {
    const all = [...updates.values()];
    updates.clear();
    while (all.length > 0) send(all.splice(0, RECORDS_MAX));
  }
  function send(sent: readonly Update[]): void {
    const { keys: names, values, countersOf } = keys.argumentsOf(sent.map(({ key }) => key));
    const records = sent.map(({ key: _, text: __, ...what }, at) => ({ indexes: countersOf[at], ...what }));
    // The cache is optional: leases end by themselves, and entries that were not stored are read again.
    void call(() => update(names, [...values, JSON.stringify(records), ...sent.map(({ text = '' }) => text)]));
  }

  return {
    /** Ends the lease too. */
    store(key: CacheKey, { stamp }: SharedVersion, entry: CacheEntry): void {
      held.delete(key.text);
      const [fresh, kept] = [entry.freshUntil, entry.keptUntil].map((time) => Math.floor(time - performance.now()));
      add(key, { stamp, fresh: fresh!, life: Math.min(LIFE_MS, kept!), text: encodeEntry(entry) });
    },
    /** Ends the lease too. */
    delete: (key: CacheKey): void => (held.delete(key.text), add(key, { isDeleted: true, stamp: undefined, text: '' })),
    /** Ends a granted lease that no reader holds. */
    end: (key: CacheKey): void => void (held.has(key.text) || add(key)),
    /** Undefined if no reader of this process has the lease. */
    held({ text }: CacheKey): VersionToken | undefined {
      const lease = held.get(text);
      return lease && lease.end > performance.now() ? lease.version : undefined;
    },
    /** Returns what ends the lease. */
    hold(key: CacheKey, version: VersionToken): () => void {
      held.set(key.text, { version, end: performance.now() + LEASE_MS });
      return () => void (held.delete(key.text) && add(key));
    },
  };
}
