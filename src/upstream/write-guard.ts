/**
 * What may stand between a mutation and its writes: with an `Idempotency-Key`, each write is recorded before it is sent, and read back if
 * its response is lost.
 */
import type { AnswerOf, Endpoint, InputOf, WritesOf } from '../api/endpoint.ts';
import type { MemberNames } from '../api/record-source.ts';
import type { CancellationToken } from '../lib/cancellation.ts';
import type { FilePart } from './http/multipart.ts';

/** What the service shows of a write. */
export type ReadBack =
  /** It was carried out. `value`: its response, as if it had come; `id`: of what it created. */
  | { kind: 'there'; value: unknown; id?: string }
  /** It shows the state before the write. */
  | { kind: 'absent' }
  /** Neither: somebody else may have changed it, or what is read does not decide. */
  | { kind: 'unknown' };

/** What was there before a write. */
export interface Snapshot {
  /** A hash of the record. */
  readonly state?: string;
  /** Numbers of the pictures, or ids of the items of a list. */
  readonly ids?: readonly string[];
  /** The list has no further items. */
  readonly isWhole?: boolean;
  /** The position of the first item. */
  readonly start?: number;
  /** Whose list it is. */
  readonly person?: string;
}

/** Reads from the service, never from a cache: these members, or all; null if it is absent. */
export type ReadRecord = <E extends Endpoint>(
  endpoint: E,
  input: InputOf<E>,
  members?: MemberNames,
) => Promise<AnswerOf<E> | null>;

export interface Reading {
  readonly read: ReadRecord;
  /** The id of the person whose token it is, if it is known. */
  readonly person: string | undefined;
}

/** What may be read before a write, to keep what its input leaves out. */
export interface PatchSource extends Reading {
  /** Reads without any token. */
  readonly readAsNobody: ReadRecord;
}

/** What a write keeps of the record that it replaces. */
export interface FilledIn {
  /** What its input was completed with. With a key it is recorded, so that a retry is the same write. */
  readonly kept?: object | undefined;
  /** The record as it was read for that: it need not be read again before the write is sent. */
  readonly known?: { readonly endpoint: Endpoint; readonly record: unknown } | undefined;
  /** The id of the person whose record it is, as the read has named it. */
  readonly owner?: string | undefined;
  /** The record is as the write would leave it: nothing is sent. */
  readonly isUnchanged?: true;
}

/** A write whose response was lost. */
export interface LostWrite extends Reading {
  /** What was read before the write was sent; undefined if that failed. */
  readonly before: Snapshot | undefined;
  /** The names of the files that were sent; undefined if it has none. */
  readonly fileNames: readonly string[] | undefined;
}

/** How it is recognised whether a write was carried out. Each mutation has a rule. */
export interface WriteRule<In = never> {
  /** The read that shows it to a person. */
  readonly lookAt: (input: In) => string;
  /** The most reads of `before` and of `find`. */
  readonly reads: readonly [before: number, find: number];
  readonly before?: (input: In, reading: Reading) => Promise<Snapshot | undefined>;
  readonly find?: (input: In, write: LostWrite) => Promise<ReadBack>;
  /** It creates something: of two equal ones, two are made. */
  readonly creates?: true;
  /** No read shows it, and a second one changes nothing. */
  readonly isRepeatable?: true;
  /** Codes by which the service says that a second one finds it done. */
  readonly doneOn?: readonly number[];
}

/** A rule for each endpoint of a table that writes. */
export type WriteRules<Table> = {
  readonly [Name in WritesOf<Table>]: WriteRule<InputOf<Table[Name]>>;
};

/** One write of an operation. */
export interface GuardedWrite extends FilledIn {
  readonly endpoint: Endpoint;
  readonly input: object;
  readonly rule: WriteRule<object>;
  /** The path of its field in the response. */
  readonly field: string;
  readonly files: readonly FilePart[] | undefined;
  /** The token of the operation. */
  readonly cancellation: CancellationToken;
  /** The id of the person whose token it is, as far as responses have shown it. */
  readonly person: () => string | undefined;
  /** Makes the call, which goes on when the operation ends. Nothing is sent if `mayBegin` is false right before the first byte. */
  readonly send: (files: readonly FilePart[] | undefined, mayBegin: () => boolean) => Promise<unknown>;
  readonly read: ReadRecord;
  /** Called if the write ends after its operation. */
  readonly onLate: () => void;
  /** Called with the write if its operation ends before it. */
  readonly onLeft?: (running: Promise<unknown>) => void;
}

export interface WriteGuard {
  /** The response of the write, which this may send, find by reading, or remember. */
  write: (write: GuardedWrite) => Promise<unknown>;
  /** What an earlier request with the key has completed the first write of a field with; undefined if it has recorded none. */
  keptBy: (field: string) => object | undefined;
}
