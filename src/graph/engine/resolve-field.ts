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
  isObjectType,
} from 'graphql';
import { type Representation, isProvided, wholeRepresentation } from '../../api/endpoint.ts';
import { RecordRejected, TierRequired, isRecordRejection } from '../../upstream/errors.ts';
import type { FieldRule, TypeRule } from './field-options.ts';
import type { Context } from './builder.ts';
import { asObjects } from '../types/decode.ts';
import { type FieldPosition, type ParentRecord, type StartedCall, embeddedWhole, startCall } from './field-call.ts';
import { endpointOf, fieldRule, typeRule } from './declarations.ts';
import { loadMissing, loadingPostponed } from './load-record.ts';
import { namesOrId } from './lookup.ts';
import { type Page, listIdOf, pageOf, windowOf } from '../types/connection.ts';
import type { PlannedField } from './operation-plan.ts';
import { asError, isPromise, lazily, withValue } from '../../lib/promises.ts';

type Resolver = GraphQLFieldResolver<ParentRecord, Context, object>;

/** How the engine answers a field, by what was planned for it. */
export type EngineResolver = (
  plan: PlannedField,
  parent: ParentRecord,
  args: object,
  context: Context,
  at: FieldPosition,
) => unknown;

/** How a field is answered where its plan is at hand: by the engine, or by its own resolver, as it was declared. */
export interface FieldResolvers {
  engine?: EngineResolver;
  plain?: Resolver;
}
const answerings = new WeakMap<GraphQLField<unknown, unknown>, FieldResolvers>();
export const fieldResolversOf = (field: GraphQLField<unknown, unknown>): FieldResolvers =>
  answerings.get(field) ?? (field.resolve ? { plain: field.resolve as Resolver } : {});

/** Puts the engine's resolvers where fields declared what they call, and records where they arrive. */
export function attachResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const rule = fieldRule(field);
      const plain = field.resolve as Resolver | undefined;
      const engine = rule.endpoint
        ? asked(rule, itemsHaveIds(field.type))
        : plain && givesRecords(schema, field.type)
          ? arriving(rule, plain, infoOf(schema))
          : undefined;
      answerings.set(field, { ...(engine ? { engine } : {}), ...(plain ? { plain } : {}) });
      let resolve = engine ? byPlan(engine) : plain;
      if (typeRule(type).record && resolve) resolve = loadingPostponed(resolve);
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
  return types.some((each) => isObjectType(each) && (typeRule(each).record || typeRule(each).isReference));
}

/** A field that gives records out of its parent. */
function arriving(rule: FieldRule, inner: Resolver, info: GraphQLResolveInfo): EngineResolver {
  return (plan, parent, args, context, at) => {
    if (plan.mode === 'null') return null;
    const value: unknown = inner(parent, args, context, info);
    const listed = formWithin(parent);
    return arrive(value, plan, listed ?? rule.representation ?? wholeRepresentation, listed !== undefined, context, at);
  };
}
/** What a resolver is told beside its arguments: the schema, and nothing of the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** A field that runs and was not planned would show as null what is there: better a failure that somebody sees. */
function planOf({ plan }: Context, { fieldNodes, parentType, fieldName }: GraphQLResolveInfo): PlannedField {
  const planned = plan.fieldAt(fieldNodes, parentType.name);
  if (!planned) throw new Error(`${parentType.name}.${fieldName} was not planned`);
  return planned;
}

/** The form that a page promised of its items, seen from the page or from one of its edges. */
function formWithin(parent: unknown): Representation | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'representation' in page
    ? (page as Page<unknown>).representation
    : undefined;
}

/** A field that a call answers. */
function asked(rule: FieldRule, keyed: boolean): EngineResolver {
  return (plan, parent, args, context, at) => {
    if (plan.mode === 'null') return null;
    if (plan.mode === 'lookup') return readByKey(plan, args, context, at);
    if (rule.isEmpty?.(parent)) return emptyPage(rule);
    if (plan.mode === 'embedded') {
      const { representation } = rule.embedded!;
      const member = inRecord(parent, rule.embedded!.member);
      const isList = endpointOf(rule, args).list !== undefined;
      if (member === undefined && !isList) return null;
      // A list that was asked for and did not come has its default: nothing is in it.
      if (member !== notTold) {
        const held = () => settle(inHand(rule, args, parent, member, keyed), plan, representation, context, at);
        return lacksAny(member, plan.mayOmit)
          ? unlessRefused(() => call(plan, parent, args, context, at), held)
          : held();
      }
    }
    const told = embeddedWhole(plan, parent, args);
    if (told !== undefined)
      return settle(told && inHand(rule, args, parent, told, keyed), plan, rule.embedded!.representation, context, at);
    return call(plan, parent, args, context, at);
  };

  function call(plan: PlannedField, parent: ParentRecord, args: object, context: Context, at: FieldPosition): unknown {
    const started = startCall(plan, parent, args, context, at);
    return withValue(started.response, (answer) => {
      if (answer === null || answer === undefined) return null;
      const value = valueOf(rule, started, answer, args, parent, context, keyed);
      return settle(value, plan, rule.representation ?? wholeRepresentation, context, at);
    });
  }

  function settle(
    value: unknown,
    plan: PlannedField,
    form: Representation,
    context: Context,
    at: FieldPosition,
  ): unknown {
    return rule.pageSize === undefined ? arrive(value, plan, form, true, context, at) : value;
  }
}

const notTold = Symbol('not told');

const lacksAny = (items: unknown, names: readonly string[]): boolean =>
  names.length > 0 && asObjects(items as object[]).some((item) => names.some((name) => !(name in item)));

/** What a call gives, or what is held where the caller's tier does not get the call. */
async function unlessRefused(call: () => unknown, held: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TierRequired || error instanceof RecordRejected) return held();
    throw error;
  }
}

/** A member of the record; not told where the whole record may be refused to the caller's tier, as a list of its own may not be. */
function inRecord(parent: ParentRecord, name: string): unknown {
  try {
    return parent[name];
  } catch (error) {
    if (isRecordRejection(error) && !(error instanceof RecordRejected && !error.mayBeTier)) return notTold;
    throw error;
  }
}

/** What an answer makes of its field. */
function valueOf(
  rule: FieldRule,
  { paging }: StartedCall,
  answer: unknown,
  args: object,
  parent: ParentRecord,
  { viewer }: Context,
  keyed: boolean,
): unknown {
  if (!paging) return rule.mapResponse!(answer, args, parent);
  const { endpoint, window, list } = paging;
  const members = rule.items ? rule.items(answer, parent, args) : (answer as ParentRecord)[endpoint.list!];
  const totalIsCapped = rule.totalIsCapped?.(answer, viewer, args) ?? false;
  const representation = rule.representation ?? wholeRepresentation;
  const items = Array.isArray(members) ? members : [];
  return pageOf(answer as object, items, window, { listId: list, representation, keyed, totalIsCapped });
}

/** What the parent's record carries, in the shape of the answer that it stands for. */
function inHand(rule: FieldRule, args: object, parent: ParentRecord, member: unknown, keyed: boolean): unknown {
  const hand = rule.embedded!;
  const { list } = endpointOf(rule, args);
  if (rule.pageSize === undefined) {
    if (member === null && !hand.takesParent) return null;
    return rule.mapResponse!(hand.takesParent ? parent : list ? { [list]: member } : member, args, parent);
  }
  const endpoint = endpointOf(rule, args);
  const listId = lazily(() => listIdOf(endpoint, rule.input!(parent, args, anybody)));
  const window = windowOf(args, rule.pageSize, listId);
  const answer = { [list!]: member };
  const members = rule.items ? rule.items(answer, parent, args) : member;
  const items = Array.isArray(members) ? members : [];
  const { representation } = hand;
  return pageOf({ count: hand.upTo }, items, window, { listId, representation, keyed, totalIsCapped: false });
}
const anybody = { isLoggedIn: false, filmTier: null };

const emptyPage = (rule: FieldRule): Page<never> => ({
  items: [],
  start: 0,
  total: 0,
  totalIsCapped: false,
  hasNext: false,
  title: null,
  listId: () => '',
  representation: rule.representation ?? wholeRepresentation,
});

/** A record by its key: what is wanted of it is asked, and what below it needs the key alone starts with it. */
function readByKey(plan: PlannedField, args: object, context: Context, at: FieldPosition): unknown {
  const { rule } = plan;
  const handle = rule.input!({}, args, context.viewer) as ParentRecord;
  const below = plan.onlySelection!;
  return loadMissing(handle, below, namesOrId(below), 'named', context, at);
}

/**
 * One record, or a list of them, on its way to the fields selected of it. `isAnswer` where the records are those that a call was made
 * for: each is as whole as its form promises, whatever came.
 */
function arrive(
  value: unknown,
  plan: PlannedField,
  form: Representation,
  isAnswer: boolean,
  context: Context,
  at: FieldPosition,
): unknown {
  if (value === null || value === undefined) return null;
  if (plan.onlySelection && !plan.onlySelection.rule.record) return value; // nothing can be asked of it
  if (!Array.isArray(value)) return arriveOne(value as ParentRecord, plan, form, isAnswer, context, at);
  if (!isListType(getNullableType(plan.field.type))) return null; // no record
  const isListed = isAnswer || !isRootNode(plan);
  let pending = false;
  // A failure is a value in the list, never thrown past the items that are still on their way.
  const arrived = value.map((item: ParentRecord | null) => {
    if (item === null) return null;
    try {
      const one = arriveOne(item, plan, form, isListed, context, at);
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

function arriveOne(
  record: ParentRecord,
  plan: PlannedField,
  form: Representation,
  isAnswer: boolean,
  context: Context,
  at: FieldPosition,
): unknown {
  if (record instanceof Error) return record;
  const below = plan.onlySelection ?? plan.selections.get(record.__typename as string);
  if (!below?.rule.record) return record;
  if (typeof record !== 'object') return null;
  // An id that a caller made up shows nothing: whether there is such a record is still to be asked.
  if (isRootNode(plan) && !below.rule.isReference)
    return loadMissing(record, below, namesOrId(below), 'named', context, at);
  let promised: Representation | undefined;
  let missing: string[] | undefined;
  for (const name of below.names) {
    if (name in record || isSpeltOtherwise(record, below.rule, name)) continue;
    promised ??= isAnswer || !isBare(record) ? form : noForm;
    if (!isProvided(promised, name)) (missing ??= []).push(name);
  }
  if (!missing) return record;
  const isShown = promised === form && form.names.length > 0;
  return loadMissing(record, below, missing, isShown ? 'shown' : 'referred', context, at);
}

const isSpeltOtherwise = (record: ParentRecord, { alternativeNames }: TypeRule, name: string): boolean =>
  alternativeNames?.[name] !== undefined && alternativeNames[name] in record;

const noForm: Representation = { names: [] };
const ROOT_NODES = ['node', 'nodes'];
const isRootNode = ({ parent, field }: PlannedField): boolean => parent === 'Query' && ROOT_NODES.includes(field.name);

/** A key and nothing else: no form was promised for it. */
function isBare(record: ParentRecord): boolean {
  for (const name in record) if (name !== 'id' && name !== '__typename') return false;
  return true;
}
