/** Tokens, and what upstream responses have shown about each. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../lib/remember.ts';
import type { Endpoint, Tier } from '../../api/endpoint.ts';
import type { TierPolicy } from '../../api/service-descriptor.ts';
import { type Service, type UpstreamErrorDetails, UpstreamRejection, detailsOf, isUnknownToken } from '../errors.ts';
import type { PersonFacts } from './viewer.ts';
import type { ApiRequest } from '../../api/api-request.ts';

/** A token, or none, and what is known about it. */
export interface Credential {
  /** A hash, for tables and cache keys; never the token itself. */
  readonly id: string;
  /** The Authorization header of calls; undefined without a token. */
  readonly authorization: string | undefined;
  /** The facade's own credential, which never acts for a person. */
  readonly isOwn: boolean;
  /** Configured for the facade's own, learned for a client's; null while unknown. */
  readonly filmTier: Tier | null;
  /** The tier was configured, or there is no token: responses do not change it. */
  readonly isTierFixed: boolean;
  /** The tiers it may have, judging by upstream's responses. */
  possibleTiers: readonly Tier[];
  /** A service has accepted it, and has not rejected it since. */
  accepted: boolean;
  /** The last response about the token was that a service does not accept it. */
  isRejected: boolean;
  /** Whether each service accepts it. */
  readonly acceptedBy: Record<Service, boolean>;
  /** Rejections by services, which are repeated without a call until the time, by performance.now(). */
  readonly rejections: Map<Service, { details: UpstreamErrorDetails; until: number }>;
  /** Endpoint paths that its tier does not get, with the end of each entry by performance.now(). */
  readonly refusedEndpoints: Map<string, number>;
  /** Rejected requests by endpoint; cleared when the endpoint accepts one. */
  readonly refusedRecords: Map<Endpoint, Set<string>>;
  /** The person whose token it is; undefined while unknown. Stored with the credential, never elsewhere. */
  person: PersonFacts | undefined;
}

/** Short, because a token may become valid at any time. */
const REJECTION_MS = 5_000;
const KNOWN_MAX = 10_000;
const UNVERIFIED_MAX = 1_000;

export type Credentials = ReturnType<typeof createCredentials>;

/** All credentials: of clients, the facade's own, and none. */
export function createCredentials({ possible }: TierPolicy, ownToken: string | undefined, ownTier: Tier | undefined) {
  const known = new LRUCache<string, Credential>(atMost(KNOWN_MAX)); // 20 MB; what is evicted counts as unverified again
  /** A small table of its own (2 MB), so that made-up tokens evict none that upstream has accepted. */
  const unverified = new LRUCache<string, Credential>(atMost(UNVERIFIED_MAX));
  const anonymous = create('nobody', null, true, null, possible(false));
  const createOwn = (token: string | undefined): Credential => {
    // The service cannot tell two credentials without a token apart: a pause that it asks for concerns all of its calls.
    if (token === undefined && ownTier === undefined) return anonymous;
    // Replicas with different tokens may share a cache; the hash keeps their entries apart.
    const id = token === undefined ? 'own' : `own-${hashOf(token)}`;
    return create(id, token ?? null, true, ownTier ?? null, possible(token !== undefined));
  };
  let own = createOwn(ownToken);
  return {
    get own(): Credential {
      return own;
    },
    /** Operations that have begun go on with the token before. */
    changeOwn(token: string): void {
      own = createOwn(token);
    },
    anonymous,
    of(token: string | null): Credential {
      if (token === null) return own;
      const id = hashOf(token);
      let credential = known.get(id) ?? unverified.get(id);
      if (!credential) {
        credential = create(id, token, false, null, possible(true));
        unverified.set(id, credential);
      }
      return credential;
    },
    /** Records that the service accepts the token. */
    accept(credential: Credential, service: Service): void {
      const { id, isOwn, acceptedBy } = credential;
      if (isOwn || acceptedBy[service]) return;
      acceptedBy[service] = true;
      credential.accepted = true;
      credential.isRejected = false;
      credential.rejections.delete(service);
      unverified.delete(id);
      known.set(id, credential);
    },
    /** Records that the service does not accept the token of a client, or no longer does. Returns whether any has accepted it so far. */
    reject(credential: Credential, details: UpstreamErrorDetails): boolean {
      const { id, accepted, acceptedBy } = credential;
      const { service } = details;
      // If the service accepted the token before, try once more: the 401 may concern this request only.
      if (!acceptedBy[service] && isUnknownToken(details))
        credential.rejections.set(service, { details, until: performance.now() + REJECTION_MS });
      acceptedBy[service] = false;
      credential.accepted = Object.values(acceptedBy).includes(true);
      if (service === 'catalog') forgetLearned(credential, possible(true));
      if (credential.accepted) return true;
      credential.isRejected = true;
      known.delete(id);
      unverified.set(id, credential);
      return accepted;
    },
  };
}

function create(
  id: string,
  token: string | null,
  isOwn: boolean,
  configured: Tier | null,
  possibleTiers: readonly Tier[],
): Credential {
  return {
    id,
    authorization: token === null ? undefined : `Bearer ${token}`,
    isOwn,
    get filmTier() {
      // For the facade's own, only the configured tier counts: it serves everybody.
      if (configured || isOwn) return configured;
      const likely = likelyTiers(this);
      return likely.length === 1 ? likely[0]! : null;
    },
    isTierFixed: configured !== null || token === null,
    possibleTiers: configured ? [configured] : possibleTiers,
    accepted: isOwn,
    isRejected: false,
    acceptedBy: { catalog: isOwn, events: isOwn },
    rejections: new Map(),
    refusedEndpoints: new Map(),
    refusedRecords: new Map(),
    person: undefined,
  };
}

/** The possible tiers that do not get what was rejected. A guess: a single record may be rejected for any tier. */
export function likelyTiers({ possibleTiers, refusedRecords }: Credential): readonly Tier[] {
  if (possibleTiers.length === 1 || refusedRecords.size === 0) return possibleTiers;
  return possibleTiers.filter((tier) => [...refusedRecords.keys()].every((endpoint) => !endpoint.tiers.includes(tier)));
}

const hashOf = (token: string): string => hash('sha256', token, 'base64url').slice(0, 22);

/** The service no longer accepts the token: nothing that was learned before holds. */
function forgetLearned(credential: Credential, possibleTiers: readonly Tier[]): void {
  credential.possibleTiers = possibleTiers;
  credential.person = undefined;
  credential.refusedEndpoints.clear();
  credential.refusedRecords.clear();
}

/** The service's recent rejection of the token. */
export function rejectionBy(service: Service, { rejections }: Credential): UpstreamErrorDetails | undefined {
  const known = rejections.get(service);
  return known && performance.now() < known.until ? known.details : undefined;
}

/** Throws an UpstreamRejection for this request if the service rejected the token recently. */
export function repeatRejection(credential: Credential, request: ApiRequest): void {
  if (credential.rejections.size === 0) return;
  const details = rejectionBy(request.endpoint.service, credential);
  if (details) throw new UpstreamRejection({ ...details, ...detailsOf(request) });
}

/** Longer texts are ignored. */
const PERSON_TEXT_MAX = 500;

/**
 * Whose token it is: no endpoint returns that, but some responses contain the caller. Reads the member of a response that is the caller, or
 * contains the id of the caller.
 */
export function learnPerson(credential: Credential, { endpoint, input }: ApiRequest, response: unknown): void {
  const { caller, list } = endpoint;
  // The collection of another person is requested with that person's id.
  if (caller === undefined || (input as { user_id?: unknown }).user_id !== undefined) return;
  let found: unknown;
  const records = list === undefined ? [response] : memberOf(response, list);
  if (Array.isArray(records)) for (const record of records) found ??= memberOf(record, caller);
  if (found === undefined || found === null) return;
  const person = (typeof found === 'object' ? found : { id: found }) as Record<string, unknown>;
  const id = person.type === 'site' ? undefined : textOf(person.user_id ?? person.id);
  if (id === undefined) return;
  const known = credential.person?.id === id ? credential.person : undefined;
  const uid = textOf(person.uid) ?? known?.uid;
  const name = textOf(person.name) ?? known?.name;
  credential.person = { id, ...(uid === undefined ? {} : { uid }), ...(name === undefined ? {} : { name }) };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return text !== '' && text.length <= PERSON_TEXT_MAX ? text : undefined;
}
