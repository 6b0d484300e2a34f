/** What fields and types declare for the engine. */
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { RecordSource } from '../../api/record-source.ts';
import type { NullCondition } from '../values/decode.ts';
import type { NewestFirst } from '../values/newest-first.ts';

/** A member that is written in several variants, of which a parameter chooses one. Declared by the field; `embedded.member` names the member. */
interface Variant {
  param: string;
  /** The value of the parameter; undefined for the variant that the record itself has. */
  of: (args: never) => string | undefined;
}

/** A list's first page, or a short form of the value, that the parent record carries. It is used as long as it is enough. */
interface EmbeddedMember<Parent> {
  /** The member of the parent record. */
  member: keyof Parent & string;
  /** For lists: the most items that it holds. */
  upTo?: number;
  /** The members that its items provide. If others are selected, the endpoint is called. */
  representation: Representation;
  /** Provided members that some services leave out of items. If one is selected and missing, the endpoint is called. */
  mayOmit?: readonly string[];
}

/** Members of the parent record that the response to a child call also carries. */
export interface Provides<Response, Parent> {
  members: readonly (keyof Parent & string)[];
  /** The member of the items that carries them, if only the selection decides whether it is requested. */
  carriedBy?: string;
  /** `parent`: as far as it is known before the call. */
  read: (response: Response, parent: Parent) => Partial<Parent> | null | undefined;
}

/** What any field may declare. */
export interface FieldDeclaration {
  nullIf?: NullCondition;
  /** Where the value comes from, as descriptions say it last; by default the operation that is called or the members that are read. */
  upstream?: string | false;
  /** The members that the returned records provide; by default all that were requested. */
  representation?: Representation;
  /** The record is an item of the list that its parent was made of, so the list shows that it exists. */
  isItem?: boolean;
  /** The value may have nothing but its id: then what is selected of it is loaded, in whatever list it is. */
  mayBeReference?: boolean;
  /** Null, without a call, if the request carries no token of its own. `named`: it depends on who the caller is, which responses tell. */
  viewerOnly?: true | 'named';
  /** A field of a connection that any page of its list tells, whatever items it has. `forward`: of a list that is read forward. */
  needsNoItems?: boolean | 'forward';
  /** The most items that the cost assumes if no `first` limits them. */
  assumedSize?: number;
  /** The items that there usually are then, if they are fewer. */
  usualSize?: number;
  /** The parent has nothing of the record but its id. */
  isNamed?: boolean;
}

/** What a field declares of the record that it reads. */
export interface RecordDeclaration<Needs extends string, Below extends string = Needs> extends FieldDeclaration {
  /** Members of the record that the resolver reads. */
  needs?: readonly Needs[];
  /** Members of the record that a selected subfield reads: `ratersCount` of a rating is a member beside `rating`. */
  needsBelow?: Readonly<Record<string, readonly Below[]>>;
  /** What its resolver may request without any token. Of several records the list tells most. */
  readsAsNobody?: { record: Endpoint; list: Endpoint };
}

/** What a field declares of its call. */
export interface CallDeclaration<Parent, Args, In, Out, From extends keyof Parent & string> extends FieldDeclaration {
  /** The endpoint to call; a function if it depends on the arguments, or on the parent, which a plan does not know. */
  endpoint: Endpoint<In, Out> | ((args: Args, parent?: Pick<Parent, From>) => Endpoint<In, Out>);
  /** All endpoints that such a function can choose. */
  endpoints?: readonly Endpoint<In, Out>[];
  /** Members of the parent record that the input is made from. The call starts as soon as they are known. */
  from?: readonly From[];
  /**
   * The input of the call, without `fields` and the window of a page, which the engine adds. By default the members in `from`. Throws if
   * the arguments are wrong.
   */
  input?: (parent: Pick<Parent, From>, args: Args) => Omit<In, 'fields'>;
  embedded?: EmbeddedMember<Parent>;
  provides?: Provides<Out, Parent>;
  /** The field of the items, or of the value, that is the parent record again: what is selected of it is loaded with the parent. */
  backReference?: string;
  /** The field of the items that is null in this list: it costs nothing. */
  nullField?: string;
  /** The field of the page that the service rarely sets: no calls are likely below it. */
  rareField?: string;
  /** The value, if it stands beside the parent in its list, which then requests what is selected of it. */
  atHand?: (parent: Pick<Parent, From>) => object | undefined;
  /** The member of `embedded` has several variants; a parameter of the call chooses one. */
  variant?: Variant;
  /** True if nothing can be requested for this parent: the field is null, without a call; reads the members in `from` only. */
  isUnavailable?: (parent: Pick<Parent, From>) => boolean;
}

/** What a connection declares. */
export interface ListDeclaration<
  Parent,
  Args,
  In,
  Out,
  From extends keyof Parent & string,
  Item,
> extends CallDeclaration<Parent, Args, In, Out, From> {
  /** The page size if the client gives no `first`; 20 by default. */
  pageSize?: number;
  /** The items of a response, if they are not its list as it is. Also called for an embedded page, as `{ [list]: items }`. */
  items?: (response: Out, parent: Pick<Parent, From>, args: Args) => readonly (Item | null | undefined)[];
  /** The members that order the list, if it is ordered by time: its cursors then name items. `when`: with these arguments only. */
  newestFirst?: NewestFirst<Item> & { when?: (args: Args) => boolean };
  /** True if the service stopped counting at this total. */
  totalIsCapped?: (response: Out, viewer: Viewer, args: Args) => boolean;
  /** The order of the list is a ranking, which begins with 1. */
  isRanked?: boolean;
  /** The value is what has changed in the list, not a page of it. */
  tellsChanges?: boolean;
  /** The parameter of the list that chooses the variant of a member for all its items. */
  variants?: string;
  /** Fields of its items read it without any token. */
  isReadAsNobody?: boolean;
  /** True if the list is known to be empty without a call; reads the members in `from` only. */
  isEmpty?: (parent: Pick<Parent, From>) => boolean;
}

/** All that a field may declare, as the engine reads it back from the schema. */
export interface FieldRule
  extends
    RecordDeclaration<string>,
    Partial<ListDeclaration<Record<string, unknown>, object, object, unknown, string, unknown>> {
  /** The member with the id of the record below; enough if only that id is selected. */
  idIn?: string;
  /** The `resolve` that the field declared; the engine calls it with the response. */
  mapResponse?: (response: unknown, args: object, parent: object) => unknown;
  /** The global ids that the arguments name: the cost depends on their types. */
  globalIds?: (args: object) => readonly string[];
  /** The endpoint that a mutation calls. */
  writeEndpoint?: Endpoint;
  /** What the mutation removes from the caches; `nothing` if no query reads what it changes. */
  invalidates?: ((id: string, input: never, made: string | undefined) => readonly string[]) | 'nothing';
  /**
   * The most writes of a mutation; 1 by default. A function of its arguments, undefined if they are not valid. Of another field, the most
   * calls that its own resolver makes: a number.
   */
  maxCalls?: number | ((args: object | undefined) => number);
  /** What a mutation reads before it writes, at most. */
  readsBefore?: (args: object | undefined) => readonly Endpoint[];
  /** The fields of the input of an update in which null is a violation. */
  uncleared?: readonly string[];
}

/** What a type declares. */
export interface TypeRule {
  /** How sentences call an object of the type; by default its name, in lower case. */
  noun?: string;
  record?: RecordSource;
  /** What each response that names such a record has of it, whoever may load the record. */
  shortForm?: Representation;
  /** Alternative spellings by name: a record with the other spelling is not missing the member. */
  alternatives?: Readonly<Record<string, string>>;
  /** The object for the key in a global id; undefined for types that are not nodes. */
  nodeOf?: (key: string) => object | null;
  /** A reference always exists: its id is enough. */
  isReference?: boolean;
  /** A connection, an edge, or another type that only wraps the items of a list and reads no members itself. */
  isWrapper?: boolean;
  /** The members that upstream knows, for a type without `record`: others are not requested. */
  members?: readonly string[];
}
