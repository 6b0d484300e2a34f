/** What fields and types declare for the engine, as it reads them back from the schema. */
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';

/** A member that is written in several variants, of which a parameter chooses one. Declared by the field; `embedded.member` names the member. */
export interface Variant {
  param: string;
  /** The value of the parameter; undefined for the variant that the record itself has. */
  of: (args: never) => string | undefined;
}

/** A list's first page, or a short form of the value, that the parent record carries. It is used as long as it is enough. */
export interface EmbeddedMember<Parent> {
  /** The member of the parent record. */
  member: keyof Parent & string;
  /** For lists: the most items that it holds. */
  upTo?: number;
  /** The names that its items provide. If others are selected, the endpoint is called. */
  representation: Representation;
  /** False for arguments that the member cannot answer. */
  when?: (args: never) => boolean;
  /** Provided names that some services leave out of items. If one is selected and missing, the endpoint is called. */
  mayOmit?: readonly string[];
  /** The resolver takes the parent record, not the member. */
  takesParent?: boolean;
}

/** Fields of the parent record that the response to a child call also carries. */
export interface Provides<Response, Parent> {
  names: readonly (keyof Parent & string)[];
  /** The member of the items that carries them, if only the selection decides whether it is requested. */
  member?: string;
  read: (response: Response) => Partial<Parent> | null | undefined;
}

/** When a nullable field is null, as the end of the sentence "Null if …"; false if only beside an error. */
export type NullCondition = string | false;

/** What a field declares. */
export interface FieldRule {
  nullIf?: NullCondition;
  needs?: readonly string[];
  /** Names of the parent record that a selected subfield reads: `ratersCount` of a rating is a member beside `rating`. */
  needsBelow?: Readonly<Record<string, readonly string[]>>;
  /** The member with the id of the record below; enough if only that id is selected. */
  idIn?: string;
  representation?: Representation;
  endpoint?: Endpoint | ((args: object) => Endpoint);
  endpoints?: readonly Endpoint[];
  from?: readonly string[];
  input?: (parent: object, args: object, viewer: Viewer) => object;
  /** The `resolve` that the field declared; the engine calls it with the response. */
  mapResponse?: (response: unknown, args: object, parent: object) => unknown;
  embedded?: EmbeddedMember<Record<string, unknown>>;
  provides?: Provides<unknown, Record<string, unknown>>;
  variant?: Variant;
  variants?: string;
  isUnavailable?: (parent: object) => boolean;
  viewerOnly?: boolean;
  assumedSize?: number;
  recordCounts?: (args: object) => ReadonlyMap<string, number>;
  /** Set for connections only. */
  pageSize?: number;
  items?: (response: unknown, parent: object, args: object) => readonly unknown[];
  totalIsCapped?: (response: unknown, viewer: Viewer, args: object) => boolean;
  isEmpty?: (parent: object) => boolean;
  /** The endpoint that a mutation calls. */
  writeEndpoint?: Endpoint;
  /** The most calls that a mutation makes; 1 by default. */
  maxCalls?: number;
}

/** What a type declares. */
export interface TypeRule {
  record?: RecordSource;
  /** Alternative spellings by name: a record with the other spelling is not missing the name. */
  alternativeNames?: Readonly<Record<string, string>>;
  /** The object for the key in a global id; undefined for types that are not nodes. */
  nodeOf?: (key: string) => object | null;
  /** A reference always exists: its id is enough. */
  isReference?: boolean;
  /** A connection, an edge, or another type that only wraps the items of a list and reads no names itself. */
  isWrapper?: boolean;
  /** The members that upstream knows, for a type without `record`: other names are not requested. */
  members?: readonly string[];
}
