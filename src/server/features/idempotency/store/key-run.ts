/** A key from its claim to the end of its run. */
import { randomUUID } from 'node:crypto';
import {
  type KeyEntry,
  type Kept,
  type OwnerEntry,
  type StoreLimits,
  type TargetState,
  bucketAt,
  countKeys,
  liveOwner,
  withChange,
  withOwner,
} from './entries.ts';
import { type Draft, type EntryTable, type Reply, after } from './entry-table.ts';
import { ownerName, slotName, unstoredName } from './names.ts';
import { holds, keepPlaces, placesIn, withPlace } from './places.ts';

/** A key of one sender. */
export interface KeyIdentity {
  /** Who may have claimed it; the first is for a new one. */
  readonly owners: readonly string[];
  /** The key of each owner. Stores outside of this process get hashes alone. */
  readonly ids: readonly string[];
  /** What is kept is encrypted with it and the owner. */
  readonly key: string;
  /** A hash, the same for requests of the key with the same document and variables. */
  readonly fingerprint: string;
}

/** What a request with a key is to do. */
export type Claim =
  /** Run: nobody else does. */
  { kind: 'run'; run: KeyRun } | { kind: 'replay'; response: string } | Refused;

interface Refused {
  /**
   * `busy`: another request with the key runs now. `reused`: the key belongs to another document or other variables. `forgotten`: it was
   * used, and what came of it is no longer kept. `full`: the owner has too many keys, or too many whose writes have an unknown outcome.
   */
  kind: 'busy' | 'reused' | 'forgotten' | 'full';
}

/** Who has the turn of a target, under all its names. */
export interface TurnHeld {
  readonly ticket: string;
  readonly targets: readonly string[];
}

/** The right to run a key. */
export interface KeyRun {
  /** The key of this caller, in the store. */
  readonly id: string;
  /** Who claimed the key first, a person or a credential, and then who else may have. */
  readonly owners: readonly [string, ...string[]];
  /** What earlier runs recorded. */
  readonly journal: string | undefined;
  /** When they recorded the last write before it was sent. */
  readonly savedAt: number | undefined;
  /**
   * Records what is about to be sent, and returns the time. Undefined if it was not stored, or if the claim or the turn was lost: nothing
   * may be sent. `removedFrom`: the targets of the creations whose item it deletes.
   */
  save: (
    journal: () => string,
    turn: TurnHeld,
    state: TargetState,
    removedFrom?: readonly string[],
  ) => Reply<number | undefined>;
  end: (kept: Kept) => Reply<void>;
}

/** What the rules of keys need. */
export interface StoreParts {
  table: EntryTable;
  ttlMs: number;
  limits: StoreLimits;
  leaseMs: number;
  /** Keys of this process, also where their leases have run out. */
  running: Set<string>;
  seal: (secret: string, text: string) => string;
  /** Undefined if it was sealed with another secret. */
  unseal: (secret: string, text: string) => string | undefined;
}

type Claimed =
  | { kind: 'run'; at: number; key: KeyEntry }
  /** Its response is in an entry of its own. */
  | { kind: 'replay'; at: number; slot: number }
  | Refused;

export function claimKey(parts: StoreParts, key: KeyIdentity): Reply<Claim | undefined> {
  const { table, running } = parts;
  if (key.ids.some((id) => running.has(id))) return { kind: 'busy' };
  const run = randomUUID();
  const names = [ownerName(key.owners[0]!), ...key.ids];
  const decided = table.update(names, (draft, now) => decideClaim(parts, key, run, draft, now));
  return after(decided, (claimed) => {
    if (claimed?.kind === 'run') return { kind: 'run', run: createRun(parts, key, claimed.at, claimed.key) };
    return claimed?.kind === 'replay' ? readResponse(parts, key, claimed) : claimed;
  });
}

function readResponse(
  { table, unseal }: StoreParts,
  key: KeyIdentity,
  { at, slot }: { at: number; slot: number },
): Reply<Claim | undefined> {
  const name = slotName(key.owners[at]!, slot);
  return after(
    table.update([name], (draft) => draft.get(name)?.response ?? null),
    (stored) => {
      if (stored === undefined) return undefined;
      const id = key.ids[at]!;
      const response = stored?.of === id ? stored : table.peek(unstoredName(id))?.response;
      const text = response && unseal(secretOf(key, at), response.text);
      return text === undefined ? { kind: 'forgotten' } : { kind: 'replay', response: text };
    },
  );
}

function decideClaim(
  { table, limits, ttlMs, leaseMs }: StoreParts,
  { owners, ids, fingerprint }: KeyIdentity,
  run: string,
  draft: Draft,
  now: number,
): Claimed {
  const at = Math.max(
    0,
    ids.findIndex((id) => draft.get(id)?.key),
  );
  const id = ids[at]!;
  const known = draft.get(id)?.key;
  if (known && known.fingerprint !== fingerprint) return { kind: 'reused' };
  if (known?.kind === 'response') return { kind: 'replay', at, slot: known.slot! };
  if (known?.kind === 'mark') return { kind: 'forgotten' };
  if (placesIn(draft.get(id), now).length > 0) return { kind: 'busy' };
  const bucket = bucketAt(now, ttlMs);
  if (!known) {
    const name = ownerName(owners[0]!);
    const owner = liveOwner(draft.get(name), now, ttlMs);
    const count = owner.keys.reduce((sum, each) => sum + each.count, 0);
    if (count >= limits.keys || owner.open.length >= limits.open || table.isFull()) return { kind: 'full' };
    draft.set(name, withOwner(draft.get(name), { ...owner, keys: countKeys(owner.keys, bucket, 1) }));
  }
  const key: KeyEntry = { fingerprint, kind: 'nothing', bucket, ...known, run };
  draft.set(id, withPlace({ key }, { ticket: run, until: now + leaseMs }, now));
  return { kind: 'run', at, key };
}

function createRun(parts: StoreParts, key: KeyIdentity, at: number, claimed: KeyEntry): KeyRun {
  const { table, ttlMs, leaseMs, running } = parts;
  const { run, text, savedAt } = claimed;
  const [id, owner] = [key.ids[at]!, key.owners[at]!];
  const names = [id, ownerName(owner)] as const;
  const secret = secretOf(key, at);
  const stop = keepPlaces(table, [id], run);
  running.add(id);
  return {
    id,
    owners: [owner, ...key.owners.filter((each) => each !== owner)],
    journal: text === undefined ? undefined : parts.unseal(secret, text),
    savedAt,
    save(journal, { ticket, targets }, state, removedFrom = []) {
      // One process needs no journal before the end of the run: it would not outlive the process.
      const recorded = table.isShared ? parts.seal(secret, journal()) : text;
      const saved = table.update([...names, ...targets, ...removedFrom], (draft, now) => {
        const record = draft.get(id);
        const isOurs = holds(record, run, now) && targets.every((target) => holds(draft.get(target), ticket, now));
        if (!isOurs) return 0;
        const next: KeyEntry = { ...claimed, kind: 'journal', text: recorded, savedAt: now };
        draft.set(id, withPlace({ ...record, key: next }, { ticket: run, until: now + leaseMs }, now));
        const known = liveOwner(draft.get(names[1]), now, ttlMs);
        draft.set(names[1], withOwner(draft.get(names[1]), { ...known, open: withOpen(known, id, now + ttlMs) }));
        draft.set(targets[0]!, { ...draft.get(targets[0]!), target: state });
        for (const each of removedFrom) draft.set(each, withChange(draft.get(each), { at: now, id: undefined }));
        return now;
      });
      return after(saved, (at) => (at === 0 ? undefined : at));
    },
    end(kept) {
      stop();
      running.delete(id);
      const sealed = 'text' in kept ? { ...kept, text: parts.seal(secret, kept.text) } : kept;
      const decide = (draft: Draft, now: number) => {
        const last = draft.get(id)?.key;
        // Else another run has claimed it.
        if (!last || last.run === run)
          keep(parts, { id, owner }, { ...claimed, savedAt: last?.savedAt }, sealed, draft, now);
        return true;
      };
      return after(table.update(names, decide, true), () => table.free([id]));
    },
  };
}

/** `until`: undefined if it is no longer open. */
function withOpen({ open }: OwnerEntry, id: string, until: number | undefined): OwnerEntry['open'] {
  const others = open.filter((each) => each.id !== id);
  return until === undefined ? others : [...others, { id, until }];
}

/** Writes what is kept after a run. Responses take the slots of older ones, so they are bounded in number and characters. */
function keep(
  { ttlMs, limits }: StoreParts,
  { id, owner }: { id: string; owner: string },
  claimed: KeyEntry,
  kept: Kept,
  draft: Draft,
  now: number,
): void {
  const name = ownerName(owner);
  const before = liveOwner(draft.get(name), now, ttlMs);
  const closed = { ...before, open: withOpen(before, id, undefined) };
  const key: KeyEntry = { ...claimed, kind: kept.kind, text: undefined };
  const write = (next: KeyEntry | undefined, known: OwnerEntry) => {
    draft.set(id, next ? { key: next } : null);
    draft.set(name, withOwner(draft.get(name), known));
  };
  if (kept.kind === 'nothing') return write(undefined, { ...closed, keys: countKeys(closed.keys, claimed.bucket, -1) });
  if (kept.kind === 'journal')
    return write({ ...key, text: kept.text }, { ...before, open: withOpen(before, id, now + ttlMs) });
  const size = kept.kind === 'mark' ? 0 : Math.ceil((kept.text.length * limits.kept) / limits.keptCharacters);
  if (kept.kind === 'mark' || size > limits.kept) return write({ ...key, kind: 'mark' }, closed);
  const slot = before.slot % limits.kept;
  for (let more = 1; more < size; more++) draft.set(slotName(owner, (slot + more) % limits.kept), null);
  draft.set(slotName(owner, slot), { response: { of: id, text: kept.text } });
  write({ ...key, slot }, { ...closed, slot: before.slot + size });
}

/** What is kept of the key of its owner at this position is encrypted with it. */
const secretOf = ({ key, owners }: KeyIdentity, at: number): string => `${owners[at]!.length} ${owners[at]!}${key}`;
