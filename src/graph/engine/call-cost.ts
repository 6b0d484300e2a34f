/**
 * What a document may cost, said before it runs: the same walk as the plan's, counting.
 *
 * Upstream calls first: the most is counted as if nothing were cached and no two fields asked alike; the least is what no cache and no
 * earlier refusal can spare this caller now. Then what the answer may hold, for all of it is made in one go where nothing is awaited.
 */
import { getNullableType, isListType } from 'graphql';
import { type Endpoint, type Form, type Tier, isPromised, tiers, wholeForm } from '../../api/endpoint.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';
import type { Context } from './builder.ts';
import { FIRST_MAX, type PagingArgs, listOf, windowInput, windowOf } from '../types/connection.ts';
import { endpointOf } from './declarations.ts';
import { namesLoadedFirst, namesOfNamed, namesToAsk } from './lookup.ts';
import type { Variables } from './document.ts';
import { type Below, type FieldPlan, type Plan, keyOf } from './operation-plan.ts';

/** Upstream calls: at least and at most. */
export interface Range {
  min: number;
  max: number;
}
export interface FieldCost extends Range {
  /** Response keys from the root, lists passed over. */
  path: string;
  /** `Type.field` */
  coordinate: string;
  /** What is called: `GET /v2/book/:id/annotations`. */
  endpoint: string;
}
export interface Cost extends Range {
  services: Record<Endpoint['service'], Range>;
  fields: FieldCost[];
}

/** What an answer may hold at most, and the field that adds most to it. */
export interface Amount {
  max: number;
  dearest: { path: string; coordinate: string; max: number };
}

/** The worst case of an operation. */
export interface Most {
  calls: Cost;
  /** Objects in lists. */
  items: Amount;
  /** Fields of all objects, as often as they are shown. */
  values: Amount;
}

/** Nothing is there: not even its id shows that there is a record which a client has named. */
const noForm: Form = { names: [] };

/** Items of a list that neither an argument nor its field limits. */
const LIST_SIZE = 20;

/** Pages inside pages soon pass all that a number tells apart, and then what JSON can say: they are counted as far as this. */
const capped = (calls: number): number => Math.min(calls, Number.MAX_SAFE_INTEGER);

const fixed = new WeakMap<Plan, Most>();

/** The worst case, by field; counted once for a plan that no variable sizes. */
export function mostOf(plan: Plan, variables: Variables): Most {
  let most = fixed.get(plan);
  if (!most) {
    most = count(plan, variables);
    if (!plan.varies) fixed.set(plan, most);
  }
  return most;
}

const nothing = (): Amount => ({ max: 0, dearest: { path: '', coordinate: 'Query', max: 0 } });

function count(plan: Plan, variables: Variables): Most {
  const cost: Cost = {
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

  function inside(below: Below, times: number, path: string, of: string, size = LIST_SIZE, form?: Form): void {
    for (const { fields, shown } of [below, ...below.later]) {
      shows(values, times * shown.length, path, of);
      for (const field of fields) visit(field, times, under(path, field), size, form, below.rule.record);
    }
  }

  function visit(
    field: FieldPlan,
    times: number,
    path: string,
    size: number,
    within: Form | undefined,
    parent: RecordSource | undefined,
  ): void {
    const { rule, mode } = field;
    if (mode === 'none') return;
    const args = argsIn(field, variables);
    const isList = isListType(getNullableType(field.field.type));
    if (rule.write) {
      add(field, path, capped(times * (rule.calls ?? 1)), rule.write);
      return arrive(field, times, path, 1, undefined);
    }
    if (rule.counts) {
      const counts = rule.counts(args);
      for (const below of field.below.values()) {
        const named = capped(times * (counts.get(below.type.name) ?? 0));
        if (isList) shows(items, named, path, coordinateOf(field));
        if (named > 0) arriveAs(field, below, named, path, 1, below.rule.handle ? undefined : noForm);
      }
      return;
    }
    if (mode === 'ask' || mode === 'read') {
      add(field, path, times, endpointOf(rule, args));
      const most = rule.first === undefined ? (rule.size ?? LIST_SIZE) : FIRST_MAX;
      const listed = Math.min(args.first ?? rule.first ?? most, most);
      const before = possibleTiers;
      // What is below a call is there only where the call was answered: for a tier that has it.
      if (mode === 'ask') possibleTiers = before.filter((tier) => endpointOf(rule, args).tiers.includes(tier));
      arrive(field, isList ? capped(times * listed) : times, path, listed, rule.form ?? wholeForm);
      possibleTiers = before;
      return;
    }
    if (mode === 'hand') {
      // Where the record is refused to the tier, the list beside it is called.
      const mayBeRefused = possibleTiers.some((tier) => parent?.endpoint.tiers.includes(tier) === false);
      if (mayBeRefused || field.mayLack.length > 0) add(field, path, times, endpointOf(rule, args));
      const held = Math.min(args.first ?? rule.first ?? LIST_SIZE, rule.hand!.upTo ?? LIST_SIZE);
      return arrive(field, isList ? capped(times * held) : times, path, held, rule.hand!.form);
    }
    // Where the id stands beside it, the record itself may not: then it is loaded.
    const form = within ?? (rule.idIn ? undefined : rule.form);
    arrive(field, isList ? capped(times * (rule.size ?? size)) : times, path, size, form);
  }

  function arrive(field: FieldPlan, times: number, path: string, size: number, form: Form | undefined): void {
    const isList = isListType(getNullableType(field.field.type));
    if (isList && field.below.size > 0) shows(items, times, path, coordinateOf(field));
    for (const below of field.below.values()) arriveAs(field, below, times, path, size, form);
  }

  /** The top-ups of what a field gives of one type, and what is below it. */
  function arriveAs(
    field: FieldPlan,
    below: Below,
    times: number,
    path: string,
    size: number,
    form: Form | undefined,
  ): void {
    const { record, wraps } = below.rule;
    if (record) {
      const isKnown = (name: string) => isThere(form, name) || !below.firstNames.includes(name);
      let isAsked = field.mode === 'read' || topUp(below, times, path, record.endpoint, isKnown);
      // At most: what is deferred may be in what the first call loads.
      for (const part of below.later) {
        const isFirst = (name: string) => (name === 'id' && form !== noForm) || below.firstNames.includes(name);
        isAsked = topUp(part, times, path, record.endpoint, isFirst) || isAsked;
      }
      // What the caller named is looked up, whatever is selected of it.
      if (form === noForm && !isAsked) add(field, path, times, record.endpoint);
    }
    // What wraps a list holds as many as were asked for, as whole as the list promised.
    if (wraps) inside(below, times, path, coordinateOf(field), size, form);
    else inside(below, times, path, coordinateOf(field));
  }

  /** One call for all that is missing; told where the first of it is selected. */
  function topUp(
    of: Below,
    times: number,
    path: string,
    endpoint: Endpoint,
    isKnown: (name: string) => boolean,
  ): boolean {
    const missing = of.names.filter((name) => !isKnown(name) && !of.refused.has(name));
    const asker = of.fields.find(({ needs }) => needs.some((name) => missing.includes(name)));
    if (asker) add(asker, under(path, asker), times, endpoint);
    return asker !== undefined;
  }

  function add(field: FieldPlan, path: string, times: number, { method, path: template, service }: Endpoint): void {
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

  function shows(amount: Amount, times: number, path: string, coordinate: string): void {
    const max = capped(times);
    amount.max = capped(amount.max + max);
    if (max > amount.dearest.max) amount.dearest = { path, coordinate, max };
  }
}

/** Its calls, with those that the roots of a query must make, whatever else happens. */
export async function rangeOf(plan: Plan, variables: Variables, { upstream, viewer }: Context): Promise<Cost> {
  const cost = structuredClone(mostOf(plan, variables).calls);
  const counted = new Set<string>();
  for (const { fields } of [plan.root, ...plan.root.later])
    for (const field of fields) await least(field, {}, keyOf(field));
  return cost;

  async function least(field: FieldPlan, parent: Record<string, unknown>, path: string): Promise<void> {
    const { rule, mode, below, names } = field;
    if (rule.write || (mode !== 'ask' && mode !== 'read')) return;
    let input: object;
    let endpoint: Endpoint;
    try {
      const args = field.args(variables);
      endpoint = endpointOf(rule, args);
      if (rule.none?.(parent)) return;
      input = rule.input!(parent, args, viewer);
      if (rule.first !== undefined)
        input = {
          ...input,
          ...windowInput(
            endpoint,
            windowOf(args, rule.first, () => listOf(endpoint, input)),
          ),
        };
    } catch {
      return; // wrong input costs nothing
    }
    if (mode === 'ask') return found(path, endpoint, await upstream.wouldList(endpoint, input, names));

    const handle = input as Record<string, unknown>;
    const one = below.values().next().value!;
    const { type, rule: typeRule, starts, isRead } = one;
    const children = starts.filter((child) => child.rule.from?.every((name) => name in handle));
    for (const child of children) await least(child, handle, `${path}.${keyOf(child)}`);
    // What is loaded later is loaded only of a record that is there.
    const asked = namesToAsk(namesLoadedFirst(namesOfNamed(one), one), one, true);
    const spared =
      children.length > 0 &&
      (!isRead || children.some((child) => asked.every((name) => child.rule.tells?.names.includes(name))));
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

const coordinateOf = ({ parent, field }: FieldPlan): string => `${parent}.${field.name}`;
const under = (path: string, field: FieldPlan): string => (path ? `${path}.${keyOf(field)}` : keyOf(field));

function argsIn(field: FieldPlan, variables: Variables): PagingArgs {
  try {
    const args: PagingArgs = field.args(variables);
    // A page of fewer than none, or of more than there may be, is refused when it is asked for; here it must not pay for others.
    return typeof args.first === 'number' ? { ...args, first: Math.min(Math.max(args.first, 0), FIRST_MAX) } : args;
  } catch {
    return {}; // the executor says what is wrong with them
  }
}

/** Of a record that no form was promised for, its id alone is sure to be there. */
const isThere = (form: Form | undefined, name: string): boolean => (form ? isPromised(form, name) : name === 'id');
