import type { CancellationToken } from '../../lib/cancellation.ts';
import type { OperationSpan } from '../../lib/trace-context.ts';
import type { CallLog } from '../call-log.ts';
import type { Changing } from '../change-locks.ts';
import type { WriteGuard } from '../write-guard.ts';
import type { Credential } from './credentials.ts';

/** Who sent a GraphQL request. */
export interface Sender {
  /** The Authorization header as received. */
  authorization: string | undefined;
  /** The address of the client. */
  address: string;
  requestId: string;
  /** The span of the operation, if it is traced. */
  span?: OperationSpan | undefined;
  /** The part of the rate limit that agents have together; undefined for everybody else. */
  rateShare?: number | undefined;
  /** Set for a mutation with an idempotency key. */
  writes?: WriteGuard | undefined;
  /** The slot of the operation, which it gives back while it waits for another one. */
  slot?: Changing['slot'];
  /** The client wants no cached data, as far as there is room. */
  isReload?: boolean | undefined;
}

/** What one operation reads anew. Times are by performance.now(). */
export interface Reload {
  /** What was stored before then is old. */
  readonly since: number;
  /** Whether an old entry is to be read anew. That takes one read from the share of the address. */
  mayRead: (entry: string) => boolean;
  /** To be called when the service has responded. */
  wasRead: (entry: string) => void;
}

/** Who sent a GraphQL request, and what its upstream calls share. */
export interface RequestContext extends Omit<Sender, 'authorization' | 'isReload'> {
  readonly credential: Credential;
  /** The Authorization header is not a bearer token. */
  readonly isUnreadable: boolean;
  /** Cancelled at the deadline of the operation, or when the client disconnects. */
  readonly cancellation: CancellationToken;
  readonly callLog: CallLog;
  /** Returns false if a write with a key was recorded too long ago to be sent. */
  readonly mayBegin?: () => boolean;
  /** Its reads join no other in flight, because they are compared with a write. */
  readonly isUnshared?: boolean;
  /** Its calls are beside those that an operation may make. */
  readonly isUncounted?: boolean | undefined;
  /** What it reads anew although it is cached; undefined for most. */
  readonly reload?: Reload | undefined;
}

/** The token of `Bearer …`; null for anything else. */
export const bearerOf = (authorization: string | undefined): string | null =>
  /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
