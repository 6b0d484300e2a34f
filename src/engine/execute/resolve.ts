/**
 * Resolves a field by its plan: from the parent, from an embedded member, from a call, or from a record looked up by its key. A record
 * that has all its selected fields passes through synchronously.
 */
import { type GraphQLField, type GraphQLFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { type Representation, isProvided, wholeRepresentation } from '../../api/endpoint.ts';
import { listIn } from '../../lib/objects.ts';
import { asError, isPromise, withValue } from '../../lib/promises.ts';
import { RecordRejected, TierRequired } from '../../upstream/errors.ts';
import { isUpstreamMember, withThrowingMembers } from '../../api/record-source.ts';
import { asObjects } from '../values/decode.ts';
import { changesOf } from '../values/list-changes.ts';
import { type Page, emptyPage, pageOf } from '../values/paging.ts';
import type { Context } from '../context.ts';
import { endpointOf, fieldRule, nodeTypeOf, typeRule, typesOf } from '../plan/read-declarations.ts';
import { oncePer } from '../../lib/remember.ts';
import {
  type Paging,
  type ParentRecord,
  type Resolution,
  embeddedRecord,
  itemsOf,
  requestOf,
  startCall,
} from './field-call.ts';
import type { FieldRule, TypeRule } from '../plan/declaration-types.ts';
import type { PlannedField, SelectionPlan } from '../plan/operation-plan.ts';
import { ABSENT, PartlyLoaded, loadMissing, loadNamedReference, mayHaveLists } from './load-record.ts';
import { membersOrId } from './plan-load.ts';
import { listedBy, listingOf } from './listed-variants.ts';

export type Resolver = GraphQLFieldResolver<ParentRecord, Context, object>;

/** Resolves a field by its plan. */
export type EngineResolver = (parent: ParentRecord, resolution: Resolution) => unknown;

/** The engine's resolver of a field that calls an endpoint or returns records; undefined if its own resolver makes the whole value. */
export const engineResolverOf = oncePer((schema: GraphQLSchema) =>
  oncePer((field: GraphQLField<unknown, unknown>): EngineResolver | undefined => {
    const rule = fieldRule(field);
    const node = nodeTypeOf(field);
    const keys = node && 'id' in node.getFields() ? (typeRule(node).record?.keyMembers ?? ['id']) : undefined;
    if (rule.endpoint) return callResolver(rule, keys);
    const inner = field.resolve as Resolver | undefined;
    if (inner && rule.readsAsNobody) return readingResolver(inner, infoOf(schema));
    const returnsRecords = typesOf(schema, field).some((each) => typeRule(each).record);
    return inner && returnsRecords ? recordResolver(rule, inner, infoOf(schema)) : undefined;
  }),
);

/** The only part of the info that resolvers may read: nothing in it depends on the selection. */
export const infoOf = (schema: GraphQLSchema): GraphQLResolveInfo => ({ schema }) as GraphQLResolveInfo;

/** For a field whose own resolver reads what a reader without a token is shown. */
const readingResolver =
  (inner: Resolver, info: GraphQLResolveInfo): EngineResolver =>
  (parent, { plan, args, context, path }) => {
    if (plan.mode === 'null') return null;
    const reads = { readAsNobody: context.upstream.readerAsNobody(path), listing: listingOf(parent) };
    return inner(parent, args, Object.assign(Object.create(context) as Context, reads), info);
  };

/** For a field whose own resolver returns records from its parent. */
function recordResolver(rule: FieldRule, inner: Resolver, info: GraphQLResolveInfo): EngineResolver {
  return (parent, resolution) => {
    const value: unknown = inner(parent, resolution.args, resolution.context, info);
    const listed = rule.mayBeReference ? undefined : representationOfPage(parent);
    const representation = listed ?? rule.representation ?? wholeRepresentation;
    return resolveRecords(value, resolution, representation, listed !== undefined || rule.isItem === true);
  };
}

/** The members that the items of a page provide, if the parent is a page or one of its edges. */
function representationOfPage(parent: unknown): Representation | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'representation' in page
    ? (page as Page<unknown>).representation
    : undefined;
}

/** Members that identify the items of a list; undefined if they have no id. */
type Keys = readonly string[] | undefined;

function callResolver(rule: FieldRule, keys: Keys): EngineResolver {
  const returned = rule.representation ?? wholeRepresentation;
  return (parent, resolution) => {
    const { plan, args } = resolution;
    if (plan.mode === 'null') return null;
    if (plan.mode === 'lookup') return lookUp(resolution);
    if (rule.isUnavailable?.(parent)) return null;
    if (rule.isEmpty?.(parent)) return emptyPage(returned);
    if (plan.mode === 'embedded') {
      const member = memberOf(parent, rule.embedded!.member);
      // A list that was requested and is missing has its default: it is empty.
      if (member === undefined && (endpointOf(rule, args).list === undefined || isOfAbsent(parent, resolution)))
        return null;
      if (member !== unreadable) {
        const fromMember = () => fromEmbedded(parent, member, resolution);
        return omitsAny(member, plan.mayOmit)
          ? callOrEmbedded(() => call(parent, resolution), fromMember, plan.mayOmit)
          : fromMember();
      }
    }
    const beside = rule.atHand?.(parent);
    if (beside) return resolveRecords(beside, resolution, returned, true);
    const record = embeddedRecord(parent, resolution);
    if (record === undefined) return call(parent, resolution);
    return record && fromEmbedded(parent, record, resolution);
  };

  function call(parent: ParentRecord, resolution: Resolution): unknown {
    const { response, paging } = startCall(parent, resolution);
    return withValue(response, (received) =>
      received === null || received === undefined
        ? null
        : resolveResponse(received, paging, parent, resolution, returned),
    );
  }

  /** An embedded member stands in for the response. */
  function fromEmbedded(parent: ParentRecord, member: unknown, resolution: Resolution): unknown {
    const { representation, upTo } = rule.embedded!;
    const { endpoint, paging } = requestOf(resolution.plan, parent, resolution.args, resolution.context);
    // A list that is null is empty, as one that is missing.
    if (member === null && endpoint.list === undefined) return null;
    const response = endpoint.list === undefined ? member : { [endpoint.list]: member, count: upTo };
    return resolveResponse(response, paging, parent, resolution, representation);
  }

  function resolveResponse(
    response: unknown,
    paging: Paging | undefined,
    parent: ParentRecord,
    resolution: Resolution,
    representation: Representation,
  ): unknown {
    const { plan, args, context } = resolution;
    if (!paging) return resolveRecords(rule.mapResponse!(response, args, parent), resolution, representation, true);
    const { endpoint, input, window, listId, newestFirst } = paging;
    const items = itemsOf(rule, endpoint, response, parent, args);
    if (plan.variants || rule.isReadAsNobody) listedBy(items, { endpoint, input, variants: plan.variants });
    const totalIsCapped = rule.totalIsCapped?.(response, context.viewer, args) ?? false;
    // One literal: reading the members of an object that was spread is slow.
    const options = { listId, representation, keys, totalIsCapped, newestFirst, isRanked: rule.isRanked ?? false };
    const page = pageOf(response as object, items, window, options, plan.needsNoItems);
    const type = paging.progress && nodeTypeOf(plan.field)!;
    return type ? changesOf(page, paging.progress!, type.name, typeRule(type).record!) : page;
  }
}

const omitsAny = (items: unknown, members: readonly string[]): boolean =>
  members.length > 0 && asObjects(items as object[]).some((item) => members.some((member) => !(member in item)));

/** The list of the call; if there is none, the embedded page, in which the members that its items omit have the error of the call. */
async function callOrEmbedded(call: () => unknown, embedded: () => unknown, mayOmit: readonly string[]) {
  try {
    const list = await call();
    return list ?? embedded();
  } catch (error) {
    const page = embedded() as Page<ParentRecord>;
    if (error instanceof TierRequired || error instanceof RecordRejected) return page;
    const withErrors = (item: ParentRecord) => {
      const omitted = mayOmit.filter((member) => !(member in item));
      return withThrowingMembers(item, omitted, () => asError(error));
    };
    return { ...page, items: page.items.map((item) => item && withErrors(item)) };
  }
}

/** Whether the record of a list is absent. Throws if the arguments of the field are wrong. */
function isOfAbsent(parent: ParentRecord, { plan, args, context }: Resolution): boolean {
  if (!(ABSENT in parent)) return false;
  requestOf(plan, parent, args, context);
  return true;
}

const unreadable = Symbol('unreadable');

/** A member of the record; `unreadable` if the caller's tier may not load the record, because it may still load the list. */
function memberOf(parent: ParentRecord, member: string): unknown {
  try {
    return parent[member];
  } catch (error) {
    if (mayHaveLists(error)) return unreadable;
    throw error;
  }
}

/** Loads the record with the key in the arguments; calls below it that need only the key start with it. */
function lookUp(resolution: Resolution): unknown {
  const { plan, args } = resolution;
  const reference = plan.rule.input!({}, args) as ParentRecord;
  const selection = plan.onlySelection!;
  const loaded = loadMissing(reference, selection, membersOrId(selection), 'named', resolution);
  return selection.isReferredBelow ? providedBelow(loaded, selection, resolution) : loaded;
}

/**
 * Passes on one record or a list of records, loading the selected fields that are missing. `isListed`: the records were returned by a call
 * of their own, so each provides what its representation says, whatever it contains.
 */
function resolveRecords(
  value: unknown,
  resolution: Resolution,
  representation: Representation,
  isListed: boolean,
): unknown {
  const { plan } = resolution;
  if (value === null || value === undefined) return null;
  if (plan.onlySelection && !plan.onlySelection.rule.record) return value; // such objects cannot be loaded
  const { isList } = plan;
  if (!isList && Array.isArray(value)) return null; // an array instead of a record
  const records = isList ? listIn(value) : undefined;
  if (!records) return resolveRecord(value as ParentRecord, resolution, representation, isListed);
  let isPending = false;
  // An error becomes an item. Thrown, it would lose the items that are still loading.
  const items = (records as (ParentRecord | null)[]).map((item) => {
    if (item === null) return null;
    try {
      const record = resolveRecord(item, resolution, representation, isListed || !isNamedByClient(plan));
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
  resolution: Resolution,
  representation: Representation,
  isListed: boolean,
): unknown {
  if (record instanceof Error) return record;
  const { plan } = resolution;
  const selection = plan.onlySelection ?? plan.selections.get(record.__typename as string);
  if (!selection?.rule.record) return record;
  if (typeof record !== 'object') return null;
  const resolved = loadedRecord(record, selection, resolution, representation, isListed);
  return selection.isReferredBelow ? providedBelow(resolved, selection, resolution) : resolved;
}

/** What is known of a record that something below refers to is not requested there again. */
const providedBelow = (resolved: unknown, { type, rule, members }: SelectionPlan, { context }: Resolution): unknown =>
  withValue(resolved, (value) => {
    const isPart = value instanceof PartlyLoaded;
    const record = isPart ? value.record : (value as ParentRecord | null);
    // What only deferred fragments need is not known yet.
    const known = isPart ? members.filter((member) => member in value.record) : members;
    if (record) context.upstream.records.provide(type.name, rule.record!, record, known);
    return value;
  });

function loadedRecord(
  record: ParentRecord,
  selection: SelectionPlan,
  resolution: Resolution,
  representation: Representation,
  isListed: boolean,
): unknown {
  const { plan } = resolution;
  // A client may make up an id, so `node` has to check that the record exists.
  const { isReference } = selection.rule;
  const isNamed = isNamedByClient(plan);
  if (isNamed && !isReference) return loadMissing(record, selection, membersOrId(selection), 'named', resolution);
  let provided: Representation | undefined;
  let missing: string[] | undefined;
  for (const member of selection.members) {
    if (member in record || hasAlternative(record, selection.rule, member)) continue;
    // A member that no endpoint returns stays empty.
    if (isReference && !isUpstreamMember(selection.rule.record!, member)) continue;
    provided ??= !isNamed && (isListed || !isBareId(record)) ? representation : providesNothing;
    if (!isProvided(provided, member)) (missing ??= []).push(member);
  }
  if (isNamed) return loadNamedReference(record, selection, missing ?? [], resolution);
  if (!missing) return record;
  const isShown = provided === representation && representation.members.length > 0;
  return loadMissing(record, selection, missing, isShown ? 'shown' : 'referred', resolution);
}

const hasAlternative = (record: ParentRecord, { alternatives }: TypeRule, member: string): boolean =>
  alternatives?.[member] !== undefined && alternatives[member] in record;

const providesNothing: Representation = { members: [] };
/** `node`, `nodes`, and the queries for references: nothing but the arguments is known. */
const isNamedByClient = ({ parent, rule }: PlannedField): boolean => parent === 'Query' && rule.endpoint === undefined;

function isBareId(record: ParentRecord): boolean {
  for (const member in record) if (member !== 'id' && member !== '__typename') return false;
  return true;
}
