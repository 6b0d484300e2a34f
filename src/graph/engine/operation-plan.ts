/**
 * What a document reads, calls and may cost: one walk, whose result is kept.
 *
 * What is below a field depends on its nodes, the concrete type, the viewer and what the variables decide (`steering.ts`), on nothing
 * else of a request. Resolvers never see the selection; the engine looks it up here.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { WHOLE_RECORD_SHARE } from '../../upstream/loading/record-loader.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { FieldRule, TypeRule } from './field-options.ts';
import { argumentsOf } from './arguments.ts';
import { fieldInfoOf, typeRule } from './declarations.ts';
import {
  type Variables,
  fragmentApplies,
  hasVariable,
  hasVariables,
  isDeferred,
  isIncluded,
  usesStream,
} from './document.ts';
import { argumentsAllowEmbedded } from './embedded.ts';
import { introspectedValues } from './introspection.ts';

/**
 * How a field gets its value.
 * - `value`  from its parent
 * - `hand`   from what the parent's record carries of it
 * - `ask`    from a call
 * - `read`   from the record of a key, asked for what is wanted of it
 * - `none`   null, for a caller it is not for
 */
export type FieldMode = 'value' | 'embedded' | 'call' | 'lookup' | 'null';

/** One field of the document, its nodes merged, under one parent type. */
export interface PlannedField {
  readonly parent: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly rule: FieldRule;
  readonly nodes: readonly FieldNode[];
  readonly mode: FieldMode;
  /** What is selected of each concrete type it may give; empty for leaves. */
  readonly selections: ReadonlyMap<string, SelectionPlan>;
  /** The same where there is one type alone. */
  readonly onlySelection: SelectionPlan | undefined;
  /** Names that the items of its answer are wanted with, sorted; undefined for all of them. */
  readonly names: readonly string[] | undefined;
  /** Names selected that the embedded items may lack: the call is then made for them. */
  readonly mayOmit: readonly string[];
  /** Names of the parent's record that it reads. */
  readonly needs: readonly string[];
  readonly args: (variables: Variables) => object;
}

/** What is selected of one concrete type. */
export interface SelectionPlan {
  readonly type: GraphQLObjectType;
  readonly rule: TypeRule;
  /** Names wanted of the record, sorted; those of its deferred parts too. */
  readonly names: readonly string[];
  /** Those of them that what comes first shows: the same array where nothing is deferred. */
  readonly initialNames: readonly string[];
  /** Those of them that its record does not tell to the facade's own tier: not asked for. */
  readonly tierRefused: ReadonlySet<string>;
  /** Whether anything of the record itself is selected, beside what is below it. */
  readonly readsRecord: boolean;
  /** Calls that start as soon as their `from` is known; those of deferred parts too, whose answers are waited for later. */
  readonly eagerCalls: readonly PlannedField[];
  readonly fields: readonly PlannedField[];
  /** What is shown, in the document's order: fields, and the response keys of `__typename`. */
  readonly outputFields: readonly (PlannedField | string)[];
  /** Its deferred parts, those within them too. */
  readonly deferred: readonly SelectionPlan[];
  /** Field names selected, in deferred parts too. */
  readonly selected: ReadonlySet<string>;
}

/** A document's plan for one kind of caller and one value of its steering variables. */
export interface OperationPlan {
  readonly root: SelectionPlan;
  /** True where a part of the answer may come later. */
  readonly defers: boolean;
  /** True where the schema itself is asked about, beside a `__typename`. */
  readonly introspects: boolean;
  /** Values that it may answer of the schema. */
  readonly introspected: number;
  /** True where a variable says how much is asked for: the cost is then another each time. */
  readonly varies: boolean;
  /** Fields planned, each counted for every type that it is selected of, and these types: what the plan takes. */
  readonly size: number;
  /** The field of these nodes; of any parent where `parent` is ''. */
  fieldAt: (nodes: readonly FieldNode[], parent: string) => PlannedField | undefined;
}

const nothingBelow: Map<string, SelectionPlan> = new Map();
const noNames: readonly string[] = Object.freeze([]);
const noRefusals: ReadonlySet<string> = new Set();

/** Who a plan is made for. */
export type PlanViewer = Pick<Viewer, 'isLoggedIn' | 'filmTier'>;

/** Thrown while planning: fragments on many types, spread many times, make a plan far larger than its document. */
export class PlanTooLarge extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`The plan has more than ${limit} fields.`);
    this.limit = limit;
  }
}

/** What a walk costs beside the fields that it plans: selections that it only passes, as one that is merged into another. */
const PASSED_PER_FIELD = 20;

export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
  maxFields = Infinity,
): OperationPlan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  const known = new Map<FieldNode, PlannedField[]>();
  let defers = false;
  let varies = false;
  let introspects = false;
  let introspected = 0;
  let size = 0;
  let passed = 0;

  const rootType = schema.getRootType(operation.operation)!;
  const root = planType(rootType, [operation.selectionSet]);
  return { root, defers: defers || usesStream(document), introspects, introspected, varies, size, fieldAt };

  function fieldAt(nodes: readonly FieldNode[], parent: string): PlannedField | undefined {
    const plans = known.get(nodes[0]!);
    if (!plans) return undefined;
    if (plans.length === 1) return plans[0];
    return (
      plans.find((plan) => plan.parent === parent && sameNodes(plan.nodes, nodes)) ?? (parent ? undefined : plans[0])
    );
  }

  function grow(): void {
    if (++size > maxFields) throw new PlanTooLarge(maxFields);
  }

  function planType(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): SelectionPlan {
    const groups: FieldGroups = new Map();
    const later: FieldGroups[] = [];
    const seen = new Set<string>(); // of all sets: an executor takes a fragment once
    for (const set of sets) collect(type, set.selections, groups, later, seen);
    defers ||= later.length > 0;
    return planGroups(
      type,
      groups,
      later.map((part) => planGroups(type, part, [])),
    );
  }

  /**
   * Requests are planned as if nothing were deferred, so that a divided answer is the undivided one: what a list or a parent is asked
   * for includes the names of deferred parts. What must be loaded for a record by its key is loaded in two steps, `firstNames` first.
   */
  function planGroups(type: GraphQLObjectType, groups: FieldGroups, later: readonly SelectionPlan[]): SelectionPlan {
    grow();
    const fields: PlannedField[] = [];
    const shown: (PlannedField | string)[] = [];
    for (const [key, nodes] of groups) {
      const plan = planField(type, nodes);
      shown.push(plan ?? key);
      if (plan) fields.push(plan);
      else if (nodes[0]!.name.value !== '__typename') {
        introspects = true;
        introspected += introspectedValues(schema, nodes, fragments);
      }
    }
    const rule = typeRule(type);
    const all = later.length === 0 ? fields : [...fields, ...later.flatMap((part) => part.fields)];
    const names = namesOf(all);
    const { tiers } = rule.record ?? {};
    // A caller's tier is learned, and asked again; the configured one is taken at its word.
    const tier = viewer.isLoggedIn ? null : viewer.filmTier;
    const refused = tiers && tier ? new Set(names.filter((name) => tiers[name]?.includes(tier) === false)) : noRefusals;
    return {
      type,
      rule,
      names,
      initialNames: later.length === 0 ? names : namesOf(fields),
      tierRefused: refused,
      readsRecord: all.some((plan) => plan.mode !== 'call' && plan.needs.length > 0),
      eagerCalls: all.filter((plan) => plan.mode === 'call'),
      fields,
      outputFields: shown,
      deferred: later,
      selected: new Set(all.map((plan) => plan.field.name)),
    };
  }

  function planField(parent: GraphQLObjectType, nodes: readonly FieldNode[]): PlannedField | undefined {
    const facts = fieldInfoOf(schema, parent).get(nodes[0]!.name.value);
    if (!facts) return undefined; // __typename, or what asks of the schema
    grow();
    const { field, rule, types } = facts;
    const below = types.length ? new Map<string, SelectionPlan>() : nothingBelow;
    if (types.length) {
      const sets = nodes.flatMap((node) => node.selectionSet ?? []);
      for (const type of types) below.set(type.name, planType(type, sets));
    }
    const args = argumentsOf(field, nodes[0]!);
    varies ||= sizeVaries(rule, nodes[0]!);
    const mode = modeOf(parent, rule, below, args);
    const plan: PlannedField = {
      parent: parent.name,
      field,
      rule,
      nodes,
      mode,
      selections: below,
      onlySelection: below.size === 1 ? below.values().next().value : undefined,
      names: mode === 'value' || mode === 'null' ? undefined : projection(below, rule),
      mayOmit: mode === 'embedded' ? mayLack(rule, below) : noNames,
      needs: needsOf(rule, mode, below),
      args,
    };
    const plans = known.get(nodes[0]!);
    if (plans) plans.push(plan);
    else known.set(nodes[0]!, [plan]);
    return plan;
  }

  function modeOf(
    parent: GraphQLObjectType,
    rule: FieldRule,
    below: ReadonlyMap<string, SelectionPlan>,
    args: (variables: Variables) => object,
  ): FieldMode {
    if (rule.viewerOnly && !viewer.isLoggedIn) return 'null';
    if (!rule.endpoint) return 'value';
    if (rule.embedded && handSuffices(parent, rule, below, args)) return 'embedded';
    const isRoot = parent === schema.getQueryType();
    const isRecord = isRoot && [...below.values()].some((each) => each.rule.record?.endpoint === rule.endpoint);
    return isRecord ? 'lookup' : 'call';
  }

  /** Whether what the parent's record carries answers all that is selected. */
  function handSuffices(
    parent: GraphQLObjectType,
    rule: FieldRule,
    below: ReadonlyMap<string, SelectionPlan>,
    args: (variables: Variables) => object,
  ): boolean {
    const { embedded } = rule;
    if (!embedded || !argumentsAllowEmbedded(rule, args, variables)) return false;
    const tiers = typeRule(parent).record?.tiers?.[embedded.member];
    if (tiers && viewer.filmTier && !tiers.includes(viewer.filmTier)) return false;
    for (const each of below.values()) {
      if (each.rule.isWrapper && each.selected.has('totalCount')) return false;
    }
    const carried = embedded.representation.names;
    return carried === 'all' || itemsOf(below).every((item) => item.names.every((name) => carried.includes(name)));
  }

  /** In the executor's order, so that the nodes of a field are those that it resolves together. */
  function collect(
    type: GraphQLObjectType,
    selections: readonly SelectionNode[],
    groups: FieldGroups,
    later: FieldGroups[],
    seen: Set<string>,
  ): void {
    for (const selection of selections) {
      if (++passed > maxFields * PASSED_PER_FIELD) throw new PlanTooLarge(maxFields);
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === 'Field') {
        const key = selection.alias?.value ?? selection.name.value;
        const group = groups.get(key);
        if (group) group.push(selection);
        else groups.set(key, [selection]);
        continue;
      }
      const isSpread = selection.kind === 'FragmentSpread';
      const isPart = isDeferred(selection, variables);
      if (isSpread && !isPart && seen.has(selection.name.value)) continue;
      const fragment = isSpread ? fragments.get(selection.name.value) : selection;
      if (!fragment || !fragmentApplies(schema, fragment.typeCondition?.name.value, type)) continue;
      if (isSpread && !isPart) seen.add(selection.name.value);
      const part = isPart ? new Map<string, FieldNode[]>() : groups;
      collect(type, fragment.selectionSet.selections, part, later, seen);
      if (isPart) later.push(part);
    }
  }
}

/** Fields of one object by their response key, the nodes of each that are answered together. */
type FieldGroups = Map<string, FieldNode[]>;

const namesOf = (fields: readonly PlannedField[]): readonly string[] =>
  [...new Set(fields.flatMap(({ needs }) => needs))].sort();

/** Whether a variable decides what a field costs: how much of a list is asked for, or which endpoint is. */
function sizeVaries({ endpoint, pageSize, recordCounts }: FieldRule, node: FieldNode): boolean {
  if (typeof endpoint === 'function' || recordCounts) return hasVariables(node);
  return (
    pageSize !== undefined && !!node.arguments?.some(({ name, value }) => name.value === 'first' && hasVariable(value))
  );
}

/** The name of the field in the answer. */
export const responseKeyOf = ({ nodes }: PlannedField): string => nodes[0]!.alias?.value ?? nodes[0]!.name.value;

/** What each concrete item of an answer is wanted with, seen through the types that wrap it. */
function itemsOf(below: ReadonlyMap<string, SelectionPlan>): SelectionPlan[] {
  return [...below.values()].flatMap((each) =>
    each.rule.isWrapper
      ? [each, ...each.deferred].flatMap(({ fields }) => fields.flatMap(({ selections }) => itemsOf(selections)))
      : [each],
  );
}

function mayLack({ embedded }: FieldRule, below: ReadonlyMap<string, SelectionPlan>): readonly string[] {
  if (!embedded?.mayOmit) return noNames;
  return embedded.mayOmit.filter((name) => itemsOf(below).some(({ names }) => names.includes(name)));
}

/** The `fields` of an ask. */
function projection(below: ReadonlyMap<string, SelectionPlan>, { embedded }: FieldRule): readonly string[] | undefined {
  const items = itemsOf(below);
  if (below.size === 0) return embedded && [embedded.member, 'id'].sort(); // a leaf: the member that holds it
  if (items.length === 0) return ['id']; // nothing of the items is selected
  const names = new Set<string>();
  for (const { type, rule, names: wanted, tierRefused } of items) {
    if ('id' in type.getFields()) names.add('id');
    for (const name of wanted)
      if (!tierRefused.has(name) && (rule.record?.members?.includes(name) ?? true)) names.add(name);
  }
  const whole = items[0]!.rule.record?.members?.length;
  if (names.size === 0) names.add('id'); // no member at all would be no word to send
  return whole && names.size > whole * WHOLE_RECORD_SHARE ? undefined : [...names].sort();
}

function needsOf(rule: FieldRule, mode: FieldMode, below: ReadonlyMap<string, SelectionPlan>): readonly string[] {
  if (mode === 'null') return noNames;
  if (mode === 'embedded') return [...(rule.from ?? noNames), rule.embedded!.member];
  if (mode !== 'value') return rule.from ?? noNames;
  if (rule.idIn && [...below.values()].every((each) => each.names.every((name) => name === 'id'))) {
    return [rule.idIn];
  }
  const needs = rule.needs ?? noNames;
  const { needsBelow } = rule;
  if (!needsBelow) return rule.idIn ? [...needs, rule.idIn] : needs;
  return [
    ...needs,
    ...[...below.values()].flatMap((each) => [...each.selected].flatMap((name) => needsBelow[name] ?? [])),
  ];
}

const sameNodes = (a: readonly FieldNode[], b: readonly FieldNode[]): boolean =>
  a.length === b.length && a.every((node, index) => node === b[index]);
