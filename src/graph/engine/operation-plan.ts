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
import { WHOLE_RECORD_SHARE } from '../../upstream/loading/load.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { FieldRule, TypeRule } from './field-options.ts';
import { argumentsOf } from './arguments.ts';
import { factsOf, typeRule } from './declarations.ts';
import { type Variables, applies, hasVariable, hasVariables, isDeferred, isIncluded, streams } from './document.ts';
import { argumentsAllowHand } from './embedded.ts';
import { introspectedValues } from './introspection.ts';

/**
 * How a field gets its value.
 * - `value`  from its parent
 * - `hand`   from what the parent's record carries of it
 * - `ask`    from a call
 * - `read`   from the record of a key, asked for what is wanted of it
 * - `none`   null, for a caller it is not for
 */
export type Mode = 'value' | 'hand' | 'ask' | 'read' | 'none';

/** One field of the document, its nodes merged, under one parent type. */
export interface FieldPlan {
  readonly parent: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly rule: FieldRule;
  readonly nodes: readonly FieldNode[];
  readonly mode: Mode;
  /** What is selected of each concrete type it may give; empty for leaves. */
  readonly below: ReadonlyMap<string, Below>;
  /** The same where there is one type alone. */
  readonly only: Below | undefined;
  /** Names that the items of its answer are wanted with, sorted; undefined for all of them. */
  readonly names: readonly string[] | undefined;
  /** Names selected that the embedded items may lack: the call is then made for them. */
  readonly mayLack: readonly string[];
  /** Names of the parent's record that it reads. */
  readonly needs: readonly string[];
  readonly args: (variables: Variables) => object;
}

/** What is selected of one concrete type. */
export interface Below {
  readonly type: GraphQLObjectType;
  readonly rule: TypeRule;
  /** Names wanted of the record, sorted; those of its deferred parts too. */
  readonly names: readonly string[];
  /** Those of them that what comes first shows: the same array where nothing is deferred. */
  readonly firstNames: readonly string[];
  /** Those of them that its record does not tell to the facade's own tier: not asked for. */
  readonly refused: ReadonlySet<string>;
  /** Whether anything of the record itself is selected, beside what is below it. */
  readonly isRead: boolean;
  /** Calls that start as soon as their `from` is known; those of deferred parts too, whose answers are waited for later. */
  readonly starts: readonly FieldPlan[];
  readonly fields: readonly FieldPlan[];
  /** What is shown, in the document's order: fields, and the response keys of `__typename`. */
  readonly shown: readonly (FieldPlan | string)[];
  /** Its deferred parts, those within them too. */
  readonly later: readonly Below[];
  /** Field names selected, in deferred parts too. */
  readonly selected: ReadonlySet<string>;
}

/** A document's plan for one kind of caller and one value of its steering variables. */
export interface Plan {
  readonly root: Below;
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
  fieldAt: (nodes: readonly FieldNode[], parent: string) => FieldPlan | undefined;
}

const nothingBelow: Map<string, Below> = new Map();
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

export function makePlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: PlanViewer,
  variables: Variables,
  maxFields = Infinity,
): Plan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  const known = new Map<FieldNode, FieldPlan[]>();
  let defers = false;
  let varies = false;
  let introspects = false;
  let introspected = 0;
  let size = 0;
  let passed = 0;

  const rootType = schema.getRootType(operation.operation)!;
  const root = planType(rootType, [operation.selectionSet]);
  return { root, defers: defers || streams(document), introspects, introspected, varies, size, fieldAt };

  function fieldAt(nodes: readonly FieldNode[], parent: string): FieldPlan | undefined {
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

  function planType(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Below {
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
  function planGroups(type: GraphQLObjectType, groups: FieldGroups, later: readonly Below[]): Below {
    grow();
    const fields: FieldPlan[] = [];
    const shown: (FieldPlan | string)[] = [];
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
      firstNames: later.length === 0 ? names : namesOf(fields),
      refused,
      isRead: all.some((plan) => plan.mode !== 'ask' && plan.needs.length > 0),
      starts: all.filter((plan) => plan.mode === 'ask'),
      fields,
      shown,
      later,
      selected: new Set(all.map((plan) => plan.field.name)),
    };
  }

  function planField(parent: GraphQLObjectType, nodes: readonly FieldNode[]): FieldPlan | undefined {
    const facts = factsOf(schema, parent).get(nodes[0]!.name.value);
    if (!facts) return undefined; // __typename, or what asks of the schema
    grow();
    const { field, rule, types } = facts;
    const below = types.length ? new Map<string, Below>() : nothingBelow;
    if (types.length) {
      const sets = nodes.flatMap((node) => node.selectionSet ?? []);
      for (const type of types) below.set(type.name, planType(type, sets));
    }
    const args = argumentsOf(field, nodes[0]!);
    varies ||= sizeVaries(rule, nodes[0]!);
    const mode = modeOf(parent, rule, below, args);
    const plan: FieldPlan = {
      parent: parent.name,
      field,
      rule,
      nodes,
      mode,
      below,
      only: below.size === 1 ? below.values().next().value : undefined,
      names: mode === 'value' || mode === 'none' ? undefined : projection(below, rule),
      mayLack: mode === 'hand' ? mayLack(rule, below) : noNames,
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
    below: ReadonlyMap<string, Below>,
    args: (variables: Variables) => object,
  ): Mode {
    if (rule.viewerOnly && !viewer.isLoggedIn) return 'none';
    if (!rule.ask) return 'value';
    if (rule.hand && handSuffices(parent, rule, below, args)) return 'hand';
    const isRoot = parent === schema.getQueryType();
    const isRecord = isRoot && [...below.values()].some((each) => each.rule.record?.endpoint === rule.ask);
    return isRecord ? 'read' : 'ask';
  }

  /** Whether what the parent's record carries answers all that is selected. */
  function handSuffices(
    parent: GraphQLObjectType,
    rule: FieldRule,
    below: ReadonlyMap<string, Below>,
    args: (variables: Variables) => object,
  ): boolean {
    const { hand } = rule;
    if (!hand || !argumentsAllowHand(rule, args, variables)) return false;
    const tiers = typeRule(parent).record?.tiers?.[hand.name];
    if (tiers && viewer.filmTier && !tiers.includes(viewer.filmTier)) return false;
    for (const each of below.values()) {
      if (each.rule.wraps && each.selected.has('totalCount')) return false;
    }
    const carried = hand.form.names;
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
      if (!fragment || !applies(schema, fragment.typeCondition?.name.value, type)) continue;
      if (isSpread && !isPart) seen.add(selection.name.value);
      const part = isPart ? new Map<string, FieldNode[]>() : groups;
      collect(type, fragment.selectionSet.selections, part, later, seen);
      if (isPart) later.push(part);
    }
  }
}

/** Fields of one object by their response key, the nodes of each that are answered together. */
type FieldGroups = Map<string, FieldNode[]>;

const namesOf = (fields: readonly FieldPlan[]): readonly string[] =>
  [...new Set(fields.flatMap(({ needs }) => needs))].sort();

/** Whether a variable decides what a field costs: how much of a list is asked for, or which endpoint is. */
function sizeVaries({ ask, first, counts }: FieldRule, node: FieldNode): boolean {
  if (typeof ask === 'function' || counts) return hasVariables(node);
  return (
    first !== undefined && !!node.arguments?.some(({ name, value }) => name.value === 'first' && hasVariable(value))
  );
}

/** The name of the field in the answer. */
export const keyOf = ({ nodes }: FieldPlan): string => nodes[0]!.alias?.value ?? nodes[0]!.name.value;

/** What each concrete item of an answer is wanted with, seen through the types that wrap it. */
function itemsOf(below: ReadonlyMap<string, Below>): Below[] {
  return [...below.values()].flatMap((each) =>
    each.rule.wraps
      ? [each, ...each.later].flatMap(({ fields }) => fields.flatMap(({ below }) => itemsOf(below)))
      : [each],
  );
}

function mayLack({ hand }: FieldRule, below: ReadonlyMap<string, Below>): readonly string[] {
  if (!hand?.mayLack) return noNames;
  return hand.mayLack.filter((name) => itemsOf(below).some(({ names }) => names.includes(name)));
}

/** The `fields` of an ask. */
function projection(below: ReadonlyMap<string, Below>, { hand }: FieldRule): readonly string[] | undefined {
  const items = itemsOf(below);
  if (below.size === 0) return hand && [hand.name, 'id'].sort(); // a leaf: the member that holds it
  if (items.length === 0) return ['id']; // nothing of the items is selected
  const names = new Set<string>();
  for (const { type, rule, names: wanted, refused } of items) {
    if ('id' in type.getFields()) names.add('id');
    for (const name of wanted)
      if (!refused.has(name) && (rule.record?.members?.includes(name) ?? true)) names.add(name);
  }
  const whole = items[0]!.rule.record?.members?.length;
  if (names.size === 0) names.add('id'); // no member at all would be no word to send
  return whole && names.size > whole * WHOLE_RECORD_SHARE ? undefined : [...names].sort();
}

function needsOf(rule: FieldRule, mode: Mode, below: ReadonlyMap<string, Below>): readonly string[] {
  if (mode === 'none') return noNames;
  if (mode === 'hand') return [...(rule.from ?? noNames), rule.hand!.name];
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
