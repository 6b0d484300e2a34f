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
    /** By entry: the operation goes on as it began. */
    const decided = new Map<string, boolean>();

    function mayRead(entry: string): boolean {
      let may = decided.get(entry);
      if (may !== undefined) return may;
      const isDue = (readAt.get(entry) ?? -Infinity) <= since - RELOAD_MS;
      may = isDue && reads.take({ window: address, id: String(made++), address }, share) === 0;
      decided.set(entry, may);
      return may;
    }
    return { since, mayRead, wasRead: (entry) => void readAt.set(entry, performance.now()) };
  };
}
