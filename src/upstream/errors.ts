import type { Endpoint, Tier } from '../api/endpoint.ts';
import { type ServiceCode, serviceErrors } from '../api/errors.ts';

export type Service = Endpoint['service'];

/** What upstream said, as far as a client may know it: the request line, never headers, never upstream's own words. */
export interface UpstreamErrorDetails {
  service: Service;
  status?: number;
  code?: number;
  /** `GET /v2/book/7` */
  request: string;
}

/**
 * What is told of and is no fault of ours: where in our code it was found says nothing, and to find that out costs as much as a call
 * that is answered. A service that is gone is asked as often as one that is there.
 */
class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Makes other errors of what is none of ours in the same way. */
export function withoutStack<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Upstream answered, and said no. */
export class UpstreamRejection extends ExpectedError {
  override name = 'UpstreamRejection';
  readonly details: UpstreamErrorDetails;
  /** Seconds until it may be asked again. */
  readonly retryAfter: number | undefined;

  constructor(details: UpstreamErrorDetails, retryAfter?: number) {
    super(`${details.request} was refused: status ${details.status}, code ${details.code}`);
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** A record of an endpoint that not every tier gets was refused: for itself, or because of an unknown tier. Its lists may be allowed. */
export class RecordRejected extends UpstreamRejection {
  /** The tier may be the reason, by what is known of it. */
  readonly mayBeTier: boolean;

  constructor(details: UpstreamErrorDetails, mayBeTier: boolean) {
    super(details);
    this.mayBeTier = mayBeTier;
  }
}

/** A refusal that means something of its own where it was drawn. */
export class CodedRejection extends UpstreamRejection {
  override name = 'CodedRejection';
  readonly code: string;

  constructor(details: UpstreamErrorDetails, code: string) {
    super(details);
    this.code = code;
  }
}

export type FailureCode =
  'UPSTREAM_TIMEOUT' | 'UPSTREAM_UNAVAILABLE' | 'UPSTREAM_INVALID_RESPONSE' | 'UPSTREAM_RESULT_UNKNOWN';

/** Upstream is slow, gone, or talks nonsense. */
export class UpstreamFailure extends ExpectedError {
  override name = 'UpstreamFailure';
  readonly code: FailureCode;
  readonly details: UpstreamErrorDetails;

  constructor(code: FailureCode, details: UpstreamErrorDetails, reason: string, options?: ErrorOptions) {
    super(`${details.request}: ${reason}`, options);
    this.code = code;
    this.details = details;
  }
}

/** The call was not made: a person must log in first. */
export class LoginRequired extends ExpectedError {
  override name = 'LoginRequired';
}

/** The call was not made: what came as Authorization is no bearer token, and goes nowhere. */
export class Unauthenticated extends ExpectedError {
  override name = 'Unauthenticated';
}

/** The call was not made, or the member did not come: the caller's film tier does not get it. */
export class TierRequired extends ExpectedError {
  override name = 'TierRequired';
  readonly tiers: readonly Tier[];
  /** The whole endpoint is refused, not a member of its answer. */
  readonly ofEndpoint: boolean;

  constructor(tiers: readonly Tier[], what: string, ofEndpoint = false) {
    super(`${what} is for the tiers ${tiers.join(', ')}`);
    this.tiers = tiers;
    this.ofEndpoint = ofEndpoint;
  }
}

/** The call was not made: what the credential may ask for is used up. */
export class RateLimited extends ExpectedError {
  override name = 'RateLimited';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(`the rate limit is reached for ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

/** The call was not made: the operation has made as many as it may. */
export class TooManyCalls extends ExpectedError {
  override name = 'TooManyCalls';
  readonly limit: number;

  constructor(limit: number) {
    super(`over ${limit} calls`);
    this.limit = limit;
  }
}

/** Whether an older answer may stand in: upstream did not say no, it said nothing of use. */
export const mayServeStale = (error: unknown): boolean =>
  (error instanceof UpstreamFailure && !isDenial(error.details)) ||
  error instanceof RateLimited ||
  (error instanceof UpstreamRejection && isRateLimit(error.details));

/** The status that the interface assigns to a code; undefined for unknown codes. */
const statusOf = (code: number | undefined): number | undefined =>
  (serviceErrors[code as ServiceCode] as { status: number } | undefined)?.status;

const noStatuses: readonly (number | undefined)[] = [401, 403, 404];
/** A denial by status or code: cached data of the record must not be shown again. */
export const isDenial = ({ status, code }: UpstreamErrorDetails): boolean =>
  noStatuses.includes(status) || noStatuses.includes(statusOf(code));

/** Codes by which a service says that it does not know a token, or knows it no longer. */
const tokenCodes = [103, 106, 123];
export const isTokenRejection = ({ status, code }: UpstreamErrorDetails): boolean =>
  status === 401 || (code !== undefined && tokenCodes.includes(code));
/** Only the token can be meant: a 401 with another code may concern the request. */
export const isUnknownToken = ({ code }: UpstreamErrorDetails): boolean =>
  code === undefined || tokenCodes.includes(code);

/** Only the record itself is refused; lists and other endpoints of it may be allowed. */
export const isRecordRejection = (error: unknown): boolean =>
  error instanceof RecordRejected || (error instanceof TierRequired && error.ofEndpoint);

/** Codes by which a service says that it is asked too often, whatever the status. */
const rateCodes = [111, 112, 1309];
export const isRateLimit = ({ status, code }: UpstreamErrorDetails): boolean =>
  status === 429 || (code !== undefined && rateCodes.includes(code));

/** Codes that mean "there is none" wherever a read draws them. */
const absentCodes = [6000, 6006, 6008, 6014, 5000];

/** Whether a read was answered with absence. */
export function isAbsent(endpoint: Endpoint, cameWith: number, code: number | undefined): boolean {
  // An error under a success status counts by the status of its code.
  const status = cameWith < 400 ? statusOf(code) : cameWith;
  if (endpoint.service === 'event') return status === 404;
  if (code === undefined) return false; // a 404 of somebody else: a wrong BASE_URL, say
  if (code === 1006) return endpoint.scope === 'community_basic_note';
  if (code === 1000 || code === 1001) return endpoint.absentOn.includes(code);
  return absentCodes.includes(code) || status === 404;
}
