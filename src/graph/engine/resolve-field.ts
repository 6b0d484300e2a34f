/**
 * Resolves a field by its plan: from the parent, from an embedded member, from a call, or from a record looked up by its key. A record
 * that has all its selected fields passes through synchronously.
 */
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { type Representation, wholeRepresentation } from '../../api/endpoint.ts';
import { asError, withValue } from '../../lib/promises.ts';
import { RecordRejected, TierRequired, isRecordRejection } from '../../upstream/errors.ts';
import { withThrowingFields } from '../../upstream/loading/record-state.ts';
import { asObjects } from '../types/decode.ts';
import { type Page, emptyPage, pageOf } from '../types/paging.ts';
import type { Context } from './builder.ts';
import { endpointOf } from './declarations.ts';
import { type Paging, type ParentRecord, type Resolution, embeddedRecord, requestOf, startCall } from './field-call.ts';
import type { FieldRule } from './field-rule.ts';
import { loadMissing } from './load-record.ts';
import { namesOrId } from './plan-load.ts';
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
          ? callOrEmbedded(() => call(parent, resolution), fromMember, plan.mayOmit)
          : fromMember();
      }
    }
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
    if (member === null && rule.pageSize === undefined) return null;
    const { representation, upTo } = rule.embedded!;
    const { endpoint, paging } = requestOf(resolution.plan, parent, resolution.args);
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
    const { endpoint, input, window, listId } = paging;
    const members = rule.items ? rule.items(response, parent, args) : (response as ParentRecord)[endpoint.list!];
    const items = Array.isArray(members) ? (members as object[]) : [];
    if (plan.variants) listedBy(items, { endpoint, input, variants: plan.variants });
    const totalIsCapped = rule.totalIsCapped?.(response, context.viewer, args) ?? false;
    return pageOf(response as object, items, window, { listId, representation, keys, totalIsCapped });
  }
}

const omitsAny = (items: unknown, names: readonly string[]): boolean =>
  names.length > 0 && asObjects(items as object[]).some((item) => names.some((name) => !(name in item)));

/** The list of the call; if there is none, the embedded page, in which the names that its items omit have the error of the call. */
async function callOrEmbedded(call: () => unknown, embedded: () => unknown, mayOmit: readonly string[]) {
  try {
    const list = await call();
    return list ?? embedded();
  } catch (error) {
    const page = embedded() as Page<ParentRecord>;
    if (error instanceof TierRequired || error instanceof RecordRejected) return page;
    const withErrors = (item: ParentRecord) => {
      const omitted = mayOmit.filter((name) => !(name in item));
      return withThrowingFields(item, omitted, () => asError(error));
    };
    return { ...page, items: page.items.map((item) => item && withErrors(item)) };
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

/** Loads the record with the key in the arguments; calls below it that need only the key start with it. */
function lookUp(resolution: Resolution): unknown {
  const { plan, args } = resolution;
  const reference = plan.rule.input!({}, args) as ParentRecord;
  const selection = plan.onlySelection!;
  return loadMissing(reference, selection, namesOrId(selection), 'named', resolution);
}
