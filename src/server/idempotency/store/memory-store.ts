/** Keys of one process, for facades without Redis. Bounded by number and size for each caller, who never removes what belongs to another. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../../lib/remember.ts';
import {
  REMEMBERED_CHANGES,
  type Claim,
  type KeyIdentity,
  type KeyRun,
  type KeyStore,
  STORE_LIMITS,
  type TargetChange,
  type TargetState,
  type Targets,
  type Turn,
  type Waiting,
  credentialOwner,
  freshState,
  joinStates,
  personOwner,
} from './key-store.ts';
import { type Entry, createTable, nothing } from './memory-table.ts';
import { createTurns } from './turns.ts';

/** Of all callers; one that has many of them keeps others from having new ones, and never removes theirs. */
const ALL_KEYS_MAX = 200_000;
const TARGETS_MAX = 20_000;
const CREDENTIALS_MAX = 20_000;
export function createMemoryStore(ttlMs: number, limits = STORE_LIMITS): KeyStore {
  const table = createTable(limits);
  const { entries } = table;
  const targets = createTargets();
  /** The credentials of each person that keys may have been claimed with. */
  const credentials = new LRUCache<string, string[]>(atMost(CREDENTIALS_MAX));

  const run = (entry: Entry, owners: readonly string[]): Claim => ({
    kind: 'run',
    run: startRun(entry, owners, table, targets.states),
  });

  return {
    now,
    owners: (credential, person) =>
      person === undefined
        ? [credentialOwner(credential)]
        : [personOwner(person), ...new Set([credential, ...(credentials.get(person) ?? [])].map(credentialOwner))],
    link(credential, person) {
      const known = credentials.get(person) ?? [];
      if (!known.includes(credential)) credentials.set(person, [...known, credential].slice(-LINKED_MAX));
    },
    claim(key): Claim {
      table.dropOld(now());
      const known = find(key);
      if (known) return claimKnown(known, key.fingerprint) ?? run(known, key.owners);
      const [owner, id] = [key.owners[0]!, key.ids[0]!];
      const caller = table.callerOf(owner);
      const isFull = caller.count >= limits.keys || caller.open.size >= limits.open || entries.size >= ALL_KEYS_MAX;
      if (isFull) return { kind: 'full' };
      const { fingerprint } = key;
      const until = now() + ttlMs;
      const fresh = { isRunning: true, savedAt: undefined, kept: nothing, waiters: undefined };
      return run(table.add({ id, fingerprint, owner, caller, until, ...fresh }), key.owners);
    },
    changed: (key) =>
      new Promise((resolve) => {
        const entry = find(key);
        if (entry?.isRunning) (entry.waiters ??= []).push(resolve);
        else resolve();
      }),
    takeTurn: targets.takeTurn,
    noteChange: targets.noteChange,
  };

  function find({ ids }: KeyIdentity): Entry | undefined {
    for (const id of ids) {
      const entry = entries.get(id);
      if (entry && (entry.isRunning || entry.until > now())) return entry;
      if (entry) table.remove(entry);
    }
    return undefined;
  }
}

function startRun(
  entry: Entry,
  owners: readonly string[],
  table: ReturnType<typeof createTable>,
  states: LRUCache<string, TargetState>,
): KeyRun {
  const { id, owner, kept, savedAt } = entry;
  entry.isRunning = true;
  return {
    id,
    owners: [owner, ...owners.filter((each) => each !== owner)],
    savedAt,
    journal: kept.kind === 'journal' ? kept.text : undefined,
    // The journal is kept at the end: it would not outlive the process.
    save(_, target, state) {
      states.set(target, state);
      return (entry.savedAt = now());
    },
    end(next) {
      entry.isRunning = false;
      if (next.kind === 'nothing') table.remove(entry);
      else table.keep(entry, next);
      const { waiters = [] } = entry;
      entry.waiters = undefined;
      for (const wake of waiters) wake();
    },
  };
}

/** What is known of targets, and the turns to write to them. */
function createTargets() {
  const takeTurn = createTurns();
  const states = new LRUCache<string, TargetState>(atMost(TARGETS_MAX));
  const changes = new LRUCache<string, TargetChange[]>(atMost(TARGETS_MAX));
  return {
    states,
    takeTurn: async (targets: Targets, waiting: Waiting): Promise<Turn | undefined> => {
      const [target] = targets;
      const end = await takeTurn(target, waiting);
      if (!end) return undefined;
      return {
        state: joinStates(targets.map((each) => states.get(each))),
        changes: targets.flatMap((each) => changes.get(each) ?? []),
        now: now(),
        leave(state) {
          if (state !== freshState) states.set(target, state);
          end();
        },
      };
    },
    noteChange: (targets: readonly string[], id: string | undefined): void => {
      for (const target of targets)
        changes.set(target, [...(changes.get(target) ?? []), { at: now(), id }].slice(-REMEMBERED_CHANGES));
    },
  };
}

const now = (): number => performance.now();

/** Tokens of one person that are remembered. */
const LINKED_MAX = 20;

/** Undefined if it is to run. */
function claimKnown({ fingerprint, isRunning, kept }: Entry, asked: string): Claim | undefined {
  if (fingerprint !== asked) return { kind: 'reused' };
  if (isRunning) return { kind: 'busy' };
  if (kept.kind === 'response') return { kind: 'replay', response: kept.text };
  return kept.kind === 'mark' ? { kind: 'forgotten' } : undefined;
}
