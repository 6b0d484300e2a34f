/** Where a field is counted: what the fields above it say of how often it is resolved, and of what is known there. */
import { type Endpoint, type Representation, type Tier, tiers } from '../../api/endpoint.ts';
import { FIRST_MAX, type PagingArgs, goesBackward } from '../values/paging.ts';
import { endpointOf, timeOrderOf } from '../plan/read-declarations.ts';
import { argumentsIfValid } from '../plan/arguments.ts';
import type { Variables } from '../plan/document.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';

/** The size of a list that neither an argument nor its field limits: the default count of most lists of the service. */
export const LIST_SIZE = 20;

/** A list whose call is made again for its items: in another variant, or without a token. */
interface CountedList {
  /** The parameter for the variants. */
  param: string | undefined;
  /** Variants that need no further call. */
  variants: Set<string | undefined>;
  times: number;
  likely: number;
  endpoint: Endpoint;
  /** With less selected of its items, a member of their parent may be read instead. */
  isEmbeddable: boolean;
}

/** The records that a list is below, and the field of its items that returns them again. */
interface Parents {
  name: string;
  times: number;
  /** Usually it is null. */
  isRare?: boolean;
}

/** Where a field is counted. */
export interface Frame {
  /** How many times it is resolved, at most. */
  times: number;
  /** How many times if every record has what the service sends of it. */
  likely: number;
  path: string;
  /** Where the value comes from, whatever its response key: `nodes`, `edges.node` and equal fields under other names have one. */
  source: string;
  /** Items of the page or list that it belongs to. */
  size: number;
  /** The items that there usually are. */
  usual: number;
  /** The members that its parent's items provide; undefined if only their ids are certain. */
  provided: Representation | undefined;
  /** The members that they have if every record has what the service sends of it. */
  sent: Representation | undefined;
  /** The tiers for which it can have a value: below a call, those that get the endpoint. */
  possibleTiers: readonly Tier[];
  /** The list whose items are being counted. */
  listing: CountedList | undefined;
  /** Fields of the items whose values the list limits: their parent again, or none. */
  back: readonly Parents[];
  /** Those that the field returns again: it returns no more different records. */
  records: Parents | undefined;
}

export const rootFrame: Frame = {
  times: 1,
  likely: 1,
  path: '',
  source: '',
  size: LIST_SIZE,
  usual: LIST_SIZE,
  provided: undefined,
  sent: undefined,
  possibleTiers: tiers,
  listing: undefined,
  back: [],
  records: undefined,
};

/** For the items of a field: the field that is their parent again, the one that is null, and the one that usually is. */
export const backOf = ({ backReference, nullField, rareField }: FieldRule, { times }: Frame): Frame['back'] => [
  ...(backReference === undefined ? [] : [{ name: backReference, times }]),
  ...(nullField === undefined ? [] : [{ name: nullField, times: 0 }]),
  ...(rareField === undefined ? [] : [{ name: rareField, times, isRare: true }]),
];

/** Whether the response to a call below a record has these members of the record. */
export const provides = ({ rule, recordMembers }: PlannedField, members: readonly string[]): boolean =>
  members.every((member) => (recordMembers ?? rule.provides?.members)?.includes(member));

/** Whether a call below a record that a client named shows it, with its members. */
export function isShownBelow({ members, readsRecord, eagerCalls }: SelectionPlan): boolean {
  const isId = (member: string) => member === 'id';
  const shows = (call: PlannedField) => !readsRecord || endpointOf(call.rule, {}).list !== undefined;
  const ofRecord = eagerCalls.filter(({ rule }) => rule.from?.every(isId));
  return ofRecord.some((call) => (members.every(isId) ? shows(call) : provides(call, members)));
}

/** The frame of a field that is resolved so many times as often. */
export const timesAs = (frame: Frame, count: number): Frame => ({
  ...frame,
  times: capped(frame.times * count),
  likely: capped(frame.likely * count),
});

/** Nested pages multiply to numbers that JSON cannot hold, so counts end here. */
export const capped = (count: number): number => Math.min(count, Number.MAX_SAFE_INTEGER);

/** The source of a field: by its name, and by its arguments if it, or a field above, has an alias. Without one it stands there once. */
export function sourceOf(above: string, { field, nodes, args }: PlannedField, variables: Variables): string {
  const isOne = !nodes[0]!.alias && !above.includes('(');
  return `${above}.${field.name}${isOne ? '' : `(${JSON.stringify(argumentsIfValid(args, variables) ?? nodes[0])})`}`;
}

export const pathTo = (path: string, field: PlannedField): string =>
  path ? `${path}.${responseKeyOf(field)}` : responseKeyOf(field);

/** How often a page is read at most: again if its list has changed, or if a page that goes backward is elsewhere. */
export function readsOf(rule: FieldRule, args: PagingArgs): number {
  const isMoved = (args.after ?? args.since) != null && timeOrderOf(rule, args) !== undefined;
  return isMoved || goesBackward(args) ? 2 : 1;
}

export function pagingArgsOf(field: PlannedField, variables: Variables): PagingArgs {
  const args = argumentsIfValid<PagingArgs>(field.args, variables) ?? {};
  if (typeof args.first !== 'number' && typeof args.last !== 'number') return args;
  // A wrong page size is an error when the field runs; here it must not reduce the cost of other fields.
  return { ...args, first: asSize(args.first), last: asSize(args.last) };
}

const asSize = (size: number | null | undefined): number | null =>
  size == null ? null : Math.min(Math.max(size, 0), FIRST_MAX);
