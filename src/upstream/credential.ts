import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Endpoint, type Tier, tiers } from '../contract/endpoint.ts';
import { celebrityMembers, filmEndpoints, subjectMembers } from '../contract/film.ts';

/** What is known of one token by what upstream answered to it. */
export interface Credential {
  /** Stands for the token in tables and keys; never the token itself. */
  readonly id: string;
  /** The token as it goes with a call; undefined for none. */
  readonly authorization: string | undefined;
  /** The facade's own: it never speaks for a person. */
  readonly isOwn: boolean;
  /** Configured for the facade's own, learned for a caller's; null while it is not known. */
  readonly filmTier: Tier | null;
  /** The tiers it may have, by what upstream answered. */
  possibleTiers: readonly Tier[];
  /** Upstream has said that it is asked too often with it. */
  hasMetLimit: boolean;
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
const REFUSAL_MS = 60_000;

export function createCredentials(ownToken: string | undefined, ownTier: Tier | undefined): Credentials {
  const table = new LRUCache<string, Credential>({ max: CREDENTIALS_MAX });
  const make = (id: string, token: string | null, isOwn: boolean, configured: Tier | null): Credential => ({
    id,
    authorization: token === null ? undefined : `Bearer ${token}`,
    isOwn,
    get filmTier() {
      // Only what was configured speaks for the facade's own: what it learned would refuse before asking.
      if (configured || isOwn) return configured;
      return this.possibleTiers.length === 1 ? this.possibleTiers[0]! : null;
    },
    // Without a token the service takes everybody for basic.
    possibleTiers: configured ? [configured] : token === null ? ['basic'] : tiers,
    hasMetLimit: false,
    accepted: isOwn,
    refused: new Map(),
  });
  const nobody = make('nobody', null, true, null);
  // Replicas with different tokens may share what they keep: each finds its own.
  const own = make(ownToken === undefined ? 'own' : `own-${hashOf(ownToken)}`, ownToken ?? null, true, ownTier ?? null);
  return {
    own,
    nobody,
    of(token) {
      if (token === null) return own;
      const id = hashOf(token);
      let credential = table.get(id);
      if (!credential) {
        credential = make(id, token, false, null);
        table.set(id, credential);
      }
      return credential;
    },
  };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url').slice(0, 22);

/** The credential that a call is made with, for a caller who has this one. */
export function credentialFor(endpoint: Endpoint, caller: Credential, { own, nobody }: Credentials): Credential {
  if (!caller.isOwn) return caller;
  return endpoint.share === 'public' || endpoint.share === 'tier' ? own : nobody;
}

/**
 * Whether film calls with it are counted: the basic tier alone has a limit.
 *
 * A caller's token counts as basic until an answer shows that it is not, or the limit would be met before it is known. The facade's own is
 * taken at its word: FILM_TIER, or no limit until upstream tells one.
 */
export function isLimited({ isOwn, possibleTiers, hasMetLimit }: Credential): boolean {
  return possibleTiers.includes('basic') && (possibleTiers.length === 1 || hasMetLimit || !isOwn);
}

/** A film endpoint answered: it is of one of the tiers that have it, and of those that get the members that came. */
export function learnFromAnswer(credential: Credential, endpoint: Endpoint, value: unknown, isWhole: boolean): void {
  if (endpoint.share !== 'tier') return;
  narrow(credential, endpoint.tiers);
  const members = gatedMembers.get(endpoint);
  if (!members || typeof value !== 'object' || value === null) return;
  let came = 0;
  for (const [name, having] of members) {
    if ((value as Record<string, unknown>)[name] === undefined) continue;
    came++;
    narrow(credential, having);
  }
  // One member may be absent because the record has none; all of them are absent because they are not given.
  if (came > 0 || !isWhole) return;
  const given = members.map(([, having]) => having);
  narrow(
    credential,
    tiers.filter((tier) => !given.some((having) => having.includes(tier))),
  );
}

/** A film endpoint was refused for want of permission: it is of none of the tiers that have it. */
export function learnFromRefusal(credential: Credential, endpoint: Endpoint): void {
  if (endpoint.share !== 'tier') return;
  narrow(
    credential,
    tiers.filter((tier) => !endpoint.tiers.includes(tier)),
  );
  credential.refused.set(endpoint.path, Date.now() + REFUSAL_MS);
}

/** Upstream does not know the token, or knows it no longer: what it was is no guide to what it may become. */
export function forgetLearned(credential: Credential): void {
  if (credential.isOwn) return;
  credential.accepted = false;
  credential.possibleTiers = tiers;
  credential.hasMetLimit = false;
  credential.refused.clear();
}

/** What contradicts what is known is no proof of anything. */
function narrow(credential: Credential, to: readonly Tier[]): void {
  if (to.length === tiers.length) return;
  const left = credential.possibleTiers.filter((tier) => to.includes(tier));
  if (left.length > 0) credential.possibleTiers = left;
}

type Members = readonly (readonly [name: string, tiers: readonly Tier[]])[];

/** Members of a record that not every tier with the record gets. */
const gatedOf = (
  endpoint: Endpoint,
  members: Readonly<Record<string, readonly Tier[]>>,
): readonly [Endpoint, Members] => [
  endpoint,
  Object.entries(members).filter(([, having]) => endpoint.tiers.some((tier) => !having.includes(tier))),
];
const gatedMembers: ReadonlyMap<Endpoint, Members> = new Map([
  gatedOf(filmEndpoints.subject, subjectMembers),
  gatedOf(filmEndpoints.celebrity, celebrityMembers),
]);

/** A few bytes that tell a basic tier from the others, asked for beside what is wanted when it has become worth knowing. */
const TELLING = ['durations', 'languages'];

/** The names to ask for beside these, where the answer would tell whether the credential is limited. */
export function tellingNames(credential: Credential, endpoint: Endpoint, fields: string): readonly string[] {
  const { isOwn, possibleTiers } = credential;
  if (isOwn || endpoint !== filmEndpoints.subject || possibleTiers.length === 1 || !possibleTiers.includes('basic'))
    return [];
  const names = fields.split(',');
  return TELLING.filter((name) => !names.includes(name));
}
