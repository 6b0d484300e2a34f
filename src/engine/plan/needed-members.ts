/** Which members of records a planned field needs, and whether an embedded member provides them. */
import type { PagingArgs } from '../values/paging.ts';
import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql';
import { keyMembersOf, wantsWhole } from '../../api/record-source.ts';
import { argumentsIfValid } from './arguments.ts';
import { nodeTypeOf, typeRule } from './read-declarations.ts';
import { type Variables, hasVariable, hasVariables } from './document.ts';
import type { FieldRule } from './declaration-types.ts';
import {
  type FieldMode,
  type ListVariants,
  type PlannedField,
  type SelectionPlan,
  itemSelectionsOf,
} from './operation-plan.ts';

type Selections = ReadonlyMap<string, SelectionPlan>;

export const noMembers: readonly string[] = Object.freeze([]);

export const neededMembers = (fields: readonly PlannedField[]): readonly string[] =>
  [...new Set(fields.flatMap(({ needs }) => needs))].sort();

/** Members of the parent record that a field needs. */
export function needsOf(rule: FieldRule, mode: FieldMode, selections: Selections): readonly string[] {
  const { from = noMembers, needs = noMembers, idIn, needsBelow } = rule;
  if (mode === 'null') return noMembers;
  const back = rule.backReference === undefined ? noMembers : referredBack(rule.backReference, selections);
  if (mode === 'embedded') return [...from, rule.embedded!.member, ...back];
  if (mode !== 'value' && rule.atHand) return [...from, ...[...selections.values()].flatMap(({ members }) => members)];
  if (mode !== 'value') return back.length === 0 ? from : [...from, ...back];
  const selected = [...selections.values()];
  if (idIn && selected.every(({ members }) => members.every((member) => member === 'id'))) return [idIn];
  if (!needsBelow) return idIn ? [...needs, idIn] : needs;
  return [...needs, ...selected.flatMap((each) => [...each.selected].flatMap((member) => needsBelow[member] ?? []))];
}

/** The members that the items of a field need of its parent record. */
const referredBack = (name: string, selections: Selections): readonly string[] =>
  itemSelectionsOf(selections).flatMap((item) =>
    [item, ...item.deferred].flatMap(({ fields }) =>
      fields.flatMap(({ field, selections: below }) =>
        field.name === name ? [...below.values()].flatMap(membersLoaded) : [],
      ),
    ),
  );

/** A call that loads the record in a variant carries its other members. */
const membersLoaded = ({ fields, members }: SelectionPlan): readonly string[] =>
  fields.some(({ recordMembers }) => recordMembers) ? noMembers : members;

/** The `fields` parameter of a call, undefined for all; also with members that its representation lacks, which a response may have. */
export function requestedMembers(
  rule: FieldRule,
  selections: Selections,
  variants: ListVariants | undefined,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): readonly string[] | undefined {
  const { embedded } = rule;
  if (selections.size === 0) return embedded && [embedded.member, 'id'].sort(); // a leaf: the member that holds it
  const items = itemSelectionsOf(selections);
  const members = new Set<string>(variants?.main === undefined ? [] : [variants.member]);
  for (const { type, rule, members: needed, tierRefused } of items) {
    if ('id' in type.getFields()) members.add('id');
    for (const member of needed)
      if (!tierRefused.has(member) && ((rule.record ?? rule).members?.includes(member) ?? true)) members.add(member);
  }
  for (const member of orderMembers(rule, field, node, selections)) members.add(member);
  if (members.size === 0) members.add('id'); // `fields` must not be empty
  const record = items[0]?.rule.record;
  return record && wantsWhole(record, [...members]) ? undefined : [...members].sort();
}

/** The members that order a list by time, if a cursor is read or shown; for changes also those that identify its items. */
function orderMembers(
  { newestFirst, tellsChanges }: FieldRule,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  selections: Selections,
): readonly string[] {
  if (!newestFirst) return noMembers;
  const { time, id, changed = time } = newestFirst;
  if (tellsChanges) return [time, id, changed, ...keyMembersOf(typeRule(nodeTypeOf(field)!).record!)];
  return hasArgument(node, 'after') || showsCursor(selections) ? [time, id] : noMembers;
}

const CURSORS = ['cursor', 'startCursor', 'endCursor'];
const showsCursor = (selections: Selections): boolean =>
  [...selections.values()].some(
    ({ rule, fields, selected, deferred }) =>
      rule.isWrapper &&
      (CURSORS.some((name) => selected.has(name)) ||
        [fields, ...deferred.map((part) => part.fields)].flat().some((field) => showsCursor(field.selections))),
  );

const hasArgument = ({ arguments: given }: FieldNode, name: string): boolean =>
  given?.some((argument) => argument.name.value === name) ?? false;

/** Selected members that embedded items may lack. */
export function membersMaybeOmitted({ embedded }: FieldRule, selections: Selections): readonly string[] {
  if (!embedded?.mayOmit) return noMembers;
  return embedded.mayOmit.filter((member) =>
    itemSelectionsOf(selections).some(({ members }) => members.includes(member)),
  );
}

/** Whether nothing is selected of a connection but what any page of its list tells. */
export function needsNoItems(selections: Selections, node: FieldNode): boolean {
  const isForward = !hasArgument(node, 'last') && !hasArgument(node, 'before');
  return [...selections.values()].every(
    ({ rule, fields, deferred }) =>
      rule.isWrapper === true &&
      [...fields, ...deferred.flatMap((part) => part.fields)].every(
        ({ rule: { needsNoItems: isOfPage }, isList, selections: below }) =>
          (isOfPage === 'forward' ? isForward : isOfPage) ?? (below.size > 0 && !isList && needsNoItems(below, node)),
      ),
  );
}

/** Whether the embedded member provides everything that is selected. */
export function embeddedIsEnough(
  parent: GraphQLObjectType,
  { embedded }: FieldRule,
  selections: Selections,
  filmTier: string | null,
): boolean {
  if (!embedded) return false;
  const tiers = typeRule(parent).record?.endpoint.gates?.members[embedded.member];
  if (tiers && filmTier && !(tiers as readonly string[]).includes(filmTier)) return false;
  for (const { rule, selected } of selections.values()) if (rule.isWrapper && selected.has('totalCount')) return false;
  const { members } = embedded.representation;
  return (
    members === 'all' ||
    itemSelectionsOf(selections).every((item) => item.members.every((member) => members.includes(member)))
  );
}

/** Whether the arguments of a field allow an embedded member as its value. A plan depends on arguments in no other way. */
export function argumentsAllowEmbedded(
  { embedded, variant, pageSize }: FieldRule,
  args: (variables: Variables) => object,
  variables: Variables,
): boolean {
  if (!embedded) return false;
  const given = argumentsIfValid<PagingArgs>(args, variables);
  if (!given) return false;
  if (variant?.of(given as never) !== undefined) return false;
  const size = given.first ?? pageSize ?? 1;
  if (embedded.upTo !== undefined && (size < 1 || size > embedded.upTo)) return false;
  return given.after == null && !given.offset && given.last == null && given.before == null;
}

/** Whether a variable decides how much a field requests: the size or start of a page, the endpoint, or what a write has to read. */
export function sizeVaries({ endpoint, globalIds, maxCalls, newestFirst }: FieldRule, node: FieldNode): boolean {
  if (typeof endpoint === 'function' || globalIds || typeof maxCalls === 'function' || newestFirst)
    return hasVariables(node);
  return node.arguments?.some(({ name, value }) => SIZES.includes(name.value) && hasVariable(value)) ?? false;
}

/** The arguments that decide how many items a page has, or whether it is read twice. */
const SIZES = ['first', 'last', 'before'];
