/**
 * Sliding windows of calls, in this process or in Redis: a slot becomes free one window after its call ended. Times in this process are
 * monotonic, so that setting the system clock does not keep a window full.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';

export const WINDOW_MS = 60_000;

/** One call in a window. */
export interface Slot {
  /** Whose window it is: the id of a credential. */
  window: string;
  id: string;
  /** The address of the client. */
  address: string;
}

export interface WindowLimits {
  slots: number;
  /** Slots of one address at once. */
  perAddress: number;
  /** How long a slot is held, in ms, if the end of its call is not reported. */
  holdMs: number;
}

export interface WindowState {
  taken: number;
  /** Milliseconds until the first slot becomes free; undefined if none is taken. */
  backInMs: number | undefined;
}

/** The windows of this process, across processes. undefined if the store is unreachable. */
export interface SharedSlidingWindows {
  take: (slot: Slot, limits: WindowLimits) => Promise<number | undefined>;
  settle: (slot: Slot) => void;
  release: (slot: Slot) => void;
  /** `holdMs`: the longest that a slot is held. */
  state: (window: string, holdMs: number, address?: string) => Promise<WindowState | undefined>;
}

const WINDOWS_MAX = 10_000;

export function createSlidingWindows() {
  const windows = new LRUCache<string, Map<string, { address: string; backAt: number }>>(atMost(WINDOWS_MAX));

  /** All slots that are taken, or those of one address. */
  function state(window: string, address?: string): WindowState {
    const now = performance.now();
    let taken = 0;
    let first = Infinity;
    for (const [id, slot] of windows.get(window) ?? []) {
      if (slot.backAt <= now) windows.get(window)!.delete(id);
      else if (address === undefined || slot.address === address) {
        taken++;
        first = Math.min(first, slot.backAt);
      }
    }
    return { taken, backInMs: taken > 0 ? Math.max(1, first - now) : undefined };
  }

  return {
    state,
    /** 0, or the milliseconds until it is worth trying again. */
    take({ window, id, address }: Slot, { slots, perAddress, holdMs }: WindowLimits): number {
      for (const [most, of] of [[slots, undefined] as const, [perAddress, address] as const]) {
        const { taken, backInMs } = state(window, of);
        if (taken >= most) return backInMs ?? WINDOW_MS;
      }
      const held = windows.get(window) ?? new Map<string, { address: string; backAt: number }>();
      windows.set(window, held.set(id, { address, backAt: performance.now() + holdMs }));
      return 0;
    },
    settle({ window, id }: Slot): void {
      const slot = windows.get(window)?.get(id);
      if (slot) slot.backAt = performance.now() + WINDOW_MS;
    },
    /** The call was not made. */
    release({ window, id }: Slot): void {
      const held = windows.get(window);
      if (held?.delete(id) && held.size === 0) windows.delete(window);
    },
  };
}
