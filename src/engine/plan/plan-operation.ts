/**
 * Plans an operation in one walk over its selections.
 *
 * A plan depends on the document, the caller's login and tier, and the decisions of the variables (`planKeyOf`), on nothing else.
 * Resolvers do not see the selection; the engine looks it up in the plan.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  getNullableType,
  isListType,
} from 'graphql';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { ClientCode } from '../errors/codes.ts';
import { argumentsOf } from './arguments.ts';
import { fieldInfosOf, typeRule } from './read-declarations.ts';
import { type Variables, deferOf, fragmentApplies, isIncluded, isStreamed } from './document.ts';
import type { FieldRule, TypeRule } from './declaration-types.ts';
import { introspectedValues } from './introspection.ts';
import {
  type FieldMode,
  type OperationPlan,
  type PlannedField,
  type SelectionPlan,
  itemSelectionsOf,
} from './operation-plan.ts';
import {
  argumentsAllowEmbedded,
  embeddedIsEnough,
  membersMaybeOmitted,
  neededMembers,
  needsNoItems,
  needsOf,
  noMembers,
  requestedMembers,
  sizeVaries,
} from './needed-members.ts';
import { variantsOf } from './variants.ts';

/** The caller, as far as a plan depends on it. */
export type PlanViewer = Pick<Viewer, 'isLoggedIn' | 'filmTier'>;

/** Thrown while planning: fragments on many types, spread many times, can make a plan far larger than its document. */
export class PlanTooLarge extends GraphQLError {
  constructor(limit: number) {
    super(`Fields of an operation, counted for every type that they may be of: at most ${limit}.`, {
      extensions: { code: 'TOO_MANY_FIELDS' satisfies ClientCode, limit },
    });
  }
}

/** Selections that the walk may visit for each field that it may plan. */
const VISITS_PER_FIELD = 20;

const noSelections: ReadonlyMap<string, SelectionPlan> = new Map();
const nothingRefused: ReadonlySet<string> = new Set();

/** The fields of one object by response key, each with the nodes that are resolved together. */
type FieldGroups = Map<string, FieldNode[]>;

interface DeferredGroups {
  label: string | undefined;
  groups: FieldGroups;
}

/** The state of one walk. */
interface Walk {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly viewer: PlanViewer;
  readonly variables: Variables;
  readonly maxFields: number;
  defers: boolean;
  varies: boolean;
  size: number;
  visited: number;
}

export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
  maxFields = Infinity,
): OperationPlan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  const counts = { defers: false, varies: false, size: 0, visited: 0 };
  const walk: Walk = { schema, fragments, viewer, variables, maxFields, ...counts };
  const root = planType(walk, schema.getRootType(operation.operation)!, [operation.selectionSet]);
  const { defers, varies, size } = walk;
  const introspected = introspectedValues(schema, root);
  return { root, defers, introspected, varies, size };
}

function grow(walk: Walk): void {
  if (++walk.size > walk.maxFields) throw new PlanTooLarge(walk.maxFields);
}

function planType(walk: Walk, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): SelectionPlan {
  const groups: FieldGroups = new Map();
  const deferred: DeferredGroups[] = [];
  const seen = new Set<string>(); // shared by all sets: each fragment is visited once
  for (const { selections } of sets) collect(walk, type, selections, groups, deferred, seen);
  walk.defers ||= deferred.length > 0;
  return planGroups(
    walk,
    type,
    groups,
    deferred.map(({ label, groups }) => planGroups(walk, type, groups, [], label)),
  );
}

/**
 * Lists and parents are requested as if nothing were deferred, so that the merged result is the same as a complete one: `members` includes
 * deferred fragments. A record that is loaded by its key is loaded in two steps, `initialMembers` first.
 */
function planGroups(
  walk: Walk,
  type: GraphQLObjectType,
  groups: FieldGroups,
  deferred: readonly SelectionPlan[],
  label?: string,
): SelectionPlan {
  grow(walk);
  const fields: PlannedField[] = [];
  const outputFields: (PlannedField | string)[] = [];
  for (const [key, nodes] of groups) {
    const plan = planField(walk, type, nodes);
    outputFields.push(plan ?? key);
    if (plan) fields.push(plan);
  }
  const rule = typeRule(type);
  requestCarriers(rule, fields, outputFields);
  const all = deferred.length === 0 ? fields : [...fields, ...deferred.flatMap((part) => part.fields)];
  const members = neededMembers(all);
  const eagerCalls: PlannedField[] = [];
  const selected = new Set<string>();
  let readsRecord = false;
  let isReferredBelow = false;
  for (const plan of all) {
    selected.add(plan.field.name);
    isReferredBelow ||= plan.rule.backReference !== undefined && plan.mode !== 'null';
    if (plan.mode === 'call') eagerCalls.push(plan);
    else readsRecord ||= plan.needs.length > 0;
  }
  const tiers = rule.record?.endpoint.gates?.members;
  // The tier of a caller's own token is learned and may change, so it excludes nothing here. The configured tier is certain.
  const tier = walk.viewer.isLoggedIn ? null : walk.viewer.filmTier;
  return {
    type,
    rule,
    label,
    members,
    initialMembers: deferred.length === 0 ? members : neededMembers(fields),
    tierRefused:
      tiers && tier ? new Set(members.filter((member) => tiers[member]?.includes(tier) === false)) : nothingRefused,
    readsRecord,
    eagerCalls,
    fields,
    outputFields,
    deferred,
    isReferredBelow,
    selected,
  };
}

/** Calls that tell what is selected of their parent request it, so that the parent need not be loaded. */
function requestCarriers({ record }: TypeRule, fields: PlannedField[], outputFields: (PlannedField | string)[]): void {
  const needed = neededMembers(fields);
  let isLoaded = false;
  for (const [at, plan] of fields.entries()) {
    const { mode, rule, members } = plan;
    if (mode !== 'call' || !members) continue;
    let carrying: PlannedField | undefined;
    // The first variant of a member comes with the record, unless the record's own is selected too.
    if (rule.variant && record && rule.endpoint === record.endpoint && !isLoaded) {
      if (needed.includes(rule.embedded!.member)) continue;
      isLoaded = true;
      carrying = { ...plan, recordMembers: [...new Set([...members, ...needed])].sort() };
    }
    // The items of a list have a member about their parent.
    const { members: provided, carriedBy } = rule.provides ?? {};
    if (carriedBy !== undefined && !members.includes(carriedBy) && provided!.some((member) => needed.includes(member)))
      carrying = { ...plan, members: [...members, carriedBy].sort() };
    if (!carrying) continue;
    fields[at] = carrying;
    outputFields[outputFields.indexOf(plan)] = carrying;
  }
}

function planField(walk: Walk, parent: GraphQLObjectType, nodes: readonly FieldNode[]): PlannedField | undefined {
  const info = fieldInfosOf(walk.schema)(parent).get(nodes[0]!.name.value);
  if (!info) return undefined; // __typename
  grow(walk);
  const { field, rule, types } = info;
  const sets = nodes.flatMap((node) => node.selectionSet ?? []);
  const selections =
    types.length > 0 ? new Map(types.map((type) => [type.name, planType(walk, type, sets)])) : noSelections;
  const args = argumentsOf(field, nodes[0]!);
  walk.varies ||= sizeVaries(rule, nodes[0]!);
  const mode = modeOf(walk, parent, rule, selections, args);
  const variants =
    mode === 'call' ? variantsOf(rule.variants, itemSelectionsOf(selections), walk.variables) : undefined;
  return {
    parent: parent.name,
    field,
    rule,
    nodes,
    mode,
    selections,
    isList: isListType(getNullableType(field.type)),
    onlySelection: selections.size === 1 ? selections.values().next().value : undefined,
    variants,
    members:
      mode === 'value' || mode === 'null' ? undefined : requestedMembers(rule, selections, variants, field, nodes[0]!),
    recordMembers: undefined,
    needsNoItems: mode === 'call' && rule.pageSize !== undefined && needsNoItems(selections, nodes[0]!),
    mayOmit: mode === 'embedded' ? membersMaybeOmitted(rule, selections) : noMembers,
    needs: needsOf(rule, mode, selections),
    args,
  };
}

function modeOf(
  { schema, viewer, variables }: Walk,
  parent: GraphQLObjectType,
  rule: FieldRule,
  selections: ReadonlyMap<string, SelectionPlan>,
  args: (variables: Variables) => object,
): FieldMode {
  if (rule.viewerOnly && !viewer.isLoggedIn) return 'null';
  if (!rule.endpoint) return 'value';
  if (argumentsAllowEmbedded(rule, args, variables) && embeddedIsEnough(parent, rule, selections, viewer.filmTier))
    return 'embedded';
  const isLookup =
    parent === schema.getQueryType() &&
    [...selections.values()].some((each) => each.rule.record?.endpoint === rule.endpoint);
  return isLookup ? 'lookup' : 'call';
}

/** Collects fields as graphql-js does; the nodes of a group are resolved together. */
function collect(
  walk: Walk,
  type: GraphQLObjectType,
  selections: readonly SelectionNode[],
  groups: FieldGroups,
  deferred: DeferredGroups[],
  seen: Set<string>,
): void {
  const { schema, fragments, variables, maxFields } = walk;
  for (const selection of selections) {
    if (++walk.visited > maxFields * VISITS_PER_FIELD) throw new PlanTooLarge(maxFields);
    if (!isIncluded(selection, variables)) continue;
    if (selection.kind === 'Field') {
      walk.defers ||= isStreamed(selection);
      const key = selection.alias?.value ?? selection.name.value;
      const group = groups.get(key);
      if (group) group.push(selection);
      else groups.set(key, [selection]);
      continue;
    }
    const isSpread = selection.kind === 'FragmentSpread';
    const defer = deferOf(selection, variables);
    if (isSpread && !defer && seen.has(selection.name.value)) continue;
    const fragment = isSpread ? fragments.get(selection.name.value) : selection;
    if (!fragment || !fragmentApplies(schema, fragment.typeCondition?.name.value, type)) continue;
    if (isSpread && !defer) seen.add(selection.name.value);
    const target = defer ? new Map<string, FieldNode[]>() : groups;
    collect(walk, type, fragment.selectionSet.selections, target, deferred, seen);
    if (defer) deferred.push({ label: defer.label, groups: target });
  }
}
