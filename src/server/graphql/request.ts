import type { Context } from '@opentelemetry/api';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { OnError } from '../../graph/context.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { Sender } from '../../upstream/auth/request-context.ts';
import type { Operation } from '../../upstream/operation.ts';
import type { AcceptedTypes, IncrementalType } from '../http/request/accept.ts';
import type { GraphqlParams } from './params.ts';
import type { DocumentLookup } from './persisted-documents.ts';
import type { Prepared } from './prepare.ts';

/** Who sent an operation, and what its response must be like. */
export interface OperationRequest extends Sender {
  /** The x-explain header, by `explainHeader`. */
  explain: string | undefined;
  /** The parameter `onError`. */
  onError?: OnError | undefined;
  /** The preferred type of a response in parts; undefined if it is sent whole. */
  incremental?: IncrementalType | undefined;
  /** The parent of the operation's span. */
  parentSpan?: Context | undefined;
  /** Called with the age in seconds if records were served after their time. */
  onAge?: ((seconds: number) => void) | undefined;
  /** Called if the response may be cached. */
  onCacheable?: ((policy: CachePolicy) => void) | undefined;
  /** Called when a response that is sent whole is complete. */
  onComplete?: ((operation: Operation) => Promise<void>) | undefined;
}

/** One GraphQL request on its way through the server. */
export interface GraphqlRequest {
  operation: OperationRequest;
  accepted: AcceptedTypes;
  /** Cancelled when the client leaves, or at the deadline of the operation. */
  cancellation: CancellationToken;
  /** The parameters in the body or the query string. */
  params: GraphqlParams;
  /** The prepared document, once it is. */
  prepared?: Prepared | undefined;
  /** Set if the document was looked up by its id, or is not trusted. */
  lookup?: DocumentLookup;
}
