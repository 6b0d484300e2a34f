import type { Tier } from '../../api/endpoint.ts';

/** Who asks, as far as the request tells. */
export interface Viewer {
  /** A token of the caller's own came; what it is, no resolver learns. */
  readonly isLoggedIn: boolean;
  /** Of the credential that film calls are made with: configured, or learned from what came; null while unknown. */
  readonly filmTier: Tier | null;
}
