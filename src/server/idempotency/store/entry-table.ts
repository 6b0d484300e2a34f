/**
 * Entries are changed only as they were read, several in one step: what is written follows from what is there, in memory and in another
 * process alike. The rules are plain functions of what is there.
 */
import { randomBytes } from 'node:crypto';
import type { Entry } from './entries.ts';

export interface Versioned {
  /** The version of the entry; an empty text if it is absent. */
  readonly version: string;
  readonly entry: Entry | undefined;
}

export interface SwappedEntry {
  /** Begins with its owner and a dot. */
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

/** The store in memory answers at once. */
export type Reply<T> = T | Promise<T>;

export interface EntryStore {
  /** Other processes write too: what is kept must be sealed, and places end if they are not renewed. */
  readonly isShared: boolean;
  /** As far as it is known here. */
  now: () => number;
  peek: (name: string) => Versioned;
  /** Undefined if the store cannot be reached. `isLast`: then this process remembers it, for want of the store. */
  swap: (swap: Swap, isLast?: boolean) => Reply<Swapped | undefined>;
  /** Whether no further key may be stored. */
  isFull: () => boolean;
}

/** What is there, and what is to be written in its place. */
export interface Draft {
  get: (name: string) => Entry | undefined;
  /** Null deletes it. */
  set: (name: string, next: Entry | null) => void;
}

export type EntryTable = ReturnType<typeof createEntryTable>;

/** Other processes may write between the attempts, but of those that try at once one succeeds. */
const ATTEMPTS = 100;
/** The longest time until a waiting request looks again. */
const LOOK_MS = { alone: 1_000, shared: 100 };
export const absentEntry: Versioned = Object.freeze({ version: '', entry: undefined });

export function createEntryTable({ isShared, now, peek, swap, isFull }: EntryStore) {
  const process = randomBytes(6).toString('base64url');
  let swaps = 0;
  const waiting = new Map<string, Set<() => void>>();

  return {
    isShared,
    isFull,
    peek,
    /** The time of the store. Undefined if it cannot be reached. */
    now: async (): Promise<number | undefined> => (await swap({ at: now(), version: '', entries: [] }))?.now,
    /** Decides by what is there and the time, perhaps several times. Undefined if the store cannot be reached. */
    async update<Result>(
      names: readonly string[],
      decide: (draft: Draft, now: number) => Result,
      isLast?: boolean,
    ): Promise<Result | undefined> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const read = new Map(names.map((name) => [name, peek(name)]));
        const next = new Map<string, Entry | null>();
        const at = now();
        const result = decide(
          { get: (name) => read.get(name)?.entry, set: (name, entry) => void next.set(name, entry) },
          at,
        );
        const entries = [...new Set([...names, ...next.keys()])].map((name) => ({
          name,
          version: read.get(name)?.version,
          next: next.get(name),
        }));
        const reply = await swap({ at, version: `${process}${swaps++}`, entries }, isLast);
        if (!reply) return undefined;
        if (!reply.found) return result;
      }
      return undefined;
    },
    /** Wakes the requests that wait for one of these. */
    free(names: readonly string[]): void {
      for (const name of names) waiting.get(name)?.forEach((each) => each());
    },
    /** Resolves when one of these may be free, or a while later. */
    freed: (names: readonly string[]): Promise<void> =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          for (const name of names) {
            waiting.get(name)!.delete(end);
            if (waiting.get(name)!.size === 0) waiting.delete(name);
          }
          resolve();
        };
        const timer = setTimeout(end, isShared ? LOOK_MS.shared : LOOK_MS.alone).unref();
        for (const name of names) waiting.set(name, (waiting.get(name) ?? new Set()).add(end));
      }),
  };
}

export const ownerIn = (name: string): string => name.split('.', 1)[0]!;
