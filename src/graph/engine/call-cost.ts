/**
 * What a document may cost, said before it runs: the same walk as the plan's, counting.
 *
 * Upstream calls first: the most is counted as if nothing were cached and no two fields asked alike; the least is what no cache and no
 * earlier refusal can spare this caller now. Then what the answer may hold, for all of it is made in one go where nothing is awaited.
 */
import { getNullableType, isListType } from 'graphql';
import {
  type Endpoint,
  type Representation,
  type Tier,
  isProvided,
  tiers,
  wholeRepresentation,
} from '../../api/endpoint.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';
import type { Context } from './builder.ts';
import { FIRST_MAX, type PagingArgs, listIdOf, windowInput, windowOf } from '../types/connection.ts';
import { endpointOf } from './declarations.ts';
import { namesLoadedFirst, namesOrId, namesToRequest } from './lookup.ts';
import type { Variables } from './document.ts';
import { type SelectionPlan, type PlannedField, type OperationPlan, responseKeyOf } from './operation-plan.ts';

/** Upstream calls: at least and at most. */
export interface CallRange {
  min: number;
  max: number;
}
export interface FieldCost extends CallRange {
  /** Response keys from the root, lists passed over. */
  path: string;
  /** `Type.field` */
  coordinate: string;
  /** What is called: `GET /v2/book/:id/annotations`. */
  endpoint: string;
}
export interface CallCost extends CallRange {
  services: Record<Endpoint['service'], CallRange>;
  fields: FieldCost[];
}

/** What an answer may hold at most, and the field that adds most to it. */
export interface Maximum {
  max: number;
  mostExpensive: { path: string; coordinate: string; max: number };
}

/** The worst case of an operation. */
export interface WorstCase {
  calls: CallCost;
  /** Objects in lists. */
  items: Maximum;
  /** Fields of all objects, as often as they are shown. */
  values: Maximum;
}

/** Nothing is there: not even its id shows that there is a record which a client has named. */
const noForm: Representation = { names: [] };

/** Items of a list that neither an argument nor its field limits. */
const LIST_SIZE = 20;

/** Pages inside pages soon pass all that a number tells apart, and then what JSON can say: they are counted as far as this. */
const capped = (calls: number): number => Math.min(calls, Number.MAX_SAFE_INTEGER);

const fixed = new WeakMap<OperationPlan, WorstCase>();

/** The worst case, by field; counted once for a plan that no variable sizes. */
export function worstCaseOf(plan: OperationPlan, variables: Variables): WorstCase {
  let most = fixed.get(plan);
  if (!most) {
    most = count(plan, variables);
    if (!plan.varies) fixed.set(plan, most);
  }
  return most;
}

const nothing = (): Maximum => ({ max: 0, mostExpensive: { path: '', coordinate: 'Query', max: 0 } });

function count(plan: OperationPlan, variables: Variables): WorstCase {
  const cost: CallCost = {
    min: 0,
    max: 0,
    services: { catalog: { min: 0, max: 0 }, event: { min: 0, max: 0 } },
    fields: [],
  };
  const places = new Map<string, FieldCost>();
  const [items, values] = [nothing(), nothing()];
  let possibleTiers: readonly Tier[] = tiers;
  const root = plan.root.type.name;
  shows(values, plan.introspected, '__schema', `${root}.__schema`);
  inside(plan.root, 1, '', root);
  return { calls: cost, items, values };

  function inside(
    below: SelectionPlan,
    times: number,
    path: string,
    of: string,
    size = LIST_SIZE,
    form?: Representation,
  ): void {
    for (const { fields, outputFields } of [below, ...below.deferred]) {
      shows(values, times * outputFields.length, path, of);
      for (const field of fields) visit(field, times, under(path, field), size, form, below.rule.record);
    }
  }

  function visit(
    field: PlannedField,
    times: number,
    path: string,
    size: number,
    within: Representation | undefined,
    parent: RecordSource | undefined,
  ): void {
    const { rule, mode } = field;
    if (mode === 'null') return;
    const args = argsIn(field, variables);
    const isList = isListType(getNullableType(field.field.type));
    if (rule.writeEndpoint) {
      add(field, path, capped(times * (rule.maxCalls ?? 1)), rule.writeEndpoint);
      return arrive(field, times, path, 1, undefined);
    }
    if (rule.recordCounts) {
      const counts = rule.recordCounts(args);
      for (const below of field.selections.values()) {
        const named = capped(times * (counts.get(below.type.name) ?? 0));
        if (isList) shows(items, named, path, coordinateOf(field));
        if (named > 0) arriveAs(field, below, named, path, 1, below.rule.isReference ? undefined : noForm);
      }
      return;
    }
    if (mode === 'call' || mode === 'lookup') {
      add(field, path, times, endpointOf(rule, args));
      const most = rule.pageSize === undefined ? (rule.assumedSize ?? LIST_SIZE) : FIRST_MAX;
      const listed = Math.min(args.first ?? rule.pageSize ?? most, most);
      const before = possibleTiers;
      // What is below a call is there only where the call was answered: for a tier that has it.
      if (mode === 'call') possibleTiers = before.filter((tier) => endpointOf(rule, args).tiers.includes(tier));
      arrive(field, isList ? capped(times * listed) : times, path, listed, rule.representation ?? wholeRepresentation);
      possibleTiers = before;
      return;
    }
    if (mode === 'embedded') {
      // Where the record is refused to the tier, the list beside it is called.
      const mayBeRefused = possibleTiers.some((tier) => parent?.endpoint.tiers.includes(tier) === false);
      if (mayBeRefused || field.mayOmit.length > 0) add(field, path, times, endpointOf(rule, args));
      const held = Math.min(args.first ?? rule.pageSize ?? LIST_SIZE, rule.embedded!.upTo ?? LIST_SIZE);
      return arrive(field, isList ? capped(times * held) : times, path, held, rule.embedded!.representation);
    }
    // Where the id stands beside it, the record itself may not: then it is loaded.
    const form = within ?? (rule.idIn ? undefined : rule.representation);
    arrive(field, isList ? capped(times * (rule.assumedSize ?? size)) : times, path, size, form);
  }

  function arrive(
    field: PlannedField,
    times: number,
    path: string,
    size: number,
    form: Representation | undefined,
  ): void {
    const isList = isListType(getNullableType(field.field.type));
    if (isList && field.selections.size > 0) shows(items, times, path, coordinateOf(field));
    for (const below of field.selections.values()) arriveAs(field, below, times, path, size, form);
  }

  /** The top-ups of what a field gives of one type, and what is below it. */
  function arriveAs(
    field: PlannedField,
    below: SelectionPlan,
    times: number,
    path: string,
    size: number,
    form: Representation | undefined,
  ): void {
    const { record, isWrapper } = below.rule;
    if (record) {
      const isKnown = (name: string) => isThere(form, name) || !below.initialNames.includes(name);
      let isAsked = field.mode === 'lookup' || topUp(below, times, path, record.endpoint, isKnown);
      // At most: what is deferred may be in what the first call loads.
      for (const part of below.deferred) {
        const isFirst = (name: string) => (name === 'id' && form !== noForm) || below.initialNames.includes(name);
        isAsked = topUp(part, times, path, record.endpoint, isFirst) || isAsked;
      }
      // What the caller named is looked up, whatever is selected of it.
      if (form === noForm && !isAsked) add(field, path, times, record.endpoint);
    }
    // What wraps a list holds as many as were asked for, as whole as the list promised.
    if (isWrapper) inside(below, times, path, coordinateOf(field), size, form);
    else inside(below, times, path, coordinateOf(field));
  }

  /** One call for all that is missing; told where the first of it is selected. */
  function topUp(
    of: SelectionPlan,
    times: number,
    path: string,
    endpoint: Endpoint,
    isKnown: (name: string) => boolean,
  ): boolean {
    const missing = of.names.filter((name) => !isKnown(name) && !of.tierRefused.has(name));
    const asker = of.fields.find(({ needs }) => needs.some((name) => missing.includes(name)));
    if (asker) add(asker, under(path, asker), times, endpoint);
    return asker !== undefined;
  }

  function add(field: PlannedField, path: string, times: number, { method, path: template, service }: Endpoint): void {
    cost.max = capped(cost.max + times);
    cost.services[service].max = capped(cost.services[service].max + times);
    const endpoint = `${method} ${template}`;
    const place = `${path} ${endpoint}`;
    const same = places.get(place);
    if (same) {
      same.max = capped(same.max + times);
      return;
    }
    const added = { path, coordinate: coordinateOf(field), endpoint, min: 0, max: times };
    places.set(place, added);
    cost.fields.push(added);
  }

  function shows(amount: Maximum, times: number, path: string, coordinate: string): void {
    const max = capped(times);
    amount.max = capped(amount.max + max);
    if (max > amount.mostExpensive.max) amount.mostExpensive = { path, coordinate, max };
  }
}

/** Its calls, with those that the roots of a query must make, whatever else happens. */
export async function callRangeOf(
  plan: OperationPlan,
  variables: Variables,
  { upstream, viewer }: Context,
): Promise<CallCost> {
  const cost = structuredClone(worstCaseOf(plan, variables).calls);
  const counted = new Set<string>();
  for (const { fields } of [plan.root, ...plan.root.deferred])
    for (const field of fields) await least(field, {}, responseKeyOf(field));
  return cost;

  async function least(field: PlannedField, parent: Record<string, unknown>, path: string): Promise<void> {
    const { rule, mode, selections, names } = field;
    if (rule.writeEndpoint || (mode !== 'call' && mode !== 'lookup')) return;
    let input: object;
    let endpoint: Endpoint;
    try {
      const args = field.args(variables);
      endpoint = endpointOf(rule, args);
      if (rule.isEmpty?.(parent)) return;
      input = rule.input!(parent, args, viewer);
      if (rule.pageSize !== undefined)
        input = {
          ...input,
          ...windowInput(
            endpoint,
            windowOf(args, rule.pageSize, () => listIdOf(endpoint, input)),
          ),
        };
    } catch {
      return; // wrong input costs nothing
    }
    if (mode === 'call') return found(path, endpoint, await upstream.wouldList(endpoint, input, names));

    const handle = input as Record<string, unknown>;
    const one = selections.values().next().value!;
    const { type, rule: typeRule, eagerCalls, readsRecord } = one;
    const children = eagerCalls.filter((child) => child.rule.from?.every((name) => name in handle));
    for (const child of children) await least(child, handle, `${path}.${responseKeyOf(child)}`);
    // What is loaded later is loaded only of a record that is there.
    const asked = namesToRequest(namesLoadedFirst(namesOrId(one), one), one, true);
    const spared =
      children.length > 0 &&
      (!readsRecord || children.some((child) => asked.every((name) => child.rule.provides?.names.includes(name))));
    if (!spared) found(path, endpoint, await upstream.wouldLoad(type.name, typeRule.record!, String(handle.id), asked));
  }

  function found(path: string, { method, path: template, service }: Endpoint, request: string | null): void {
    if (request === null || counted.has(request)) return;
    counted.add(request);
    cost.min++;
    cost.services[service].min++;
    const place = cost.fields.find((each) => each.path === path && each.endpoint === `${method} ${template}`);
    if (place) place.min++;
  }
}

const coordinateOf = ({ parent, field }: PlannedField): string => `${parent}.${field.name}`;
const under = (path: string, field: PlannedField): string =>
  path ? `${path}.${responseKeyOf(field)}` : responseKeyOf(field);

function argsIn(field: PlannedField, variables: Variables): PagingArgs {
  try {
    const args: PagingArgs = field.args(variables);
    // A page of fewer than none, or of more than there may be, is refused when it is asked for; here it must not pay for others.
    return typeof args.first === 'number' ? { ...args, first: Math.min(Math.max(args.first, 0), FIRST_MAX) } : args;
  } catch {
    return {}; // the executor says what is wrong with them
  }
}

/** Of a record that no form was promised for, its id alone is sure to be there. */
const isThere = (form: Representation | undefined, name: string): boolean =>
  form ? isProvided(form, name) : name === 'id';
