/** The names of all members of a record. The compiler rejects an incomplete list: a missing member would never be requested. */
export const membersOf =
  <Shape>() =>
  <const Members extends readonly (keyof Shape)[]>(
    members: Members &
      (Exclude<keyof Shape, Members[number]> extends never ? unknown : Exclude<keyof Shape, Members[number]>),
  ): Members =>
    members;

/** Scopes of a token; each endpoint of the v2 interface requires one. */
export type Scope =
  | 'book_basic_r'
  | 'book_basic_w'
  | 'service_basic_common'
  | 'community_basic_note'
  | 'movie_basic_r'
  | 'movie_advance_r'
  | 'movie_premium_r';

/** The three tiers of the film interface. They are sets, not levels: premium lacks some endpoints of basic. */
export type Tier = 'basic' | 'advance' | 'premium';
export const tiers = ['basic', 'advance', 'premium'] as const satisfies readonly Tier[];

/**
 * Who may see a response. What else is known of an endpoint has its own column.
 * - `public`: everybody, once it is redacted.
 * - `tier`: everybody with the same film tier as the token of the request.
 * - `anonymous`: everybody, if the request had no token.
 * - `viewer`: only the person whose token made the request.
 */
export type Share = 'public' | 'tier' | 'anonymous' | 'viewer';

/** `catalog` is JSON at {base_url}, `events` is Atom at {event_base_url}; any other is a service that an embedding program adds. */
export type ServiceName = 'catalog' | 'events' | (string & {});

/** Whether a response has nothing of the person whose token made the request, once it is redacted. */
export const isForEverybody = ({ share }: Pick<Endpoint, 'share'>): boolean => share === 'public' || share === 'tier';

/** The format of a body: JSON, or one of the Atom documents of `atom/media.ts`. */
export type Media = 'json' | 'empty' | 'event' | 'eventFeed' | 'personFeed' | 'eventDraft' | 'reason' | 'result';

/** The parameter that limits a GET response to some members. */
export interface Fields {
  fields?: string | undefined;
}

/** A page of a v2 list. */
export interface Window {
  start?: number | undefined;
  count?: number | undefined;
}

/** What every page of a v2 list has. */
export interface ListPage {
  start: number;
  count: number;
  total?: number;
  /** Where the next page begins, if the service left items out of this one. Not specified; the real service sends it. */
  next_start?: number;
}

/** A page of an Atom feed; the first element is number 1. */
export interface FeedWindow {
  'start-index'?: number | undefined;
  'max-results'?: number | undefined;
}

/** Whether it reads something that the service has one of, and always: a search, a chart. */
export const isOfWholeService = ({ params, absentBy }: Pick<Endpoint, 'params' | 'absentBy'>): boolean =>
  params.length === 0 && absentBy === 'code';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** One row of the interface, as data: `upstream` calls it, `origin` serves it. */
export interface Endpoint<In = unknown, Out = unknown> {
  readonly method: Method;
  /** With `:name` for each variable segment, as in `/v2/book/:id`. */
  readonly path: string;
  readonly params: readonly string[];
  /** The literal text before, between and after the variable segments: one more than there are segments. */
  readonly between: readonly string[];
  readonly service: ServiceName;
  /** Endpoints that share one rate limit of the service: `/v2/book`, `/v2/movie`, `/v2/note`, or `events`. */
  readonly group: string;
  /** Its calls count towards the calls a minute of the basic tier. */
  readonly isLimited: boolean;
  /** The tier of a token decides whether it may be called, or what a response has. */
  readonly isTiered: boolean;
  /** No endpoint of its table writes: a copy of a response is not outdated by any write. */
  readonly isReadOnly: boolean;
  /** A read may ask for some members only, by the parameter `fields`. */
  readonly hasFields: boolean;
  /** The parameters of a page: `start` and `count`, or `start-index` and `max-results`. */
  readonly paging: 'start' | 'start-index';
  /** What says that there is no such record: an error code, or the status 404 alone. */
  readonly absentBy: 'code' | 'status';
  /** null for the event interface, which defines no scopes. */
  readonly scope: Scope | null;
  /** The status of success. */
  readonly status: number;
  /** The format of the request body; `empty` for GET and DELETE. A JSON row also accepts forms, and multipart for pictures. */
  readonly body: Media;
  /** The format of the response body. */
  readonly media: Media;
  /** The member of the response with the items of a list; `entries` in feeds; undefined if the response is one record. */
  readonly list: string | undefined;
  /** Id members. A response without any of them is not the record. By default `id` for a read of one record, otherwise none. */
  readonly key: readonly string[];
  /** Members that repeat a parameter of the request. If one is present with another value, the response is another record. */
  readonly repeats: readonly Repeat[];
  readonly share: Share;
  /** Requested with the facade's own token if the caller has none. */
  readonly usesOwnToken: boolean;
  /** The member that says whether an item of the list is public; undefined if all items are. */
  readonly visibility: Visibility | undefined;
  /** People write the content and may change it, delete it or make it private at any time. By default unless it is for everybody. */
  readonly isWritten: boolean;
  /** The member of a response, or of its items, that is the caller or holds the caller's id. */
  readonly caller: string | undefined;
  /** The member of a record, or of the items of a list, that is of the caller alone: it is redacted for others. */
  readonly viewerMember: string | undefined;
  /** How long its record is fresh in the cache, if upstream does not say; undefined: as long as any response with its `share`. */
  readonly freshSeconds: number | undefined;
  /** The film tiers that may call it. */
  readonly tiers: readonly Tier[];
  /** The members of its record that not every tier gets; undefined if every tier gets the same. */
  readonly gates: MemberGates | undefined;
  /** A person must be logged in. */
  readonly login: boolean;
  /** Error codes that mean "not found" here and a rejection elsewhere. */
  readonly absentOn: readonly number[];
  /** Never set; declares the types of the input and the response. */
  readonly types?: { in: In; out: Out };
}

export type InputOf<E> = E extends Endpoint<infer In, unknown> ? In : never;
export type AnswerOf<E> =
  E extends Endpoint<never, infer Out> ? Out : E extends Endpoint<infer _, infer Out> ? Out : never;

/** The names of the endpoints of a table that write. */
export type WritesOf<Table> = {
  [Name in keyof Table]: Table[Name] extends { method: 'GET' } ? never : Name;
}[keyof Table];

/** The members of a record by tier. */
export interface MemberGates {
  readonly members: Readonly<Record<string, readonly Tier[]>>;
  /** Small members that nearly every record has and the basic tier does not get. */
  readonly rarelyEmpty: readonly string[];
}

/** The member of an item that states who may see it, and its value for public items. */
export interface Visibility {
  readonly member: string;
  readonly everybody: number;
}

/** A member of a response that repeats a parameter of the request. */
export interface Repeat {
  readonly member: string;
  readonly param: string;
  /** `person`: a person requested by uid is returned with an id. */
  readonly as: 'text' | 'person';
}

/**
 * The members of a record that a response provides.
 * One of `members` that is absent has its default value. Other members may be present and are then used.
 */
export interface Representation {
  readonly members: readonly string[] | 'all';
  /** Not provided although `members` is `all`. */
  readonly omits?: readonly string[];
}

/** All members that were requested. */
export const wholeRepresentation: Representation = { members: 'all' };

export const isProvided = ({ members, omits }: Representation, member: string): boolean =>
  members === 'all' ? !omits?.includes(member) : members.includes(member);
