/** What is remembered of keys, and of what they wrote to: in memory, or in the Redis that replicas share. */
import type { CancellationToken } from '../../../lib/cancellation.ts';

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
  | { kind: 'run'; run: KeyRun }
  /** Another request with the key runs now. */
  | { kind: 'busy' }
  | { kind: 'replay'; response: string }
  /** The key belongs to another document or other variables. */
  | { kind: 'reused' }
  /** The key was used, and what came of it is no longer kept. */
  | { kind: 'forgotten' }
  /** The caller has too many keys, or too many whose writes have an unknown outcome. */
  | { kind: 'full' };

/** What is kept of a key after a run. */
export type Kept =
  /** The next request with the key is the first one. */
  | { kind: 'nothing' }
  /** The next request runs again, with this journal. */
  | { kind: 'journal'; text: string }
  | { kind: 'response'; text: string }
  /** Its writes are done, and the response is not kept. */
  | { kind: 'mark' };

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
  /** Records what is about to be sent, and returns the time. Undefined if it was not stored, or if the claim was lost: nothing may be sent. */
  save: (journal: () => string, target: string, state: TargetState) => Reply<number | undefined>;
  end: (kept: Kept) => Reply<void>;
}

/** A write of unknown outcome that creates something. */
export interface OpenWrite {
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
  /** Of what it created; undefined for any other write. */
  readonly id?: string | undefined;
}

/** The right to write to a target. */
export interface Turn {
  readonly state: TargetState;
  readonly changes: readonly TargetChange[];
  readonly now: number;
  /** Passes it on, with what is known now. */
  leave: (state: TargetState) => void;
}

/** Waits for something that another request holds. */
export interface Waiting {
  readonly cancellation: CancellationToken;
  /** Called before the first wait. Throws if too many wait. */
  begin: () => void;
}

/** The store in memory answers at once. */
export type Reply<T> = T | Promise<T>;

/** One target as its owners name it: the turn is that of the first, and what is known of the others counts too. */
export type Targets = readonly [string, ...string[]];

export interface KeyStore {
  /** By the one clock that all processes share. Undefined if the store cannot be reached. */
  now: () => Reply<number | undefined>;
  /** Who may have claimed a key of this sender; the first is for new keys. Undefined if the store cannot be reached. */
  owners: (credential: string, person: string | undefined) => Reply<readonly string[] | undefined>;
  /** The credential is one of this person. */
  link: (credential: string, person: string) => void;
  /** Undefined if the store cannot be reached. */
  claim: (key: KeyIdentity) => Reply<Claim | undefined>;
  /** Resolves when a busy key may be free, or a while later. */
  changed: (key: KeyIdentity) => Promise<void>;
  /** Undefined if the store cannot be reached, or if the wait is cancelled. */
  takeTurn: (targets: Targets, waiting: Waiting) => Reply<Turn | undefined>;
  noteChange: (targets: readonly string[], id: string | undefined) => void;
}

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
export const isFresh = ({ last, open, created, createdSince }: TargetState): boolean =>
  last === undefined && open.length === 0 && created.length === 0 && createdSince === 0;

export const freshState: TargetState = Object.freeze({ open: [], created: [], createdSince: 0 });

export const personOwner = (person: string): string => `person ${person}`;
export const credentialOwner = (credential: string): string => `credential ${credential}`;

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
