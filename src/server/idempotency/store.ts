/** What is remembered of keys, and of the things that they wrote: in memory, or in the Redis that replicas share. */
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { KeyIdentity } from './key.ts';

/** What a request with a key is to do. */
export type Claim =
  /** Run: nobody else does. `journal`: what an earlier run of the key recorded; `person`: whose token it is, if other processes know. */
  | { kind: 'run'; journal: string | undefined; person?: string | undefined }
  /** Another request with the key runs now. */
  | { kind: 'busy' }
  | { kind: 'replay'; response: string }
  /** The key belongs to another document or other variables. */
  | { kind: 'reused' }
  /** The key was used, and what came of it is no longer kept. */
  | { kind: 'forgotten' }
  /** The caller has too many keys. */
  | { kind: 'full' };

/** What is kept of a key after a run. */
export type Kept =
  /** The next request with the key is the first one. */
  | { kind: 'nothing' }
  /** The next request runs again, with this journal. */
  | { kind: 'journal'; text: string }
  | { kind: 'response'; text: string }
  /** It was used. */
  | { kind: 'mark' };

export interface OpenWrite {
  readonly name: string;
  /** When it was sent. */
  readonly at: number;
  /** Equal for equal inputs. */
  readonly input: string;
}

/** What is known of the keyed writes to one thing of one caller. */
export interface ThingState {
  /** The last write that was sent. */
  readonly last: string | undefined;
  /** Writes that create something, and whose outcome is unknown. */
  readonly open: readonly OpenWrite[];
  /** What such writes created, and which of them. */
  readonly created: readonly { readonly name: string; readonly id: string }[];
}

/** The right to write to a thing: writes with keys take turns in order of arrival. */
export interface Turn {
  readonly state: ThingState;
  /** Passes it on, with what is known now. */
  leave: (state: ThingState) => void;
}

/** The store in memory answers at once. */
type Reply<T> = T | Promise<T>;

export interface KeyStore {
  /** Undefined if the store cannot be reached. */
  claim: (key: KeyIdentity) => Reply<Claim | undefined>;
  /** Records what is about to be sent. False if it was not stored, or if the claim was lost: then nothing may be sent. */
  save: (key: KeyIdentity, journal: () => string, thing: string, state: ThingState) => Reply<boolean>;
  /** Ends the claim. `person`: whose token it is. */
  end: (key: KeyIdentity, kept: Kept, person: string | undefined) => Reply<void>;
  /** Resolves when a busy key may be free, or a while later. */
  changed: (key: KeyIdentity) => Promise<void>;
  /** Undefined if the store cannot be reached, or if the operation is cancelled before its turn. */
  takeTurn: (thing: string, cancellation: CancellationToken) => Reply<Turn | undefined>;
}

export const freshState: ThingState = Object.freeze({ last: undefined, open: [], created: [] });

/** Keys of one caller, with what came of them or without. */
export const KEYS_MAX = 10_000;
/** Responses and journals of one caller; of more, only that the key was used. */
export const KEPT_MAX = 1_000;
/** Characters of a response or journal. */
export const KEPT_CHARACTERS_MAX = 200_000;
