/** The copy of a shelf on the device, which `shelfChanges` keeps. What it keeps is bounded: the entries that changed last. */
import type { ShelfSyncQuery } from 'catalog-graphql-client';
import type { Rows } from './rows.ts';

export type Changes = NonNullable<NonNullable<ShelfSyncQuery['user']>['shelfChanges']>;
export type Entry = Changes['nodes'][number];

/** A shelf may have more entries than a device keeps; 97 take 35 kB. */
export const BOUNDS = { entries: 5_000, bytes: 4_000_000 };

export interface ShelfState {
  /** Last changed first. */
  entries: readonly Entry[];
  /** Whether a sync has reached the end since the copy was begun. */
  isWhole: boolean;
  /** Whether the oldest entries are not here, because of the bounds. */
  isCut: boolean;
}

interface Progress {
  since: string | null;
  isWhole: boolean;
  isCut: boolean;
}

export interface ShelfCopy {
  state(): ShelfState;
  /** Reads what is stored, which another window may have changed. */
  load(): Promise<void>;
  since(): string | null;
  /** Stores the changes that were told after `since`, and returns the entries that are gone. */
  apply(changes: Changes, since: string | null): Promise<Entry[]>;
  /** Begins anew: the next changes replace all. */
  forget(): void;
}

const PROGRESS = 'progress';
const nothing: Progress = { since: null, isWhole: false, isCut: false };

export function shelfCopy(rows: Rows, onChange: () => void, bounds = BOUNDS): ShelfCopy {
  let entries = new Map<string, Entry>();
  let progress = nothing;
  let state: ShelfState = { entries: [], isWhole: false, isCut: false };

  function show(next: Map<string, Entry>, told: Progress): void {
    entries = next;
    progress = told;
    state = { entries: newestFirst(entries), isWhole: told.isWhole, isCut: told.isCut };
    onChange();
  }

  return {
    state: () => state,
    since: () => progress.since,
    forget: () => (progress = nothing),
    async load() {
      const stored = await rows.all();
      const own = stored.filter(([key]) => key !== PROGRESS) as [string, Entry][];
      const told = stored.find(([key]) => key === PROGRESS)?.[1] as Progress | undefined;
      show(new Map(own), told ?? nothing);
    },
    async apply({ nodes, removedIds, since, hasMore }, after) {
      const next = after === null ? new Map<string, Entry>() : new Map(entries);
      for (const id of removedIds) next.delete(id);
      for (const entry of nodes) next.set(entry.id, entry);
      const isCut = cut(next, bounds) || (after !== null && progress.isCut);
      const told = { since, isWhole: !hasMore || (after !== null && progress.isWhole), isCut };
      const removed = [...entries.values()].filter(({ id }) => !next.has(id));
      // `since` says that the device has these entries: both or neither.
      const kept = nodes.filter(({ id }) => next.has(id)).map((entry) => [entry.id, entry] as const);
      await rows.write(
        [...kept, [PROGRESS, told]],
        removed.map(({ id }) => id),
      );
      show(next, told);
      return removed.filter(({ id }) => removedIds.includes(id));
    },
  };
}

const newestFirst = (entries: ReadonlyMap<string, Entry>): Entry[] =>
  [...entries.values()].sort((one, other) => (other.updatedAt ?? '').localeCompare(one.updatedAt ?? ''));

/** Drops the oldest entries over the bounds. */
function cut(entries: Map<string, Entry>, bounds: typeof BOUNDS): boolean {
  let [count, bytes] = [0, 0];
  const over = newestFirst(entries).filter((entry) => {
    count++;
    bytes += bytesOf(entry);
    return count > bounds.entries || bytes > bounds.bytes;
  });
  for (const { id } of over) entries.delete(id);
  return over.length > 0;
}

const sizes = new WeakMap<Entry, number>();
function bytesOf(entry: Entry): number {
  const size = sizes.get(entry) ?? new TextEncoder().encode(JSON.stringify(entry)).length;
  sizes.set(entry, size);
  return size;
}
