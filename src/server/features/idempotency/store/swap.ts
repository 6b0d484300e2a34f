/** How processes that share entries change them: an entry is written only as it was read, several in one step. */

export interface Versioned {
  /** The version of the entry; an empty text if it is absent. */
  readonly version: string;
  /** Its JSON; an empty text if it is absent. */
  readonly text: string;
}
export const absentEntry: Versioned = Object.freeze({ version: '', text: '' });

export interface Swap {
  /** The time at which it was decided. */
  readonly at: number;
  /** The version of the entries that are written. */
  readonly version: string;
  /** As they were read, and what is written: an empty text deletes, undefined leaves. */
  readonly entries: readonly { readonly name: string; readonly version: string; readonly next?: string | undefined }[];
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
