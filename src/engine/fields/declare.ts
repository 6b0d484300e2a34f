/**
 * How a field declares what it reads or calls. Projection, loading of missing fields, eager calls, cost and explain follow from it.
 *
 * - `t.reads`       a field that shows one member through a decoder
 * - `t.computed`    a field that is computed from the members of the record that it `needs`
 * - `t.record`      a field that shows a record in a member, or one that a member names
 * - `t.call`        a field whose value is the response of a call
 * - `t.connection`  a field whose value is a page of a list
 * - `t.changes`     a field whose value is what has changed in a list
 * - `nullIf`        when a nullable field is null; the sentence of its description
 * - `upstream`      where the value comes from, if the rest does not say it; the last sentence of its description
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
import { isOfWholeService } from '../../api/endpoint.ts';
import type { ListChanges } from '../values/list-changes.ts';
import { backwardArgs, changesArgs, changesTypeOf, connectionOf, pagingArgs } from './connection.ts';
import type { Decoder } from '../values/decode.ts';
import { recordOrReference } from './node.ts';
import { FIRST_MAX, type Page } from '../values/paging.ts';
import type {
  CallDeclaration,
  FieldRule,
  ListDeclaration,
  FieldDeclaration,
  RecordDeclaration,
  TypeRule,
} from '../plan/declaration-types.ts';

/** The names of members that have such a value. */
type MembersOf<Shape, Value> = {
  [Name in keyof Shape & string]-?: Shape[Name] extends Value ? Name : never;
}[keyof Shape & string];

/** Requires an option unless its default fits: the first type is the second one. */
type Unless<Fit extends [unknown, unknown], Option extends string> = Fit[0] extends Fit[1]
  ? unknown
  : Record<Option, unknown>;

type Names<Shape> = keyof Shape & string;
type NoArguments = Record<never, never>;

/** What a field declares that shows a list: a page of it, or what has changed. */
type ListOptions<
  Types extends SchemaTypes,
  ParentShape,
  Item,
  In,
  Out,
  From extends Names<ParentShape>,
  Args extends InputFieldMap,
> = ListDeclaration<ParentShape, InputShapeFromFields<Args>, In, Out, From, Item> & {
  /** The type of the nodes. */
  type: ObjectRef<Types, Item>;
  description: string;
  args?: Args;
} & Unless<[Pick<ParentShape, From>, Omit<In, 'fields'>], 'input'>;

/* eslint-disable @typescript-eslint/no-unused-vars -- Pothos is extended by merging into its namespace, each declaration with all its parameters */
declare global {
  export namespace PothosSchemaTypes {
    interface FieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable,
      Args,
      ResolveShape,
      ResolveReturnShape,
    >
      extends
        FieldDeclaration,
        Pick<FieldRule, 'maxCalls' | 'writeEndpoint' | 'invalidates' | 'readsBefore' | 'uncleared'> {
      /** The global ids that the arguments name: the cost depends on their types. */
      globalIds?: (args: never) => readonly string[];
    }
    interface BaseTypeOptions<Types extends SchemaTypes = SchemaTypes> extends TypeRule {
      /** Never set: uses the type parameter. */
      types?: Types;
    }
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind> {
      /** Shows one member of the record through a decoder; of several members, the first that has a value. */
      reads<Shape>(
        members: (keyof ParentShape & string) | readonly (keyof ParentShape & string)[],
        decoder: Decoder<Shape>,
        description: string,
        more?: Pick<FieldRule, 'nullIf' | 'upstream' | 'representation' | 'assumedSize' | 'usualSize'> & {
          deprecationReason?: string;
        },
      ): FieldRef<Types, Shape>;

      /** Computes a value from members of the record. The type of the record has those that it declares. */
      computed<
        Type extends TypeParam<Types>,
        Needs extends keyof ParentShape & string,
        Below extends keyof ParentShape & string = never,
        Nullable extends boolean = false,
      >(
        options: RecordDeclaration<Needs, Below> & {
          type: Type;
          description: string;
          needs: readonly Needs[];
          /** The most calls that the resolver makes by itself. */
          maxCalls?: number;
          nullable?: Nullable;
          resolve: (
            record: Pick<ParentShape, Needs | Below>,
            args: object,
            context: Types['Context'],
          ) => ShapeFromTypeParam<Types, Type, Nullable> | Promise<ShapeFromTypeParam<Types, Type, Nullable>>;
        },
      ): FieldRef<Types, ShapeFromTypeParam<Types, Type, Nullable>>;

      /** Shows a record that a member holds; without it, one that only its id in another member names. Null without either. */
      record<Shape extends { id: string | null }>(
        type: ObjectRef<Types, Shape>,
        source: {
          member?: MembersOf<ParentShape, Shape | null | undefined>;
          id?: MembersOf<ParentShape, string | number | null | undefined>;
        },
        description: string,
        more?: Pick<FieldRule, 'nullIf' | 'upstream' | 'representation'>,
      ): FieldRef<Types, Shape | null>;

      /** A field whose value comes from a call. Null if the record is absent. */
      call<
        Type extends TypeParam<Types>,
        In,
        Out,
        From extends keyof ParentShape & string = never,
        Args extends InputFieldMap = Record<never, never>,
      >(
        options: CallDeclaration<ParentShape, InputShapeFromFields<Args>, In, Out, From> & {
          type: Type;
          description: string;
          args?: Args;
          /** The field's value from a response, by default the response itself. Not called for an absent record, which is null. */
          resolve?: (
            response: Out,
            args: InputShapeFromFields<Args>,
            parent: Pick<ParentShape, From>,
          ) => ShapeFromTypeParam<Types, Type, true>;
        } & Unless<[Pick<ParentShape, From>, Omit<In, 'fields'>], 'input'> &
          Unless<[Out, ShapeFromTypeParam<Types, Type, true>], 'resolve'>,
      ): FieldRef<Types, ShapeFromTypeParam<Types, Type, true>>;

      /** A list of the service as a Relay connection; its cursors are positions, and name items in a list ordered by time. */
      connection<Item, In, Out, From extends Names<ParentShape> = never, Args extends InputFieldMap = NoArguments>(
        options: ListOptions<Types, ParentShape, Item, In, Out, From, Args>,
      ): FieldRef<Types, Page<Item> | null>;

      /** What has changed in a list that is ordered by time, since the client asked last. */
      changes<Item, In, Out, From extends Names<ParentShape> = never>(
        options: ListOptions<Types, ParentShape, Item, In, Out, From, NoArguments>,
      ): FieldRef<Types, ListChanges<Item> | null>;
    }
  }
}

/* eslint-enable @typescript-eslint/no-unused-vars */

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
  members: string | readonly string[],
  decoder: Decoder<unknown>,
  description: string,
  more: object = {},
) {
  const needs = typeof members === 'string' ? [members] : members;
  const [member, ...others] = needs as [string, ...string[]];
  const { decode, type, list, nullable, nullIf, inside } = decoder;
  const source = inside !== undefined && { upstream: needs.map((each) => `\`${each}.${inside}\``).join(', ') };
  const resolve =
    others.length === 0
      ? (record: Record<string, unknown>) => decode(record[member])
      : (record: Record<string, unknown>) =>
          decode(needs.map((each) => record[each]).find((value) => value) ?? record[member]);
  return this.createField({
    nullIf,
    ...source,
    ...more,
    type: list ? [type] : type,
    nullable,
    description,
    needs,
    resolve,
  });
};

fields.computed = function (this: typeof fields, options: object) {
  return this.createField(options);
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
  return this.createField({
    type,
    nullable: true,
    description,
    needs,
    ...(member ? { idIn: id, mayBeReference: id !== undefined } : { isNamed: true }),
    ...more,
    resolve,
  });
};

/** The options that `t.call` and `t.connection` have in common. */
const callOptions = (options: FieldRule) => ({
  input: (parent: Record<string, unknown>): object =>
    Object.fromEntries((options.from ?? []).map((member) => [member, parent[member]])),
  ...options,
  nullable: true,
  resolve: replacedByEngine,
});

fields.call = function (this: typeof fields, options: FieldRule & { resolve?: unknown }) {
  const { endpoint, resolve: mapResponse = (response: unknown) => response } = options;
  const nullIf = typeof endpoint === 'object' && isOfWholeService(endpoint) ? false : 'there is none';
  return this.createField({ nullIf, ...callOptions(options), mapResponse });
};

/** The default size of a page. */
const PAGE_SIZE = 20;

const STEADY =
  'It goes forward only. Its cursors name an item: the next page neither skips nor repeats one if the list has changed, for at most one call more.';

fields.connection = function (
  this: typeof fields,
  options: FieldRule & { type: unknown; args?: object; description: string },
) {
  const { type, args, pageSize = PAGE_SIZE, newestFirst } = options;
  const isForward = newestFirst !== undefined && !newestFirst.when;
  const ownArgs = { ...args, ...pagingArgs(this, pageSize), ...(isForward ? {} : backwardArgs(this, pageSize)) };
  const description = isForward ? `${options.description} ${STEADY}` : options.description;
  const connection = { pageSize, type: connectionOf(type as never), args: ownArgs, description };
  return this.createField({ ...callOptions(options), ...connection });
};

fields.changes = function (this: typeof fields, options: FieldRule & { type: unknown }) {
  const changes = { pageSize: FIRST_MAX, tellsChanges: true, type: changesTypeOf(options.type as never) };
  return this.createField({ ...callOptions(options), ...changes, args: changesArgs(this) });
};
