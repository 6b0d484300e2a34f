/** Which film tiers get a field. That depends on the path: a record that its parent brings is open to tiers that may not load it. */
import {
  type Endpoint,
  type Representation,
  type Tier,
  isProvided,
  tiers,
  wholeRepresentation,
} from '../../api/endpoint.ts';
import type { RecordSource } from '../../api/record-source.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';

/** A field that a tier does not get. */
export interface RefusedField {
  /** `Type.field` */
  coordinate: string;
  /** Response keys from the root, without list indexes. */
  path: string;
}

/** What the tiers get of an operation: the refused fields by tier; undefined if none of its fields depends on the tier. */
export type TierRefusals = ReadonlyMap<Tier, readonly RefusedField[]> | undefined;

/** `planFor` plans the operation for a caller of a tier, and for one whose tier is not known yet: a tier gets what it gets in both cases. */
export function tierRefusals(planFor: (tier: Tier | null) => SelectionPlan): TierRefusals {
  const walks = tiers.map((tier) => {
    const walk: Walk = { tier, refused: new Map(), isTiered: false };
    for (const plan of [planFor(tier), planFor(null)]) visit(walk, plan, undefined, '');
    return walk;
  });
  return walks.some(({ isTiered }) => isTiered)
    ? new Map(walks.map(({ tier, refused }) => [tier, [...refused.values()]]))
    : undefined;
}

interface Walk {
  readonly tier: Tier;
  /** By path. */
  readonly refused: Map<string, RefusedField>;
  /** An endpoint was met that depends on the tier. */
  isTiered: boolean;
}

/** `brought`: what the response that brought the record has of it; undefined if only its id is certain. */
function visit(walk: Walk, selection: SelectionPlan, brought: Representation | undefined, path: string): void {
  const { rule, deferred, members } = selection;
  if (rule.record?.endpoint.isTiered) walk.isTiered = true;
  const fields = [selection, ...deferred].flatMap((part) => part.fields);
  const provided = fields.some((field) => providesAll(field, members, walk.tier)) ? wholeRepresentation : brought;
  for (const field of fields) {
    const here = path === '' ? responseKeyOf(field) : `${path}.${responseKeyOf(field)}`;
    // The id is that by which the record was found.
    if (field.mode === 'null' || field.field.name === 'id') continue;
    if (endpointsOf(field.rule).some(({ isTiered }) => isTiered)) walk.isTiered = true;
    const below = isLookedUpInVain(field, walk.tier) ? undefined : getsField(field, rule.record, provided, walk.tier);
    if (!below) walk.refused.set(here, { coordinate: `${field.parent}.${field.field.name}`, path: here });
    else
      for (const inner of field.selections.values())
        visit(walk, inner, rule.isWrapper ? brought : below.provided, here);
  }
}

/** Whether a record that the client names is requested only to show that it exists, by an endpoint that the tier does not get. */
const isLookedUpInVain = ({ mode, rule, selections }: PlannedField, tier: Tier): boolean =>
  (mode === 'lookup' || rule.globalIds !== undefined) &&
  [...selections.values()].some(
    ({ rule: { record }, fields, deferred }) =>
      record !== undefined &&
      fields.length > 0 &&
      !isOpenTo(record.endpoint, tier) &&
      [...fields, ...deferred.flatMap((part) => part.fields)].every(
        (each) => each.mode === 'value' && (each.field.name === 'id' || each.needs.every((member) => member === 'id')),
      ),
  );

/** Whether the response of a list carries all that is needed of the record that has it: then the record itself is not loaded. */
const providesAll = ({ rule, mode }: PlannedField, members: readonly string[], tier: Tier): boolean =>
  mode === 'call' &&
  endpointsOf(rule).some((endpoint) => isOpenTo(endpoint, tier)) &&
  members.every((member) => member === 'id' || rule.provides?.members.includes(member));

/** What a tier gets of the objects that a field returns; undefined if it does not get the field. */
function getsField(
  { rule, mode, needs }: PlannedField,
  record: RecordSource | undefined,
  provided: Representation | undefined,
  tier: Tier,
): { provided: Representation | undefined } | undefined {
  const mayCall = endpointsOf(rule).some((endpoint) => isOpenTo(endpoint, tier));
  const gets = (members: readonly string[]) => members.every((member) => getsMember(record, provided, member, tier));
  if (mode === 'embedded' && gets(needs)) return { provided: rule.embedded!.representation };
  if (mode === 'embedded' || mode === 'call')
    return mayCall ? { provided: rule.representation ?? wholeRepresentation } : undefined;
  // It is called only for the members that are selected.
  if (mode === 'lookup') return { provided: undefined };
  return gets(needs) ? { provided: rule.representation } : undefined;
}

/** Whether a tier gets a member of a record, of which a response has provided some. */
export function getsMember(
  record: RecordSource | undefined,
  provided: Representation | undefined,
  member: string,
  tier: Tier,
): boolean {
  if (!record || member === 'id' || (provided && isProvided(provided, member))) return true;
  return isOpenTo(record.endpoint, tier) && (record.tiers?.[member]?.includes(tier) ?? true);
}

const isOpenTo = ({ tiers: getting }: Endpoint, tier: Tier): boolean => getting.includes(tier);

/** The endpoints that a field may call: all that its arguments can choose. */
export function endpointsOf({ endpoint, endpoints = [], writeEndpoint }: FieldRule): readonly Endpoint[] {
  if (writeEndpoint) return [writeEndpoint];
  return typeof endpoint === 'object' ? [endpoint] : endpoints;
}
