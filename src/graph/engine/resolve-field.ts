/**
 * Resolves a field by its plan: from the parent, from an embedded member, from a call, or from a record looked up by its key. A record
 * that has all its selected fields passes through synchronously.
 */
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { type Representation, wholeRepresentation } from '../../api/endpoint.ts';
import { lazily, withValue } from '../../lib/promises.ts';
import { RecordRejected, TierRequired, isRecordRejection } from '../../upstream/errors.ts';
import { asObjects } from '../types/decode.ts';
import { type Page, emptyPage, listIdOf, pageOf, windowOf } from '../types/paging.ts';
import type { Context } from './builder.ts';
import { endpointOf } from './declarations.ts';
import { type ParentRecord, type Resolution, type StartedCall, embeddedRecord, startCall } from './field-call.ts';
import type { FieldRule } from './field-rule.ts';
import { loadMissing, namesOrId } from './load-record.ts';
import { resolveRecords } from './resolve-record.ts';
import { listedBy } from './variants.ts';

export type Resolver = GraphQLFieldResolver<ParentRecord, Context, object>;

/** Resolves a field by its plan. */
export type EngineResolver = (parent: ParentRecord, resolution: Resolution) => unknown;

/** For a field whose own resolver returns records from its parent. */
export function recordResolver(rule: FieldRule, inner: Resolver, info: GraphQLResolveInfo): EngineResolver {
  return (parent, resolution) => {
    const value: unknown = inner(parent, resolution.args, resolution.context, info);
    const listed = representationOfPage(parent);
    const representation = listed ?? rule.representation ?? wholeRepresentation;
    return resolveRecords(value, resolution, representation, listed !== undefined);
  };
}

/** The names that the items of a page provide, if the parent is a page or one of its edges. */
function representationOfPage(parent: unknown): Representation | undefined {
  const { page = parent } = (parent ?? {}) as { page?: unknown };
  return typeof page === 'object' && page !== null && 'items' in page && 'representation' in page
    ? (page as Page<unknown>).representation
    : undefined;
}

/** Members that identify the items of a list; undefined if they have no id. */
type Keys = readonly string[] | undefined;

/** For a field with an endpoint. */
export function callResolver(rule: FieldRule, keys: Keys): EngineResolver {
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
      if (member === undefined && endpointOf(rule, args).list === undefined) return null;
      if (member !== unreadable) {
        const fromMember = () => fromEmbedded(parent, member, resolution);
        return omitsAny(member, plan.mayOmit)
          ? unlessRefused(() => call(parent, resolution), fromMember)
          : fromMember();
      }
    }
    const record = embeddedRecord(parent, resolution);
    if (record === undefined) return call(parent, resolution);
    return record && fromEmbedded(parent, record, resolution);
  };

  function call(parent: ParentRecord, resolution: Resolution): unknown {
    const started = startCall(parent, resolution);
    return withValue(started.response, (response) => {
      if (response === null || response === undefined) return null;
      return resolveResult(valueOf(started, response, parent, resolution, keys), returned, resolution);
    });
  }

  function fromEmbedded(parent: ParentRecord, member: unknown, resolution: Resolution): unknown {
    return resolveResult(embeddedValue(parent, member, resolution, keys), rule.embedded!.representation, resolution);
  }

  function resolveResult(value: unknown, representation: Representation, resolution: Resolution): unknown {
    return rule.pageSize === undefined ? resolveRecords(value, resolution, representation, true) : value;
  }
}

const omitsAny = (items: unknown, names: readonly string[]): boolean =>
  names.length > 0 && asObjects(items as object[]).some((item) => names.some((name) => !(name in item)));

/** The result of the call, or of the embedded member if the caller's tier may not make the call. */
async function unlessRefused(call: () => unknown, fromMember: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TierRequired || error instanceof RecordRejected) return fromMember();
    throw error;
  }
}

const unreadable = Symbol('unreadable');

/** A member of the record; `unreadable` if the caller's tier may not load the record, because it may still load the list. */
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
  { paging }: StartedCall,
  response: unknown,
  parent: ParentRecord,
  { plan: { rule, variants }, args, context: { viewer } }: Resolution,
  keys: Keys,
): unknown {
  if (!paging) return rule.mapResponse!(response, args, parent);
  const { endpoint, input, window, listId } = paging;
  const members = rule.items ? rule.items(response, parent, args) : (response as ParentRecord)[endpoint.list!];
  if (variants) listedBy(asItems(members), { endpoint, input, variants });
  const totalIsCapped = rule.totalIsCapped?.(response, viewer, args) ?? false;
  const representation = rule.representation ?? wholeRepresentation;
  return pageOf(response as object, asItems(members), window, { listId, representation, keys, totalIsCapped });
}

const asItems = (members: unknown): readonly object[] => (Array.isArray(members) ? (members as object[]) : []);

const anybody = { isLoggedIn: false, filmTier: null };

/** The value of a field from an embedded member, which stands in for the response. */
function embeddedValue(parent: ParentRecord, member: unknown, { plan, args }: Resolution, keys: Keys): unknown {
  const { rule } = plan;
  const { representation, upTo } = rule.embedded!;
  const endpoint = endpointOf(rule, args);
  const { list } = endpoint;
  if (rule.pageSize === undefined) {
    if (member === null) return null;
    return rule.mapResponse!(list ? { [list]: member } : member, args, parent);
  }
  const listId = lazily(() => listIdOf(endpoint, rule.input!(parent, args, anybody)));
  const window = windowOf(args, rule.pageSize, listId);
  const items = asItems(rule.items ? rule.items({ [list!]: member }, parent, args) : member);
  return pageOf({ count: upTo }, items, window, { listId, representation, keys, totalIsCapped: false });
}

/** Loads the record with the key in the arguments; calls below it that need only the key start with it. */
function lookUp(resolution: Resolution): unknown {
  const { plan, args, context } = resolution;
  const reference = plan.rule.input!({}, args, context.viewer) as ParentRecord;
  const selection = plan.onlySelection!;
  return loadMissing(reference, selection, namesOrId(selection), 'named', resolution);
}
