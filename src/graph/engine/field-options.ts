/**
 * How a field says what it reads or calls. Everything else follows from it: projection, top-ups, early starts, cost, explain.
 *
 * - `needs`  names of the parent's record that the resolver reads
 * - `reads`  a field that shows one member through a decoder; declares itself
 * - `ask`    a field answered by a call
 * - `pages`  a field answered by a list, as a connection
 */
import {
  type FieldRef,
  type InputFieldMap,
  type InputShapeFromFields,
  type ObjectRef,
  RootFieldBuilder,
  type SchemaTypes,
  type ShapeFromTypeParam,
  type TypeParam,
} from '@pothos/core';
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { Decoder } from '../types/decode.ts';
import { type Page, connectionOf, pagingArgs } from '../types/connection.ts';

/** The first page, or the short form, that the parent's record carries: served from it while it suffices. */
export interface EmbeddedMember<Parent> {
  /** The member that carries it. */
  member: keyof Parent & string;
  /** Items it holds at most; for lists. */
  upTo?: number;
  /** What its items carry. More asked than that: the call is made. */
  representation: Representation;
  /** False for arguments that the member does not answer. */
  when?: (args: never) => boolean;
  /** Names of its form that some services leave out of items. If one is selected and missing, the call is made. */
  mayOmit?: readonly string[];
  /** The resolver takes the parent's record itself, not the member. */
  takesParent?: boolean;
}

/** What an answer tells of the very record it was asked for. */
export interface Provides<Out, Parent> {
  names: readonly (keyof Parent & string)[];
  read: (answer: Out) => Partial<Parent> | null | undefined;
}

interface CallDeclaration<Parent, Args, In, Out, From extends keyof Parent & string> {
  description: string;
  deprecationReason?: string;
  /** The endpoint that answers; a function where the arguments decide. */
  endpoint: Endpoint<In, Out> | ((args: Args) => Endpoint<In, Out>);
  /** Names of the parent that the input is made from: once these are known, the call starts. */
  from?: readonly From[];
  /** The call's input; the window of `pages` and `fields` are put in by the engine. Throws for input that is known to be wrong. */
  input: (parent: Pick<Parent, From>, args: Args, viewer: Viewer) => Omit<In, 'fields'>;
  /** How whole the arriving records are; all that was asked for by default. */
  representation?: Representation;
  embedded?: EmbeddedMember<Parent>;
  provides?: Provides<Out, Parent>;
  /** Null, without a call, for a caller who sent no token of their own. */
  viewerOnly?: boolean;
  /** Items that the answer holds at most, where no `first` says so: for the cost. */
  assumedSize?: number;
}

export interface CallOptions<
  Types extends SchemaTypes,
  Parent,
  Type extends TypeParam<Types>,
  Args extends InputFieldMap,
  In,
  Out,
  From extends keyof Parent & string,
> extends CallDeclaration<Parent, InputShapeFromFields<Args>, In, Out, From> {
  type: Type;
  args?: Args;
  /** The answer as the field's value; an absent record does not come here, it is null. */
  resolve: (
    answer: Out,
    args: InputShapeFromFields<Args>,
    parent: Pick<Parent, From>,
  ) => ShapeFromTypeParam<Types, Type, true>;
}

export interface ConnectionOptions<
  Types extends SchemaTypes,
  Parent,
  Item,
  Args extends InputFieldMap,
  In,
  Out,
  From extends keyof Parent & string,
> extends CallDeclaration<Parent, InputShapeFromFields<Args>, In, Out, From> {
  /** The type of the nodes. */
  type: ObjectRef<Types, Item>;
  args?: Args;
  /** The page size where the caller gives none. */
  pageSize: number;
  /** The items of an answer, where they are not simply its list; also called for the page in hand, as `{ [list]: items }`. */
  items?: (
    answer: Out,
    parent: Pick<Parent, From>,
    args: InputShapeFromFields<Args>,
  ) => readonly (Item | null | undefined)[];
  /** True where the total is where the service stopped counting. */
  totalIsCapped?: (answer: Out, viewer: Viewer, args: InputShapeFromFields<Args>) => boolean;
  /** True for a parent whose list is empty without a call; `from` names what it reads. */
  isEmpty?: (parent: Pick<Parent, From>) => boolean;
}

/** What the engine reads back from a field. */
export interface FieldRule {
  needs?: readonly string[];
  /** Names of the parent's record that a selected child of this field reads: ratersCount of a rating is a member beside it. */
  needsBelow?: Readonly<Record<string, readonly string[]>>;
  /** Where the id of the record below stands, for when no more than its id is selected. */
  idIn?: string;
  representation?: Representation;
  endpoint?: Endpoint | ((args: object) => Endpoint);
  from?: readonly string[];
  input?: (parent: object, args: object, viewer: Viewer) => object;
  /** An ask's own `resolve`, which the engine calls with the answer. */
  mapResponse?: (answer: unknown, args: object, parent: object) => unknown;
  embedded?: EmbeddedMember<Record<string, unknown>>;
  provides?: Provides<unknown, Record<string, unknown>>;
  viewerOnly?: boolean;
  assumedSize?: number;
  recordCounts?: (args: object) => ReadonlyMap<string, number>;
  /** Set on `pages`. */
  pageSize?: number;
  items?: (answer: unknown, parent: object, args: object) => readonly unknown[];
  totalIsCapped?: (answer: unknown, viewer: Viewer, args: object) => boolean;
  isEmpty?: (parent: object) => boolean;
  /** What a mutation calls. */
  writeEndpoint?: Endpoint;
  /** Calls that a write makes at most; 1 by default. */
  maxCalls?: number;
}

/** What the engine reads back from a type. */
export interface TypeRule {
  record?: RecordSource;
  /** Alternative spellings by name: a record with the other spelling is not missing the name. */
  alternativeNames?: Readonly<Record<string, string>>;
  /** The object behind a global id's key; undefined where the type is no Node. */
  nodeOf?: (key: string) => object | null;
  /** Never absent: it stands before anything is read of it. */
  isReference?: boolean;
  /** Wraps what a list holds, as connections and edges do: no names of its own. */
  isWrapper?: boolean;
}

/* eslint-disable @typescript-eslint/no-namespace, @typescript-eslint/no-unused-vars -- Pothos is extended by merging into its namespace, each declaration with all its parameters */
declare global {
  export namespace PothosSchemaTypes {
    interface ObjectFieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable,
      Args,
      ResolveReturnShape,
    > {
      needs?: readonly (keyof ParentShape & string)[];
      needsBelow?: Readonly<Record<string, readonly (keyof ParentShape & string)[]>>;
      idIn?: keyof ParentShape & string;
      representation?: Representation;
      viewerOnly?: boolean;
      /** Items that a list holds at most, for the cost. */
      assumedSize?: number;
    }
    interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable,
      Args,
      ResolveReturnShape,
    > {
      /** How many records of each type the arguments name, for the cost. */
      recordCounts?: (args: never) => ReadonlyMap<string, number>;
    }
    interface BaseTypeOptions<Types extends SchemaTypes = SchemaTypes> {
      record?: RecordSource;
      alternativeNames?: Readonly<Record<string, string>>;
      nodeOf?: (key: string) => object | null;
      isReference?: boolean;
      isWrapper?: boolean;
      /** Never set: keeps the parameter used. */
      types?: Types;
    }
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind> {
      /** Shows one member of the record through a decoder; of several spellings, the first that is there. */
      reads<Name extends string, Shape>(
        names: (keyof ParentShape & string) | readonly (keyof ParentShape & string)[],
        decoder: Decoder<Name, Shape>,
        description: string,
        more?: { deprecationReason?: string },
      ): FieldRef<Types, Shape>;

      /** A field answered by a call. Null where the record is absent. */
      call<
        Type extends TypeParam<Types>,
        In,
        Out,
        From extends keyof ParentShape & string = never,
        Args extends InputFieldMap = Record<never, never>,
      >(
        options: CallOptions<Types, ParentShape, Type, Args, In, Out, From>,
      ): FieldRef<Types, ShapeFromTypeParam<Types, Type, true>>;

      /** A field answered by a list of the service, as a Relay connection over offset cursors. */
      connection<
        Item,
        In,
        Out,
        From extends keyof ParentShape & string = never,
        Args extends InputFieldMap = Record<never, never>,
      >(
        options: ConnectionOptions<Types, ParentShape, Item, Args, In, Out, From>,
      ): FieldRef<Types, Page<Item> | null>;
    }
  }
}

/* eslint-enable @typescript-eslint/no-namespace, @typescript-eslint/no-unused-vars */

/** Marks the resolvers that the engine puts in their place when the schema is made. */
const byEngine = () => {
  throw new Error('this field is resolved by the engine');
};

// Pothos's own way to extend a builder is its prototype; its signatures are the declarations above.
const fields = RootFieldBuilder.prototype as unknown as Record<string, unknown> & {
  createField(options: object): unknown;
  arg: { int(options: object): unknown; string(options: object): unknown };
};

fields.reads = function (
  this: typeof fields,
  names: string | readonly string[],
  decoder: Decoder<string, unknown>,
  description: string,
  more: object = {},
) {
  const needs = typeof names === 'string' ? [names] : names;
  const [name, ...others] = needs as [string, ...string[]];
  const { decode, type, list, nullable } = decoder;
  const resolve =
    others.length === 0
      ? (record: Record<string, unknown>) => decode(record[name])
      : (record: Record<string, unknown>) =>
          decode(needs.map((each) => record[each]).find((value) => value) ?? record[name]);
  return this.createField({ ...more, type: list ? [type] : type, nullable, description, needs, resolve });
};

fields.call = function (
  this: typeof fields,
  options: CallOptions<SchemaTypes, object, never, InputFieldMap, unknown, unknown, never>,
) {
  return this.createField({ ...options, mapResponse: options.resolve, nullable: true, resolve: byEngine });
};

fields.connection = function (
  this: typeof fields,
  options: ConnectionOptions<SchemaTypes, object, object, InputFieldMap, unknown, unknown, never>,
) {
  const { type, args, ...rest } = options;
  return this.createField({
    ...rest,
    type: connectionOf(type as never),
    args: { ...args, ...pagingArgs(this, options.pageSize) },
    nullable: true,
    resolve: byEngine,
  });
};
