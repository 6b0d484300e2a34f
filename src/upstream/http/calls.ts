/** One endpoint and one input become one answer or one refusal: who may ask, with whose token, and with whom it is shared. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint, Tier } from '../../api/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../../api/film.ts';
import { withMembers } from '../../lib/objects.ts';
import { type Credential, credentialFor } from '../auth/credentials.ts';
import { type CallParts, type OperationContext, UpstreamCall, operationEnded } from './call.ts';
import type { FilePart } from './multipart.ts';
import { LoginRequired, TierRequired, TooManyCalls, Unauthenticated } from '../errors.ts';
import { tierProbeFields } from '../auth/tiers.ts';
import { type LoggedCall, sinceStart } from '../call-log.ts';
import { type ApiRequest, type ResponseHandler, createApiRequest, requestBody, requestLine } from './request.ts';

/** Makes calls for one operation. */
export interface Calls {
  /** The recipient may be told before this returns. */
  make: (
    asked: ApiRequest,
    path: Path | undefined,
    recipient: ResponseHandler,
    files?: AsyncIterable<FilePart>,
  ) => void;
  /** Throws unless the caller sent a token of their own. */
  requireLogin: () => void;
  /** Whether a call of this endpoint would be refused without being made. */
  refuses: (endpoint: Endpoint) => boolean;
  /** The film tiers that the caller may have, as far as is known now. */
  possibleTiers: () => readonly Tier[];
  /** Tells the trace of a call that was not made. */
  logUncalled: (asked: ApiRequest, path: Path | undefined, how: Partial<LoggedCall>) => void;
}

export const createCalls = (parts: CallParts, caller: OperationContext): Calls => new OperationCalls(parts, caller);

class OperationCalls implements Calls {
  private made = 0;
  private readonly parts: CallParts;
  private readonly caller: OperationContext;

  constructor(parts: CallParts, caller: OperationContext) {
    this.parts = parts;
    this.caller = caller;
  }

  make(wanted: ApiRequest, path: Path | undefined, recipient: ResponseHandler, files?: AsyncIterable<FilePart>): void {
    try {
      this.start(wanted, path, recipient, files);
    } catch (error) {
      recipient.onError(error); // before anything of it was sent
    }
  }

  private start(
    wanted: ApiRequest,
    path: Path | undefined,
    recipient: ResponseHandler,
    files?: AsyncIterable<FilePart>,
  ): void {
    const { endpoint } = wanted;
    const { settings, flights, credentials } = this.parts;
    const credential = this.admitted(endpoint);
    credentials.rejections.repeat(credential.id, endpoint.service, requestLine(wanted));
    if (this.caller.lifetime.reason) throw operationEnded(endpoint, requestLine(wanted), this.caller.lifetime.reason);
    if (++this.made > settings.maxUpstreamCalls) throw new TooManyCalls(settings.maxUpstreamCalls);

    const { asked, telling } = this.withTelling(withVisibility(wanted, credential), credential);
    const traced = this.begin(asked, path);
    const making = new UpstreamCall(this.parts, this.caller, asked, telling, credential, traced, recipient);
    if (endpoint.method !== 'GET') return making.write(requestBody(asked, files));
    // What was asked for beside what is wanted is taken out of the answer again: it is not the same ask.
    const name = telling.length === 0 ? asked.wirePath : `${asked.wirePath} ${telling.join()}`;
    const { epoch = '' } = wanted;
    const key = epoch === '' ? name : `${name}\n${epoch ?? `alone ${++readsAlone}`}`;
    if (flights.join(credential, key, making)) traced.coalesced = true;
  }

  requireLogin(): void {
    if (this.caller.isUnreadable) throw new Unauthenticated('the Authorization is not Bearer');
    if (this.caller.credential.isOwn) throw new LoginRequired('a write needs a login');
  }

  refuses(endpoint: Endpoint): boolean {
    try {
      const credential = this.admitted(endpoint);
      return this.parts.credentials.rejections.has(credential.id, endpoint.service);
    } catch {
      return true;
    }
  }

  possibleTiers(): readonly Tier[] {
    return this.caller.credential.possibleTiers;
  }

  logUncalled(asked: ApiRequest, path: Path | undefined, how: Partial<LoggedCall>): void {
    Object.assign(this.begin(asked, path), how);
    this.parts.observe({ endpoint: asked.endpoint, outcome: how.cached ? 'cached' : 'stale', ms: 0 });
  }

  /** The credential that the call goes with; throws where the answer is known to be no. */
  private admitted(endpoint: Endpoint): Credential {
    const { isUnreadable, credential: own } = this.caller;
    if (isUnreadable) throw new Unauthenticated('the Authorization is not Bearer');
    if (endpoint.login && own.isOwn) throw new LoginRequired(`${endpoint.method} ${endpoint.path} needs a login`);
    const credential = credentialFor(endpoint, own, this.parts.credentials);
    refuseKnown(endpoint, credential);
    return credential;
  }

  private begin({ endpoint: { service, method }, wirePath }: ApiRequest, field: Path | undefined): LoggedCall {
    const { trace } = this.caller;
    const traced: LoggedCall = { service, method, wirePath, startMs: sinceStart(trace), ms: 0, field };
    trace.calls.push(traced);
    return traced;
  }

  /** The input with the names that tell the tier of a token, once it matters: not before a quarter of the limit is used. */
  private withTelling(asked: ApiRequest, credential: Credential): { asked: ApiRequest; telling: readonly string[] } {
    const { endpoint, input } = asked;
    const { fields } = input as { fields?: unknown };
    const telling = typeof fields === 'string' ? tierProbeFields(credential, endpoint, fields) : nothing;
    if (telling.length === 0 || this.parts.budget.used(credential) < BASIC_CALLS_A_MINUTE / 4)
      return { asked, telling: nothing };
    const names = [...String(fields).split(','), ...telling].sort().join(',');
    return { asked: createApiRequest(endpoint, withMembers(input, { fields: names })), telling };
  }
}

const nothing: readonly string[] = Object.freeze([]);

/** Numbers the reads that must not be shared. */
let readsAlone = 0;

/** The facade's own token may belong to a person. Request the visibility of items, so that this person's private ones can be removed. */
function withVisibility(asked: ApiRequest, { isOwn, authorization }: Credential): ApiRequest {
  const { endpoint, input } = asked;
  const { fields } = input as { fields?: unknown };
  if (!endpoint.visibility || !isOwn || authorization === undefined || typeof fields !== 'string') return asked;
  const names = [...new Set([...fields.split(','), endpoint.visibility.member])].sort().join(',');
  return createApiRequest(endpoint, withMembers(input, { fields: names }));
}

function refuseKnown(endpoint: Endpoint, credential: Credential): void {
  const { filmTier, refusedEndpoints } = credential;
  if (endpoint.share !== 'tier') return;
  if (filmTier && credential.isOwn && !endpoint.tiers.includes(filmTier))
    throw new TierRequired(endpoint.tiers, endpoint.path, true);
  const until = refusedEndpoints.get(endpoint.path);
  if (until !== undefined && until > performance.now()) throw new TierRequired(endpoint.tiers, endpoint.path, true);
}
