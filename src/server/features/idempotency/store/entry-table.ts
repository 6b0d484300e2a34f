/** A table of entries that steps change: each is one change of several entries, in memory and in another process alike. */
import { type CancellationToken, unlessCancelled } from '../../../../lib/cancellation.ts';
import { type Entry, PLACE_MS, holderOf, takePlace } from './entries.ts';

/** The entries of one step. */
export interface Draft {
  readonly now: number;
  readonly get: (name: string) => Readonly<Entry>;
  /** To be changed in place. */
  readonly edit: (name: string) => Entry;
}

/** The store in memory answers at once. */
export type Reply<T> = T | Promise<T>;
export const after = <T, R>(reply: Reply<T>, next: (value: T) => R): Reply<R> =>
  reply instanceof Promise ? reply.then(next) : next(reply);

/** The name of an entry begins with its owner and a dot. */
export interface EntryStore {
  /** Other processes write too: what is kept must be sealed, and places end if they are not renewed. */
  readonly isShared: boolean;
  /**
   * Runs a step, perhaps several times; it follows from the entries and the time alone. Undefined if the store cannot be reached: if
   * `isLast`, this process remembers what it has changed.
   */
  change: <Result>(step: (draft: Draft) => Result, isLast?: boolean) => Reply<Result | undefined>;
  /** Whether no further key may be stored. */
  isFull: () => boolean;
}

/** Waits for something that another request holds. */
export interface Waiting {
  readonly cancellation: CancellationToken;
  /** Called before the first wait. Throws if too many wait. */
  begin: () => void;
}

/** What is waited for: one of these has to be freed. */
export interface Busy {
  readonly busy: readonly string[];
}

export interface EntryTable extends EntryStore {
  /** How long a place lasts. */
  readonly placeMs: number;
  /** Wakes the requests that wait for one of these. */
  free: (names: readonly string[]) => void;
  /** Looks until it is not busy. Undefined also if the wait is cancelled. */
  untilFree: <Looked extends object>(
    look: (draft: Draft) => Looked,
    waiting: Waiting,
  ) => Promise<Exclude<Looked, Busy> | undefined>;
  /** Renews the places with a ticket. Returns a function that ends this. */
  keepPlaces: (names: readonly string[], ticket: string) => () => void;
}

/** The longest time until a waiting request looks again: other processes do not report what they free. */
const LOOK_MS = { alone: 1_000, shared: 100 };
const RENEWED_MS = 1_000;
const nothing = (): void => undefined;
const isBusy = (looked: object): looked is Busy => 'busy' in looked;

export function createEntryTable(store: EntryStore): EntryTable {
  const { isShared } = store;
  const placeMs = isShared ? PLACE_MS : Infinity;
  const waiters = new Map<string, Set<() => void>>();

  /** Resolves when one of these may be free, or a while later. */
  const freed = (names: readonly string[]): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        for (const name of names) {
          waiters.get(name)!.delete(end);
          if (waiters.get(name)!.size === 0) waiters.delete(name);
        }
        resolve();
      };
      const timer = setTimeout(end, isShared ? LOOK_MS.shared : LOOK_MS.alone).unref();
      for (const name of names) waiters.set(name, (waiters.get(name) ?? new Set()).add(end));
    });

  return {
    ...store,
    placeMs,
    free(names) {
      for (const name of names) waiters.get(name)?.forEach((each) => each());
    },
    async untilFree(look, waiting) {
      for (let next: Promise<void> | undefined; ;) {
        const found = await store.change(look);
        if (!found || !isBusy(found)) return found as Exclude<typeof found, Busy> | undefined;
        if (next) await unlessCancelled(next, waiting.cancellation);
        else waiting.begin();
        if (waiting.cancellation.reason) return undefined;
        // Registered before the next look, so that no change is missed.
        next = freed(found.busy);
      }
    },
    keepPlaces(names, ticket) {
      if (!isShared) return nothing;
      const renew = ({ now, get, edit }: Draft) => {
        for (const name of names) {
          const holder = holderOf(get(name), now);
          const isPlaced = get(name).places?.some((each) => each.ticket === ticket && each.until > now);
          // A run whose place has ended goes on, unless another one has claimed its key.
          if (isPlaced || (holder === undefined && get(name).key?.run === ticket))
            takePlace(edit(name), { ticket, until: now + PLACE_MS }, now);
        }
      };
      const timer = setInterval(() => void store.change(renew), RENEWED_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
