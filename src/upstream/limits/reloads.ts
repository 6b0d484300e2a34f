/**
 * Reloads: reads of cached entries because a client asks for new data, by `Cache-Control: no-cache` of its request. Each takes one read
 * from the share of the client's address. Many clients that ask for one entry make one read of it.
 */
import { LRUCache } from 'lru-cache';
import type { Reload } from '../auth/request-context.ts';
import { WINDOW_MS, createSlidingWindows } from './sliding-window.ts';

/** The share of an address: reloads a minute, in this process. */
export const RELOADS_PER_ADDRESS = 60;
/** An entry is reloaded once in so many ms, whoever asks. */
const RELOAD_MS = 10_000;
/** Characters of the names of entries, which may have a text that somebody searches for. */
const CHARACTERS_MAX = 2_000_000;

/** Returns what one operation of the client with the address may reload. Times are by performance.now(). */
export function createReloads(): (address: string) => Reload {
  const reads = createSlidingWindows();
  const readAt = new LRUCache<string, number>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (_, { length }) => length,
  });
  const share = { slots: RELOADS_PER_ADDRESS, perAddress: RELOADS_PER_ADDRESS, holdMs: WINDOW_MS };
  let made = 0;

  return (address) => {
    const since = performance.now();
    /** By entry. What a peek refuses stays refused: the operation uses what it was shown. */
    const decided = new Map<string, boolean>();
    /** Entries that a peek found, and that are not read yet. */
    const expected = new Set<string>();

    function mayRead(entry: string, isPeek: boolean): boolean {
      const known = decided.get(entry) ?? (isPeek && expected.has(entry) ? true : undefined);
      if (known !== undefined) return known;
      const isDue = (readAt.get(entry) ?? -Infinity) <= since - RELOAD_MS;
      const may = isPeek
        ? isDue && reads.state(address).taken + expected.size < RELOADS_PER_ADDRESS
        : isDue && reads.take({ window: address, id: String(made++), address }, share) === 0;
      if (may && isPeek) expected.add(entry);
      else {
        expected.delete(entry);
        decided.set(entry, may);
      }
      return may;
    }
    return { since, mayRead, wasRead: (entry) => void readAt.set(entry, performance.now()) };
  };
}
