/** Keys of one process, for facades without Redis. Bounded by number and size, for each caller and for all. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import { type CancellationToken, addListener, removeListener } from '../../lib/cancellation.ts';
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
  readonly id: string;
  readonly token: string;
  readonly fingerprint: string;
  /** By performance.now(). */
  until: number;
  isRunning: boolean;
  kept: Kept;
  /** Called when the run ends. */
  waiters: (() => void)[];
}

/** Of all callers. */
const ALL_KEYS_MAX = 100_000;
const ALL_KEPT_MAX_CHARACTERS = 16_000_000;
const THINGS_MAX = 20_000;
const nothing: Kept = Object.freeze({ kind: 'nothing' });
const mark: Kept = Object.freeze({ kind: 'mark' });

export function createMemoryStore(ttlMs: number, limits = { keys: KEYS_MAX, kept: KEPT_MAX }): KeyStore {
  const table = createTable(limits.kept);
  const { entries } = table;
  const turns = createTurns();

  return {
    async claim({ id, token, fingerprint }): Promise<Claim> {
      table.dropOld();
      const known = entries.get(id);
      if (known) return claimKnown(known, fingerprint);
      if (table.keysOf(token) >= limits.keys || entries.size >= ALL_KEYS_MAX) return { kind: 'full' };
      const until = performance.now() + ttlMs;
      table.add({ id, token, fingerprint, until, isRunning: true, kept: nothing, waiters: [] });
      return { kind: 'run', journal: undefined };
    },
    // The journal is kept at the end: it would not outlive the process.
    async save(_key, _journal, thing, state) {
      turns.states.set(thing, state);
      return true;
    },
    async end({ id }, next) {
      const entry = entries.get(id);
      if (!entry) return;
      entry.isRunning = false;
      if (next.kind === 'nothing') table.remove(entry);
      else table.keep(entry, next);
      for (const wake of entry.waiters.splice(0)) wake();
    },
    changed: ({ id }) =>
      new Promise((resolve) => {
        const entry = entries.get(id);
        if (entry?.isRunning) entry.waiters.push(resolve);
        else resolve();
      }),
    takeTurn: turns.take,
  };
}

/** The entries, counted by caller and by size. */
function createTable(keptOfCaller: number) {
  /** In the order in which they were claimed, so the first is over first. */
  const entries = new Map<string, Entry>();
  const perCaller = new Map<string, number>();
  /** Entries with a response or a journal, of each caller and of all; the oldest first. */
  const kept = new Map<string, Set<Entry>>();
  const oldest = new Set<Entry>();
  let characters = 0;

  function setKept(entry: Entry, next: Kept): void {
    characters += sizeOf(next) - sizeOf(entry.kept);
    entry.kept = next;
    const own = kept.get(entry.token) ?? new Set();
    oldest.delete(entry);
    own.delete(entry);
    if (sizeOf(next) > 0) {
      oldest.add(entry);
      own.add(entry);
      kept.set(entry.token, own);
    } else if (own.size === 0) kept.delete(entry.token);
  }

  function remove(entry: Entry): void {
    entries.delete(entry.id);
    setKept(entry, nothing);
    const left = (perCaller.get(entry.token) ?? 1) - 1;
    if (left > 0) perCaller.set(entry.token, left);
    else perCaller.delete(entry.token);
  }

  return {
    entries,
    keysOf: (token: string): number => perCaller.get(token) ?? 0,
    add(entry: Entry): void {
      entries.set(entry.id, entry);
      perCaller.set(entry.token, (perCaller.get(entry.token) ?? 0) + 1);
    },
    /** Of the oldest entries only the mark stays, if there are too many or too large ones. */
    keep(entry: Entry, next: Kept): void {
      setKept(entry, next);
      const own = kept.get(entry.token);
      while (own && own.size > keptOfCaller) setKept(firstOf(own), mark);
      while (characters > ALL_KEPT_MAX_CHARACTERS) setKept(firstOf(oldest), mark);
    },
    remove,
    dropOld(): void {
      const now = performance.now();
      for (const entry of entries.values()) {
        if (entry.until > now || entry.isRunning) return;
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

const sizeOf = (kept: Kept): number => (kept.kind === 'journal' || kept.kind === 'response' ? kept.text.length : 0);

const firstOf = (entries: ReadonlySet<Entry>): Entry => entries.values().next().value!;

interface Waiting {
  start: (turn: Turn | undefined) => void;
}

/** Turns by thing. What is known of a thing is kept after its turns. */
function createTurns() {
  const states = new LRUCache<string, ThingState>(atMost(THINGS_MAX));
  const queues = new Map<string, Set<Waiting>>();

  function next(thing: string, queue: Set<Waiting>): void {
    const [first] = queue;
    if (!first) return void queues.delete(thing);
    let isOver = false;
    first.start({
      state: states.get(thing) ?? freshState,
      leave(state) {
        if (isOver) return;
        isOver = true;
        states.set(thing, state);
        queue.delete(first);
        next(thing, queue);
      },
    });
  }

  return {
    states,
    take: (thing: string, cancellation: CancellationToken): Promise<Turn | undefined> =>
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
      }),
  };
}
