/** The context of one operation. */
import type { Viewer } from '../upstream/auth/viewer.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { UpstreamSession } from '../upstream/upstream-session.ts';
import type { ReadRecord } from '../upstream/write-guard.ts';
import type { OperationPlan } from './plan/operation-plan.ts';

/** How large a response may be. */
export interface ResponseLimits {
  /** Fields of all objects. */
  maxValues: number;
  /** Approximate size as JSON. */
  maxResponseBytes: number;
}

/**
 * What an error does to the data, as the request chooses: it nulls the nearest nullable position (PROPAGATE), or its own position even if
 * that is non-null (NULL), or the whole (HALT).
 */
export type OnError = 'PROPAGATE' | 'NULL' | 'HALT';

/** The context of one operation, created for each request. */
export interface Context {
  viewer: Viewer;
  /** The service, with the credential of this request. */
  upstream: UpstreamSession;
  /** The plan of the operation. */
  plan: OperationPlan;
  /** The name of the service, for labels. */
  serviceName: string;
  /** The most pictures of one mutation. */
  maxPictures: number;
  /** Limits on the size of the response; undefined for none. */
  responseLimits?: ResponseLimits;
  /** Undefined is PROPAGATE. */
  onError?: OnError | undefined;
}

/** The call of a list that has listed a record: its filters and window, without the variant. */
export interface Listing {
  endpoint: Endpoint;
  input: object;
}

/**
 * What a resolver may use. It calls nothing by itself: a call is declared, by `t.call`, `t.connection` or `mutation`, so that the plan and
 * the cost know it.
 */
export interface ResolverContext extends Pick<Context, 'viewer' | 'serviceName' | 'maxPictures'> {
  upstream: Pick<UpstreamSession, 'cachePolicy' | 'rateBudget'>;
  /** Set for a field that declares `readsAsNobody`. `listing`: of its record. */
  readAsNobody?: ReadRecord;
  listing?: Listing | undefined;
}
