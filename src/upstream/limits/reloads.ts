/**
 * Reads of cached entries anew because a client asks for it, with `Cache-Control: no-cache` of its request. Each takes from the share of the
 * client's address, and many clients that ask for one entry make one read of it.
 */
import { LRUCache } from 'lru-cache';
import type { Reload } from '../auth/request-context.ts';
import { atMost } from '../../lib/remember.ts';
import { WINDOW_MS } from './sliding-window.ts';

/** Reads of an address in a minute, in this process. */
export const RELOADS_PER_ADDRESS = 60;
/** An entry is read anew once in so many ms, for whoever asks. */
const RELOAD_MS = 10_000;
const ADDRESSES_MAX = 10_000;
/** Characters of the names of entries, which may have a text that somebody searches for. */
const CHARACTERS_MAX = 2_000_000;

/** Returns what an operation of a client may read anew. Times are by performance.now(). */
export function createReloads(): (address: string) => Reload {
  const readsOf = new LRUCache<string, readonly number[]>(atMost(ADDRESSES_MAX));
  const readAt = new LRUCache<string, number>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (_, { length }) => length,
  });
  const recentReads = (address: string): readonly number[] =>
    (readsOf.get(address) ?? []).filter((at) => at > performance.now() - WINDOW_MS);

  return (address) => {
    const since = performance.now();
    /** Also what was peeked at and may not be read: the operation uses what it was shown. */
    const decided = new Map<string, boolean>();
    /** Peeked at and not read yet. */
    const expected = new Set<string>();

    function mayRead(entry: string, isPeek: boolean): boolean {
      const known = decided.get(entry) ?? (isPeek && expected.has(entry) ? true : undefined);
      if (known !== undefined) return known;
      const reads = recentReads(address);
      const isDue = (readAt.get(entry) ?? -Infinity) <= since - RELOAD_MS;
      const may = isDue && reads.length + (isPeek ? expected.size : 0) < RELOADS_PER_ADDRESS;
      if (may && isPeek) expected.add(entry);
      else {
        expected.delete(entry);
        decided.set(entry, may);
      }
      if (may && !isPeek) readsOf.set(address, [...reads, performance.now()]);
      return may;
    }
    return { since, mayRead, wasRead: (entry) => void readAt.set(entry, performance.now()) };
  };
}
