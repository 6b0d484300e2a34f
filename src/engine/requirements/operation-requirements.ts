/** What an operation requires of its caller to get all of its fields. */
import type { GraphQLSchema } from 'graphql';
import { type Endpoint, type Scope, type Tier, tiers } from '../../api/endpoint.ts';
import type { Variables } from '../plan/document.ts';
import type { OperationPlan, PlannedField, SelectionPlan } from '../plan/operation-plan.ts';
import { requirementsOf } from './requirements.ts';
import { type RefusedField, type TierRefusals, areKnown, loginRefusals, neededSelections } from './tiers-by-path.ts';

export interface OperationRequirements {
  /** A token needs a scope of each list. */
  scopes: readonly (readonly Scope[])[];
  /** The film tiers that get every field; null if no field depends on the tier. */
  tiers: readonly Tier[] | null;
  /** The first refused field of each tier that does not get every field. */
  excluded: readonly (RefusedField & { tier: Tier })[];
  loginRequired: boolean;
}

/** `refusals`: what the film tiers do not get of it. `given`: the coerced variables, if they are known. */
export function requirementsIn(
  schema: GraphQLSchema,
  { root }: OperationPlan,
  refusals: TierRefusals,
  given?: Variables,
): OperationRequirements {
  const known = requirementsOf(schema);
  const found = [...coordinatesIn(root, given)].flatMap((coordinate) => known.get(coordinate) ?? []);
  const showing = root.fields.flatMap((field) => showingEndpoints(field, given));
  const all = [...found.map(({ scopes }) => scopes), ...showing.flatMap(({ scope }) => (scope ? [[scope]] : []))];
  const lists = new Map(all.filter((scopes) => scopes.length > 0).map((scopes) => [scopes.join(), scopes]));
  return {
    // A list with more scopes is met where a shorter one is.
    scopes: [...lists.values()]
      .filter((list) => ![...lists.values()].some((other) => other.length < list.length && isWithin(other, list)))
      .toSorted((a, b) => (a.join() < b.join() ? -1 : 1)),
    tiers: refusals ? tiers.filter((tier) => refusals.get(tier)?.length === 0) : null,
    excluded: tiers.flatMap((tier) => (refusals?.get(tier) ?? []).slice(0, 1).map((field) => ({ tier, ...field }))),
    loginRequired: loginRefusals(root, given).length > 0,
  };
}

/** Whatever is selected of it, a record that `node` or `nodes` names is requested, to show that it exists. */
function showingEndpoints(field: PlannedField, given: Variables | undefined): Endpoint[] {
  if (!field.rule.globalIds) return [];
  return neededSelections(field, given).flatMap(({ rule: { record, isReference }, fields }) =>
    record && !isReference && (areKnown(field, given) || fields.length > 0) ? [record.endpoint] : [],
  );
}

const isWithin = (list: readonly string[], other: readonly string[]): boolean =>
  list.every((each) => other.includes(each));

/** The fields that a plan may resolve, by concrete type: `Type.field`. */
function coordinatesIn(root: SelectionPlan, given?: Variables): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (selection: SelectionPlan): void => {
    for (const planned of [selection, ...selection.deferred].flatMap(({ fields }) => fields)) {
      found.add(`${planned.parent}.${planned.field.name}`);
      for (const inner of neededSelections(planned, given)) walk(inner);
    }
  };
  walk(root);
  return found;
}
