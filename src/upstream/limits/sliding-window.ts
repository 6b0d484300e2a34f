/**
 * Sliding windows of calls, in this process or in Redis: a slot becomes free one window after its call ended. Times in this process are
 * monotonic, so that setting the system clock does not keep a window full.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';

export const WINDOW_MS = 60_000;

/** One call's place in the window of a credential. */
export interface Slot {
  /** The id of the credential whose window it is. */
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

/** The windows of this process, across processes. undefined if the store is unreachable. A slot that is granted too late is released. */
export interface SharedSlidingWindows {
  take: (slot: Slot, limits: WindowLimits) => Promise<number | undefined>;
  settle: (slot: Slot) => void;
  release: (slot: Slot) => void;
  /** `holdMs`: the longest that a slot is held. */
  state: (window: string, holdMs: number, address?: string) => Promise<WindowState | undefined>;
}

const WINDOWS_MAX = 10_000;

type Held = Map<string, { address: string; backAt: number }>;

/** `pinnedIds`: of the windows of the facade's own tokens, which many made-up tokens must not push out. */
export function createSlidingWindows(pinnedIds: ReadonlySet<string>) {
  const windows = new LRUCache<string, Held>(atMost(WINDOWS_MAX));
  const pinned = new Map<string, Held>();
  const tableOf = (window: string) => (pinnedIds.has(window) ? pinned : windows);

  /** Asking makes no window. */
  function heldIn(window: string): Held {
    const held = tableOf(window).get(window) ?? new Map<string, { address: string; backAt: number }>();
    const now = performance.now();
    for (const [id, { backAt }] of held) if (backAt <= now) held.delete(id);
    return held;
  }
  /** Milliseconds until the first of these slots becomes free. */
  const firstBack = (slots: readonly { backAt: number }[]) =>
    Math.max(1, Math.min(...slots.map(({ backAt }) => backAt)) - performance.now());

  return {
    /** 0, or the milliseconds until it is worth trying again. */
    take({ window, id, address }: Slot, { slots, perAddress, holdMs }: WindowLimits): number {
      const held = heldIn(window);
      const taken = [...held.values()];
      if (taken.length >= slots) return firstBack(taken);
      const mine = taken.filter((slot) => slot.address === address);
      if (mine.length >= perAddress) return firstBack(mine);
      held.set(id, { address, backAt: performance.now() + holdMs });
      tableOf(window).set(window, held);
      return 0;
    },
    settle({ window, id }: Slot): void {
      const slot = tableOf(window).get(window)?.get(id);
      if (slot) slot.backAt = performance.now() + WINDOW_MS;
    },
    /** The call was not made. */
    release({ window, id }: Slot): void {
      const table = tableOf(window);
      const held = table.get(window);
      if (held?.delete(id) && held.size === 0) table.delete(window);
    },
    /** The state of all slots, or of those of one address. */
    state(window: string, address?: string): WindowState {
      const all = [...heldIn(window).values()];
      const taken = address === undefined ? all : all.filter((slot) => slot.address === address);
      return { taken: taken.length, backInMs: taken.length ? firstBack(taken) : undefined };
    },
  };
}
