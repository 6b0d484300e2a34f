/** The error of a response that is neither a success nor an absence, and what the service is known to refuse from then on. */
import { type Endpoint, isForEverybody } from '../../api/endpoint.ts';
import type { Credential, Credentials } from '../auth/credentials.ts';
import { type OwnRefusals, refusesOwn } from '../auth/own-refusals.ts';
import {
  type UpstreamErrorDetails,
  UpstreamFailure,
  UpstreamRejection,
  isRateLimit,
  isTokenRejection,
} from '../errors.ts';
import { isGatewayFailure } from './attempts.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';

export interface RejectionServices {
  credentials: Credentials;
  rateLimiter: RateLimiter;
  ownRefusals: OwnRefusals;
  /** Called when upstream rejects the token of a client that it had accepted: nothing that was read with it may be shown again. */
  onRejected: (credential: Credential) => void;
}
type ResponseDetails = UpstreamErrorDetails & { status: number };

/** `delay`: the seconds to wait that its header names, if any. */
export function rejectionOf(
  services: RejectionServices,
  endpoint: Endpoint,
  credential: Credential,
  details: ResponseDetails,
  delay: number | undefined,
): UpstreamFailure | UpstreamRejection {
  const { credentials, ownRefusals, onRejected } = services;
  const { status, code } = details;
  const reason = `status ${status}`;
  // Without a code it may be of a gateway, which has not looked at the token.
  if (isRateLimit(details) && code !== undefined) credentials.accept(credential, endpoint.service);
  const retryAfter = beginPause(services, endpoint, credential, details, delay);
  if (isRateLimit(details)) return new UpstreamRejection(details, retryAfter);
  if (status >= 300 && status < 400) return new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', details, reason);
  if (status >= 500) {
    // A write that failed upstream may still have been carried out. Only a 503 with the service's error body shows that it was not.
    const isUnknown = endpoint.method !== 'GET' && !(status === 503 && code !== undefined);
    const failure = isUnknown ? 'UPSTREAM_RESULT_UNKNOWN' : 'UPSTREAM_UNAVAILABLE';
    return new UpstreamFailure(failure, details, reason, { retryAfter });
  }
  if (code === undefined) {
    const nameless = `${reason} without the service's error body`;
    // A gateway or a firewall sent it. What belongs to a person stays denied, because the service may have sent it.
    if (isForEverybody(endpoint)) return new UpstreamFailure('UPSTREAM_UNAVAILABLE', details, nameless, { retryAfter });
    if (status !== 401 && status !== 403) return new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', details, nameless);
  }
  const hasToken = credential.authorization !== undefined;
  if (credential.isOwn && refusesOwn(details, hasToken)) {
    ownRefusals.add(endpoint, details, hasToken);
    return new UpstreamRejection({ ...details, ofFacade: true }, retryAfter);
  }
  if (!isTokenRejection(details)) {
    if (code !== undefined) credentials.accept(credential, endpoint.service);
  } else if (!credential.isOwn) {
    // Anybody can make up tokens: with those nothing was ever stored.
    if (credentials.reject(credential, details)) onRejected(credential);
  }
  return new UpstreamRejection(details, retryAfter);
}

/** Begins the pause that a refusal asks for, and returns its seconds; undefined if it asks for none. */
function beginPause(
  { rateLimiter: { pauses } }: RejectionServices,
  endpoint: Endpoint,
  credential: Credential,
  details: ResponseDetails,
  delay: number | undefined,
): number | undefined {
  const { status } = details;
  if (isRateLimit(details)) return pauses.begin(endpoint, credential, 'group', delay);
  if (!delay || !(status === 403 || isGatewayFailure(status))) return undefined;
  return pauses.begin(endpoint, credential, status === 403 ? 'group' : 'endpoint', delay);
}
