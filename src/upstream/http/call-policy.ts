/** The calls of one operation: who may send them, with which token, and how many. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint, Tier, Visibility } from '../../api/endpoint.ts';
import { type Credential, rejectionBy, repeatRejection } from '../auth/credentials.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { createCancellationToken } from '../../lib/cancellation.ts';
import type { TierPolicy } from '../../api/service-descriptor.ts';
import type { LoggedCall } from '../call-log.ts';
import { NotMade, TierRequired, detailsOf } from '../errors.ts';
import { type CallServices, UpstreamCall } from './call.ts';
import type { SharingReader } from './in-flight.ts';
import type { FilePart } from './multipart.ts';
import { type ApiRequest, createApiRequest } from '../../api/api-request.ts';
import { noBody, requestBody } from './request.ts';
import type { ApiResponse } from './response.ts';
import { operationEnded } from './transport-errors.ts';

/** Options of a call that most calls do not set. */
interface CallOptions {
  /** Where other processes may write, who reads. */
  reader?: SharingReader;
  /** The files of a write. */
  files?: readonly FilePart[] | undefined;
  /** The write goes on when its operation ends. Nothing is sent if this returns false right before the first byte. */
  mayBegin?: () => boolean;
}

export class CallPolicy {
  private readonly services: CallServices;
  private readonly context: RequestContext;

  constructor(services: CallServices, context: RequestContext) {
    this.services = services;
    this.context = context;
  }

  async send(wanted: ApiRequest, path: Path | undefined, more: CallOptions = {}): Promise<ApiResponse> {
    const { reader, files, mayBegin } = more;
    const { endpoint } = wanted;
    let { context } = this;
    const { settings, service } = this.services;
    const credential = this.credentialFor(endpoint);
    repeatRejection(credential, wanted);
    if (context.cancellation.reason) throw operationEnded(detailsOf(wanted), context.cancellation.reason);
    const { maxUpstreamCalls: limit } = settings;
    if (!context.isUncounted && ++context.callLog.made > limit)
      throw new NotMade('TOO_MANY_CALLS', `The operation has reached its limit of ${limit} calls.`, { limit });
    const request = endpoint.visibility ? withVisibility(wanted, endpoint.visibility, credential) : wanted;
    const isRead = endpoint.method === 'GET';
    const body = isRead ? noBody : requestBody(service.documents, request, files);
    const logged = this.log(request, path);
    if (mayBegin) context = { ...context, cancellation: createCancellationToken(), mayBegin };
    const call = new UpstreamCall(this.services, context, request, credential, body, logged);
    const isShared = isRead && !context.isUnshared && (reader?.isShareable() ?? true);
    // A call of an agent may be rejected where that of a person is not, so neither waits for the other.
    const shareKey = context.rateShare === undefined ? request.wirePath : `${request.wirePath} agents`;
    return call.run(isShared ? shareKey : undefined, reader);
  }

  /** Throws unless the caller sent a token of their own. */
  requireLogin(): void {
    const { isUnreadable, credential } = this.context;
    if (isUnreadable) throw new NotMade('UNAUTHENTICATED', 'The Authorization header is not a bearer token.');
    if (credential.isOwn) throw new NotMade('LOGIN_REQUIRED', 'This needs a logged-in person.');
  }

  /** Whether the call would be rejected without being sent. */
  refuses(request: ApiRequest): boolean {
    const { endpoint } = request;
    try {
      const credential = this.credentialFor(endpoint);
      const { pauses } = this.services.rateLimiter;
      return (rejectionBy(endpoint.service, credential) ?? pauses.refusal(request, credential)) !== undefined;
    } catch {
      return true;
    }
  }

  get tiers(): TierPolicy {
    return this.services.tiers;
  }

  /** The tiers that the caller may have, as far as is known now. */
  possibleTiers(): readonly Tier[] {
    return this.context.credential.possibleTiers;
  }

  /** Members to request besides these of a record, because they show the caller's tier. */
  tierEvidence(endpoint: Endpoint, members: readonly string[]): readonly string[] {
    const { credential } = this.context;
    return this.tiers.evidence(endpoint, members, credential.possibleTiers, endpoint.gates && this.isLimitUncertain());
  }

  /** True if a quarter of the rate limit, or of the agents' share, is used and the caller's tier, which may have no limit, is unknown. */
  private isLimitUncertain(): boolean {
    const { credential, rateShare = 1 } = this.context;
    const { isOwn, possibleTiers } = credential;
    if (isOwn || possibleTiers.length === 1 || !possibleTiers.includes('basic')) return false;
    const { rateLimiter } = this.services;
    return rateLimiter.used(credential) >= (rateLimiter.basicCallsAMinute * rateShare) / 4;
  }

  /** Logs a call that the cache answered. */
  logCached(request: ApiRequest, path: Path | undefined, how: Partial<LoggedCall> & { how: 'cached' | 'stale' }): void {
    Object.assign(this.log(request, path), how);
    this.services.observe?.({ endpoint: request.endpoint, how: how.how, outcome: how.how, ms: 0 });
  }

  /** The credential to send; throws if upstream is known to reject it. */
  private credentialFor(endpoint: Endpoint): Credential {
    const { isUnreadable, credential: own } = this.context;
    if (endpoint.login || isUnreadable) this.requireLogin();
    const credential = own.isOwn && !endpoint.usesOwnToken ? this.services.credentials.anonymous : own;
    if (endpoint.isTiered) requireTier(endpoint, credential);
    return credential;
  }

  private log({ endpoint: { service, method }, wirePath }: ApiRequest, field: Path | undefined): LoggedCall {
    const { callLog } = this.context;
    const startMs = performance.now() - callLog.started;
    const logged: LoggedCall = { service, method, wirePath, startMs, ms: 0, field, how: 'joined' };
    callLog.calls.push(logged);
    return logged;
  }
}

/** The facade's own token may belong to a person. Request the visibility of items, so that this person's private ones can be removed. */
function withVisibility(request: ApiRequest, { member }: Visibility, { isOwn, authorization }: Credential): ApiRequest {
  const { endpoint, input, members } = request;
  if (!isOwn || authorization === undefined || !members || members.includes(member)) return request;
  return createApiRequest(endpoint, input, [...members, member].sort());
}

function requireTier(endpoint: Endpoint, { filmTier, isOwn, refusedEndpoints }: Credential): void {
  const isRefused = (refusedEndpoints.get(endpoint.path) ?? 0) > performance.now();
  if (isRefused || (filmTier && isOwn && !endpoint.tiers.includes(filmTier)))
    throw new TierRequired(endpoint.tiers, endpoint.path, true);
}
