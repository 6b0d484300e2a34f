/** The entries of one process, or of its workers. Bounded for each owner, who never removes what belongs to another. */
import { sizeOf } from './entries.ts';
import { CLOCK_MS, type EntryStore, type SwappedEntry, type Versioned, absentEntry, ownerIn } from './entry-table.ts';
import { createOwnedCache } from './owned-cache.ts';

interface Stored extends Versioned {
  readonly until: number;
  readonly size: number;
}

/** Never removed before their time: too many of them keep others from having new ones. */
const KEYS_MAX = 200_000;
/** Characters of all else: of more the oldest of who has most goes. */
const CHARACTERS = { ofOwner: 8_000_000, ofAll: 64_000_000 };
const SWEEP_MS = 1_000;

export function createMemoryEntries(ttlMs: number, isOfWorkers = false): EntryStore {
  /** In the order in which they were written, so the first is over first. */
  const keys = new Map<string, Stored>();
  const others = createOwnedCache<Stored>({ ...CHARACTERS, sizeOf: ({ size }) => size });
  let nextSweep = 0;

  function peek(name: string): Versioned {
    const found = keys.get(name) ?? others.get(ownerIn(name), name);
    return found && found.until > now() ? found : absentEntry;
  }
  /** Not for each write: the first entry of a map is behind all that were deleted. */
  function sweep(): void {
    if (now() < nextSweep) return;
    nextSweep = now() + SWEEP_MS;
    for (const [name, { until }] of keys) {
      if (until > now()) return;
      keys.delete(name);
    }
  }
  return {
    isShared: false,
    now,
    peek,
    swap({ at, version, entries }) {
      sweep();
      const isChanged = ({ name, version: read }: SwappedEntry) => read !== undefined && peek(name).version !== read;
      if (Math.abs(now() - at) > CLOCK_MS || entries.some(isChanged))
        return { now: now(), found: entries.map(({ name }) => peek(name)) };
      // As if it did not reply: a worker does not see it.
      if (isOfWorkers && keys.size >= KEYS_MAX && entries.some(({ name, next }) => next?.key && !keys.has(name)))
        return undefined;
      for (const { name, next } of entries) {
        if (next === undefined) continue;
        keys.delete(name);
        others.delete(ownerIn(name), name);
        if (next === null) continue;
        // What a request of this process holds lasts. A worker may die.
        const isHeld = !isOfWorkers && next.places !== undefined && next.places.length > 0;
        const stored = { version, entry: next, until: isHeld ? Infinity : now() + ttlMs, size: sizeOf(next) };
        if (next.key) keys.set(name, stored);
        else others.set(ownerIn(name), name, stored);
      }
      return { now: now() };
    },
    isFull: () => keys.size >= KEYS_MAX,
  };
}

const now = (): number => performance.now();
