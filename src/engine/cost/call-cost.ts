/**
 * The worst case of an operation, computed from its plan before it runs: upstream calls, and the objects and values of its response.
 *
 * The most calls are counted as if nothing were cached and no two calls were equal, the likely ones as if equal calls were made once.
 * Responses are limited too, because a response whose values are all at hand is built in one go.
 */
import { type Endpoint, type Representation, wholeRepresentation } from '../../api/endpoint.ts';
import { FIRST_MAX, type PagingArgs } from '../values/paging.ts';
import { argumentsIfValid } from '../plan/arguments.ts';
import { endpointOf, partsOfId } from '../plan/read-declarations.ts';
import type { Variables } from '../plan/document.ts';
import type { TypeRule } from '../plan/declaration-types.ts';
import { type CostNode, type CostTree, createCostTree, nodeAt } from './cost-tree.ts';
import { type CallCount, addCall, addLoad, coordinateOf, isCertain, newCount, nothingProvided } from './count.ts';
import {
  LIST_SIZE,
  type Frame,
  backOf,
  capped,
  isShownBelow,
  pagingArgsOf,
  pathTo,
  readsOf,
  rootFrame,
  sourceOf,
  timesAs,
} from './frame.ts';
import { variantIn } from '../plan/variants.ts';
import { type WorstCase, addAmount, ownCalls } from './worst-case.ts';
import { type OperationPlan, type PlannedField, type SelectionPlan, isIntrospection } from '../plan/operation-plan.ts';

/** What the response to a write tells of a record that it does not contain. */
const idAlone: Representation = { members: ['id'] };

/** By plan; by the variables where they decide how much is requested. */
const counted = new WeakMap<OperationPlan | Variables, { plan: OperationPlan; worst: WorstCase }>();

/** The worst case of a plan; computed once, or once for each set of variables. */
export function worstCaseOf(plan: OperationPlan, variables: Variables): WorstCase {
  const key = plan.varies ? variables : plan;
  const known = counted.get(key);
  if (known?.plan === plan) return known.worst;
  const worst = count(plan, variables);
  counted.set(key, { plan, worst });
  return worst;
}

/** The calls of a plan as a tree, for those who change the operation. */
export function costTreeOf(plan: OperationPlan, variables: Variables): CostNode {
  const tree = createCostTree();
  count(plan, variables, tree);
  return nodeAt(tree, '');
}

function count(plan: OperationPlan, variables: Variables, tree?: CostTree): WorstCase {
  const total = newCount(variables, tree);
  const root = plan.root.type.name;
  addAmount(total.values, plan.introspected, '__schema', `${root}.__schema`);
  countSelection(total, plan.root, rootFrame, root);
  const { calls, costs, items, values } = total;
  return { calls: { ...calls, fields: [...costs.values()] }, items, values };
}

function countSelection(total: CallCount, selection: SelectionPlan, frame: Frame, coordinate: string): void {
  const parts = [selection, ...selection.deferred];
  if (total.tree) {
    const node = nodeAt(total.tree, frame.path);
    // What is deferred needs a load of its own if nothing before it brings its members.
    const mayCostMore = parts.length > 1 || frame.listing?.isEmbeddable;
    node.selected = mayCostMore ? 0 : Math.min(node.selected, selection.fields.length);
  }
  for (const { fields, outputFields } of parts) {
    addAmount(total.values, frame.times * outputFields.length, frame.path, coordinate);
    for (const field of fields) {
      const source = selection.rule.isWrapper ? frame.source : sourceOf(frame.source, field, total.variables);
      countField(total, field, { ...frame, path: pathTo(frame.path, field), source }, selection.rule);
    }
  }
}

function countField(total: CallCount, field: PlannedField, frame: Frame, parent: TypeRule): void {
  const { rule, mode } = field;
  const { provided, sent } = frame;
  if (mode === 'null' || isIntrospection(field)) return;
  if (rule.writeEndpoint) {
    countWrite(total, field, frame, rule.writeEndpoint);
    const sent = rule.writeEndpoint.key.length > 0 ? wholeRepresentation : idAlone;
    return countObjects(total, field, { ...frame, provided: undefined, sent, usual: 1 }, 1);
  }
  const args = pagingArgsOf(field, total.variables);
  if (rule.globalIds) return countNamed(total, field, rule.globalIds(args), frame);
  if (isCountedVariant(total, field, frame)) return;
  // Only connections and edges lead to the items of the list.
  const records = frame.back.find(({ name }) => name === field.field.name);
  if (records?.times === 0) return;
  const likely = records?.isRare ? 0 : frame.likely;
  const here = parent.isWrapper ? { ...frame, likely } : { ...frame, listing: undefined, back: [], records };
  if (mode === 'call' || mode === 'lookup') return countCall(total, field, args, here);
  if (mode === 'embedded') {
    // If the tier may not load the record, its list is called instead.
    const mayBeRefused = frame.possibleTiers.some((tier) => parent.record?.endpoint.tiers.includes(tier) === false);
    if (mayBeRefused || field.mayOmit.length > 0)
      addCall(total, field, { ...frame, likely: 0 }, endpointOf(rule, args));
    const { upTo = LIST_SIZE, representation } = rule.embedded!;
    const held = Math.min(args.first ?? rule.pageSize ?? LIST_SIZE, upTo);
    if (total.tree && rule.pageSize !== undefined)
      nodeAt(total.tree, frame.path).page = { size: held, usual: held, least: 1 };
    const items = { ...here, back: backOf(rule, frame), provided: representation, sent: representation, usual: held };
    return countObjects(total, field, items, held);
  }
  if (rule.readsAsNobody) countAsNobody(total, field, frame);
  if (rule.maxCalls) {
    const runs = timesAs({ ...frame, source: frame.path }, Number(rule.maxCalls)); // equal ones run too
    addCall(total, field, runs, ownCalls(coordinateOf(field)));
  }
  // A resolver of a program is assumed to return whole records.
  const returned = rule.maxCalls === undefined ? rule.representation : undefined;
  const whole = rule.isNamed ? undefined : (returned ?? wholeRepresentation);
  const own = {
    provided: rule.mayBeReference ? undefined : (provided ?? rule.representation),
    sent: rule.mayBeReference ? whole : (sent ?? whole),
  };
  const size = rule.assumedSize ?? frame.size;
  countObjects(total, field, { ...here, ...own, usual: rule.usualSize ?? rule.assumedSize ?? frame.usual }, size);
}

/** A mutation: what it reads to keep it, and its writes. */
function countWrite(total: CallCount, field: PlannedField, frame: Frame, endpoint: Endpoint): void {
  const { maxCalls = 1, readsBefore } = field.rule;
  const args = argumentsIfValid(field.args, total.variables);
  // A creation reads only if what it creates is there already.
  const isCreation = endpoint.method === 'POST' && readsBefore !== undefined;
  const first = { ...frame, likely: isCreation ? 0 : frame.likely };
  for (const read of readsBefore?.(args) ?? []) addCall(total, field, first, read);
  const times = typeof maxCalls === 'number' ? maxCalls : maxCalls(args);
  // More than one is for what goes wrong, unless the arguments say how many.
  const likely = isCreation || typeof maxCalls === 'number' ? frame.likely : capped(frame.likely * times);
  addCall(total, field, { ...timesAs(frame, times), likely }, endpoint);
}

/** A variant of an item costs one call of its list, whatever the number of items. */
function isCountedVariant(total: CallCount, field: PlannedField, frame: Frame): boolean {
  const { rule, args } = field;
  const { listing } = frame;
  if (!listing || !rule.variant || rule.variant.param !== listing.param) return false;
  const variant = variantIn(rule, args, total.variables);
  if (!listing.variants.has(variant)) {
    const { times, likely } = listing;
    addCall(total, field, { ...frame, times, likely }, listing.endpoint, total.tree?.get(''));
  }
  listing.variants.add(variant);
  return true;
}

/** The list tells of several records; one is read by itself. */
function countAsNobody(total: CallCount, field: PlannedField, frame: Frame): void {
  const { record, list } = field.rule.readsAsNobody!;
  const { times, likely } = frame.listing ?? { times: 1, likely: frame.times > 1 ? Math.min(1, frame.likely) : 0 };
  addCall(total, field, { ...frame, times, likely }, list, total.tree?.get(''));
  addCall(total, field, { ...frame, likely: likely > 0 ? 0 : frame.likely }, record);
}

/** `node` and `nodes`: as many records of each type as the arguments name. */
function countNamed(total: CallCount, field: PlannedField, ids: readonly string[], frame: Frame): void {
  for (const selection of field.selections.values()) {
    const count = ids.filter((id) => partsOfId(id)?.type === selection.type.name).length;
    const named = timesAs(frame, count);
    if (field.isList) addAmount(total.items, named.times, frame.path, coordinateOf(field));
    const provided = selection.rule.isReference ? undefined : nothingProvided;
    if (count > 0) countObject(total, field, selection, { ...named, size: 1, usual: 1, provided, sent: provided });
  }
}

function countCall(total: CallCount, field: PlannedField, args: PagingArgs, frame: Frame): void {
  const { rule, mode, variants } = field;
  const { times, likely, possibleTiers } = frame;
  const endpoint = endpointOf(rule, args);
  // What stands beside its parent in a list is usually there.
  // Not in the tree: what shows a record may be left out.
  const isShown = rule.atHand !== undefined || (mode === 'lookup' && !total.tree && isShownBelow(field.onlySelection!));
  const reads = { ...frame, times: capped(times * readsOf(rule, args)), likely: isShown ? 0 : likely };
  addCall(total, field, reads, endpoint);
  const most = rule.pageSize === undefined ? (rule.assumedSize ?? LIST_SIZE) : FIRST_MAX;
  const size = Math.min(args.last ?? args.first ?? rule.pageSize ?? most, most);
  const usual = Math.min(size, rule.usualSize ?? size);
  if (total.tree && rule.pageSize !== undefined && args.last == null) {
    const { embedded } = rule;
    nodeAt(total.tree, frame.path).page = { size, usual, least: embedded ? (embedded.upTo ?? LIST_SIZE) + 1 : 1 };
  }
  const representation = rule.representation ?? wholeRepresentation;
  const below = {
    ...frame,
    possibleTiers: mode === 'call' ? possibleTiers.filter((tier) => endpoint.tiers.includes(tier)) : possibleTiers,
    back: backOf(rule, frame),
    records: undefined,
    listing: {
      param: variants?.param,
      variants: new Set([undefined, variants?.main]),
      times,
      likely,
      endpoint,
      isEmbeddable: rule.embedded !== undefined,
    },
    provided: representation,
    sent: representation,
    usual,
  };
  countObjects(total, field, below, size);
}

/** The objects that a field returns: `size` of them, if it returns a list. */
function countObjects(total: CallCount, field: PlannedField, frame: Frame, size: number): void {
  const { isList } = field;
  const usual = Math.min(size, frame.usual);
  if (total.tree && isList) nodeAt(total.tree, frame.path).isList = true;
  const objects = isList ? { ...timesAs(frame, size), likely: capped(frame.likely * usual) } : frame;
  if (isList && field.selections.size > 0) addAmount(total.items, objects.times, frame.path, coordinateOf(field));
  for (const selection of field.selections.values()) countObject(total, field, selection, { ...objects, size, usual });
}

/** The loads of one type that a field returns, and everything below it. */
function countObject(total: CallCount, field: PlannedField, selection: SelectionPlan, at: Frame): void {
  const { record, isWrapper } = selection.rule;
  const { provided, sent, records } = at;
  if (record) {
    const times = records ? Math.min(records.times, at.times) : at.times;
    const isNamed = provided === nothingProvided;
    // The members of a parent that is returned again are loaded with the parent.
    const likely = records || (isNamed && !total.tree && isShownBelow(selection)) ? 0 : at.likely;
    const frame = { ...at, times, likely };
    const isSelected = (member: string) => selection.initialMembers.includes(member);
    const isKnown = (member: string) => isCertain(provided, member) || !isSelected(member);
    const isSent = (member: string) => isCertain(sent, member) || !isSelected(member);
    let isRequested = field.mode === 'lookup' || addLoad(total, selection, frame, isKnown, isSent);
    // At most: deferred members may already be in the first load.
    for (const part of selection.deferred) {
      const isInitial = (member: string) => (member === 'id' && !isNamed) || isSelected(member);
      const isSentInitially = (member: string) =>
        isInitial(member) || (field.mode !== 'lookup' && isCertain(sent, member));
      isRequested =
        addLoad(total, part, { ...frame, source: `${frame.source} later` }, isInitial, isSentInitially) || isRequested;
    }
    // A record that the client named is looked up, whatever is selected of it.
    if (isNamed && !isRequested) addCall(total, field, frame, record.endpoint);
  }
  // A connection or edge passes on the size of the page and what its items provide.
  const below = isWrapper
    ? at
    : {
        ...at,
        size: LIST_SIZE,
        usual: LIST_SIZE,
        provided: undefined,
        sent: field.rule.writeEndpoint && sent,
        records: undefined,
      };
  countSelection(total, selection, below, coordinateOf(field));
}
