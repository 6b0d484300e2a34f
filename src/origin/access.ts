import type { Endpoint, Scope } from '../api/endpoint.ts';
import { BASIC_CALLS_A_MINUTE } from '../api/film.ts';
import { type Call, personOf } from './rules/call.ts';
import { Rejection } from './rules/rejection.ts';
import type { Database } from './store/database/database.ts';

/** The sender of a request, and its permissions. */
export interface Requester extends Pick<Call, 'reader' | 'tier'> {
  scopes: ReadonlySet<string>;
  /** The key of the rate limit: the token, or the client address without one. */
  source: string;
}

const MINUTE_MS = 60_000;
const SOURCES_MAX = 10_000;
const anonymousScopes: ReadonlySet<string> = new Set<Scope>(['book_basic_r', 'movie_basic_r']);

export function createAccess(db: Database, now: () => number = Date.now) {
  const calls = new Map<string, number[]>();

  /** A sliding window. A token bucket would allow twice the limit within a minute. */
  function count(source: string) {
    const from = now() - MINUTE_MS;
    const recent = (calls.get(source) ?? []).filter((at) => at > from);
    calls.delete(source);
    calls.set(source, recent);
    if (calls.size > SOURCES_MAX) calls.delete(calls.keys().next().value ?? source);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= BASIC_CALLS_A_MINUTE) {
      throw new Rejection(112, Math.max(1, Math.ceil((oldest - from) / 1000)));
    }
    recent.push(now());
  }

  return {
    requesterOf(authorization: string | undefined, address: string): Requester {
      if (authorization === undefined) {
        return { reader: null, tier: 'basic', scopes: anonymousScopes, source: `address ${address}` };
      }
      const bearer = /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? '';
      const token = db.find('tokens', { token: bearer });
      if (!token) throw new Rejection(103);
      return {
        reader: token.person_id,
        tier: token.tier,
        scopes: new Set(token.scopes.split(' ')),
        source: `token ${token.token}`,
      };
    },

    /** Throws if the request may not call the endpoint. */
    admit(endpoint: Endpoint, requester: Requester) {
      if (endpoint.isLimited && requester.tier === 'basic') count(requester.source);
      // Not specified: the documentation has 1000 and 1001 for a missing login; 1000 is more precise.
      if (endpoint.login) personOf(requester);
      if (!endpoint.tiers.includes(requester.tier)) throw new Rejection(1000);
      if (endpoint.scope && !requester.scopes.has(endpoint.scope)) throw new Rejection(1001);
    },
  };
}
