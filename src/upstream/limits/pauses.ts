/**
 * Pauses that a service has requested. During one no call is sent: of a credential to a group of endpoints, of anybody to an endpoint, or to
 * the whole service, once several endpoints say so. A pause is longer each time the service refuses calls again after it.
 */
import { LRUCache } from 'lru-cache';
import type { ApiRequest } from '../../api/api-request.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Config } from '../../config/settings.ts';
import { atMost } from '../../lib/remember.ts';
import type { Credential } from '../auth/credentials.ts';
import { RateLimited, type Service, UpstreamFailure, detailsOf } from '../errors.ts';

/** What a pause concerns: the service or an endpoint for everybody, or a group of endpoints for whose token is sent. */
export type Paused = 'everybody' | 'endpoint' | 'own token' | 'client';
/** Called when a pause begins, not when it goes on. */
export type OnPause = (endpoint: Endpoint, paused: Paused, seconds: number) => void;

/** How long after a pause the next refusal still makes it longer. */
const REMEMBERED_MS = 60_000;
const PAUSES_MAX = 10_000;
/** The endpoints that have to refuse, and none to take a call meanwhile, before the whole service counts as paused. */
const SEVERAL = 3;

export type Pauses = ReturnType<typeof createPauses>;

export function createPauses(
  { retryAfterSeconds, maxRetryAfterSeconds }: Pick<Config, 'retryAfterSeconds' | 'maxRetryAfterSeconds'>,
  onPause?: OnPause,
) {
  /** `until`: by performance.now(). As many as credentials are known, in 2 MB: one that is evicted ends early. */
  const known = new LRUCache<string, { until: number; refusals: number }>(atMost(PAUSES_MAX));
  /** The endpoints of each service that have requested a pause since it took a call. */
  const refusing = new Map<Service, Set<Endpoint>>();
  const secondsLeft = (key: string): number =>
    Math.ceil(((known.get(key)?.until ?? -Infinity) - performance.now()) / 1000);

  function beginFor(key: string, endpoint: Endpoint, paused: Paused, delay: number | undefined): number {
    const now = performance.now();
    const { until = -Infinity, refusals: before = 0 } = known.get(key) ?? {};
    // Calls that were under way when the pause began show nothing new.
    const refusals = now < until ? before : now < until + REMEMBERED_MS ? before + 1 : 1;
    const grown = Math.max(1, delay ?? retryAfterSeconds) * 2 ** (refusals - 1);
    const seconds = Math.min(maxRetryAfterSeconds, grown);
    known.set(key, { until: Math.max(until, now + seconds * 1000), refusals });
    if (now >= until) onPause?.(endpoint, paused, seconds);
    return seconds;
  }

  return {
    /** Begins a pause, or continues one, and returns its length in seconds. `delay`: seconds; undefined if the service does not say. */
    begin(endpoint: Endpoint, credential: Credential, scope: 'group' | 'endpoint', delay: number | undefined): number {
      const { service } = endpoint;
      const { ofService, ofEndpoint, ofGroup } = keysOf(endpoint, credential);
      // A made-up token must not pause the calls of others.
      if (scope === 'group' || !credential.acceptedBy[service])
        return beginFor(ofGroup, endpoint, credential.isOwn ? 'own token' : 'client', delay);
      const all = (refusing.get(service) ?? new Set()).add(endpoint);
      refusing.set(service, all);
      const seconds = beginFor(ofEndpoint, endpoint, 'endpoint', delay);
      return all.size < SEVERAL ? seconds : beginFor(ofService, endpoint, 'everybody', delay);
    },
    /** The service takes calls of this credential to this endpoint again. */
    end(endpoint: Endpoint, credential: Credential): void {
      if (known.size === 0) return;
      refusing.delete(endpoint.service);
      for (const key of Object.values(keysOf(endpoint, credential)))
        if (known.has(key) && secondsLeft(key) <= 0) known.delete(key);
    },
    /** The error of a call that is not sent; undefined if there is no pause. */
    refusal(request: ApiRequest, credential: Credential): RateLimited | UpstreamFailure | undefined {
      if (known.size === 0) return undefined;
      const { ofService, ofEndpoint, ofGroup } = keysOf(request.endpoint, credential);
      const retryAfter = Math.max(secondsLeft(ofService), secondsLeft(ofEndpoint));
      if (retryAfter > 0) {
        const reason = 'not sent: the service asks for a pause';
        return new UpstreamFailure('UPSTREAM_UNAVAILABLE', detailsOf(request), reason, { wasSent: false, retryAfter });
      }
      const seconds = secondsLeft(ofGroup);
      return seconds > 0 ? new RateLimited(detailsOf(request), seconds) : undefined;
    },
  };
}

/** The service limits each group of endpoints separately. */
const keysOf = ({ service, method, path, group }: Endpoint, { id }: Credential) => ({
  ofService: `${service} all`,
  ofEndpoint: `${service} ${method} ${path}`,
  ofGroup: `${group} ${id}`,
});
