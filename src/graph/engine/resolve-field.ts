/**
 * Resolves fields by their plan: from the parent, from an embedded member, from a call, or from a record looked up by its key.
 *
 * The resolvers are attached to the schema once. A record that has all its selected fields passes through synchronously.
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
import { asError, isPromise, lazily, withValue } from '../../lib/promises.ts';
import { RecordRejected, TierRequired, isRecordRejection } from '../../upstream/errors.ts';
import { asObjects } from '../types/decode.ts';
import { type Page, emptyPage, listIdOf, pageOf, windowOf } from '../types/paging.ts';
import type { Context } from './builder.ts';
import { endpointOf, fieldRule, typeRule } from './declarations.ts';
import { type FieldPosition, type ParentRecord, type StartedCall, embeddedRecord, startCall } from './field-call.ts';
import type { FieldRule, TypeRule } from './field-rule.ts';
import { loadMissing, loadingPostponed } from './load-record.ts';
import { namesOrId } from './lookup.ts';
import type { PlannedField } from './operation-plan.ts';

type Resolver = GraphQLFieldResolver<ParentRecord, Context, object>;

/** Resolves a field by its plan. */
export type EngineResolver = (
  plan: PlannedField,
  parent: ParentRecord,
  args: object,
  context: Context,
  position: FieldPosition,
) => unknown;

/** The resolvers of a field for an executor that has its plan: the engine's, and the one that the field declared. */
export interface FieldResolvers {
  engine?: EngineResolver;
  plain?: Resolver;
}
const fieldResolvers = new WeakMap<GraphQLField<unknown, unknown>, FieldResolvers>();
export const fieldResolversOf = (field: GraphQLField<unknown, unknown>): FieldResolvers =>
  fieldResolvers.get(field) ?? (field.resolve ? { plain: field.resolve as Resolver } : {});

/** Attaches the engine's resolvers to the fields that call endpoints or return records. */
export function attachResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const rule = fieldRule(field);
      const plain = field.resolve as Resolver | undefined;
      const engine = rule.endpoint
        ? callResolver(rule, itemsHaveIds(field.type))
        : plain && returnsRecords(schema, field.type)
          ? recordResolver(rule, plain, infoOf(schema))
          : undefined;
      fieldResolvers.set(field, { ...(engine ? { engine } : {}), ...(plain ? { plain } : {}) });
      let resolve = engine ? byPlan(engine) : plain;
      if (typeRule(type).record && resolve) resolve = loadingPostponed(resolve);
      if (resolve) field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
    }
  }
  return schema;
}

/** For other executors: looks the plan of the field up. */
function byPlan(engine: EngineResolver): Resolver {
  return (parent, args, context, info) =>
    engine(planOf(context, info), parent, args, context, { path: info.path, variables: info.variableValues });
}

/** A field without a plan would be null although it has a value, so this throws. */
function planOf({ plan }: Context, { fieldNodes, parentType, fieldName }: GraphQLResolveInfo): PlannedField {
  const planned = plan.fieldAt(fieldNodes, parentType.name);
  if (!planned) throw new Error(`${parentType.name}.${fieldName} was not planned`);
  return planned;
}

/** The only part of the info that resolvers may read: nothing in it depends on the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** Whether the nodes of a connection are identified by an id. */
function itemsHaveIds(type: GraphQLOutputType): boolean {
  const connection = getNamedType(type);
  const nodes = isObjectType(connection) ? connection.getFields().nodes : undefined;
  const node = nodes && getNamedType(nodes.type);
  return isObjectType(node) && 'id' in node.getFields();
}

function returnsRecords(schema: GraphQLSchema, type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  const types = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  return types.some((each) => isObjectType(each) && (typeRule(each).record || typeRule(each).isReference));
}

/** For a field whose own resolver returns records from its parent. */
function recordResolver(rule: FieldRule, inner: Resolver, info: GraphQLResolveInfo): EngineResolver {
  return (plan, parent, args, context, position) => {
    if (plan.mode === 'null') return null;
    const value: unknown = inner(parent, args, context, info);
    const listed = representationOfPage(parent);
    const representation = listed ?? rule.representation ?? wholeRepresentation;
    return resolveRecords(value, plan, representation, listed !== undefined, context, position);
  };
}

/** The names that the items of a page provide, if the parent is a page or one of its edges. */
function representationOfPage(parent: unknown): Representation | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'representation' in page
    ? (page as Page<unknown>).representation
    : undefined;
}

/** For a field with an endpoint. */
function callResolver(rule: FieldRule, keyed: boolean): EngineResolver {
  const returned = rule.representation ?? wholeRepresentation;
  return (plan, parent, args, context, position) => {
    if (plan.mode === 'null') return null;
    if (plan.mode === 'lookup') return lookUp(plan, args, context, position);
    if (rule.isEmpty?.(parent)) return emptyPage(returned);
    if (plan.mode === 'embedded') {
      const member = memberOf(parent, rule.embedded!.member);
      // A list that was requested and is missing has its default: it is empty.
      if (member === undefined && endpointOf(rule, args).list === undefined) return null;
      if (member !== unreadable) {
        const fromMember = () => fromEmbedded(plan, parent, member, args, context, position);
        return omitsAny(member, plan.mayOmit)
          ? unlessRefused(() => call(plan, parent, args, context, position), fromMember)
          : fromMember();
      }
    }
    const record = embeddedRecord(plan, parent, args);
    if (record === undefined) return call(plan, parent, args, context, position);
    return record && fromEmbedded(plan, parent, record, args, context, position);
  };

  function call(
    plan: PlannedField,
    parent: ParentRecord,
    args: object,
    context: Context,
    position: FieldPosition,
  ): unknown {
    const started = startCall(plan, parent, args, context, position);
    return withValue(started.response, (response) => {
      if (response === null || response === undefined) return null;
      const value = valueOf(rule, started, response, args, parent, context, keyed);
      return resolveResult(value, plan, returned, context, position);
    });
  }

  function fromEmbedded(
    plan: PlannedField,
    parent: ParentRecord,
    member: unknown,
    args: object,
    context: Context,
    position: FieldPosition,
  ): unknown {
    const value = embeddedValue(rule, args, parent, member, keyed);
    return resolveResult(value, plan, rule.embedded!.representation, context, position);
  }

  function resolveResult(
    value: unknown,
    plan: PlannedField,
    representation: Representation,
    context: Context,
    position: FieldPosition,
  ): unknown {
    return rule.pageSize === undefined ? resolveRecords(value, plan, representation, true, context, position) : value;
  }
}

const omitsAny = (items: unknown, names: readonly string[]): boolean =>
  names.length > 0 && asObjects(items as object[]).some((item) => names.some((name) => !(name in item)));

/** The result of the call, or of the embedded member if the caller's tier is refused the call. */
async function unlessRefused(call: () => unknown, fromMember: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TierRequired || error instanceof RecordRejected) return fromMember();
    throw error;
  }
}

const unreadable = Symbol('unreadable');

/** A member of the record; `unreadable` if the record was refused to the caller's tier, because its list may still be open. */
function memberOf(parent: ParentRecord, name: string): unknown {
  try {
    return parent[name];
  } catch (error) {
    if (isRecordRejection(error) && !(error instanceof RecordRejected && !error.mayBeTier)) return unreadable;
    throw error;
  }
}

/** The value of a field from the response to its call. */
function valueOf(
  rule: FieldRule,
  { paging }: StartedCall,
  response: unknown,
  args: object,
  parent: ParentRecord,
  { viewer }: Context,
  keyed: boolean,
): unknown {
  if (!paging) return rule.mapResponse!(response, args, parent);
  const { endpoint, window, listId } = paging;
  const members = rule.items ? rule.items(response, parent, args) : (response as ParentRecord)[endpoint.list!];
  const totalIsCapped = rule.totalIsCapped?.(response, viewer, args) ?? false;
  const representation = rule.representation ?? wholeRepresentation;
  return pageOf(response as object, asItems(members), window, { listId, representation, keyed, totalIsCapped });
}

const asItems = (members: unknown): readonly object[] => (Array.isArray(members) ? (members as object[]) : []);

const anybody = { isLoggedIn: false, filmTier: null };

/** The value of a field from an embedded member, which stands in for the response. */
function embeddedValue(rule: FieldRule, args: object, parent: ParentRecord, member: unknown, keyed: boolean): unknown {
  const { representation, takesParent, upTo } = rule.embedded!;
  const endpoint = endpointOf(rule, args);
  const { list } = endpoint;
  if (rule.pageSize === undefined) {
    if (member === null && !takesParent) return null;
    return rule.mapResponse!(takesParent ? parent : list ? { [list]: member } : member, args, parent);
  }
  const listId = lazily(() => listIdOf(endpoint, rule.input!(parent, args, anybody)));
  const window = windowOf(args, rule.pageSize, listId);
  const items = asItems(rule.items ? rule.items({ [list!]: member }, parent, args) : member);
  return pageOf({ count: upTo }, items, window, { listId, representation, keyed, totalIsCapped: false });
}

/** Loads the record with the key in the arguments; calls below it that need only the key start with it. */
function lookUp(plan: PlannedField, args: object, context: Context, position: FieldPosition): unknown {
  const reference = plan.rule.input!({}, args, context.viewer) as ParentRecord;
  const selection = plan.onlySelection!;
  return loadMissing(reference, selection, namesOrId(selection), 'named', context, position);
}

/**
 * Passes on one record or a list of records, loading the selected fields that are missing. `isListed`: the records were returned by a call
 * of their own, so each provides what its representation says, whatever it contains.
 */
function resolveRecords(
  value: unknown,
  plan: PlannedField,
  representation: Representation,
  isListed: boolean,
  context: Context,
  position: FieldPosition,
): unknown {
  if (value === null || value === undefined) return null;
  if (plan.onlySelection && !plan.onlySelection.rule.record) return value; // such objects cannot be loaded
  if (!Array.isArray(value))
    return resolveRecord(value as ParentRecord, plan, representation, isListed, context, position);
  if (!isListType(getNullableType(plan.field.type))) return null; // an array instead of a record
  let isPending = false;
  // An error becomes an item. Thrown, it would lose the items that are still loading.
  const items = value.map((item: ParentRecord | null) => {
    if (item === null) return null;
    try {
      const record = resolveRecord(item, plan, representation, isListed || !isRootNode(plan), context, position);
      if (!isPromise(record)) return record;
      isPending = true;
      return record.catch(asError);
    } catch (error) {
      return asError(error);
    }
  });
  // One promise for the list: executors then report each error at its own item.
  return isPending ? Promise.all(items) : items;
}

function resolveRecord(
  record: ParentRecord,
  plan: PlannedField,
  representation: Representation,
  isListed: boolean,
  context: Context,
  position: FieldPosition,
): unknown {
  if (record instanceof Error) return record;
  const selection = plan.onlySelection ?? plan.selections.get(record.__typename as string);
  if (!selection?.rule.record) return record;
  if (typeof record !== 'object') return null;
  // A client may make up an id, so `node` has to check that the record exists.
  if (isRootNode(plan) && !selection.rule.isReference)
    return loadMissing(record, selection, namesOrId(selection), 'named', context, position);
  let provided: Representation | undefined;
  let missing: string[] | undefined;
  for (const name of selection.names) {
    if (name in record || hasAlternative(record, selection.rule, name)) continue;
    provided ??= isListed || !isBareId(record) ? representation : providesNothing;
    if (!isProvided(provided, name)) (missing ??= []).push(name);
  }
  if (!missing) return record;
  const isShown = provided === representation && representation.names.length > 0;
  return loadMissing(record, selection, missing, isShown ? 'shown' : 'referred', context, position);
}

const hasAlternative = (record: ParentRecord, { alternativeNames }: TypeRule, name: string): boolean =>
  alternativeNames?.[name] !== undefined && alternativeNames[name] in record;

const providesNothing: Representation = { names: [] };
const ROOT_NODES = ['node', 'nodes'];
const isRootNode = ({ parent, field }: PlannedField): boolean => parent === 'Query' && ROOT_NODES.includes(field.name);

function isBareId(record: ParentRecord): boolean {
  for (const name in record) if (name !== 'id' && name !== '__typename') return false;
  return true;
}
