/**
 * The worst case of an operation, computed from its plan before it runs: upstream calls, and the objects and values of its response.
 *
 * Calls are counted as if nothing were cached and no two calls were equal. Responses are limited too, because a response whose values are
 * all at hand is built in one go.
 *
 * An example, explained in docs/architecture.md. Each count is multiplied by that of the field above it:
 *
 *     top250(first: 20) {               1 call: a page of 20 films
 *       nodes {                         20 items
 *         title
 *         directors {                   20 calls: the chart has none of them; 20 x 4 = 80 items, the most that a film may have
 *           name
 *           works(first: 5) {           80 calls
 *             nodes {                   80 x 5 = 400 items
 *               subject { title } } } } } }
 *
 * Together at most 101 calls, 500 items and 1082 values.
 */
import { getNullableType, isListType } from 'graphql';
import { type Endpoint, type Representation, isProvided, wholeRepresentation } from '../../api/endpoint.ts';
import { isUpstreamMember } from '../../api/record-source.ts';
import { FIRST_MAX, type PagingArgs, goesBackward } from '../values/paging.ts';
import { argumentsIfValid } from '../plan/arguments.ts';
import { endpointOf, partsOfId, timeOrderOf } from '../plan/read-declarations.ts';
import type { Variables } from '../plan/document.ts';
import type { FieldRule, TypeRule } from '../plan/declaration-types.ts';
import { LIST_SIZE, type Place, backOf, rootPlace } from './place.ts';
import { variantIn } from '../plan/variants.ts';
import {
  type OperationPlan,
  type PlannedField,
  type SelectionPlan,
  isIntrospection,
  responseKeyOf,
} from '../plan/operation-plan.ts';

/** Upstream calls: at least, if every record exists, and at most. */
export interface CallRange {
  min: number;
  max: number;
}
export interface FieldCost extends CallRange {
  /** Response keys from the root, without list indexes. */
  path: string;
  /** `Type.field` */
  coordinate: string;
  /** `GET /v2/book/:id/tags` */
  endpoint: string;
}
export interface CallCost extends CallRange {
  services: Record<Endpoint['service'], CallRange>;
  fields: FieldCost[];
}

/** The most that a response may contain, and the field that contributes most. Shown by `x-explain: plan`, so its names are public. */
export interface Maximum {
  max: number;
  dearest: { path: string; coordinate: string; max: number };
}

export interface WorstCase {
  calls: CallCost;
  /** Objects in lists. */
  items: Maximum;
  /** Fields of all objects, each as often as it is shown. */
  values: Maximum;
}

/** The representation of a record that a client named: nothing is known, not even that its id exists. */
const nothingProvided: Representation = { members: [] };

/** Nested pages multiply to numbers that JSON cannot hold, so counts end here. */
const capped = (count: number): number => Math.min(count, Number.MAX_SAFE_INTEGER);

const counted = new WeakMap<OperationPlan, WorstCase>();
/** The last worst case that was counted with these variables: for plans of which a variable decides how much is requested. */
const countedWith = new WeakMap<Variables, { plan: OperationPlan; worst: WorstCase }>();

/** The worst case of a plan; computed once, or once for each set of variables. */
export function worstCaseOf(plan: OperationPlan, variables: Variables): WorstCase {
  if (plan.varies) {
    const known = countedWith.get(variables);
    if (known?.plan === plan) return known.worst;
    const worst = count(plan, variables);
    countedWith.set(variables, { plan, worst });
    return worst;
  }
  let worst = counted.get(plan);
  if (!worst) counted.set(plan, (worst = count(plan, variables)));
  return worst;
}

/** The state of one count. */
interface Count extends Omit<WorstCase, 'calls'> {
  readonly variables: Variables;
  readonly calls: CallRange & Pick<CallCost, 'services'>;
  readonly costs: Map<string, FieldCost>;
}

function count(plan: OperationPlan, variables: Variables): WorstCase {
  const services = { catalog: { min: 0, max: 0 }, events: { min: 0, max: 0 } };
  const calls = { min: 0, max: 0, services };
  const total: Count = { variables, costs: new Map(), calls, items: nothing(), values: nothing() };
  const root = plan.root.type.name;
  addAmount(total.values, plan.introspected, '__schema', `${root}.__schema`);
  countSelection(total, plan.root, rootPlace, root);
  const { costs, items, values } = total;
  return { calls: { ...calls, fields: [...costs.values()] }, items, values };
}

const nothing = (): Maximum => ({ max: 0, dearest: { path: '', coordinate: 'Query', max: 0 } });

function countSelection(total: Count, selection: SelectionPlan, place: Place, coordinate: string): void {
  for (const { fields, outputFields } of [selection, ...selection.deferred]) {
    addAmount(total.values, place.times * outputFields.length, place.path, coordinate);
    for (const field of fields) countField(total, field, { ...place, path: pathTo(place.path, field) }, selection.rule);
  }
}

function countField(total: Count, field: PlannedField, place: Place, parent: TypeRule): void {
  const { rule, mode } = field;
  const { times, provided } = place;
  if (mode === 'null' || isIntrospection(field)) return;
  if (rule.writeEndpoint) {
    countWrite(total, field, place, rule.writeEndpoint);
    return countObjects(total, field, place, 1, undefined);
  }
  const args = pagingArgsOf(field, total.variables);
  if (rule.globalIds) return countNamed(total, field, rule.globalIds(args), place);
  if (isCountedVariant(total, field, place)) return;
  // Only connections and edges lead to the items of the list.
  const records = place.back.find(({ name }) => name === field.field.name)?.times;
  if (records === 0) return;
  const here = parent.isWrapper ? place : { ...place, listing: undefined, back: [], records };
  if (mode === 'call' || mode === 'lookup') return countCall(total, field, args, here);
  if (mode === 'embedded') {
    // If the tier may not load the record, its list is called instead.
    const mayBeRefused = place.possibleTiers.some((tier) => parent.record?.endpoint.tiers.includes(tier) === false);
    if (mayBeRefused || field.mayOmit.length > 0) addCall(total, field, place, endpointOf(rule, args));
    const { upTo = LIST_SIZE, representation } = rule.embedded!;
    const held = Math.min(args.first ?? rule.pageSize ?? LIST_SIZE, upTo);
    return countObjects(total, field, { ...here, back: backOf(rule, times) }, held, representation);
  }
  for (const read of rule.readsAsNobody ?? []) addCall(total, field, place, read);
  const representation = rule.mayBeReference ? undefined : (provided ?? rule.representation);
  countObjects(total, field, here, rule.assumedSize ?? place.size, representation);
}

/** A mutation: what it reads to keep it, and its writes. */
function countWrite(total: Count, field: PlannedField, place: Place, endpoint: Endpoint): void {
  const { maxCalls = 1, readsBefore } = field.rule;
  const args = argumentsIfValid(field.args, total.variables);
  for (const read of readsBefore?.(args) ?? []) addCall(total, field, place, read);
  const times = typeof maxCalls === 'number' ? maxCalls : maxCalls(args);
  addCall(total, field, { ...place, times: capped(place.times * times) }, endpoint);
}

/** A variant of an item costs one call of its list, whatever the number of items. */
function isCountedVariant(total: Count, field: PlannedField, place: Place): boolean {
  const { rule, args } = field;
  const { listing } = place;
  if (!listing || rule.variant?.param !== listing.param) return false;
  const variant = variantIn(rule, args, total.variables);
  if (!listing.variants.has(variant)) addCall(total, field, { ...place, times: listing.times }, listing.endpoint);
  listing.variants.add(variant);
  return true;
}

/** `node` and `nodes`: as many records of each type as the arguments name. */
function countNamed(total: Count, field: PlannedField, ids: readonly string[], place: Place): void {
  for (const selection of field.selections.values()) {
    const count = ids.filter((id) => partsOfId(id)?.type === selection.type.name).length;
    const times = capped(place.times * count);
    if (returnsList(field)) addAmount(total.items, times, place.path, coordinateOf(field));
    const provided = selection.rule.isReference ? undefined : nothingProvided;
    if (times > 0) countObject(total, field, selection, { ...place, times, size: 1, provided });
  }
}

function countCall(total: Count, field: PlannedField, args: PagingArgs, place: Place): void {
  const { rule, mode, variants } = field;
  const { times, possibleTiers } = place;
  const endpoint = endpointOf(rule, args);
  addCall(total, field, { ...place, times: capped(times * readsOf(rule, args)) }, endpoint);
  const most = rule.pageSize === undefined ? (rule.assumedSize ?? LIST_SIZE) : FIRST_MAX;
  const size = Math.min(args.last ?? args.first ?? rule.pageSize ?? most, most);
  const below = {
    ...place,
    possibleTiers: mode === 'call' ? possibleTiers.filter((tier) => endpoint.tiers.includes(tier)) : possibleTiers,
    back: backOf(rule, times),
    records: undefined,
    listing: variants && { param: variants.param, variants: new Set([undefined, variants.main]), times, endpoint },
  };
  countObjects(total, field, below, size, rule.representation ?? wholeRepresentation);
}

/** How often a page is read at most: again if its list has changed, or if a page that goes backward is elsewhere. */
function readsOf(rule: FieldRule, args: PagingArgs): number {
  const isMoved = (args.after ?? args.since) != null && timeOrderOf(rule, args) !== undefined;
  return isMoved || goesBackward(args) ? 2 : 1;
}

/** The objects that a field returns: `size` of them, if it returns a list. */
function countObjects(
  total: Count,
  field: PlannedField,
  place: Place,
  size: number,
  provided: Representation | undefined,
): void {
  const isList = returnsList(field);
  const times = isList ? capped(place.times * size) : place.times;
  if (isList && field.selections.size > 0) addAmount(total.items, times, place.path, coordinateOf(field));
  for (const selection of field.selections.values())
    countObject(total, field, selection, { ...place, times, size, provided });
}

/** The loads of one type that a field returns, and everything below it. */
function countObject(total: Count, field: PlannedField, selection: SelectionPlan, at: Place): void {
  const { record, isWrapper } = selection.rule;
  const { provided, records } = at;
  if (record) {
    const place = records === undefined ? at : { ...at, times: Math.min(records, at.times) };
    const isKnown = (member: string) => isCertain(provided, member) || !selection.initialMembers.includes(member);
    let isRequested = field.mode === 'lookup' || addLoad(total, selection, place, isKnown);
    // At most: deferred members may already be in the first load.
    for (const part of selection.deferred) {
      const isInitial = (member: string) =>
        (member === 'id' && provided !== nothingProvided) || selection.initialMembers.includes(member);
      isRequested = addLoad(total, part, place, isInitial) || isRequested;
    }
    // A record that the client named is looked up, whatever is selected of it.
    if (provided === nothingProvided && !isRequested) addCall(total, field, place, record.endpoint);
  }
  // A connection or edge passes on the size of the page and what its items provide.
  const below = isWrapper ? at : { ...at, size: LIST_SIZE, provided: undefined, records: undefined };
  countSelection(total, selection, below, coordinateOf(field));
}

/** Adds one call for all missing members, at the first field that needs one of them. */
function addLoad(
  total: Count,
  { members, tierRefused, rule, fields }: SelectionPlan,
  place: Place,
  isKnown: (member: string) => boolean,
): boolean {
  const record = rule.record!;
  const missing = members.filter(
    (member) => !isKnown(member) && !tierRefused.has(member) && isUpstreamMember(record, member),
  );
  const field = fields.find(({ needs }) => needs.some((member) => missing.includes(member)));
  if (field) addCall(total, field, { ...place, path: pathTo(place.path, field) }, record.endpoint);
  return field !== undefined;
}

function addCall({ calls, costs }: Count, field: PlannedField, { path, times }: Place, called: Endpoint): void {
  const endpoint = `${called.method} ${called.path}`;
  const key = `${path} ${endpoint}`;
  const cost = costs.get(key) ?? { path, coordinate: coordinateOf(field), endpoint, min: 0, max: 0 };
  costs.set(key, cost);
  for (const each of [calls, calls.services[called.service], cost]) each.max = capped(each.max + times);
}

function addAmount(amount: Maximum, times: number, path: string, coordinate: string): void {
  const max = capped(times);
  amount.max = capped(amount.max + max);
  if (max > amount.dearest.max) amount.dearest = { path, coordinate, max };
}

const returnsList = ({ field }: PlannedField): boolean => isListType(getNullableType(field.type));
const coordinateOf = ({ parent, field }: PlannedField): string => `${parent}.${field.name}`;
const pathTo = (path: string, field: PlannedField): string =>
  path ? `${path}.${responseKeyOf(field)}` : responseKeyOf(field);

function pagingArgsOf(field: PlannedField, variables: Variables): PagingArgs {
  const args = argumentsIfValid<PagingArgs>(field.args, variables) ?? {};
  if (typeof args.first !== 'number' && typeof args.last !== 'number') return args;
  // A wrong page size is an error when the field runs; here it must not reduce the cost of other fields.
  return { ...args, first: asSize(args.first), last: asSize(args.last) };
}

const asSize = (size: number | null | undefined): number | null =>
  size == null ? null : Math.min(Math.max(size, 0), FIRST_MAX);

/** Without a representation only the id is certain, and with one, unless the client named the record. */
const isCertain = (provided: Representation | undefined, member: string): boolean =>
  (member === 'id' && provided !== nothingProvided) || (provided !== undefined && isProvided(provided, member));
