import type { Tier } from '../../api/endpoint.ts';

/** The sender of the request, as resolvers see it. */
export interface Viewer {
  /** The request has a token. Resolvers do not see it. */
  readonly isLoggedIn: boolean;
  /** Of the credential of film calls: configured, or learned from responses; null while unknown. */
  readonly filmTier: Tier | null;
}
