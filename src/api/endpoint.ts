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
 * Who may share a response.
 * - `public`: everybody, once `current_user_collection` is redacted; may be requested with the facade's own token.
 * - `tier`: everybody with the same film tier as the token of the request, which may be the facade's own.
 * - `anonymous`: everybody, if the request had no token.
 * - `viewer`: only the person whose token made the request.
 */
export type Share = 'public' | 'tier' | 'anonymous' | 'viewer';

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

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Segments<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Segments<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters in the path of a row: `/v2/book/:id` has an `id`. */
type PathInput<Row extends string> = { [Name in Segments<Row>]: string };

/** One row of the interface, as data: `upstream` calls it, `origin` serves it. */
export interface Endpoint<In = unknown, Out = unknown> {
  readonly method: Method;
  /** With `:name` for each variable segment, as in `/v2/book/:id`. */
  readonly path: string;
  readonly params: readonly string[];
  /** The literal text before, between and after the variable segments: one more than there are segments. */
  readonly between: readonly string[];
  /** `catalog` is JSON at {base_url}, `events` is Atom at {event_base_url}. */
  readonly service: 'catalog' | 'events';
  /** Endpoints that share one rate limit of the service: `/v2/book`, `/v2/movie`, `/v2/note`, or `events`. */
  readonly group: string;
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
  /** The member that says whether an item of the list is public; undefined if all items are. */
  readonly visibility: Visibility | undefined;
  /** People write the content and may change it, delete it or make it private at any time. By default unless `share` is `public` or `tier`. */
  readonly isWritten: boolean;
  /** The member of a response, or of its items, that is the caller or holds the caller's id. */
  readonly caller: string | undefined;
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

interface Takes<In> {
  readonly body: Media | undefined;
  readonly types?: In;
}
interface Gives<Out> {
  readonly status: number;
  readonly media: Media | undefined;
  readonly types?: Out;
}
/** What a row may say besides its columns. */
type Options = Partial<
  Pick<
    Endpoint,
    | 'list'
    | 'key'
    | 'repeats'
    | 'share'
    | 'visibility'
    | 'isWritten'
    | 'tiers'
    | 'gates'
    | 'login'
    | 'absentOn'
    | 'caller'
  >
>;

/** The input of a call besides the path parameters: the query of a GET, the body of a write. */
export const takes = <In = object>(body?: Media): Takes<In> => ({ body });
/** The status and the body of a successful response. */
export const gives = <Out = void>(status: number, media?: Media): Gives<Out> => ({ status, media });

/** A member with the same text as a parameter. */
export const repeats = (member: string, param = member): Repeat => ({ member, param, as: 'text' });
/** A member with the id of a person, who may be requested by uid too. */
export const repeatsPerson = (member: string, param = member): Repeat => ({ member, param, as: 'person' });

/** A record requested by its id. */
export const byOwnId = { repeats: [repeats('id')] } as const satisfies Options;
/** A write that returns the record. */
export const givesRecord = { key: ['id'] } as const satisfies Options;
/** A write that returns its author. */
export const byAuthor = { caller: 'author' } as const satisfies Options;
/** A write to an existing record that returns it. */
export const givesThatRecord = { ...givesRecord, ...byOwnId } as const satisfies Options;

/** Declares one row: method and path, scope, input, response. */
export function endpoint<Row extends `${Method} /${string}`, In, Out>(
  row: Row,
  scope: Scope | null,
  input: Takes<In>,
  answer: Gives<Out>,
  options: Options = {},
): Endpoint<PathInput<Row> & In, Out> {
  const [method, path] = row.split(' ') as [Method, string];
  const service = path.startsWith('/v2/') ? 'catalog' : 'events';
  const reads = method === 'GET';
  const share = reads ? (options.share ?? (service === 'events' ? 'anonymous' : 'viewer')) : 'viewer';
  return Object.freeze({
    method,
    path,
    params: [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!),
    between: path.split(/:\w+/),
    service,
    group: service === 'events' ? service : `/v2/${path.split('/')[2]!.replace(/s$/, '')}`,
    scope,
    status: answer.status,
    body: input.body ?? (reads || method === 'DELETE' ? 'empty' : 'json'),
    media: answer.media ?? 'json',
    list: options.list,
    key: options.key ?? (reads && options.list === undefined ? ['id'] : []),
    repeats: options.repeats ?? [],
    share,
    visibility: options.visibility,
    isWritten: options.isWritten ?? (share === 'anonymous' || share === 'viewer'),
    tiers: options.tiers ?? tiers,
    gates: options.gates,
    login: options.login ?? !reads,
    absentOn: options.absentOn ?? [],
    caller: options.caller,
  });
}

/**
 * The members of a record that a response provides.
 * A member of `names` that is absent has its default value. Other members may be present and are then used.
 */
export interface Representation {
  readonly members: readonly string[] | 'all';
  /** Not provided although `names` is `all`. */
  readonly omits?: readonly string[];
}

/** All members that were requested. */
export const wholeRepresentation: Representation = { members: 'all' };

export const isProvided = ({ members, omits }: Representation, member: string): boolean =>
  members === 'all' ? !omits?.includes(member) : members.includes(member);
