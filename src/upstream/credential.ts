import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Endpoint, Tier } from '../contract/endpoint.ts';

/** What is known of one token by what upstream answered to it. */
export interface Credential {
  /** Stands for the token in tables and keys; never the token itself. */
  readonly id: string;
  readonly token: string | null;
  /** The facade's own: it never speaks for a person. */
  readonly isOwn: boolean;
  filmTier: Tier | null;
  /** Upstream has taken it at least once. */
  accepted: boolean;
  /** Endpoint paths that were refused to it, each until when (ms). */
  readonly refused: Map<string, number>;
}

/** Whose token goes with a call: the caller's, the facade's own where the answer is the same for everybody, or none. */
export interface Credentials {
  of: (token: string | null) => Credential;
  own: Credential;
  nobody: Credential;
}

const CREDENTIALS_MAX = 10_000;
/** How long a refusal of an endpoint is remembered, in ms. */
export const REFUSAL_MS = 60_000;

export function createCredentials(ownToken: string | undefined, ownTier: Tier | undefined): Credentials {
  const table = new LRUCache<string, Credential>({ max: CREDENTIALS_MAX });
  const make = (id: string, token: string | null, isOwn: boolean, filmTier: Tier | null): Credential => ({
    id,
    token,
    isOwn,
    filmTier,
    accepted: isOwn,
    refused: new Map(),
  });
  const nobody = make('nobody', null, true, null);
  const own = make('own', ownToken ?? null, true, ownTier ?? null);
  return {
    own,
    nobody,
    of(token) {
      if (token === null) return own;
      const id = createHash('sha256').update(token).digest('base64url').slice(0, 22);
      let credential = table.get(id);
      if (!credential) {
        credential = make(id, token, false, null);
        table.set(id, credential);
      }
      return credential;
    },
  };
}

/** The credential that a call is made with, for a caller who has this one. */
export function credentialFor(endpoint: Endpoint, caller: Credential, { own, nobody }: Credentials): Credential {
  if (!caller.isOwn) return caller;
  return endpoint.share === 'public' || endpoint.share === 'tier' ? own : nobody;
}
