/** What may stand between a mutation and its writes: with an `Idempotency-Key`, each write is recorded before it is sent. */
import type { AnswerOf, Endpoint, InputOf } from '../api/endpoint.ts';
import type { CancellationToken } from '../lib/cancellation.ts';
import type { FilePart } from './http/multipart.ts';

/** One write of an operation. */
export interface GuardedWrite {
  readonly endpoint: Endpoint;
  readonly input: object;
  readonly files: AsyncIterable<FilePart> | undefined;
  readonly cancellation: CancellationToken;
  /** The id of the person whose token it is, as far as responses have shown it. */
  readonly person: () => string | undefined;
  /** Makes the call. */
  readonly send: (files: AsyncIterable<FilePart> | undefined) => Promise<unknown>;
  /** Reads from the service, never from a cache; null if it is absent. */
  readonly read: <E extends Endpoint>(endpoint: E, input: InputOf<E>) => Promise<AnswerOf<E> | null>;
}

export interface WriteGuard {
  /** The response of the write, which this may send, find by reading, or remember. */
  write: (write: GuardedWrite) => Promise<unknown>;
}
