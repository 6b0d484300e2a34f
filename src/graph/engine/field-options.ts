/**
 * How a field declares what it reads or calls. Projection, loading of missing fields, eager calls, cost and explain follow from it.
 *
 * - `needs`         names of the parent record that the resolver reads
 * - `t.reads`       a field that shows one member through a decoder; it declares its `needs` itself
 * - `t.record`      a field that shows a record in a member, or one that a member names
 * - `t.call`        a field whose value is the response of a call
 * - `t.connection`  a field whose value is a page of a list
 * - `nullIf`        when a nullable field is null; the sentence of its description
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
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';
import { connectionOf, pagingArgs } from '../types/connection.ts';
import type { Decoder } from '../types/decode.ts';
import { recordOrReference } from '../types/node.ts';
import type { Page } from '../types/paging.ts';
import type { EmbeddedMember, NullCondition, Provides, Variant } from './field-rule.ts';

interface CallDeclaration<Parent, Args, In, Out, From extends keyof Parent & string> {
  description: string;
  nullIf?: NullCondition;
  deprecationReason?: string;
  /** The endpoint to call; a function if it depends on the arguments. */
  endpoint: Endpoint<In, Out> | ((args: Args) => Endpoint<In, Out>);
  /** All endpoints that such a function can choose. */
  endpoints?: readonly Endpoint<In, Out>[];
  /** Names of the parent record that the input is made from. The call starts as soon as they are known. */
  from?: readonly From[];
  /**
   * The input of the call, without `fields` and the window of a page, which the engine adds. By default the names in `from`. Throws if
   * the arguments are wrong.
   */
  input?: (parent: Pick<Parent, From>, args: Args, viewer: Viewer) => Omit<In, 'fields'>;
  /** The names that the returned records provide; by default all that were requested. */
  representation?: Representation;
  embedded?: EmbeddedMember<Parent>;
  provides?: Provides<Out, Parent>;
  /** The member of `embedded` has several variants; a parameter of the call chooses one. */
  variant?: Variant;
  /** True if nothing can be requested for this parent: the field is null, without a call; reads the names in `from` only. */
  isUnavailable?: (parent: Pick<Parent, From>) => boolean;
  /** Null, without a call, if the request carries no token of its own. */
  viewerOnly?: boolean;
  /** The number of items that the cost assumes if no `first` limits them. */
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
  /** The field's value from a response, by default the response itself. Not called for an absent record, which is null. */
  resolve?: (
    response: Out,
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
  /** The page size if the client gives no `first`; 20 by default. */
  pageSize?: number;
  /** The items of a response, if they are not its list as it is. Also called for an embedded page, as `{ [list]: items }`. */
  items?: (
    response: Out,
    parent: Pick<Parent, From>,
    args: InputShapeFromFields<Args>,
  ) => readonly (Item | null | undefined)[];
  /** True if the service stopped counting at this total. */
  totalIsCapped?: (response: Out, viewer: Viewer, args: InputShapeFromFields<Args>) => boolean;
  /** The parameter of the list that chooses the variant of a member for all its items. */
  variants?: string;
  /** True if the list is known to be empty without a call; reads the names in `from` only. */
  isEmpty?: (parent: Pick<Parent, From>) => boolean;
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
      nullIf?: NullCondition;
      needs?: readonly (keyof ParentShape & string)[];
      needsBelow?: Readonly<Record<string, readonly (keyof ParentShape & string)[]>>;
      idIn?: keyof ParentShape & string;
      representation?: Representation;
      viewerOnly?: boolean;
      /** The number of items that the cost assumes for a list. */
      assumedSize?: number;
    }
    interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable,
      Args,
      ResolveReturnShape,
    > {
      nullIf?: NullCondition;
      /** The number of records of each type that the arguments name, for the cost. */
      recordCounts?: (args: never) => ReadonlyMap<string, number>;
    }
    interface BaseTypeOptions<Types extends SchemaTypes = SchemaTypes> {
      record?: RecordSource;
      alternativeNames?: Readonly<Record<string, string>>;
      nodeOf?: (key: string) => object | null;
      isReference?: boolean;
      isWrapper?: boolean;
      members?: readonly string[];
      /** Never set: uses the type parameter. */
      types?: Types;
    }
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind> {
      /** Shows one member of the record through a decoder; of several names, the first that has a value. */
      reads<Shape>(
        names: (keyof ParentShape & string) | readonly (keyof ParentShape & string)[],
        decoder: Decoder<Shape>,
        description: string,
        more?: {
          deprecationReason?: string;
          nullIf?: NullCondition;
          representation?: Representation;
          assumedSize?: number;
        },
      ): FieldRef<Types, Shape>;

      /** Shows a record that a member holds; without it, one that only its id in another member names. Null without either. */
      record<Shape extends { id: string }>(
        type: ObjectRef<Types, Shape>,
        place: { member?: keyof ParentShape & string; id?: keyof ParentShape & string },
        description: string,
        more?: { nullIf?: NullCondition; representation?: Representation },
      ): FieldRef<Types, Shape | null>;

      /** A field whose value comes from a call. Null if the record is absent. */
      call<
        Type extends TypeParam<Types>,
        In,
        Out,
        From extends keyof ParentShape & string = never,
        Args extends InputFieldMap = Record<never, never>,
      >(
        options: CallOptions<Types, ParentShape, Type, Args, In, Out, From>,
      ): FieldRef<Types, ShapeFromTypeParam<Types, Type, true>>;

      /** A list of the service as a Relay connection with offset cursors. */
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

/** A placeholder: the engine replaces it when the schema is built. */
const replacedByEngine = () => {
  throw new Error('this field is resolved by the engine');
};

// Pothos is extended through the prototype of its builder; the signatures are declared above.
const fields = RootFieldBuilder.prototype as unknown as Record<string, unknown> & {
  createField(options: object): unknown;
  arg: { int(options: object): unknown; string(options: object): unknown };
};

fields.reads = function (
  this: typeof fields,
  names: string | readonly string[],
  decoder: Decoder<unknown>,
  description: string,
  more: object = {},
) {
  const needs = typeof names === 'string' ? [names] : names;
  const [name, ...others] = needs as [string, ...string[]];
  const { decode, type, list, nullable, nullIf } = decoder;
  const resolve =
    others.length === 0
      ? (record: Record<string, unknown>) => decode(record[name])
      : (record: Record<string, unknown>) =>
          decode(needs.map((each) => record[each]).find((value) => value) ?? record[name]);
  return this.createField({ nullIf, ...more, type: list ? [type] : type, nullable, description, needs, resolve });
};

fields.record = function (
  this: typeof fields,
  type: object,
  { member, id }: { member?: string; id?: string },
  description: string,
  more: object = {},
) {
  const needs = [member ?? id!];
  const resolve = (record: Record<string, unknown>) =>
    recordOrReference(member === undefined ? null : record[member], id === undefined ? undefined : record[id]);
  return this.createField({ type, nullable: true, description, needs, ...(member && { idIn: id }), ...more, resolve });
};

fields.call = function (
  this: typeof fields,
  options: CallOptions<SchemaTypes, object, never, InputFieldMap, unknown, unknown, never>,
) {
  const { resolve: mapResponse = (response: unknown) => response } = options;
  return this.createField({
    nullIf: 'there is none',
    input: inputFrom(options.from),
    ...options,
    mapResponse,
    nullable: true,
    resolve: replacedByEngine,
  });
};

/** The default size of a page. */
const PAGE_SIZE = 20;

const inputFrom =
  (names: readonly string[] = []) =>
  (parent: Record<string, unknown>): object =>
    Object.fromEntries(names.map((name) => [name, parent[name]]));

fields.connection = function (
  this: typeof fields,
  options: ConnectionOptions<SchemaTypes, object, object, InputFieldMap, unknown, unknown, never>,
) {
  const { type, args, pageSize = PAGE_SIZE, ...rest } = options;
  return this.createField({
    input: inputFrom(options.from),
    ...rest,
    pageSize,
    type: connectionOf(type as never),
    args: { ...args, ...pagingArgs(this, pageSize) },
    nullable: true,
    resolve: replacedByEngine,
  });
};
