/** Keys of one process, for facades without Redis. Bounded by number and size, for each caller and for all. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import { addListener, removeListener } from '../../lib/cancellation.ts';
import type { KeyIdentity } from './key.ts';
import {
  type Claim,
  KEPT_MAX,
  KEYS_MAX,
  type Kept,
  type KeyStore,
  type ThingState,
  type Turn,
  freshState,
} from './store.ts';

interface Entry {
  readonly key: KeyIdentity;
  readonly caller: Caller;
  /** By performance.now(). */
  until: number;
  isRunning: boolean;
  kept: Kept;
  /** Called when the run ends. */
  waiters: (() => void)[] | undefined;
}

/** The keys of one caller. */
interface Caller {
  count: number;
  /** With a response or a journal; the oldest first. */
  readonly kept: Set<Entry>;
}

/** Of all callers. */
const ALL_KEYS_MAX = 100_000;
const ALL_KEPT_MAX_CHARACTERS = 16_000_000;
const THINGS_MAX = 20_000;
const DROP_MS = 1_000;
const nothing: Kept = Object.freeze({ kind: 'nothing' });
const mark: Kept = Object.freeze({ kind: 'mark' });
const firstRun: Claim = Object.freeze({ kind: 'run', journal: undefined });

export function createMemoryStore(ttlMs: number, limits = { keys: KEYS_MAX, kept: KEPT_MAX }): KeyStore {
  const table = createTable(limits.kept);
  const { entries } = table;

  return {
    claim(key): Claim {
      const now = performance.now();
      table.dropOld(now);
      const known = entries.get(key.secret);
      if (known && !isOver(known, now)) return claimKnown(known, key.fingerprint);
      if (known) table.remove(known);
      const caller = table.callerOf(key.token);
      if (caller.count >= limits.keys || entries.size >= ALL_KEYS_MAX) return { kind: 'full' };
      table.add({ key, caller, until: now + ttlMs, isRunning: true, kept: nothing, waiters: undefined });
      return firstRun;
    },
    // The journal is kept at the end, and the state of the thing after the turn: they would not outlive the process.
    save: () => true,
    end({ secret }, next) {
      const entry = entries.get(secret);
      if (!entry) return;
      entry.isRunning = false;
      if (next.kind === 'nothing') table.remove(entry);
      else table.keep(entry, next);
      const { waiters = [] } = entry;
      entry.waiters = undefined;
      for (const wake of waiters) wake();
    },
    changed: ({ secret }) =>
      new Promise((resolve) => {
        const entry = entries.get(secret);
        if (entry?.isRunning) (entry.waiters ??= []).push(resolve);
        else resolve();
      }),
    takeTurn: createTurns(),
  };
}

/** The entries, counted by caller and by size. */
function createTable(keptOfCaller: number) {
  /** In the order in which they were claimed, so the first is over first. */
  const entries = new Map<string, Entry>();
  const callers = new Map<string, Caller>();
  /** Entries with a response or a journal; the oldest first. */
  const kept = new Set<Entry>();
  let characters = 0;
  let nextDrop = 0;

  function setKept(entry: Entry, next: Kept): void {
    const [before, size] = [sizeOf(entry.kept), sizeOf(next)];
    characters += size - before;
    entry.kept = next;
    if (before > 0) {
      kept.delete(entry);
      entry.caller.kept.delete(entry);
    }
    if (size > 0) {
      kept.add(entry);
      entry.caller.kept.add(entry);
    }
  }

  function remove(entry: Entry): void {
    entries.delete(entry.key.secret);
    setKept(entry, nothing);
    if (--entry.caller.count === 0) callers.delete(entry.key.token);
  }

  return {
    entries,
    callerOf: (token: string): Caller => callers.get(token) ?? { count: 0, kept: new Set() },
    add(entry: Entry): void {
      const { key, caller } = entry;
      entries.set(key.secret, entry);
      if (caller.count++ === 0) callers.set(key.token, caller);
    },
    /** Of the oldest entries only the mark stays, if there are too many or too large ones. */
    keep(entry: Entry, next: Kept): void {
      setKept(entry, next);
      const own = entry.caller.kept;
      while (own.size > keptOfCaller) setKept(firstOf(own), mark);
      while (characters > ALL_KEPT_MAX_CHARACTERS) setKept(firstOf(kept), mark);
    },
    remove,
    /** Not for each claim: the first entry of a map is behind all that were deleted. */
    dropOld(now: number): void {
      if (now < nextDrop) return;
      nextDrop = now + DROP_MS;
      for (const entry of entries.values()) {
        if (!isOver(entry, now)) return;
        remove(entry);
      }
    },
  };
}

function claimKnown(entry: Entry, fingerprint: string): Claim {
  if (entry.key.fingerprint !== fingerprint) return { kind: 'reused' };
  if (entry.isRunning) return { kind: 'busy' };
  const { kept } = entry;
  if (kept.kind === 'response') return { kind: 'replay', response: kept.text };
  if (kept.kind === 'mark') return { kind: 'forgotten' };
  entry.isRunning = true;
  return { kind: 'run', journal: kept.kind === 'journal' ? kept.text : undefined };
}

const isOver = ({ until, isRunning }: Entry, now: number): boolean => until <= now && !isRunning;

const sizeOf = (kept: Kept): number => (kept.kind === 'journal' || kept.kind === 'response' ? kept.text.length : 0);

const firstOf = (entries: ReadonlySet<Entry>): Entry => entries.values().next().value!;

/** Turns by thing. What is known of a thing is kept after its turns. */
function createTurns(): KeyStore['takeTurn'] {
  const states = new LRUCache<string, ThingState>(atMost(THINGS_MAX));
  /** Who waits for the thing of a turn, in order of arrival. */
  const queues = new Map<string, ((turn: Turn) => void)[]>();

  const turnAt = (thing: string, queue: ((turn: Turn) => void)[]): Turn => {
    const state = states.get(thing) ?? freshState;
    return {
      state,
      leave(next) {
        if (next !== state) states.set(thing, next);
        const start = queue.shift();
        if (start) start(turnAt(thing, queue));
        else queues.delete(thing);
      },
    };
  };

  return (thing, cancellation) => {
    const queue = queues.get(thing);
    if (!queue) {
      const own: ((turn: Turn) => void)[] = [];
      queues.set(thing, own);
      return turnAt(thing, own);
    }
    return new Promise((resolve) => {
      const start = (turn: Turn) => {
        removeListener(cancellation, listener);
        resolve(turn);
      };
      const listener = {
        onCancel() {
          queue.splice(queue.indexOf(start), 1);
          resolve(undefined);
        },
      };
      queue.push(start);
      addListener(cancellation, listener);
    });
  };
}
