/** The plan of an operation: what it reads, what it calls, and which members of each record are needed. */
import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql';
import type { Variables } from './document.ts';
import type { FieldRule, TypeRule } from './declaration-types.ts';

/** The variants that are selected of a list's items. */
export interface ListVariants {
  param: string;
  member: string;
  /** The variant that the list is requested in; undefined for the record's own. */
  main: string | undefined;
}

/**
 * How a field gets its value.
 * - `value`     from its parent or its arguments, by its resolver
 * - `embedded`  from a member of the parent record that would otherwise need a call
 * - `call`      from a call
 * - `lookup`    from the record with the key in the arguments, loaded with the selected fields
 * - `null`      null: it needs a token of the caller's own, and there is none
 */
export type FieldMode = 'value' | 'embedded' | 'call' | 'lookup' | 'null';

/** One field of the document under one parent type, its nodes merged. */
export interface PlannedField {
  readonly parent: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly rule: FieldRule;
  readonly nodes: readonly FieldNode[];
  readonly mode: FieldMode;
  /** The selection by concrete type; empty for leaves. */
  readonly selections: ReadonlyMap<string, SelectionPlan>;
  /** Its type is a list. */
  readonly isList: boolean;
  /** The selection, if there is only one concrete type. */
  readonly onlySelection: SelectionPlan | undefined;
  /** Set for a list whose items are selected in variants that the list has a parameter for. */
  readonly variants: ListVariants | undefined;
  /** The `fields` parameter of its call, sorted; undefined for all. */
  readonly members: readonly string[] | undefined;
  /** Set for the call that loads its parent record in a variant: the members of both. */
  readonly recordMembers: readonly string[] | undefined;
  /** Set for a list of which nothing but what any page tells is selected: one item of the page is requested. */
  readonly needsNoItems: boolean;
  /** Selected members that embedded items may lack. If an item lacks one, the endpoint is called. */
  readonly mayOmit: readonly string[];
  /** Members of the parent record that it reads. */
  readonly needs: readonly string[];
  readonly args: (variables: Variables) => object;
}

/** The selection on one concrete type. */
export interface SelectionPlan {
  readonly type: GraphQLObjectType;
  readonly rule: TypeRule;
  /** The label of its @defer, if it is a deferred fragment that has one. */
  readonly label: string | undefined;
  /** Members needed of the record, sorted, including those of deferred fragments. */
  readonly members: readonly string[];
  /** The members that the initial result needs; the same array as `members` if nothing is deferred. */
  readonly initialMembers: readonly string[];
  /** The members that the facade's own film tier does not get. They are not requested. */
  readonly tierRefused: ReadonlySet<string>;
  /** Whether any field reads the record itself, not only its child calls. */
  readonly readsRecord: boolean;
  /** Calls that start as soon as their `from` is known, including those of deferred fragments. */
  readonly eagerCalls: readonly PlannedField[];
  readonly fields: readonly PlannedField[];
  /** The fields in the order of the document; a string is the response key of a `__typename`. */
  readonly outputFields: readonly (PlannedField | string)[];
  /** Deferred fragments, including nested ones. */
  readonly deferred: readonly SelectionPlan[];
  /** Whether something below refers back to the record. */
  readonly isReferredBelow: boolean;
  /** Names of the selected fields, including those of deferred fragments. */
  readonly selected: ReadonlySet<string>;
}

/** The plan of one operation, for one kind of caller and one set of decisions of its variables (see `planKeyOf`). */
export interface OperationPlan {
  readonly root: SelectionPlan;
  /** The response may be delivered incrementally. */
  readonly defers: boolean;
  /** The most values that introspection may return. */
  readonly introspected: number;
  /** A variable decides how much is requested, so the cost must be computed for each request. */
  readonly varies: boolean;
  /** The number of planned fields and selections: the plan's size in memory. */
  readonly size: number;
}

/** The key of the field in the response. */
export const responseKeyOf = ({ nodes }: PlannedField): string => nodes[0]!.alias?.value ?? nodes[0]!.name.value;

/** Whether the field is `__schema` or `__type`. */
export const isIntrospection = ({ field }: PlannedField): boolean => field.name.startsWith('__');

/** The concrete items of a result: the selections inside connections and edges. */
export function itemSelectionsOf(selections: ReadonlyMap<string, SelectionPlan>): SelectionPlan[] {
  return [...selections.values()].flatMap((each) =>
    each.rule.isWrapper
      ? [each, ...each.deferred].flatMap(({ fields }) => fields.flatMap((field) => itemSelectionsOf(field.selections)))
      : [each],
  );
}
