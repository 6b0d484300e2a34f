/** The entries of one process, or of its workers. Bounded for each owner, who never removes what belongs to another. */
import { type Entry, sizeOf } from './entries.ts';
import type { Draft, EntryStore } from './entry-table.ts';
import { createOwnedCache } from './owned-cache.ts';
import { CLOCK_MS, type Swap, type Swapped, type SwappedEntry, type Versioned, absentEntry, ownerIn } from './swap.ts';

interface Stored extends Versioned {
  readonly until: number;
  readonly size: number;
}

interface MemoryEntries extends EntryStore {
  /** For workers. Undefined if no further key may be stored: as if it did not reply. */
  swap: (swap: Swap) => Swapped | undefined;
}

/** Never removed before their time: too many of them keep others from having new ones. */
const KEYS_MAX = 200_000;
/** Characters of all else: of more the oldest of who has most goes. */
const CHARACTERS = { ofOwner: 8_000_000, ofAll: 64_000_000 };
const SWEEP_MS = 1_000;

export function createMemoryEntries(ttlMs: number, isOfWorkers = false): MemoryEntries {
  /** In the order in which they were written, so the first is over first. */
  const keys = new Map<string, Stored>();
  const others = createOwnedCache<Stored>({ ...CHARACTERS, sizeOf: ({ size }) => size });
  /** The time of the step. */
  let now = 0;
  let nextSweep = 0;
  const isFull = () => keys.size >= KEYS_MAX;

  function find(name: string): Versioned {
    const found = keys.get(name) ?? others.get(name);
    return found && found.until > now ? found : absentEntry;
  }
  function write(name: string, version: string, entry: Entry | null): void {
    // As the last of them. Whatever is written to the name of a key is one.
    if (entry?.key || !entry) keys.delete(name);
    if (!entry) return others.delete(name);
    // What a request of this process holds lasts. A worker may die.
    const isHeld = !isOfWorkers && entry.places !== undefined && entry.places.length > 0;
    const stored = { version, entry, until: isHeld ? Infinity : now + ttlMs, size: sizeOf(entry) };
    if (entry.key) keys.set(name, stored);
    else others.set(ownerIn(name), name, stored);
  }
  function begin(): void {
    now = performance.now();
    // Not for each step: the first entry of a map is behind all that were deleted.
    if (now < nextSweep) return;
    nextSweep = now + SWEEP_MS;
    for (const [name, { until }] of keys) {
      if (until > now) return;
      keys.delete(name);
    }
  }

  const draft: Draft = { get: (name) => find(name).entry, set: (name, next) => write(name, '', next) };
  return {
    isShared: false,
    now: () => performance.now(),
    update(_, decide) {
      begin();
      return decide(draft, now);
    },
    peek: draft.get,
    isFull,
    swap({ at, version, entries }) {
      begin();
      const isChanged = ({ name, version: read }: SwappedEntry) => read !== undefined && find(name).version !== read;
      if (Math.abs(now - at) > CLOCK_MS || entries.some(isChanged))
        return { now, found: entries.map(({ name }) => find(name)) };
      if (isFull() && entries.some(({ name, next }) => next?.key && !keys.has(name))) return undefined;
      for (const { name, next } of entries) if (next !== undefined) write(name, version, next);
      return { now };
    },
  };
}
