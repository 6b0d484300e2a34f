import type { CancellationToken } from '../../lib/cancellation.ts';
import type { OperationSpan } from '../../lib/trace-context.ts';
import type { CallLog } from '../call-log.ts';
import type { Credential } from './credentials.ts';

/** Who sent a GraphQL request, and what its upstream calls share. */
export interface RequestContext {
  readonly credential: Credential;
  /** The Authorization header is not a bearer token. */
  readonly isUnreadable: boolean;
  /** Of the client. */
  readonly address: string;
  readonly requestId: string;
  /** Cancelled at the deadline of the operation, or when the client disconnects. */
  readonly cancellation: CancellationToken;
  readonly callLog: CallLog;
  /** The span of the operation, if it is traced. */
  readonly span: OperationSpan | undefined;
  /** The part of the rate limit that agents have together; undefined for everybody else. */
  readonly rateShare?: number | undefined;
}
