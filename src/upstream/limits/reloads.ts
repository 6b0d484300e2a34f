/**
 * Reads of cached entries anew because a client asks for it, with `Cache-Control: no-cache` of its request. Each takes from the share of the
 * client's address, and many clients that ask for one entry make one read of it.
 */
import { LRUCache } from 'lru-cache';
import type { Reload } from '../auth/request-context.ts';
import { atMost } from '../../lib/remember.ts';
import { WINDOW_MS, createSlidingWindows } from './sliding-window.ts';

/** Reads of an address in a minute, in this process. */
export const RELOADS_PER_ADDRESS = 60;
const limits = { slots: RELOADS_PER_ADDRESS, perAddress: RELOADS_PER_ADDRESS, holdMs: WINDOW_MS };
/** An entry is read anew once in so many seconds, for whoever asks. */
export const RELOAD_SECONDS = 10;
const ENTRIES_MAX = 10_000;

/** Returns what an operation of a client may read anew. */
export function createReloads(): (address: string) => Reload {
  const windows = createSlidingWindows();
  const readAt = new LRUCache<string, number>(atMost(ENTRIES_MAX));
  let reads = 0;

  return (address) => {
    const since = performance.now();
    const granted = new Map<string, boolean>();
    const isDue = (entry: string) => (readAt.get(entry) ?? -Infinity) <= since - RELOAD_SECONDS * 1000;
    const take = (entry: string): boolean =>
      isDue(entry) && windows.take({ window: address, id: String(reads++), address }, limits) === 0;
    return {
      since,
      mayRead(entry, isPeek) {
        const known = granted.get(entry);
        if (known !== undefined) return known;
        if (isPeek) return isDue(entry) && windows.state(address).taken < RELOADS_PER_ADDRESS;
        const may = take(entry);
        granted.set(entry, may);
        return may;
      },
      wasRead: (entry) => void readAt.set(entry, performance.now()),
    };
  };
}
