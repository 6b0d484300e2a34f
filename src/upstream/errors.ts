import { type ApiRequest, requestLine } from '../api/api-request.ts';
import { type Endpoint, type Tier, isOfWholeService } from '../api/endpoint.ts';
import type { RecordSource } from '../api/record-source.ts';
import type { ErrorRow } from '../api/service-descriptor.ts';

export type Service = Endpoint['service'];

/** What clients may know of an upstream error: the request line, status and code; never headers or upstream's message. */
export interface UpstreamErrorDetails {
  service: Service;
  status?: number;
  code?: number;
  /** The row of its code; absent if the service lists no such code. */
  row?: ErrorRow | undefined;
  /** It refuses the operator's credential, not what was requested. */
  ofFacade?: boolean;
  /** The call could not carry the token of a caller. */
  seesNoCaller?: boolean;
  /** `GET /v2/book/7` */
  request: string;
  /** The read that shows the outcome of a write, if that is unknown. */
  lookAt?: string;
  /** Why a response is not what was requested. */
  reason?: string;
  /** The code of an error of this machine, which kept the call from being made. */
  ownTrouble?: string;
}

/** What errors of the request tell clients. */
export const detailsOf = ({ endpoint, wirePath }: ApiRequest): UpstreamErrorDetails => ({
  service: endpoint.service,
  request: requestLine(endpoint.method, wirePath),
});

/** Expected errors carry no stack trace: it is never shown, and capturing it costs as much as a successful call. */
class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Creates errors of other classes without a stack trace. */
export function withoutStack<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Upstream rejected the request. */
export class UpstreamRejection extends ExpectedError {
  override name = 'UpstreamRejection';
  readonly details: UpstreamErrorDetails;
  /** Seconds until it may be sent again. */
  readonly retryAfter: number | undefined;

  constructor(details: UpstreamErrorDetails, retryAfter?: number) {
    super(`${details.request} was rejected: status ${details.status}, code ${details.code}`);
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** A record of an endpoint that not every tier gets was rejected: for itself, or because of an unknown tier. Its lists may be allowed. */
export class RecordRejected extends UpstreamRejection {
  /** The tier may be the reason, by what is known of it. */
  readonly mayBeTier: boolean;

  constructor(details: UpstreamErrorDetails, mayBeTier: boolean) {
    super(details);
    this.mayBeTier = mayBeTier;
  }
}

/** A rejection that has a meaning of its own for this mutation. */
export class CodedRejection extends UpstreamRejection {
  override name = 'CodedRejection';
  readonly code: string;
  /** More members of the error's `extensions`. */
  readonly more: object;

  constructor(details: UpstreamErrorDetails, code: string, more: object = {}) {
    super(details);
    this.code = code;
    this.more = more;
  }
}

export type FailureCode =
  'UPSTREAM_TIMEOUT' | 'UPSTREAM_UNAVAILABLE' | 'UPSTREAM_INVALID_RESPONSE' | 'UPSTREAM_RESULT_UNKNOWN';

/** No valid response: a timeout, no connection, or an invalid response. */
export class UpstreamFailure extends ExpectedError {
  override name = 'UpstreamFailure';
  readonly code: FailureCode;
  readonly details: UpstreamErrorDetails;
  /** False if no attempt reached the service. */
  readonly wasSent: boolean;
  /** HTTP requests that were begun; 0 if the facade did not send it. Undefined if there was a response. */
  attempts: number | undefined = undefined;
  /** Seconds until it may be sent again, if that is known. */
  readonly retryAfter: number | undefined;

  constructor(
    code: FailureCode,
    details: UpstreamErrorDetails,
    reason: string,
    {
      wasSent = true,
      retryAfter,
      ...options
    }: ErrorOptions & { wasSent?: boolean; retryAfter?: number | undefined } = {},
  ) {
    super(`${details.request}: ${reason}`, options);
    this.code = code;
    this.details = details;
    this.wasSent = wasSent;
    this.retryAfter = retryAfter;
  }
}

/** Whether a write may have been carried out nevertheless: no response, or one that cannot be read. */
export const isOutcomeUnknown = (error: unknown): error is UpstreamFailure =>
  error instanceof UpstreamFailure &&
  (error.code === 'UPSTREAM_RESULT_UNKNOWN' || error.code === 'UPSTREAM_INVALID_RESPONSE');

/** Whether a write was certainly not carried out: it was not sent completely, or the service says why it rejects it. */
export function provesNothingMade(error: unknown): boolean {
  if (error instanceof UpstreamFailure) {
    return !error.wasSent || (error.details.status === undefined && !isOutcomeUnknown(error));
  }
  if (!(error instanceof UpstreamRejection))
    return [RateLimited, NotMade, TierRequired].some((each) => error instanceof each);
  const { row, status = 0 } = error.details;
  // An error under a success status counts by the status of its code.
  const meant = status < 400 ? (row?.status ?? 0) : status;
  return isRateLimit(error.details) || (row !== undefined && row.means !== 'anything' && meant >= 400 && meant < 500);
}

/** The call or the change was not made, for a reason of the facade. */
export class NotMade extends ExpectedError {
  override name = 'NotMade';
  readonly code: 'LOGIN_REQUIRED' | 'UNAUTHENTICATED' | 'TOO_MANY_CALLS' | 'CHANGE_IN_PROGRESS';
  /** More members of the error's `extensions`. */
  readonly more: object;

  constructor(code: NotMade['code'], message: string, more: object = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** The caller's film tier does not get the endpoint, or the member. */
export class TierRequired extends ExpectedError {
  override name = 'TierRequired';
  readonly tiers: readonly Tier[];
  /** The whole endpoint is rejected, not a member of its response. */
  readonly ofEndpoint: boolean;

  constructor(tiers: readonly Tier[], what: string, ofEndpoint = false) {
    super(`${what} is for the tiers ${tiers.join(', ')}`);
    this.tiers = tiers;
    this.ofEndpoint = ofEndpoint;
  }
}

/** The call was not made: the rate limit of the credential is used up. */
export class RateLimited extends ExpectedError {
  override name = 'RateLimited';
  readonly details: UpstreamErrorDetails;
  /** Seconds until it may be made. */
  readonly retryAfter: number;
  /** Whose share is used up, if not all of the limit is. */
  readonly share: 'this address' | 'all agents' | undefined;

  constructor(details: UpstreamErrorDetails, retryAfter: number, share?: RateLimited['share']) {
    super(`the rate limit is reached for ${retryAfter} s`);
    this.details = details;
    this.retryAfter = retryAfter;
    this.share = share;
  }
}

/** Whether the service forbids or lacks the record, by status or code: cached data of the record must not be shown again. */
export function isForbidden(error: unknown): error is UpstreamFailure | UpstreamRejection {
  if (!(error instanceof UpstreamFailure || error instanceof UpstreamRejection)) return false;
  const { status, code, row, ofFacade } = error.details;
  if (ofFacade) return false;
  // The page of a gateway denies nothing, whatever its status.
  if (code === undefined && error instanceof UpstreamFailure && error.code === 'UPSTREAM_UNAVAILABLE') return false;
  return status === 401 || status === 403 || status === 404 || row?.drops === true;
}

export const isTokenRejection = ({ status, row }: UpstreamErrorDetails): boolean =>
  status === 401 || row?.means === 'token';
/** Only the token can be meant: a 401 with another code may concern the request. */
export const isUnknownToken = ({ code, row }: UpstreamErrorDetails): boolean =>
  code === undefined || row?.means === 'token';

/** Only the record itself is rejected; lists and other endpoints of it may be allowed. */
export const isRecordRejection = (error: unknown): boolean =>
  error instanceof RecordRejected || (error instanceof TierRequired && error.ofEndpoint);

export const isRateLimit = ({ status, row }: UpstreamErrorDetails): boolean => status === 429 || row?.means === 'rate';

/** Whether the response to a read means that there is no such record. */
export function isAbsent(
  endpoint: Endpoint,
  httpStatus: number,
  code: number | undefined,
  row: ErrorRow | undefined,
): boolean {
  // An error under a success status counts by the status of its code.
  const status = httpStatus < 400 ? row?.status : httpStatus;
  if (endpoint.absentBy === 'status') return status === 404;
  if (isOfWholeService(endpoint)) return false;
  if (code === undefined) return false; // a 404 of another server: BASE_URL may be wrong
  if (endpoint.absentOn.includes(code)) return true;
  if (row?.means === 'rejected' || row?.means === 'permission' || row?.means === 'scope') return false;
  return row?.means === 'absent' || status === 404;
}

export const tierRequired = (kind: string, source: RecordSource, member: string): Error =>
  new TierRequired(source.endpoint.gates?.members[member] ?? [], `${kind}.${member}`);

/** The error for one member of a record that was rejected as a whole: the tiers are those of the member. */
export function memberError({ endpoint }: RecordSource, member: string, error: Error): Error {
  const having = error instanceof TierRequired && error.ofEndpoint ? endpoint.gates?.members[member] : undefined;
  return having ? new TierRequired(having, error.message, true) : error;
}
