/**
 * Where a record arrives: start what can start, top up what is missing.
 *
 * Every field is joined to the engine here, once, when the schema is made. A record that is whole passes through synchronously.
 */
import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Path } from 'graphql/jsutils/Path.js';
import { type Endpoint, type Form, isPromised, wholeForm } from '../contract/endpoint.ts';
import { joined } from '../upstream/copy.ts';
import { type RecordSource, telling } from '../upstream/known.ts';
import { TierRequired } from '../upstream/refusal.ts';
import type { FieldRule } from './ask.ts';
import type { Context } from './builder.ts';
import { asText } from './decode.ts';
import { type Page, type Window, listOf, pageOf, windowInput, windowOf } from './paging.ts';
import { endpointOf, fieldRule, typeRule } from './declared.ts';
import type { Variables } from './document.ts';
import { type Below, type FieldPlan, keyOf } from './plan.ts';

type Parent = Record<string, unknown>;
type Resolver = GraphQLFieldResolver<Parent, Context, object>;

/** Where in a run a field is answered: its place in the response, and the variables that its arguments may take. */
export interface At {
  path: Path;
  variables: Variables;
}
/** How the engine answers a field, by what was planned for it. */
export type EngineResolver = (plan: FieldPlan, parent: Parent, args: object, context: Context, at: At) => unknown;

/** How a field is answered where its plan is at hand: by the engine, or by its own resolver, as it was declared. */
export interface Answering {
  engine?: EngineResolver;
  plain?: Resolver;
}
const answerings = new WeakMap<GraphQLField<unknown, unknown>, Answering>();
export const answeringOf = (field: GraphQLField<unknown, unknown>): Answering =>
  answerings.get(field) ?? (field.resolve ? { plain: field.resolve as Resolver } : {});

/** Puts the engine's resolvers where fields declared what they call, and records where they arrive. */
export function connectFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const rule = fieldRule(field);
      const plain = field.resolve as Resolver | undefined;
      const engine = rule.ask
        ? asked(rule, itemsHaveIds(field.type))
        : plain && givesRecords(schema, field.type)
          ? arriving(rule, plain, outside(schema))
          : undefined;
      answerings.set(field, { ...(engine ? { engine } : {}), ...(plain ? { plain } : {}) });
      let resolve = engine ? byPlan(engine) : plain;
      if (typeRule(type).record && resolve) resolve = filling(resolve);
      if (resolve) field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
    }
  }
  return schema;
}

/** For an executor that knows no plan: it is looked up. */
function byPlan(engine: EngineResolver): Resolver {
  return (parent, args, context, info) =>
    engine(planOf(context, info), parent, args, context, { path: info.path, variables: info.variableValues });
}

/** Whether the nodes of a connection are told apart by an id. */
function itemsHaveIds(type: GraphQLOutputType): boolean {
  const connection = getNamedType(type);
  const nodes = isObjectType(connection) ? connection.getFields().nodes : undefined;
  const node = nodes && getNamedType(nodes.type);
  return isObjectType(node) && 'id' in node.getFields();
}

function givesRecords(schema: GraphQLSchema, type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  const types = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  return types.some((each) => isObjectType(each) && (typeRule(each).record || typeRule(each).handle));
}

/** A field that gives records out of its parent. */
function arriving(rule: FieldRule, inner: Resolver, info: GraphQLResolveInfo): EngineResolver {
  return (plan, parent, args, context, at) => {
    if (plan.mode === 'none') return null;
    const value: unknown = inner(parent, args, context, info);
    return arrive(value, plan, formWithin(parent) ?? rule.form ?? wholeForm, context, at);
  };
}
/** What a resolver is told beside its arguments: the schema, and nothing of the selection. */
export const outside = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** A field that runs and was not planned would show as null what is there: better a failure that somebody sees. */
function planOf({ plan }: Context, { fieldNodes, parentType, fieldName }: GraphQLResolveInfo): FieldPlan {
  const planned = plan.fieldAt(fieldNodes, parentType.name);
  if (!planned) throw new Error(`${parentType.name}.${fieldName} was not planned`);
  return planned;
}

/** The form that a page promised of its items, seen from the page or from one of its edges. */
function formWithin(parent: unknown): Form | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'form' in page
    ? (page as Page<unknown>).form
    : undefined;
}

/** A field that a call answers. */
function asked(rule: FieldRule, keyed: boolean): EngineResolver {
  return (plan, parent, args, context, at) => {
    if (plan.mode === 'none') return null;
    if (plan.mode === 'read') return readByKey(plan, args, context, at);
    if (rule.none?.(parent)) return emptyPage(rule);
    if (plan.mode === 'hand') {
      const { name, holds, form } = rule.hand!;
      const member = inRecord(parent, name);
      const isList = endpointOf(rule, args).list !== undefined;
      if (member === undefined && !isList && !holds) return null;
      // A list that was asked for and did not come has its default: nothing is in it.
      if (member !== notTold && (holds?.(member as never) ?? true))
        return settle(inHand(rule, args, parent, member, keyed), plan, form, context, at);
    }
    const told = toldWhole(plan, parent, args);
    if (told !== undefined)
      return settle(told && inHand(rule, args, parent, told, keyed), plan, rule.hand!.form, context, at);
    const asking = startAsk(plan, parent, args, context, at);
    return then(asking.answer, (answer) => {
      if (answer === null || answer === undefined) return null;
      return settle(
        valueOf(rule, asking, answer, args, parent, context, keyed),
        plan,
        rule.form ?? wholeForm,
        context,
        at,
      );
    });
  };

  function settle(value: unknown, plan: FieldPlan, form: Form, context: Context, at: At): unknown {
    return rule.first === undefined ? arrive(value, plan, form, context, at) : value;
  }
}

const notTold = Symbol('not told');

/** A member of the record; not told where the whole record is refused to the caller's tier, as a list of its own may not be. */
function inRecord(parent: Parent, name: string): unknown {
  try {
    return parent[name];
  } catch (error) {
    if (error instanceof TierRequired && error.ofEndpoint) return notTold;
    throw error;
  }
}

/** A single record that the parent holds with all that is wanted of it, as the answer to a write does; undefined where it does not. */
function toldWhole({ rule, mode, below }: FieldPlan, parent: Parent, args: object): object | null | undefined {
  const { hand } = rule;
  if (mode !== 'ask' || !hand || hand.when || rule.first !== undefined || endpointOf(rule, args).list) return undefined;
  if (!Object.prototype.propertyIsEnumerable.call(parent, hand.name)) return undefined;
  const member = parent[hand.name];
  if (typeof member !== 'object' || member === null) return member === null ? null : undefined;
  return [...below.values()].every(({ names }) => names.every((name) => name in member)) ? member : undefined;
}

interface Asking {
  answer: unknown;
  /** Of a list. */
  paging: Paging | undefined;
}
interface Paging {
  endpoint: Endpoint;
  window: Window;
  list: () => string;
}

/** Makes the call of a field, or finds it on its way: equal calls of an operation are one. */
function startAsk(
  { rule, names }: FieldPlan,
  parent: Parent,
  args: object,
  { upstream, viewer }: Context,
  { path }: At,
): Asking {
  const endpoint = endpointOf(rule, args);
  const input = rule.input!(parent, args, viewer);
  if (rule.first === undefined) return { answer: upstream.ask(endpoint, input, names, path), paging: undefined };
  const paging = pagingOf(endpoint, input, args, rule.first);
  const answer = upstream.ask(endpoint, joined(input, windowInput(endpoint, paging.window)), names, path);
  return { answer, paging };
}

function pagingOf(endpoint: Endpoint, input: object, args: object, first: number): Paging {
  const list = lazily(() => listOf(endpoint, input));
  return { endpoint, window: windowOf(args, first, list), list };
}

/** What an answer makes of its field. */
function valueOf(
  rule: FieldRule,
  { paging }: Asking,
  answer: unknown,
  args: object,
  parent: Parent,
  { viewer }: Context,
  keyed: boolean,
): unknown {
  if (!paging) return rule.decide!(answer, args, parent);
  const { endpoint, window, list } = paging;
  const members = rule.items ? rule.items(answer, parent, args) : (answer as Parent)[endpoint.list!];
  const capped = rule.capped?.(answer, viewer, args) ?? false;
  const form = rule.form ?? wholeForm;
  return pageOf(answer as object, Array.isArray(members) ? members : [], window, { list, form, keyed, capped });
}

/** What the parent's record carries, in the shape of the answer that it stands for. */
function inHand(rule: FieldRule, args: object, parent: Parent, member: unknown, keyed: boolean): unknown {
  const hand = rule.hand!;
  const { list } = endpointOf(rule, args);
  if (rule.first === undefined) {
    if (member === null && !hand.whole) return null;
    return rule.decide!(hand.whole ? parent : list ? { [list]: member } : member, args, parent);
  }
  const endpoint = endpointOf(rule, args);
  const of = lazily(() => listOf(endpoint, rule.input!(parent, args, anybody)));
  const window = windowOf(args, rule.first, of);
  const answer = { [list!]: member };
  const members = rule.items ? rule.items(answer, parent, args) : member;
  const items = Array.isArray(members) ? members : [];
  return pageOf({ count: hand.upTo }, items, window, { list: of, form: hand.form, keyed, capped: false });
}
const anybody = { isLoggedIn: false, filmTier: null };

/** Worked out when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const emptyPage = (rule: FieldRule): Page<never> => ({
  items: [],
  start: 0,
  total: 0,
  capped: false,
  hasNext: false,
  title: null,
  list: () => '',
  form: rule.form ?? wholeForm,
});

/** A record by its key: what is wanted of it is asked, and what below it needs the key alone starts with it. */
function readByKey(plan: FieldPlan, args: object, context: Context, at: At): unknown {
  const { rule } = plan;
  const handle = rule.input!({}, args, context.viewer) as Parent;
  const below = plan.only!;
  return topUp(handle, below, below.names.length ? below.names : ['id'], context, at, true);
}

/** One record, or a list of them, on its way to the fields selected of it. */
function arrive(value: unknown, plan: FieldPlan, form: Form, context: Context, at: At): unknown {
  if (value === null || value === undefined) return null;
  if (plan.only && !plan.only.rule.record) return value; // nothing can be asked of it
  if (!Array.isArray(value)) return arriveOne(value as Parent, plan, form, context, at);
  let pending = false;
  // A failure is a value in the list, never thrown past the items that are still on their way.
  const arrived = value.map((item: Parent | null) => {
    if (item === null) return null;
    try {
      const one = arriveOne(item, plan, form, context, at);
      if (!isPromise(one)) return one;
      pending = true;
      return one.catch(asError);
    } catch (error) {
      return asError(error);
    }
  });
  // One promise for the list: an executor then reports each failure at its own place.
  return pending ? Promise.all(arrived) : arrived;
}

function arriveOne(record: Parent, plan: FieldPlan, form: Form, context: Context, at: At): unknown {
  if (record instanceof Error) return record;
  const below = plan.only ?? plan.below.get(record.__typename as string);
  if (!below?.rule.record) return record;
  // An id that a caller made up shows nothing: whether there is such a record is still to be asked.
  const isMadeUp = plan.parent === 'Query' && ROOT_NODES.includes(plan.field.name) && !below.rule.handle;
  let promised: Form | undefined;
  let missing: string[] | undefined;
  for (const name of below.names) {
    if (!isMadeUp && name in record) continue;
    promised ??= isBare(record) ? noForm : form;
    if (!isPromised(promised, name)) (missing ??= []).push(name);
  }
  return missing ? topUp(record, below, missing, context, at, isMadeUp, cannotBeNull(plan)) : record;
}

/** Whether the records of a field are there as long as the field is. */
function cannotBeNull({ field }: FieldPlan): boolean {
  const type = getNullableType(field.type);
  return isNonNullType(isListType(type) ? type.ofType : field.type);
}

const noForm: Form = { names: [] };
const ROOT_NODES = ['node', 'nodes'];

/** A key and nothing else: no form was promised for it. */
function isBare(record: Parent): boolean {
  for (const name in record) if (name !== 'id' && name !== '__typename') return false;
  return true;
}

/** The key that a record is asked by; '' where it has none. */
const keyIn = (record: Parent, { keyOf }: RecordSource): string =>
  (keyOf ? keyOf(record as never) : asText(record.id)) ?? '';

/** Asks for what is missing of a record; `unproven` where nothing has shown yet that there is one. */
function topUp(
  record: Parent,
  below: Below,
  missing: readonly string[],
  context: Context,
  at: At,
  unproven: boolean,
  isNeeded = false,
): unknown {
  const source = below.rule.record!;
  const key = keyIn(record, source);
  if (!key) return record;
  const started = below.starts.length > 0 ? startChildren(record, below, context, at) : noneStarted;

  // Nothing of the record itself is selected: its children speak for it.
  if (unproven && !below.isRead && started.length > 0 && missing.every((name) => name in record)) return record;

  const asked = askedFor(missing, below, unproven);
  if (started.length > 0 || below.rule.handle || below.refused.size > 0)
    return toldOrAsked({ record, below, missing, asked, started, key, isNeeded }, context, at);
  if (asked.length === 0) return record;
  const came = context.upstream.want(below.type.name, source, key, asked, record, at.path);
  return isNeeded ? orElse(came, record) : came;
}

const noneStarted: readonly Started[] = Object.freeze([]);

/** Of a record that is not there by itself, what its list or its parent told stands where null would cost them too. */
const orElse = (came: unknown, record: Parent): unknown => then(came, (told) => told ?? record);

/** What is asked of the record: not what its tier is refused, nor the key, which shows nothing but that there is one. */
function askedFor(missing: readonly string[], { refused }: Below, unproven: boolean): readonly string[] {
  return (unproven || !missing.includes('id')) && refused.size === 0
    ? missing
    : missing.filter((name) => (name !== 'id' || unproven) && !refused.has(name));
}

interface Wanting {
  record: Parent;
  below: Below;
  missing: readonly string[];
  asked: readonly string[];
  started: readonly Started[];
  key: string;
  isNeeded: boolean;
}

/** The same where a child may tell what is missing, where the record is refused in part, or stands by itself. */
function toldOrAsked(
  { record, below, missing, asked, started, key, isNeeded }: Wanting,
  { upstream }: Context,
  at: At,
): unknown {
  const source = below.rule.record!;
  const teller = started.find(({ plan }) => {
    const told: readonly string[] = plan.rule.tells?.names ?? [];
    return asked.length > 0 ? asked.every((name) => told.includes(name)) : missing.some((name) => told.includes(name));
  });
  const { name } = below.type;
  const want = (names: readonly string[]) =>
    names.length ? upstream.want(name, source, key, names, record, at.path) : record;
  const arriving = () => (teller ? toldBy(teller, record, asked, want) : want(asked));
  return then(below.rule.handle ? standing(arriving, record, asked) : arriving(), (told) => {
    if (told === null) return below.rule.handle || isNeeded ? record : null;
    const refused = missing.filter((each) => below.refused.has(each) && !(each in (told as Parent)));
    return refused.length ? upstream.refuse(name, source, told as Parent, refused) : told;
  });
}

/** A handle stands by itself: that something of it could not be read is told by the fields that show it. */
function standing(arriving: () => unknown, record: Parent, names: readonly string[]): unknown {
  const failing = (error: unknown) => telling(record, names, () => asError(error));
  try {
    const came = arriving();
    return isPromise(came) ? came.catch(failing) : came;
  } catch (error) {
    return failing(error); // it failed before, for another place
  }
}

interface Started {
  plan: FieldPlan;
  answer: Promise<unknown>;
}

/** Starts the calls below a record that need no more of it than is known, beside the call for the record itself. */
function startChildren(record: Parent, below: Below, context: Context, at: At): Started[] {
  const started: Started[] = [];
  for (const plan of below.starts) {
    if (!plan.rule.from?.every((name) => name in record)) continue;
    let answer: Promise<unknown>;
    try {
      const args = plan.args(at.variables);
      if (plan.rule.none?.(record) || toldWhole(plan, record, args) !== undefined) continue;
      const path = { prev: at.path, key: keyOf(plan), typename: below.type.name };
      answer = Promise.resolve(startAsk(plan, record, args, context, { path, variables: at.variables }).answer);
    } catch (error) {
      answer = Promise.reject(asError(error)); // wrong input
    }
    answer.catch(() => undefined); // the field itself says so, and finds a call's failure in the operation's memo
    started.push({ plan, answer });
  }
  return started;
}

/** The names that a child's answer tells of its parent, the rest asked for when it tells less than it should. */
async function toldBy(
  { plan, answer }: Started,
  record: Parent,
  names: readonly string[],
  want: (names: readonly string[]) => unknown,
): Promise<unknown> {
  let told: Parent | null | undefined;
  try {
    const came = await answer;
    if (came === null) return null;
    told = plan.rule.tells!.read(came);
  } catch {
    told = undefined;
  }
  if (!told || !names.every((name) => name in told)) return want(names);
  return joined(record, told);
}

/** In a deferring document, a field whose names were left out of the first ask asks for them itself. */
function filling(inner: Resolver): Resolver {
  return (parent, args, context, info) => {
    if (!context.plan.defers) return inner(parent, args, context, info);
    const plan = context.plan.fieldAt(info.fieldNodes, info.parentType.name);
    const missing = plan?.needs.filter((name) => !(name in parent)) ?? [];
    const source = typeRule(info.parentType).record!;
    const key = keyIn(parent, source);
    if (missing.length === 0 || !key) return inner(parent, args, context, info);
    const filled = context.upstream.want(info.parentType.name, source, key, missing, parent, info.path);
    return then(filled, (record) => inner((record ?? parent) as Parent, args, context, info));
  };
}

export const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
const then = (value: unknown, next: (value: unknown) => unknown): unknown =>
  isPromise(value) ? value.then(next) : next(value);
