/** Which names of records a planned field needs, and whether an embedded member provides them. */
import type { PagingArgs } from '../values/paging.ts';
import type { FieldNode, GraphQLObjectType } from 'graphql';
import { wantsWhole } from '../../upstream/loading/record-state.ts';
import { argumentsIfValid } from './arguments.ts';
import { typeRule } from './read-declarations.ts';
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

export const noNames: readonly string[] = Object.freeze([]);

export const namesOf = (fields: readonly PlannedField[]): readonly string[] =>
  [...new Set(fields.flatMap(({ needs }) => needs))].sort();

/** Names of the parent record that a field needs. */
export function needsOf(rule: FieldRule, mode: FieldMode, selections: Selections): readonly string[] {
  const { from = noNames, needs = noNames, idIn, needsBelow } = rule;
  if (mode === 'null') return noNames;
  if (mode === 'embedded') return [...from, rule.embedded!.member];
  if (mode !== 'value') return from;
  const selected = [...selections.values()];
  if (idIn && selected.every(({ names }) => names.every((name) => name === 'id'))) return [idIn];
  if (!needsBelow) return idIn ? [...needs, idIn] : needs;
  return [...needs, ...selected.flatMap((each) => [...each.selected].flatMap((name) => needsBelow[name] ?? []))];
}

/** The `fields` parameter of a call; undefined for all. */
export function requestedNames(
  { embedded }: FieldRule,
  selections: Selections,
  variants: ListVariants | undefined,
): readonly string[] | undefined {
  if (selections.size === 0) return embedded && [embedded.member, 'id'].sort(); // a leaf: the member that holds it
  const items = itemSelectionsOf(selections);
  const names = new Set<string>(variants?.main === undefined ? [] : [variants.member]);
  for (const { type, rule, names: needed, tierRefused } of items) {
    if ('id' in type.getFields()) names.add('id');
    for (const name of needed)
      if (!tierRefused.has(name) && ((rule.record ?? rule).members?.includes(name) ?? true)) names.add(name);
  }
  if (names.size === 0) names.add('id'); // `fields` must not be empty
  const record = items[0]?.rule.record;
  return record && wantsWhole(record, [...names]) ? undefined : [...names].sort();
}

/** Selected names that embedded items may lack. */
export function namesMaybeOmitted({ embedded }: FieldRule, selections: Selections): readonly string[] {
  if (!embedded?.mayOmit) return noNames;
  return embedded.mayOmit.filter((name) => itemSelectionsOf(selections).some(({ names }) => names.includes(name)));
}

/** Whether the embedded member provides everything that is selected. */
export function embeddedIsEnough(
  parent: GraphQLObjectType,
  { embedded }: FieldRule,
  selections: Selections,
  filmTier: string | null,
): boolean {
  if (!embedded) return false;
  const tiers = typeRule(parent).record?.tiers?.[embedded.member];
  if (tiers && filmTier && !(tiers as readonly string[]).includes(filmTier)) return false;
  for (const { rule, selected } of selections.values()) if (rule.isWrapper && selected.has('totalCount')) return false;
  const { names } = embedded.representation;
  return (
    names === 'all' || itemSelectionsOf(selections).every((item) => item.names.every((name) => names.includes(name)))
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
  if (embedded.upTo !== undefined && (given.first ?? pageSize ?? 0) > embedded.upTo) return false;
  return given.after == null && !given.offset;
}

/** Whether a variable decides how much a field requests: the size of a page, or the endpoint. */
export function sizeVaries({ endpoint, recordCounts }: FieldRule, node: FieldNode): boolean {
  if (typeof endpoint === 'function' || recordCounts) return hasVariables(node);
  return node.arguments?.some(({ name, value }) => name.value === 'first' && hasVariable(value)) ?? false;
}
