/** The upstream call of a field: its input, its start, and whether the parent already embeds the result. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { IsParentAbsent } from '../../upstream/loading/response-loader.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { listIn, withMembers } from '../../lib/objects.ts';
import { lazily, withValue } from '../../lib/promises.ts';
import type { Progress } from '../values/list-changes.ts';
import { type NewestFirst, windowToReadAgain } from '../values/newest-first.ts';
import {
  type PageWindow,
  type PagingArgs,
  listIdOf,
  windowBackward,
  totalOf,
  windowInput,
  windowOf,
} from '../values/paging.ts';
import { progressOf } from '../values/since.ts';
import { badInput } from '../errors/to-client-error.ts';
import type { Context } from '../context.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { endpointOf, timeOrderOf } from '../plan/read-declarations.ts';
import type { Variables } from '../plan/document.ts';
import type { PlannedField } from '../plan/operation-plan.ts';
import { inVariant, itemInVariant } from './listed-variants.ts';

/** A record, a page or an edge: the source object of the fields below it. */
export type ParentRecord = Record<string, unknown>;

/** A field that is being resolved for one parent: its plan and arguments, its path in the response, and the variables for fields below. */
export interface Resolution {
  plan: PlannedField;
  args: object;
  context: Context;
  path: Path;
  variables: Variables;
}

interface StartedCall {
  response: unknown;
  paging: Paging | undefined;
}
interface FieldRequest {
  endpoint: Endpoint;
  input: object;
  /** Set for connections. */
  paging: Paging | undefined;
}
export interface Paging {
  endpoint: Endpoint;
  /** With the window, without the variant. Both change if the page must be read at another start. */
  input: object;
  window: PageWindow;
  listId: () => string;
  newestFirst: NewestFirst | undefined;
  /** What the client has, if it asks for changes. */
  progress: Progress | undefined;
}

/** What a field requests. Throws if its arguments are wrong. `operation`: one object for each. */
export function requestOf(
  { rule, variants, needsNoItems }: PlannedField,
  parent: ParentRecord,
  args: object,
  operation: object,
): FieldRequest {
  const endpoint = endpointOf(rule, args, parent);
  const input = rule.input!(parent, args);
  if (rule.pageSize === undefined) return { endpoint, input, paging: undefined };
  const listId = lazily(() => listIdOf(endpoint, input));
  const progress = rule.tellsChanges ? progressOf(args, listId, operation) : undefined;
  const window = windowOf(progress ? { after: progress.after || null } : args, rule.pageSize, listId);
  const paged = withMembers(input, windowInput(endpoint, needsNoItems ? { ...window, first: 1 } : window));
  const newestFirst = timeOrderOf(rule, args);
  if (newestFirst) requireForward(args);
  return {
    endpoint,
    input: inVariant(paged, variants),
    paging: { endpoint, input: paged, window, listId, newestFirst, progress },
  };
}

/** Makes the call of a field. Equal calls of an operation are made once. */
export function startCall(
  parent: ParentRecord,
  { plan, args, context, path }: Resolution,
  isParentAbsent?: IsParentAbsent,
): StartedCall {
  const item = itemInVariant(plan.rule, parent, args, plan.members, context, path);
  if (item !== undefined) return { response: item, paging: undefined };
  const { endpoint, input, paging } = requestOf(plan, parent, args, context);
  const members = plan.recordMembers ?? plan.members;
  const response = context.upstream.responses.load(endpoint, input, members, path, isParentAbsent, plan.needsNoItems);
  if (!paging || !mayMove(paging, plan)) return { response, paging };
  return {
    response: withValue(response, (page) => readAgainIfMoved(page, paging, parent, { plan, args, context, path })),
    paging,
  };
}

/** Whether only a response shows where the page is: its cursor names an item, or it goes backward. */
const mayMove = ({ newestFirst, window }: Paging, { needsNoItems }: PlannedField): boolean =>
  window.backward !== undefined || (newestFirst !== undefined && window.behind !== undefined && !needsNoItems);

/** What is new comes in front of a list that is ordered by time, so the start of a page is found from there only. */
function requireForward({ last, before }: PagingArgs): void {
  if (last == null && before == null) return;
  const argument = last == null ? 'before' : 'last';
  throw badInput('A list that is ordered by time goes forward only: give `first` and `after`.', { argument });
}

/** The items of a response with a list. */
export function itemsOf(
  rule: FieldRule,
  endpoint: Endpoint,
  response: unknown,
  parent: ParentRecord,
  args: object,
): readonly object[] {
  const members = rule.items ? rule.items(response, parent, args) : (response as ParentRecord)[endpoint.list!];
  return (listIn(members) ?? []) as object[];
}

/** The page itself: it is read once more if the response shows that it is elsewhere. */
function readAgainIfMoved(
  response: unknown,
  paging: Paging,
  parent: ParentRecord,
  { plan, args, context, path }: Omit<Resolution, 'variables'>,
): unknown {
  if (response === null || response === undefined) return response;
  const { endpoint, window, newestFirst } = paging;
  const { rule, needsNoItems } = plan;
  const items = itemsOf(rule, endpoint, response, parent, args);
  const isCapped = rule.totalIsCapped?.(response, context.viewer, args) ?? false;
  const again = window.backward
    ? windowBackward(response, items.length, window, isCapped, needsNoItems)
    : windowToReadAgain(items.slice(0, window.first), newestFirst!, window.behind!, {
        start: window.start,
        total: totalOf(response),
      });
  if (!again) return response;
  paging.window = { ...window, ...again };
  paging.input = withMembers(paging.input, windowInput(endpoint, paging.window));
  return context.upstream.responses.load(endpoint, inVariant(paging.input, plan.variants), plan.members, path);
}

/**
 * A single record that the parent already carries with all selected members, as the response to a write does. Null if the parent says that
 * there is none, undefined if the call is needed.
 */
export function embeddedRecord(
  parent: ParentRecord,
  { plan, args }: Pick<Resolution, 'plan' | 'args'>,
): object | null | undefined {
  const { rule, mode, selections } = plan;
  const { embedded } = rule;
  if (mode !== 'call' || !embedded || rule.variant || rule.pageSize !== undefined || endpointOf(rule, args).list)
    return undefined;
  if (!Object.prototype.propertyIsEnumerable.call(parent, embedded.member)) return undefined;
  const record = parent[embedded.member];
  if (typeof record !== 'object' || record === null) return record === null ? null : undefined;
  return [...selections.values()].every(({ members }) => members.every((member) => member in record))
    ? record
    : undefined;
}
