import type { CancellationToken } from '../../lib/cancellation.ts';
import type { GraphqlParams } from '../http/request-body.ts';
import type { OperationRequest } from './answer.ts';
import type { DocumentLookup } from './persisted-documents.ts';
import type { Prepared } from './prepare.ts';

/** What the server hands to Yoga with a request. */
export interface GraphqlRequest {
  caller: OperationRequest;
  /** Of the request: it ends when the client leaves, or when its time is over. */
  lifetime: CancellationToken;
  /** The GraphQL parameters of the body, if there was one. */
  question?: GraphqlParams | undefined;
  /** Made ready at the other door already. */
  prepared?: Prepared;
  /** The document that is named in place of a text, looked up already. */
  found?: DocumentLookup;
}
