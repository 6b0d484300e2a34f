/** The types of `import { Book, text } from 'catalog-graphql/extend'`: what an extension of the graph is declared with. See docs/extend.md. */

/** Given to `createFacade` as `extend`. It is called once, and must declare everything before it returns. */
export type Extend = (builder: Builder) => void;

/** The builder of the graph. */
export interface Builder {
  /** A type of objects of this shape. */
  objectRef<Shape>(name: string): {
    implement(options: TypeOptions<Shape>): ObjectRef<Shape>;
  };
  /** Adds a field to a type. */
  objectField<Shape>(type: ObjectRef<Shape>, name: string, field: (t: FieldBuilder<Shape>) => Field): void;
  /** Adds fields to a type. */
  objectFields<Shape>(type: ObjectRef<Shape>, fields: (t: FieldBuilder<Shape>) => Record<string, Field>): void;
  /** Adds a field to `Query`. */
  queryField(name: string, field: (t: FieldBuilder<object>) => Field): void;
}

/** A type of the graph whose objects are made of values of `Shape`. What a value lacks of a record is loaded. */
export interface ObjectRef<Shape> {
  readonly name: string;
  /** Never set: has the type. */
  readonly $inferType: Shape;
}
/** What a method of the field builder returns. */
export interface Field {
  readonly kind: string;
}

export interface TypeOptions<Shape> {
  description: string;
  fields: (t: FieldBuilder<Shape>) => Record<string, Field>;
  /** `[Node]`, of a type whose objects `node` can load. */
  interfaces?: readonly NodeInterface[];
  /** The object for the key in a global id: `referenceOf`. */
  nodeOf?: (key: string) => object | null;
  /** Its objects are records, which are loaded by their key when fields are selected that are not at hand. */
  record?: {
    endpoint: Endpoint<unknown, Shape>;
    input: (key: string) => object;
    /** Every member that a record may have: `membersOf`. */
    members?: readonly (keyof Shape & string)[];
  };
}

type Scalar = 'ID' | 'String' | 'Int' | 'Float' | 'Boolean' | 'URL' | 'DateTime' | 'LocalDateTime';
type TypeParam = Scalar | ObjectRef<unknown> | readonly [Scalar | ObjectRef<unknown>];
/**
 * When a nullable field is null: the end of the sentence "Null if …"; false if only beside an error. Without `nullable: true` the field is
 * not null, and an error nulls its parent.
 */
type NullIf = string | false;
type Name<Shape> = keyof Shape & string;
interface Argument<Value> {
  readonly kind: string;
  /** Never set: has the type. */
  readonly $value: Value;
}
type Values<Args> = { [Name in keyof Args]: Args[Name] extends Argument<infer Value> ? Value : never };

export interface FieldBuilder<Shape> {
  /** Shows a member of the record. */
  reads(
    member: Name<Shape> | readonly Name<Shape>[],
    decoder: Decoder<unknown>,
    description: string,
    more?: { nullIf?: NullIf; upstream?: string | false; deprecationReason?: string },
  ): Field;
  /**
   * Computes a value from the members of the record in `needs` alone: others may be missing, and what depends on the caller belongs in
   * `field`, because callers share the response.
   */
  computed<Needs extends Name<Shape>>(options: {
    type: TypeParam;
    description: string;
    needs: readonly Needs[];
    /** The most calls that one run of the resolver makes: see `field`. With `maxCalls` the response is in no cache. */
    maxCalls?: number;
    nullable?: boolean;
    nullIf?: NullIf;
    resolve: (record: Pick<Shape, Needs>) => unknown;
  }): Field;
  /** Shows a record that a member holds, or one that only its id in another member names. */
  record<Of>(
    type: ObjectRef<Of>,
    place: { member?: Name<Shape>; id?: Name<Shape> },
    description: string,
    more?: { nullIf?: NullIf },
  ): Field;
  /** Shows the response of a call; null if there is none. */
  call<Of, In, Out extends Of, From extends Name<Shape> = never, Args extends object = object>(
    options: CallOptions<Shape, In, Out, From, Args> & { type: ObjectRef<Of> },
  ): Field;
  /** A list, as a connection. Its pages are requested as `Window` says. */
  connection<Item, In, Out, From extends Name<Shape> = never, Args extends object = object>(
    options: CallOptions<Shape, In, Out, From, Args> & {
      /** The type of the nodes. */
      type: ObjectRef<Item>;
      pageSize?: number;
      /** The items of a response; by default those in the list that its endpoint names. */
      items?: (response: Out, parent: Pick<Shape, From>) => readonly (Item | null | undefined)[];
    },
  ): Field;
  /**
   * A field with a resolver of its own, which says what it costs. It may depend on the caller: a response with it is in no cache. Clients are
   * shown the message of a GraphQLError that it throws, with the code in its `extensions`; any other error is logged, and not shown.
   */
  field<Args extends object = object, Needs extends Name<Shape> = never>(options: {
    type: TypeParam;
    description: string;
    args?: Args;
    /** The members of the record that the resolver reads: others may be missing. */
    needs?: readonly Needs[];
    nullable?: boolean;
    nullIf?: NullIf;
    /** The most calls that one run of the resolver makes: 0 if it makes none. They are in the price, and nothing else is known of them. */
    maxCalls: number;
    resolve: (parent: Pick<Shape, Needs>, args: Values<Args>) => unknown;
  }): Field;
  /** The arguments of a field. */
  readonly arg: {
    id(options: ArgumentOptions & { required: true }): Argument<string>;
    string(options: ArgumentOptions & { required: true }): Argument<string>;
    int(options: ArgumentOptions & { required: true }): Argument<number>;
    string(options: ArgumentOptions): Argument<string | null | undefined>;
    int(options: ArgumentOptions): Argument<number | null | undefined>;
  };
}

interface ArgumentOptions {
  description: string;
  required?: boolean;
}

interface CallOptions<Shape, In, Out, From extends Name<Shape>, Args> {
  description: string;
  nullIf?: NullIf;
  args?: Args;
  endpoint: Endpoint<In, Out>;
  /** The members of the parent record that the input is made from. The call starts as soon as they are known. */
  from?: readonly From[];
  /** What is sent: by default the members in `from`. */
  input?: (parent: Pick<Shape, From>, args: Values<Args>) => Omit<In, 'fields'>;
  /** True if nothing can be requested for this parent: the field is null, without a call. */
  isUnavailable?: (parent: Pick<Shape, From>) => boolean;
}

/** A service beside the catalog: given to `createFacade` in `services`. */
export interface Service<Endpoints = object> {
  readonly name: string;
  readonly baseUrl: string;
  /** For the fields that call them. */
  readonly endpoints: Endpoints;
}

/** Declares a service, whose endpoints are reads of JSON. */
export function service<Rows extends Readonly<Record<string, EndpointRow<unknown, unknown>>>>(facts: {
  /** In `x-explain`, in metrics and in errors: small letters, digits and -. */
  name: string;
  baseUrl: string;
  endpoints: Rows;
  /** Who may see what it says: by default the caller for whom it was read, and no cache has it. `public`: everybody; it is cached. Not with `token: 'caller'`. */
  share?: 'public' | 'viewer';
  /** The token of its calls: none by default, that of the caller, or one of its own. The token of a caller is sent to no service without this. */
  token?: 'none' | 'caller' | { readonly own: string };
  /** What its errors mean, by the `code` in their body. Without it, the status 404 alone says that there is no such record. */
  errors?: Readonly<Record<number, ErrorRow>>;
  /** It takes the parameter `fields`, with the names of the members that are selected. */
  hasFields?: boolean;
  /** The calls a minute that it takes, of which one address of clients may make half; with a token of the caller, those of each token. */
  callsAMinute?: number;
  /** The most calls at once. */
  concurrency?: number;
}): Service<{
  readonly [Name in keyof Rows]: Rows[Name] extends EndpointRow<infer In, infer Out> ? Endpoint<In, Out> : never;
}>;

export interface ErrorRow {
  msg: string;
  status: number;
  /** The code that clients get. */
  client: string;
  means: 'absent' | 'token' | 'rate' | 'permission' | 'rejected' | 'other';
  /** A cached copy must not be shown again. */
  drops: boolean;
}

/** An endpoint before it is of a service. */
export interface EndpointRow<In, Out> {
  readonly path: string;
  /** Never set: has the types. */
  readonly types?: { line: unknown; in: In; out: Out };
}
interface Takes<In> {
  /** Never set: has the type. */
  readonly types?: In;
}
interface Gives<Out> {
  readonly status: number;
  /** Never set: has the type. */
  readonly types?: Out;
}
type Segments<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Segments<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Declares an endpoint: its path, below the base URL; null, because only the catalog has scopes; its query, and its response. */
export function endpoint<Line extends `GET /${string}`, In, Out>(
  line: Line,
  scope: null,
  query: Takes<In>,
  response: Gives<Out>,
  more?: {
    /** The members of which a record has one, so that another body is not taken for it. By default `id`. */
    key?: readonly (keyof Out & string)[];
    /** The member with the items, if it is a list. */
    list?: keyof Out & string;
    share?: 'public' | 'viewer';
    /** How long a record that `node` can load is fresh in the cache, if the service does not say. Other responses: 300 s. */
    freshSeconds?: number;
  },
): EndpointRow<{ [Name in Segments<Line>]: string } & In, Out>;
/** The parameters of the query. */
export function takes<In = object>(): Takes<In>;
/** The status and the type of the response. */
export function gives<Out>(status: 200): Gives<Out>;
/** What a list takes: the engine sets it. A service that has other names for it would send its first page again and again. */
export interface Window {
  start?: number | undefined;
  count?: number | undefined;
}
/** The parameter of a service with `hasFields`: the engine sets it. */
export interface Fields {
  fields?: string | undefined;
}
/** What every page of a list has. */
export interface ListPage {
  start: number;
  count: number;
  total?: number;
}

/** An endpoint of a service. */
export interface Endpoint<In, Out> {
  readonly path: string;
  /** Never set: has the types. */
  readonly types?: { in: In; out: Out };
}

/** How a member becomes the value of a field. */
export interface Decoder<Value> {
  readonly decode: (value: unknown) => Value;
  readonly nullable: boolean;
}
/** A decoder of your own. It must not throw: a member may be anything. */
export function decoder<Value>(type: Scalar, decode: (value: unknown) => Value): Decoder<Value>;
/** One that returns null where there is no value. */
export function orNull<Value>(
  type: Scalar,
  decode: (value: unknown) => Value | null,
  nullIf?: NullIf,
): Decoder<Value | null>;
/** A text; '' if there is none. */
export const text: Decoder<string>;
export const textOrNull: Decoder<string | null>;
export const texts: Decoder<string[]>;
/** A whole number; 0 if there is none. */
export const count: Decoder<number>;
export const countOrNull: Decoder<number | null>;
export const flag: Decoder<boolean>;
export const urlOrNull: Decoder<string | null>;
export const dateTime: Decoder<string | null>;

/** All members of a record. The compiler rejects a list that lacks one: it would never be requested. */
export function membersOf<Shape>(): <const Members extends readonly (keyof Shape)[]>(
  members: Members &
    (Exclude<keyof Shape, Members[number]> extends never ? unknown : Exclude<keyof Shape, Members[number]>),
) => Members;

export interface NodeInterface {
  readonly name: 'Node';
}
/** The interface of objects that `node` can load. */
export const Node: NodeInterface;
/** The fields `id` and `sourceId` of a record. */
export function identity<Shape extends { id: string | number }>(
  t: FieldBuilder<Shape>,
  type: string,
): Record<'id' | 'sourceId', Field>;
/** The object for the key in a global id. */
export function referenceOf(key: string): { id: string } | null;
/** Adds a query for a record by its id, named as the type in lower case. `example`: an id that there is. */
export function queryById<Shape>(
  type: ObjectRef<Shape>,
  endpoint: Endpoint<{ id: string }, Shape>,
  description: string,
  example: string,
): void;

/** The types that fields are added to most, with the members that they are joined by. */
export const Book: ObjectRef<{ id: string; isbn10?: string; isbn13?: string; title: string }>;
/** A film. */
export const Subject: ObjectRef<{ id: string; title: string; original_title?: string }>;
/** Who made a film; `id` is null if the service has no page of the person. */
export const Celebrity: ObjectRef<{ id: string | null; name: string }>;
export const Event: ObjectRef<{ id: string; title: string }>;
export const City: ObjectRef<{ id: string; name?: string | null }>;
/** A person; a name that the address of their page has in place of the number is in `uid`. */
export const User: ObjectRef<{ id: string; uid?: string }>;
