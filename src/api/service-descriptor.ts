/** What engine, upstream and server know of the service. `graph/service/descriptor.ts` describes the catalog. */
import type { Endpoint, Media, ServiceName, Tier } from './endpoint.ts';

/** Whether it is a service of the catalog itself, rather than one that an embedding program adds. */
export const isOfCatalog = (service: ServiceName): service is 'catalog' | 'events' =>
  service === 'catalog' || service === 'events';

/** What an error code means for a read, whatever its status. */
export type Meaning =
  /** There is no such record. */
  | 'absent'
  /** The token is unknown or expired. */
  | 'token'
  /** The key of the program that calls is unknown or blocked. */
  | 'key'
  /** A rate limit is reached. */
  | 'rate'
  /** The record or its endpoint is not for the token, even with the status 404. */
  | 'permission'
  /** The token may call no endpoint of the scope, even with the status 404. */
  | 'scope'
  /** A rejection, even with the status 404. */
  | 'rejected'
  /** Any failure: it does not show whether a write was carried out. */
  | 'anything'
  /** A rejection, unless the status is 404. */
  | 'other';

/** The row of an error code. */
export interface ErrorRow {
  readonly msg: string;
  readonly status: number;
  /** The code that clients get. */
  readonly client: string;
  readonly means: Meaning;
  /** A cached copy of the record must not be shown again, not even while the service fails. */
  readonly drops: boolean;
}

export type ErrorTable = Readonly<Record<number, ErrorRow>>;

type DocumentMedia = Exclude<Media, 'json' | 'empty'>;

/** How bodies are read and written that are not JSON. */
export interface DocumentFormat {
  readonly contentType: string;
  /** Throw a SyntaxError. `url`: of the document, for relative links. */
  readonly readers: Readonly<Record<DocumentMedia, (document: string, url?: string) => unknown>>;
  readonly writers: Readonly<Record<DocumentMedia, (record: never) => string>>;
  /** The text without characters that make a document unreadable. */
  readonly readable: (document: string) => string;
}

/** What the tiers of tokens mean. What is known of one token is remembered in `upstream/auth`. */
export interface TierPolicy {
  /** Those that a token may have of which nothing is known, or that everybody has without one. */
  readonly possible: (hasToken: boolean) => readonly Tier[];
  /** Those that get such a response, or `refused`, that the endpoint is not for the token. */
  readonly provenBy: (endpoint: Endpoint, response: object | 'refused') => readonly Tier[];
  /**
   * Members to request besides `members`: if they are all absent too, the tier withholds an absent member. None if the tier is known.
   * `isLimitUncertain`: they are needed for any `members`, because they also show whether the credential has a rate limit.
   */
  readonly evidence: (
    endpoint: Endpoint,
    members: readonly string[],
    possible: readonly Tier[],
    isLimitUncertain?: boolean,
  ) => readonly string[];
  /** Those of `members`, which were all requested, that are absent because of the tier, which is one of `possible`. */
  readonly withheld: (
    endpoint: Endpoint,
    record: Readonly<Record<string, unknown>>,
    members: readonly string[],
    possible: readonly Tier[],
  ) => readonly string[];
}

export interface ServiceDescriptor {
  readonly endpoints: readonly Endpoint[];
  /** By code. */
  readonly errors: ErrorTable;
  /** Undefined if all bodies are JSON. */
  readonly documents?: DocumentFormat;
  /** Undefined if all tokens get the same. */
  readonly tiers?: TierPolicy;
  /** Its calls never carry the token of a caller, so what it says of a token is not about the caller's. */
  readonly seesNoCaller?: boolean;
  /** Calls a minute of all endpoints with `isLimited`, for a credential of the basic tier. */
  readonly basicCallsAMinute: number;
}
