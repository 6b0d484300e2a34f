/** How processes that share entries change them: an entry is written only as it was read, several in one step. */
import type { Entry } from './entries.ts';

export interface Versioned {
  /** The version of the entry; an empty text if it is absent. */
  readonly version: string;
  readonly entry: Entry | undefined;
}
export const absentEntry: Versioned = Object.freeze({ version: '', entry: undefined });

export interface SwappedEntry {
  readonly name: string;
  /** As it was read; undefined if it is written whatever is there. */
  readonly version: string | undefined;
  /** What is written; null deletes it, undefined leaves it. */
  readonly next?: Entry | null | undefined;
}

export interface Swap {
  /** The time at which it was decided. */
  readonly at: number;
  /** The version of the entries that are written. */
  readonly version: string;
  readonly entries: readonly SwappedEntry[];
}

export interface Swapped {
  /** By the one clock of the store. */
  readonly now: number;
  /** What is there, if something has changed since it was read, or the time was another: nothing was written. */
  readonly found?: readonly Versioned[] | undefined;
}

/** How another process swaps entries. Undefined if it does not reply. */
export type SwapEntries = (swap: Swap) => Promise<Swapped | undefined>;

/** How far the time of a decision may be from that of the store. */
export const CLOCK_MS = 500;

export const ownerIn = (name: string): string => name.slice(0, name.indexOf('.'));
