/**
 * Writes entries and ends leases: all of a turn in one command. Who has the lease of an entry asks upstream for all replicas; the others wait
 * for the entry. A lease ends when the entry is stored, when nobody of this process needs it any more, or by its time.
 */
import { randomUUID } from 'node:crypto';
import { atEndOfTurn } from '../../lib/event-loop.ts';
import type { CacheEntry, CacheKey, SharedVersion } from '../cache/memory.ts';
import type { RedisCall } from './connection/channel.ts';
import type { RedisConnection } from './connection/connection.ts';
import { encodeEntry } from './entries.ts';
import { LEASE_MS, LIFE_MS, RECORDS_MAX, type RedisKeys, randomValue } from './keys.ts';
import { UPDATE } from './scripts/cache-scripts.ts';
import { defineScript } from './scripts/script.ts';

interface Update {
  key: CacheKey;
  what: 'store' | 'delete' | 'release';
  stored?: { entry: CacheEntry; version: SharedVersion };
}

interface Lease {
  /** What an entry that is read under it is stored with. */
  version: SharedVersion;
  readers: Set<object>;
}

export type Updates = ReturnType<typeof createUpdates>;

export function createUpdates(connection: RedisConnection, keys: RedisKeys, call: RedisCall) {
  const update = defineScript(connection, 'catalogUpdate', UPDATE);
  /** Names this process. */
  const owner = randomUUID();
  const leases = new Map<string, Lease>();
  const updates = atEndOfTurn<Update>((all) => {
    for (let at = 0; at < all.length; at += RECORDS_MAX) send(all.slice(at, at + RECORDS_MAX));
  });

  function send(sent: readonly Update[]): void {
    const names = keys.namesOf(sent.map(({ key }) => key));
    const values = [randomValue(), owner, LEASE_MS, sent.length];
    for (const { what, stored } of sent) {
      values.push(what);
      if (!stored) values.push('', '', 0, 0, '');
      else {
        const { entry, version } = stored;
        const [fresh, kept] = [entry.freshUntil, entry.keptUntil].map((time) => Math.floor(time - performance.now()));
        values.push(version.epoch, version.stamp, fresh!, Math.min(LIFE_MS, kept!), encodeEntry(entry));
      }
    }
    // The cache is optional: leases end by themselves, and entries that were not stored are read again.
    void call(() => update(names, values));
  }

  return {
    owner,
    /** Storing ends the lease. */
    store(key: CacheKey, version: SharedVersion, entry: CacheEntry): void {
      leases.delete(key.text);
      updates.add({ key, what: 'store', stored: { entry, version } });
    },
    delete: (key: CacheKey): void => updates.add({ key, what: 'delete' }),
    lease: (key: CacheKey): Lease | undefined => leases.get(key.text),
    /** Ends a granted lease that no reader holds. */
    end(key: CacheKey): void {
      if (!leases.has(key.text)) updates.add({ key, what: 'release' });
    },
    /** The lease was granted for this reader too. Returns what ends it. */
    hold(key: CacheKey, version: SharedVersion, reader: object): () => void {
      const lease = leases.get(key.text) ?? { version, readers: new Set() };
      leases.set(key.text, lease);
      lease.readers.add(reader);
      return () => {
        if (!lease.readers.delete(reader) || lease.readers.size > 0 || leases.get(key.text) !== lease) return;
        leases.delete(key.text);
        updates.add({ key, what: 'release' });
      };
    },
  };
}
