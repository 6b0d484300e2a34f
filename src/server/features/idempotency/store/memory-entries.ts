/** The entries of one process. Bounded for each owner, who never removes what belongs to another. */
import { createBounded } from './bounded.ts';
import { type Entry, isEmpty, sizeOf } from './entries.ts';
import type { EntryStore } from './entry-table.ts';

/** Keys are never removed before their time: too many of them keep others from having new ones. */
const KEYS_MAX = 200_000;
/** Characters of all else. */
const LIMITS = { ofOwner: 8_000_000, ofAll: 64_000_000 };

export function createMemoryEntries(ttlMs: number): EntryStore {
  const kept = createBounded<Entry>(LIMITS);

  function keep(name: string, entry: Entry, now: number): void {
    if (isEmpty(entry)) return kept.delete(name);
    // What a request holds lasts.
    const until = entry.places ? Infinity : now + ttlMs;
    kept.set(name, entry, until, sizeOf(entry), entry.key !== undefined);
  }

  return {
    isShared: false,
    isFull: () => kept.pinned() >= KEYS_MAX,
    change(step) {
      const now = performance.now();
      kept.sweep(now);
      const edited = new Map<string, Entry>();
      const get = (name: string) => edited.get(name) ?? kept.get(name, now) ?? absent;
      const edit = (name: string) => {
        let entry = edited.get(name);
        if (!entry) edited.set(name, (entry = kept.get(name, now) ?? {}));
        return entry;
      };
      const result = step({ now, get, edit });
      for (const [name, entry] of edited) keep(name, entry, now);
      return result;
    },
  };
}

const absent: Readonly<Entry> = Object.freeze({});
