/** Keys of one process, for facades without Redis. Bounded by number and size, for each caller and for all. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import { addListener, removeListener } from '../../lib/cancellation.ts';
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
  readonly secret: string;
  readonly caller: Caller;
  readonly fingerprint: string;
  /** By performance.now(). */
  until: number;
  isRunning: boolean;
  kept: Kept;
  /** Called when the run ends. */
  waiters: (() => void)[];
}

/** The keys of one caller. */
interface Caller {
  readonly token: string;
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

export function createMemoryStore(ttlMs: number, limits = { keys: KEYS_MAX, kept: KEPT_MAX }): KeyStore {
  const table = createTable(limits.kept);
  const { entries } = table;

  return {
    async claim({ secret, token, fingerprint }): Promise<Claim> {
      const now = performance.now();
      table.dropOld(now);
      const known = entries.get(secret);
      if (known && !isOver(known, now)) return claimKnown(known, fingerprint);
      if (known) table.remove(known);
      const caller = table.callerOf(token);
      if (caller.count >= limits.keys || entries.size >= ALL_KEYS_MAX) return { kind: 'full' };
      table.add({ secret, caller, fingerprint, until: now + ttlMs, isRunning: true, kept: nothing, waiters: [] });
      return { kind: 'run', journal: undefined };
    },
    // The journal is kept at the end, and the state of the thing after the turn: they would not outlive the process.
    save: () => Promise.resolve(true),
    async end({ secret }, next) {
      const entry = entries.get(secret);
      if (!entry) return;
      entry.isRunning = false;
      if (next.kind === 'nothing') table.remove(entry);
      else table.keep(entry, next);
      for (const wake of entry.waiters.splice(0)) wake();
    },
    changed: ({ secret }) =>
      new Promise((resolve) => {
        const entry = entries.get(secret);
        if (entry?.isRunning) entry.waiters.push(resolve);
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
    characters += sizeOf(next) - sizeOf(entry.kept);
    entry.kept = next;
    for (const each of [kept, entry.caller.kept]) {
      each.delete(entry);
      if (sizeOf(next) > 0) each.add(entry);
    }
  }

  function remove(entry: Entry): void {
    entries.delete(entry.secret);
    setKept(entry, nothing);
    if (--entry.caller.count === 0) callers.delete(entry.caller.token);
  }

  return {
    entries,
    callerOf: (token: string): Caller => callers.get(token) ?? { token, count: 0, kept: new Set() },
    add(entry: Entry): void {
      entries.set(entry.secret, entry);
      entry.caller.count++;
      callers.set(entry.caller.token, entry.caller);
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
  if (entry.fingerprint !== fingerprint) return { kind: 'reused' };
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

interface Waiting {
  start: (turn: Turn | undefined) => void;
}

/** Turns by thing. What is known of a thing is kept after its turns. */
function createTurns(): KeyStore['takeTurn'] {
  const states = new LRUCache<string, ThingState>(atMost(THINGS_MAX));
  const queues = new Map<string, Set<Waiting>>();

  function next(thing: string, queue: Set<Waiting>): void {
    const [first] = queue;
    if (!first) return void queues.delete(thing);
    let isLeft = false;
    first.start({
      state: states.get(thing) ?? freshState,
      leave(state) {
        if (isLeft) return;
        isLeft = true;
        states.set(thing, state);
        queue.delete(first);
        next(thing, queue);
      },
    });
  }

  return (thing, cancellation) =>
    new Promise((resolve) => {
      const queue = queues.get(thing) ?? new Set();
      queues.set(thing, queue);
      const onCancel = () => {
        if (queue.delete(waiting)) resolve(undefined);
      };
      const listener = { onCancel };
      const waiting: Waiting = {
        start(turn) {
          removeListener(cancellation, listener);
          resolve(turn);
        },
      };
      queue.add(waiting);
      if (queue.size === 1) return next(thing, queue);
      addListener(cancellation, listener);
    });
}
