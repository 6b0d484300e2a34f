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
  type Place,
  backOf,
  capped,
  isShownBelow,
  pagingArgsOf,
  pathTo,
  readsOf,
  rootPlace,
  sourceOf,
  timesAs,
} from './place.ts';
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
  countSelection(total, plan.root, rootPlace, root);
  const { calls, costs, items, values } = total;
  return { calls: { ...calls, fields: [...costs.values()] }, items, values };
}

function countSelection(total: CallCount, selection: SelectionPlan, place: Place, coordinate: string): void {
  const parts = [selection, ...selection.deferred];
  if (total.tree) {
    const node = nodeAt(total.tree, place.path);
    // What is deferred needs a load of its own if nothing before it brings its members.
    const mayCostMore = parts.length > 1 || place.listing?.isEmbeddable;
    node.selected = mayCostMore ? 0 : Math.min(node.selected, selection.fields.length);
  }
  for (const { fields, outputFields } of parts) {
    addAmount(total.values, place.times * outputFields.length, place.path, coordinate);
    for (const field of fields) {
      const source = selection.rule.isWrapper ? place.source : sourceOf(place.source, field, total.variables);
      countField(total, field, { ...place, path: pathTo(place.path, field), source }, selection.rule);
    }
  }
}

function countField(total: CallCount, field: PlannedField, place: Place, parent: TypeRule): void {
  const { rule, mode } = field;
  const { provided, sent } = place;
  if (mode === 'null' || isIntrospection(field)) return;
  if (rule.writeEndpoint) {
    countWrite(total, field, place, rule.writeEndpoint);
    const sent = rule.writeEndpoint.key.length > 0 ? wholeRepresentation : idAlone;
    return countObjects(total, field, { ...place, provided: undefined, sent, usual: 1 }, 1);
  }
  const args = pagingArgsOf(field, total.variables);
  if (rule.globalIds) return countNamed(total, field, rule.globalIds(args), place);
  if (isCountedVariant(total, field, place)) return;
  // Only connections and edges lead to the items of the list.
  const records = place.back.find(({ name }) => name === field.field.name);
  if (records?.times === 0) return;
  const likely = records?.isRare ? 0 : place.likely;
  const here = parent.isWrapper ? { ...place, likely } : { ...place, listing: undefined, back: [], records };
  if (mode === 'call' || mode === 'lookup') return countCall(total, field, args, here);
  if (mode === 'embedded') {
    // If the tier may not load the record, its list is called instead.
    const mayBeRefused = place.possibleTiers.some((tier) => parent.record?.endpoint.tiers.includes(tier) === false);
    if (mayBeRefused || field.mayOmit.length > 0)
      addCall(total, field, { ...place, likely: 0 }, endpointOf(rule, args));
    const { upTo = LIST_SIZE, representation } = rule.embedded!;
    const held = Math.min(args.first ?? rule.pageSize ?? LIST_SIZE, upTo);
    if (total.tree && rule.pageSize !== undefined)
      nodeAt(total.tree, place.path).page = { size: held, usual: held, least: 1 };
    const items = { ...here, back: backOf(rule, place), provided: representation, sent: representation, usual: held };
    return countObjects(total, field, items, held);
  }
  if (rule.readsAsNobody) countAsNobody(total, field, place);
  if (rule.maxCalls) {
    const runs = timesAs({ ...place, source: place.path }, Number(rule.maxCalls)); // equal ones run too
    addCall(total, field, runs, ownCalls(coordinateOf(field)));
  }
  const whole = rule.isNamed ? undefined : (rule.representation ?? wholeRepresentation);
  const own = {
    provided: rule.mayBeReference ? undefined : (provided ?? rule.representation),
    sent: rule.mayBeReference ? whole : (sent ?? whole),
  };
  const size = rule.assumedSize ?? place.size;
  countObjects(total, field, { ...here, ...own, usual: rule.usualSize ?? rule.assumedSize ?? place.usual }, size);
}

/** A mutation: what it reads to keep it, and its writes. */
function countWrite(total: CallCount, field: PlannedField, place: Place, endpoint: Endpoint): void {
  const { maxCalls = 1, readsBefore } = field.rule;
  const args = argumentsIfValid(field.args, total.variables);
  // A creation reads only if what it creates is there already.
  const isCreation = endpoint.method === 'POST' && readsBefore !== undefined;
  const first = { ...place, likely: isCreation ? 0 : place.likely };
  for (const read of readsBefore?.(args) ?? []) addCall(total, field, first, read);
  const times = typeof maxCalls === 'number' ? maxCalls : maxCalls(args);
  // More than one is for what goes wrong, unless the arguments say how many.
  const likely = isCreation || typeof maxCalls === 'number' ? place.likely : capped(place.likely * times);
  addCall(total, field, { ...timesAs(place, times), likely }, endpoint);
}

/** A variant of an item costs one call of its list, whatever the number of items. */
function isCountedVariant(total: CallCount, field: PlannedField, place: Place): boolean {
  const { rule, args } = field;
  const { listing } = place;
  if (!listing || !rule.variant || rule.variant.param !== listing.param) return false;
  const variant = variantIn(rule, args, total.variables);
  if (!listing.variants.has(variant)) {
    const { times, likely } = listing;
    addCall(total, field, { ...place, times, likely }, listing.endpoint, total.tree?.get(''));
  }
  listing.variants.add(variant);
  return true;
}

/** The list tells of several records; one is read by itself. */
function countAsNobody(total: CallCount, field: PlannedField, place: Place): void {
  const { record, list } = field.rule.readsAsNobody!;
  const { times, likely } = place.listing ?? { times: 1, likely: place.times > 1 ? Math.min(1, place.likely) : 0 };
  addCall(total, field, { ...place, times, likely }, list, total.tree?.get(''));
  addCall(total, field, { ...place, likely: likely > 0 ? 0 : place.likely }, record);
}

/** `node` and `nodes`: as many records of each type as the arguments name. */
function countNamed(total: CallCount, field: PlannedField, ids: readonly string[], place: Place): void {
  for (const selection of field.selections.values()) {
    const count = ids.filter((id) => partsOfId(id)?.type === selection.type.name).length;
    const named = timesAs(place, count);
    if (field.isList) addAmount(total.items, named.times, place.path, coordinateOf(field));
    const provided = selection.rule.isReference ? undefined : nothingProvided;
    if (count > 0) countObject(total, field, selection, { ...named, size: 1, usual: 1, provided, sent: provided });
  }
}

function countCall(total: CallCount, field: PlannedField, args: PagingArgs, place: Place): void {
  const { rule, mode, variants } = field;
  const { times, likely, possibleTiers } = place;
  const endpoint = endpointOf(rule, args);
  // What stands beside its parent in a list is usually there.
  // Not in the tree: what shows a record may be left out.
  const isShown = rule.atHand !== undefined || (mode === 'lookup' && !total.tree && isShownBelow(field.onlySelection!));
  const reads = { ...place, times: capped(times * readsOf(rule, args)), likely: isShown ? 0 : likely };
  addCall(total, field, reads, endpoint);
  const most = rule.pageSize === undefined ? (rule.assumedSize ?? LIST_SIZE) : FIRST_MAX;
  const size = Math.min(args.last ?? args.first ?? rule.pageSize ?? most, most);
  const usual = Math.min(size, rule.usualSize ?? size);
  if (total.tree && rule.pageSize !== undefined && args.last == null) {
    const { embedded } = rule;
    nodeAt(total.tree, place.path).page = { size, usual, least: embedded ? (embedded.upTo ?? LIST_SIZE) + 1 : 1 };
  }
  const representation = rule.representation ?? wholeRepresentation;
  const below = {
    ...place,
    possibleTiers: mode === 'call' ? possibleTiers.filter((tier) => endpoint.tiers.includes(tier)) : possibleTiers,
    back: backOf(rule, place),
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
function countObjects(total: CallCount, field: PlannedField, place: Place, size: number): void {
  const { isList } = field;
  const usual = Math.min(size, place.usual);
  if (total.tree && isList) nodeAt(total.tree, place.path).isList = true;
  const objects = isList ? { ...timesAs(place, size), likely: capped(place.likely * usual) } : place;
  if (isList && field.selections.size > 0) addAmount(total.items, objects.times, place.path, coordinateOf(field));
  for (const selection of field.selections.values()) countObject(total, field, selection, { ...objects, size, usual });
}

/** The loads of one type that a field returns, and everything below it. */
function countObject(total: CallCount, field: PlannedField, selection: SelectionPlan, at: Place): void {
  const { record, isWrapper } = selection.rule;
  const { provided, sent, records } = at;
  if (record) {
    const times = records ? Math.min(records.times, at.times) : at.times;
    const isNamed = provided === nothingProvided;
    // The members of a parent that is returned again are loaded with the parent.
    const likely = records || (isNamed && !total.tree && isShownBelow(selection)) ? 0 : at.likely;
    const place = { ...at, times, likely };
    const isSelected = (member: string) => selection.initialMembers.includes(member);
    const isKnown = (member: string) => isCertain(provided, member) || !isSelected(member);
    const isSent = (member: string) => isCertain(sent, member) || !isSelected(member);
    let isRequested = field.mode === 'lookup' || addLoad(total, selection, place, isKnown, isSent);
    // At most: deferred members may already be in the first load.
    for (const part of selection.deferred) {
      const isInitial = (member: string) => (member === 'id' && !isNamed) || isSelected(member);
      const isSentInitially = (member: string) =>
        isInitial(member) || (field.mode !== 'lookup' && isCertain(sent, member));
      isRequested =
        addLoad(total, part, { ...place, source: `${place.source} later` }, isInitial, isSentInitially) || isRequested;
    }
    // A record that the client named is looked up, whatever is selected of it.
    if (isNamed && !isRequested) addCall(total, field, place, record.endpoint);
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
