import type { Tier } from '../contract/endpoint.ts';

/** Who asks, as far as the request tells. */
export interface Viewer {
  /** The caller's own bearer token; null without one. Given to the configured hosts and to nobody else. */
  readonly token: string | null;
  readonly isLoggedIn: boolean;
  /** Of the credential that film calls are made with: configured, or learned from what came; null while unknown. */
  readonly filmTier: Tier | null;
}
