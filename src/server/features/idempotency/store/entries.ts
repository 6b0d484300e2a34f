/** The entries that the store keeps: of keys, of their owners, and of the targets of writes. */

/** A request that holds an entry, or waits for it. The place ends at `until` unless it is renewed. */
export interface PlaceInLine {
  readonly ticket: string;
  /** Unless it is renewed. */
  readonly until: number;
}

/** One entry of the store: of a key, of an owner, of a target, of a credential, or the text of a response. */
export interface Entry {
  /** In order: the first holds it. */
  readonly places?: readonly PlaceInLine[] | undefined;
  readonly key?: KeyEntry;
  readonly owner?: OwnerEntry | undefined;
  readonly target?: TargetState | undefined;
  /** The last changes of the target. */
  readonly changes?: readonly TargetChange[];
  /** The person of the credential. */
  readonly person?: string;
  readonly response?: { readonly of: string; readonly text: string };
}

export interface KeyEntry {
  /** A hash, the same for requests of the key with the same document and variables. */
  readonly fingerprint: string;
  /** The ticket of its last run. */
  readonly run: string;
  readonly kind: Kept['kind'];
  /** The journal. */
  readonly text?: string | undefined;
  /** When the last write was recorded before it was sent. */
  readonly savedAt?: number | undefined;
  /** Where its owner counts it. */
  readonly bucket: number;
  /** Where its response is. */
  readonly slot?: number;
}

/** A person, or a credential whose person is unknown. */
export interface OwnerEntry {
  /** How many keys were claimed in each part of the time. */
  readonly keys: readonly KeyCount[];
  /** Keys whose writes have an unknown outcome. */
  readonly open: readonly OpenKey[];
  /** The number of the next slot for a response: later ones take the slots of earlier ones. */
  readonly slot: number;
  /** The credentials of a person that keys may have been claimed with. */
  readonly credentials: readonly string[];
}

interface KeyCount {
  readonly bucket: number;
  readonly count: number;
}

interface OpenKey {
  readonly id: string;
  readonly until: number;
}

/** What is kept of a key after a run. */
export type Kept =
  /** The next request with the key is the first one. */
  | { kind: 'nothing' }
  /** The next request runs again, with this journal. */
  | { kind: 'journal'; text: string }
  | { kind: 'response'; text: string }
  /** Its writes are done, and the response is not kept. */
  | { kind: 'mark' };

/** A write of unknown outcome that creates something. */
interface OpenWrite {
  readonly name: string;
  /** Until when it may still be carried out. */
  readonly until: number;
  /** Equal for equal inputs. */
  readonly input: string;
}

/** What is known of the keyed writes of one owner to one target. */
export interface TargetState {
  /** The last write that was sent. */
  readonly last?: string | undefined;
  readonly open: readonly OpenWrite[];
  /** What keyed writes created, and which of them: it is never another's. */
  readonly created: readonly { readonly name: string; readonly id: string; readonly at: number }[];
  /** What was created before is no longer known. */
  readonly createdSince: number;
}

/** A write to the target without a key, or a deletion of one of its items. */
export interface TargetChange {
  readonly at: number;
  /** The id of what it created; undefined for any other write. */
  readonly id?: string | undefined;
}

export interface StoreLimits {
  /** Keys of one owner, with what came of them or without. */
  keys: number;
  /** Those whose writes have an unknown outcome. */
  open: number;
  /** Responses of one owner; of more, only that their writes are done. */
  kept: number;
  /** Characters of these responses. */
  keptCharacters: number;
}
export const STORE_LIMITS: StoreLimits = { keys: 10_000, open: 100, kept: 1_000, keptCharacters: 2_000_000 };
/** Characters of one response or journal. */
export const KEPT_CHARACTERS_MAX = 200_000;
/** Writes without keys to one target, or deletions of its items, that are remembered. */
export const REMEMBERED_CHANGES = 100;

export const freshState: TargetState = Object.freeze({ open: [], created: [], createdSince: 0 });
export const freshOwner: OwnerEntry = Object.freeze({ keys: [], open: [], slot: 0, credentials: [] });

/** What is known of one target under several names; the last write is that of the first. */
export function joinStates([first, ...others]: readonly (TargetState | undefined)[]): TargetState {
  if (others.every((each) => each === undefined)) return first ?? freshState;
  const all = [first ?? freshState, ...others.map((each) => each ?? freshState)];
  // What is joined is kept under the first name: the next join has it twice.
  const open = new Map(all.flatMap(({ open }) => open).map((each) => [each.name, each]));
  const created = new Map(all.flatMap(({ created }) => created).map((each) => [each.id, each]));
  return {
    last: first?.last,
    open: [...open.values()],
    created: [...created.values()].sort((a, b) => a.at - b.at),
    createdSince: Math.max(...all.map(({ createdSince }) => createdSince)),
  };
}

/** Nothing is known. */
const isFresh = ({ last, open, created, createdSince }: TargetState): boolean =>
  last === undefined && open.length === 0 && created.length === 0 && createdSince === 0;

/** The entry with what is known of the target. */
export const withState = (entry: Entry | undefined, state: TargetState): Entry => ({
  ...entry,
  target: isFresh(state) ? undefined : state,
});

/** The entry with one more change of the target. */
export const withChange = (entry: Entry | undefined, change: TargetChange): Entry => ({
  ...entry,
  changes: [...(entry?.changes ?? []), change].slice(-REMEMBERED_CHANGES),
});

/** Null if nothing is left. */
export function withOwner(entry: Entry | undefined, owner: OwnerEntry): Entry | null {
  const isFresh = owner.keys.length + owner.open.length + owner.credentials.length === 0;
  return unlessEmpty({ ...entry, owner: isFresh ? undefined : owner });
}

export const unlessEmpty = (entry: Entry): Entry | null =>
  Object.values(entry).some((each) => each !== undefined) ? entry : null;

/** Keys are counted by parts of their time, so that the count of one part ends at once. */
const BUCKETS = 24;

export const bucketAt = (now: number, ttlMs: number): number => Math.floor(now / Math.max(1, ttlMs / BUCKETS));

/** What is known of an owner, without what is over. */
export function liveOwner(entry: Entry | undefined, now: number, ttlMs: number): OwnerEntry {
  const owner = entry?.owner ?? freshOwner;
  const oldest = bucketAt(now, ttlMs) - BUCKETS;
  return {
    ...owner,
    keys: owner.keys.filter(({ bucket }) => bucket >= oldest),
    open: owner.open.filter(({ until }) => until > now),
  };
}

/** So many keys more in this part of the time. */
export function countKeys(keys: OwnerEntry['keys'], bucket: number, more: 1 | -1): OwnerEntry['keys'] {
  const count = (keys.find((each) => each.bucket === bucket)?.count ?? 0) + more;
  const others = keys.filter((each) => each.bucket !== bucket);
  return count > 0 ? [...others, { bucket, count }] : others;
}

/** The size of an entry in characters. */
export function sizeOf({ key, target, changes = [], response }: Entry): number {
  const items = changes.length + (target ? target.created.length + target.open.length : 0);
  return 500 + 100 * items + (key?.text?.length ?? 0) + (response?.text.length ?? 0);
}
