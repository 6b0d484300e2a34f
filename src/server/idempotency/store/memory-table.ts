/** The keys of one process, counted by caller and by size. */
import { type Kept, type StoreLimits } from './key-store.ts';

export interface Entry {
  readonly id: string;
  readonly fingerprint: string;
  readonly owner: string;
  readonly caller: Caller;
  until: number;
  isRunning: boolean;
  savedAt: number | undefined;
  kept: Kept;
  /** Called when the run ends. */
  waiters: (() => void)[] | undefined;
}

/** The keys of one owner. */
interface Caller {
  count: number;
  /** Those whose writes have an unknown outcome. */
  readonly open: Set<Entry>;
  /** Those with a response; the oldest first. */
  readonly kept: Set<Entry>;
  characters: number;
}

/** Of all callers: beyond it, the oldest response goes of who has most of them. */
const ALL_CHARACTERS_MAX = 64_000_000;
const DROP_MS = 1_000;
export const nothing: Kept = Object.freeze({ kind: 'nothing' });
const mark: Kept = Object.freeze({ kind: 'mark' });

export function createTable({ kept: keptMax, keptCharacters }: Pick<StoreLimits, 'kept' | 'keptCharacters'>) {
  /** In the order in which they were claimed, or ended if they have, so the first is over first. */
  const entries = new Map<string, Entry>();
  const callers = new Map<string, Caller>();
  let characters = 0;
  let nextDrop = 0;

  function setKept(entry: Entry, next: Kept): void {
    const { caller } = entry;
    const change = sizeOf(next) - sizeOf(entry.kept);
    characters += change;
    caller.characters += change;
    caller.kept.delete(entry);
    caller.open.delete(entry);
    entry.kept = next;
    if (next.kind === 'journal') caller.open.add(entry);
    if (next.kind === 'response') caller.kept.add(entry);
  }

  function remove(entry: Entry): void {
    entries.delete(entry.id);
    setKept(entry, nothing);
    if (--entry.caller.count === 0) callers.delete(entry.owner);
  }

  return {
    entries,
    callerOf: (owner: string): Caller =>
      callers.get(owner) ?? { count: 0, open: new Set(), kept: new Set(), characters: 0 },
    add(entry: Entry): Entry {
      entries.set(entry.id, entry);
      if (entry.caller.count++ === 0) callers.set(entry.owner, entry.caller);
      return entry;
    },
    /** Of the oldest responses only the mark stays, if there are too many or too large ones. */
    keep(entry: Entry, next: Kept, until: number): void {
      entry.until = until;
      entries.delete(entry.id);
      entries.set(entry.id, entry);
      setKept(entry, next);
      const { caller } = entry;
      while (caller.kept.size > keptMax || caller.characters > keptCharacters) setKept(firstOf(caller.kept), mark);
      while (characters > ALL_CHARACTERS_MAX) setKept(firstOf(largestOf(callers.values()).kept), mark);
    },
    remove,
    /** Not for each claim: the first entry of a map is behind all that were deleted. */
    dropOld(now: number): void {
      if (now < nextDrop) return;
      nextDrop = now + DROP_MS;
      for (const entry of entries.values()) {
        if (entry.isRunning || entry.until > now) return;
        remove(entry);
      }
    },
  };
}

const sizeOf = (kept: Kept): number => (kept.kind === 'response' ? kept.text.length : 0);

const largestOf = (callers: Iterable<Caller>): Caller =>
  [...callers].reduce((largest, each) => (each.characters > largest.characters ? each : largest));

const firstOf = (entries: ReadonlySet<Entry>): Entry => entries.values().next().value!;
