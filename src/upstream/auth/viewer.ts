import type { Tier } from '../../api/endpoint.ts';

/** A person, as far as responses to one token prove that it is theirs. */
export interface PersonFacts {
  readonly id: string;
  readonly uid?: string;
  readonly name?: string;
}

/** The sender of the request, as resolvers see it. */
export interface Viewer {
  /** The request has a token. Resolvers do not see it. */
  readonly isLoggedIn: boolean;
  /** No service accepts the token any more, as far as responses have shown it. */
  readonly isRejected?: boolean | undefined;
  /** The tier of the credential of film calls: configured, or learned from responses; null while unknown. */
  readonly filmTier: Tier | null;
  /** The person whose token it is, as far as responses have shown it. */
  readonly person?: PersonFacts | undefined;
}

/** Whether film calls count towards the rate limit, which only the basic tier has: until a response shows another, a tier may be that. */
export const isLimited = ({ possibleTiers }: { readonly possibleTiers: readonly Tier[] }): boolean =>
  possibleTiers.includes('basic');
