/** A key from its claim to the end of its run. After a crash the next request with the key takes over, with the journal. */
import { randomUUID } from 'node:crypto';
import {
  type Kept,
  type KeyEntry,
  type StoreLimits,
  type TargetEvent,
  addEvent,
  bucketAt,
  holderOf,
  ownerIn,
  takePlace,
} from './entries.ts';
import { type Busy, type Draft, type EntryTable, type Reply, type Waiting, after } from './entry-table.ts';
import { type Targets, credentialOwner, keyName, ownerName, personOwner, responseName, slotName } from './names.ts';

/** A key of one sender. */
export interface KeyIdentity {
  readonly credential: string;
  readonly person: string | undefined;
  /** Stores outside of this process get hashes alone. What is kept is encrypted with it and its owner. */
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
   * `reused`: the key belongs to another document or other variables. `forgotten`: it was used, and what came of it is no longer kept.
   * `full`: the owner has too many keys, or too many whose writes have an unknown outcome.
   */
  kind: 'reused' | 'forgotten' | 'full';
}

/** Who has the turn of a target, under all its names. */
export interface TurnHeld {
  readonly ticket: string;
  readonly targets: Targets;
}

/** What is recorded before a write is sent. */
export interface Sending {
  journal: () => string;
  turn: TurnHeld;
  event: Omit<TargetEvent, 'at' | 'until'>;
  /** How long a creation may be carried out from now on. */
  openMs?: number | undefined;
  /** The targets of the creations whose item it deletes. */
  removedFrom?: readonly string[] | undefined;
}

/** The right to run a key. */
export interface KeyRun {
  /** The key of this caller, in the store. */
  readonly id: string;
  /** Who claimed the key first, a person or a credential, and then who else may have. */
  readonly owners: Targets;
  /** What earlier runs recorded. */
  readonly journal: string | undefined;
  /** When they recorded the last write before it was sent. */
  readonly savedAt: number | undefined;
  /** Returns the time. Undefined if it was not stored, or if the claim or the turn was lost: nothing may be sent. */
  save: (sending: Sending) => Reply<number | undefined>;
  end: (kept: Kept) => Reply<void>;
}

/** What the rules of keys need. */
export interface StoreParts {
  table: EntryTable;
  ttlMs: number;
  limits: StoreLimits;
  /** Keys of this process, also where their places have ended. */
  running: Set<string>;
  seal: (secret: string, text: string) => string;
  /** Undefined if it was sealed with another secret. */
  unseal: (secret: string, text: string) => string | undefined;
}

interface Claimed {
  readonly kind: 'run';
  readonly owners: Targets;
  readonly id: string;
  readonly key: KeyEntry;
}

/** Waits while another request with the key runs. Undefined if the store cannot be reached, or the wait is cancelled. */
export async function claimKey(parts: StoreParts, key: KeyIdentity, waiting: Waiting): Promise<Claim | undefined> {
  const ticket = randomUUID();
  const claimed = await parts.table.untilFree((draft) => decideClaim(parts, key, ticket, draft), waiting);
  return claimed?.kind === 'run' ? { kind: 'run', run: createRun(parts, key.key, claimed) } : claimed;
}

/** Who may have claimed a key of this sender; the first is for new keys. */
function ownersOf({ unseal }: StoreParts, { credential, person }: KeyIdentity, { get }: Draft): Targets {
  const own = credentialOwner(credential);
  const sealed = person === undefined ? get(ownerName(own)).person : undefined;
  const whose = person ?? (sealed === undefined ? undefined : unseal(credential, sealed));
  if (whose === undefined) return [own];
  const ofPerson = personOwner(whose);
  const linked = get(ownerName(ofPerson)).owner?.credentials ?? [];
  return [ofPerson, ...new Set([own, ...linked.map(credentialOwner)])];
}

function decideClaim(
  parts: StoreParts,
  identity: KeyIdentity,
  ticket: string,
  draft: Draft,
): Claimed | Exclude<Claim, { kind: 'run' }> | Busy {
  const { table, limits, ttlMs, running, unseal } = parts;
  const { now, get, edit } = draft;
  const all = ownersOf(parts, identity, draft);
  const ids = all.map((each) => keyName(each, identity.key));
  const at = Math.max(
    0,
    ids.findIndex((each) => get(each).key),
  );
  const [id, owner] = [ids[at]!, all[at]!];
  const known = get(id).key;
  if (known && known.fingerprint !== identity.fingerprint) return { kind: 'reused' };
  if (known?.kind === 'response') {
    const sealed = get(responseName(id)).response;
    const response = sealed === undefined ? undefined : unseal(secretOf(owner, identity.key), sealed);
    return response === undefined ? { kind: 'forgotten' } : { kind: 'replay', response };
  }
  if (known?.kind === 'mark') return { kind: 'forgotten' };
  if (ids.some((each) => running.has(each)) || holderOf(get(id), now) !== undefined) return { busy: ids };
  const bucket = bucketAt(now, ttlMs);
  if (!known) {
    const { keys, open } = ownerIn(edit(ownerName(owner)), now, ttlMs);
    const count = Object.values(keys).reduce((sum, each) => sum + each, 0);
    if (count >= limits.keys || Object.keys(open).length >= limits.open || table.isFull()) return { kind: 'full' };
    keys[bucket] = (keys[bucket] ?? 0) + 1;
  }
  const entry = edit(id);
  const key = (entry.key = { fingerprint: identity.fingerprint, kind: 'nothing', bucket, ...known, run: ticket });
  takePlace(entry, { ticket, until: now + table.placeMs }, now);
  return { kind: 'run', owners: [owner, ...all.filter((each) => each !== owner)], id, key };
}

function createRun(parts: StoreParts, key: string, { owners, id, key: claimed }: Claimed): KeyRun {
  const { table, running } = parts;
  const { run, text, savedAt } = claimed;
  const [owner] = owners;
  const secret = secretOf(owner, key);
  const stop = table.keepPlaces([id], run);
  running.add(id);
  return {
    id,
    owners,
    journal: text === undefined ? undefined : parts.unseal(secret, text),
    savedAt,
    save({ journal, turn: { ticket, targets }, event, openMs, removedFrom = [] }) {
      // One process needs no journal before the end of the run: it would not outlive the process.
      const recorded = table.isShared ? parts.seal(secret, journal()) : text;
      const saved = table.change(({ now, get, edit }) => {
        const holds = (name: string, held: string) => holderOf(get(name), now) === held;
        if (!holds(id, run) || !targets.every((target) => holds(target, ticket))) return 0;
        const entry = edit(id);
        entry.key = { ...claimed, kind: 'journal', text: recorded, savedAt: now };
        takePlace(entry, { ticket: run, until: now + table.placeMs }, now);
        addEvent(edit(targets[0]), { ...event, at: now, ...(openMs !== undefined && { until: now + openMs }) });
        for (const each of removedFrom) addEvent(edit(each), { at: now });
        return now;
      });
      return after(saved, (at) => (at === 0 ? undefined : at));
    },
    end(kept) {
      stop();
      running.delete(id);
      const sealed = 'text' in kept ? { ...kept, text: parts.seal(secret, kept.text) } : kept;
      const ended = table.change((draft) => {
        const last = draft.get(id).key;
        // Else another run has claimed it.
        if (!last || last.run === run) keep(parts, id, owner, { ...claimed, savedAt: last?.savedAt }, sealed, draft);
        return true;
      }, true);
      return after(ended, () => table.free([id]));
    },
  };
}

/** Writes what is kept after a run. Responses take the slots of older ones, so they are bounded in number and characters. */
function keep(
  { ttlMs, limits }: StoreParts,
  id: string,
  name: string,
  claimed: KeyEntry,
  kept: Kept,
  { now, edit }: Draft,
): void {
  const ofOwner = edit(ownerName(name));
  const owner = ownerIn(ofOwner, now, ttlMs);
  const entry = edit(id);
  entry.places = undefined;
  entry.key = kept.kind === 'nothing' ? undefined : { ...claimed, kind: kept.kind, text: undefined };
  delete owner.open[id];
  if (kept.kind === 'nothing') {
    const left = (owner.keys[claimed.bucket] ?? 0) - 1;
    if (left > 0) owner.keys[claimed.bucket] = left;
    else delete owner.keys[claimed.bucket];
    const isUsed = [owner.keys, owner.open, owner.credentials].some((each) => Object.keys(each).length > 0);
    if (!isUsed) ofOwner.owner = undefined;
  } else if (kept.kind === 'journal') {
    entry.key = { ...entry.key!, text: kept.text };
    owner.open[id] = now + ttlMs;
  } else if (kept.kind === 'response') {
    const size = Math.ceil((kept.text.length * limits.kept) / limits.keptCharacters);
    if (size > limits.kept) return void (entry.key = { ...entry.key!, kind: 'mark' });
    for (let more = 0; more < size; more++) {
      const slot = edit(slotName(name, (owner.slot + more) % limits.kept));
      if (slot.slotOf !== undefined) edit(responseName(slot.slotOf)).response = undefined;
      slot.slotOf = more === 0 ? id : undefined;
    }
    owner.slot += size;
    edit(responseName(id)).response = kept.text;
  }
}

/** What is kept of a key is encrypted with it. */
const secretOf = (owner: string, key: string): string => `${owner.length} ${owner}${key}`;
