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
  isFresh,
  joinStates,
  personOwner,
} from './key-store.ts';
import { type Entry, createTable, nothing } from './memory-table.ts';
import { type OwnedCache, createOwnedCache } from './owned-cache.ts';
import { createTurns } from './turns.ts';

/** Of all callers; one that has many of them keeps others from having new ones, and never removes theirs. */
const ALL_KEYS_MAX = 200_000;
/** What is remembered of them; of more the oldest of who has most goes. */
const TARGETS = { ofOwner: 2_000, ofAll: 20_000 };
const CREDENTIALS_MAX = 20_000;
export function createMemoryStore(ttlMs: number, limits = STORE_LIMITS): KeyStore {
  const table = createTable(limits);
  const { entries } = table;
  const targets = createTargets();
  /** The credentials of each person that keys may have been claimed with. */
  const credentials = new LRUCache<string, string[]>(atMost(CREDENTIALS_MAX));

  const run = (entry: Entry, owners: readonly string[]): Claim => ({
    kind: 'run',
    run: startRun(entry, { owners, table, states: targets.states, ttlMs }),
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

interface RunParts {
  owners: readonly string[];
  table: ReturnType<typeof createTable>;
  states: OwnedCache<TargetState>;
  ttlMs: number;
}

function startRun(entry: Entry, { owners, table, states, ttlMs }: RunParts): KeyRun {
  const { id, owner, kept, savedAt } = entry;
  entry.isRunning = true;
  return {
    id,
    owners: [owner, ...owners.filter((each) => each !== owner)],
    savedAt,
    journal: kept.kind === 'journal' ? kept.text : undefined,
    // The journal is kept at the end: it would not outlive the process.
    save(_, target, state) {
      states.set(ownerIn(target), target, state);
      return (entry.savedAt = now());
    },
    end(next) {
      entry.isRunning = false;
      if (next.kind === 'nothing') table.remove(entry);
      else table.keep(entry, next, now() + ttlMs);
      const { waiters = [] } = entry;
      entry.waiters = undefined;
      for (const wake of waiters) wake();
    },
  };
}

/** What is known of targets, and the turns to write to them. */
function createTargets() {
  const takeTurn = createTurns();
  const states = createOwnedCache<TargetState>(TARGETS);
  const changes = createOwnedCache<TargetChange[]>(TARGETS);
  return {
    states,
    takeTurn: async (targets: Targets, waiting: Waiting): Promise<Turn | undefined> => {
      const [target] = targets;
      const end = await takeTurn(target, waiting);
      if (!end) return undefined;
      return {
        state: joinStates(targets.map((each) => states.get(ownerIn(each), each))),
        changes: targets.flatMap((each) => changes.get(ownerIn(each), each) ?? []),
        now: now(),
        leave(state) {
          if (isFresh(state)) states.delete(ownerIn(target), target);
          else states.set(ownerIn(target), target, state);
          end();
        },
      };
    },
    noteChange: (targets: readonly string[], id: string | undefined): void => {
      for (const target of targets) {
        const known = changes.get(ownerIn(target), target) ?? [];
        changes.set(ownerIn(target), target, [...known, { at: now(), id }].slice(-REMEMBERED_CHANGES));
      }
    },
  };
}

const ownerIn = (target: string): string => target.split('.', 1)[0]!;

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
