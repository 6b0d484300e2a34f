/** Which fields a caller gets. That depends on the path: a record that its parent brings is open to callers who may not load it. */
import {
  type Endpoint,
  type Representation,
  type Tier,
  isProvided,
  tiers,
  wholeRepresentation,
} from '../../api/endpoint.ts';
import type { RecordSource } from '../../api/record-source.ts';
import { argumentsIfValid } from '../plan/arguments.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { type Variables, hasVariables } from '../plan/document.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import { partsOfId } from '../plan/read-declarations.ts';

/** A field that a caller does not get. */
export interface RefusedField {
  /** `Type.field` */
  coordinate: string;
  /** Response keys from the root, without list indexes. */
  path: string;
}

/** What the tiers get of an operation: the refused fields by tier; undefined if none of its fields depends on the tier. */
export type TierRefusals = ReadonlyMap<Tier, readonly RefusedField[]> | undefined;

/**
 * `planFor` plans the operation for a caller of a tier, and for one whose tier is not known yet: a tier gets what it gets in both cases.
 * `given`: the coerced variables, if they are known.
 */
export function tierRefusals(planFor: (tier: Tier | null) => SelectionPlan, given?: Variables): TierRefusals {
  const found = tiers.map((tier) => walked(ofTier(tier), [planFor(tier), planFor(null)], given));
  return found.some(({ isTiered }) => isTiered)
    ? new Map(found.map(({ refused }, at) => [tiers[at]!, [...refused.values()]]))
    : undefined;
}

/** The fields that a caller without the token of a person does not get: they are refused, or null as `viewerCollection` is. */
export const loginRefusals = (root: SelectionPlan, given?: Variables): readonly RefusedField[] => [
  ...walked(withoutLogin, [root], given).refused.values(),
];

function walked(caller: Caller, plans: readonly SelectionPlan[], given: Variables | undefined): Walk {
  const walk: Walk = { caller, given, refused: new Map(), isTiered: false };
  for (const plan of plans) visit(walk, plan, undefined, '');
  return walk;
}

/** Whether it is known which ids `node` or `nodes` is given. */
export const areKnown = ({ nodes }: PlannedField, given: Variables | undefined): boolean =>
  given !== undefined || !hasVariables(nodes[0]!);

/** The selections of a field that may be needed: of `node` and `nodes`, those of the types that their ids name. */
export function neededSelections(field: PlannedField, given: Variables | undefined): readonly SelectionPlan[] {
  const { rule, args, selections } = field;
  const all = [...selections.values()];
  if (!rule.globalIds || !areKnown(field, given)) return all;
  const valid = argumentsIfValid(args, given ?? {});
  const named = valid ? rule.globalIds(valid).flatMap((id) => partsOfId(id) ?? []) : [];
  return all.filter((each) =>
    named.some(({ type, key }) => type === each.type.name && each.rule.nodeOf?.(key) != null),
  );
}

/** Whether a caller may call an endpoint, gets what these tiers get, and has the token of a person. */
interface Caller {
  isPerson: boolean;
  opens: (endpoint: Endpoint) => boolean;
  isOf: (having: readonly Tier[]) => boolean;
}

const ofTier = (tier: Tier): Caller => ({
  isPerson: true,
  opens: ({ tiers: getting }) => getting.includes(tier),
  isOf: (having) => having.includes(tier),
});
const withoutLogin: Caller = { isPerson: false, opens: ({ login }) => !login, isOf: () => true };

interface Walk {
  readonly caller: Caller;
  readonly given: Variables | undefined;
  /** By path. */
  readonly refused: Map<string, RefusedField>;
  /** An endpoint was met that depends on the tier. */
  isTiered: boolean;
}

/** `held`: what the response that has the record provides of it; undefined if only its id is certain. */
function visit(walk: Walk, selection: SelectionPlan, held: Representation | undefined, path: string): void {
  const { rule, deferred, members } = selection;
  if (rule.record?.endpoint.isTiered) walk.isTiered = true;
  const fields = [selection, ...deferred].flatMap((part) => part.fields);
  const provided = fields.some((field) => providesAll(field, members, walk.caller)) ? wholeRepresentation : held;
  for (const field of fields) {
    const here = path === '' ? responseKeyOf(field) : `${path}.${responseKeyOf(field)}`;
    // The id is that by which the record was found.
    if (field.mode === 'null' || field.field.name === 'id') continue;
    if (endpointsOf(field.rule).some(({ isTiered }) => isTiered)) walk.isTiered = true;
    const needed = neededSelections(field, walk.given);
    const below = isLookedUpInVain(field, needed, walk)
      ? undefined
      : getsField(field, rule.record, provided, walk.caller);
    if (!below) walk.refused.set(here, { coordinate: `${field.parent}.${field.field.name}`, path: here });
    else for (const inner of needed) visit(walk, inner, rule.isWrapper ? held : below.provided, here);
  }
}

/** Whether a record that the client names is requested only to show that it exists, by an endpoint that the caller may not call. */
const isLookedUpInVain = (field: PlannedField, needed: readonly SelectionPlan[], { caller, given }: Walk): boolean =>
  (field.mode === 'lookup' || field.rule.globalIds !== undefined) &&
  needed.some(
    ({ rule: { record }, fields, deferred }) =>
      record !== undefined &&
      (fields.length > 0 || areKnown(field, given)) &&
      !caller.opens(record.endpoint) &&
      [...fields, ...deferred.flatMap((part) => part.fields)].every(
        (each) => each.mode === 'value' && (each.field.name === 'id' || each.needs.every((member) => member === 'id')),
      ),
  );

/** Whether the response of a list carries all that is needed of the record that has it: then the record itself is not loaded. */
const providesAll = ({ rule, mode }: PlannedField, members: readonly string[], caller: Caller): boolean =>
  mode === 'call' &&
  endpointsOf(rule).some(caller.opens) &&
  members.every((member) => member === 'id' || rule.provides?.members.includes(member));

/** What a caller gets of the objects that a field returns; undefined if the caller does not get the field. */
function getsField(
  { rule, mode, needs }: PlannedField,
  record: RecordSource | undefined,
  provided: Representation | undefined,
  caller: Caller,
): { provided: Representation | undefined } | undefined {
  const mayCall = endpointsOf(rule).some(caller.opens);
  if ((rule.writeEndpoint && !mayCall) || (rule.viewerOnly && !caller.isPerson)) return undefined;
  const gets = (members: readonly string[]) => members.every((member) => hasMember(record, provided, member, caller));
  if (mode === 'embedded' && gets(needs)) return { provided: rule.embedded!.representation };
  if (mode === 'embedded' || mode === 'call')
    return mayCall ? { provided: rule.representation ?? wholeRepresentation } : undefined;
  // It is called only for the members that are selected.
  if (mode === 'lookup') return { provided: undefined };
  return gets(needs) ? { provided: rule.representation } : undefined;
}

/** Whether a caller gets a member of a record, of which a response has provided some. */
function hasMember(
  record: RecordSource | undefined,
  provided: Representation | undefined,
  member: string,
  { opens, isOf }: Caller,
): boolean {
  if (!record || member === 'id' || (provided && isProvided(provided, member))) return true;
  return opens(record.endpoint) && isOf(record.endpoint.gates?.members[member] ?? tiers);
}

/** The endpoints that a field may call: all that its arguments can choose. */
export function endpointsOf({ endpoint, endpoints = [], writeEndpoint }: FieldRule): readonly Endpoint[] {
  if (writeEndpoint) return [writeEndpoint];
  return typeof endpoint === 'object' ? [endpoint] : endpoints;
}
