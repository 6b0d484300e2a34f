/**
 * Entries are changed several in one step, and what is written follows from what is there: in memory and in another process alike. The
 * rules are plain functions of what is there.
 */
import type { Entry } from './entries.ts';

/** What is there, with what this step has written. */
export interface Draft {
  get: (name: string) => Entry | undefined;
  /** Null deletes it. */
  set: (name: string, next: Entry | null) => void;
}

/** The store in memory answers at once. */
export type Reply<T> = T | Promise<T>;
export const after = <T, R>(reply: Reply<T>, next: (value: T) => Reply<R>): Reply<R> =>
  reply instanceof Promise ? reply.then(next) : next(reply);

/** Each reply is undefined if the store cannot be reached. The name of an entry begins with its owner and a dot. */
export interface EntryStore {
  /** Other processes write too: what is kept must be sealed, and places end if they are not renewed. */
  readonly isShared: boolean;
  /** The time of the store. */
  now: () => Reply<number | undefined>;
  /**
   * Decides by the entries with these names and by the time, perhaps several times. `isLast`: if the store cannot be reached, this process
   * remembers it.
   */
  update: <Result>(
    names: readonly string[],
    decide: (draft: Draft, now: number) => Result,
    isLast?: boolean,
  ) => Reply<Result | undefined>;
  /** As far as it is known here. */
  peek: (name: string) => Entry | undefined;
  /** Whether no further key may be stored. */
  isFull: () => boolean;
}

export interface EntryTable extends EntryStore {
  /** Wakes the requests that wait for one of these. */
  free: (names: readonly string[]) => void;
  /** Resolves when one of these may be free, or a while later. */
  freed: (names: readonly string[]) => Promise<void>;
}

/** The longest time until a waiting request looks again. */
const LOOK_MS = { alone: 1_000, shared: 100 };

export function createEntryTable(store: EntryStore): EntryTable {
  const waiting = new Map<string, Set<() => void>>();
  return {
    ...store,
    free(names) {
      for (const name of names) waiting.get(name)?.forEach((each) => each());
    },
    freed: (names) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          for (const name of names) {
            waiting.get(name)!.delete(end);
            if (waiting.get(name)!.size === 0) waiting.delete(name);
          }
          resolve();
        };
        const timer = setTimeout(end, store.isShared ? LOOK_MS.shared : LOOK_MS.alone).unref();
        for (const name of names) waiting.set(name, (waiting.get(name) ?? new Set()).add(end));
      }),
  };
}
