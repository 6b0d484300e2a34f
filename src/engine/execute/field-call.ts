/** The upstream call of a field: its input, its start, and whether the parent already embeds the result. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { IsParentAbsent } from '../../upstream/loading/response-loader.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { withMembers } from '../../lib/objects.ts';
import { lazily } from '../../lib/promises.ts';
import { type PageWindow, listIdOf, windowInput, windowOf } from '../values/paging.ts';
import type { Context } from '../context.ts';
import { endpointOf } from '../plan/read-declarations.ts';
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
  /** With the window, without the variant. */
  input: object;
  window: PageWindow;
  listId: () => string;
}

/** What a field requests. Throws if its arguments are wrong. */
export function requestOf(
  { rule, variants, needsNoItems }: PlannedField,
  parent: ParentRecord,
  args: object,
): FieldRequest {
  const endpoint = endpointOf(rule, args);
  const input = rule.input!(parent, args);
  if (rule.pageSize === undefined) return { endpoint, input, paging: undefined };
  const listId = lazily(() => listIdOf(endpoint, input));
  const window = windowOf(args, rule.pageSize, listId);
  const paged = withMembers(input, windowInput(endpoint, needsNoItems ? { ...window, first: 1 } : window));
  return { endpoint, input: inVariant(paged, variants), paging: { endpoint, input: paged, window, listId } };
}

/** Makes the call of a field. Equal calls of an operation are made once. */
export function startCall(
  parent: ParentRecord,
  { plan, args, context, path }: Resolution,
  isParentAbsent?: IsParentAbsent,
): StartedCall {
  const item = itemInVariant(plan.rule, parent, args, plan.members, context, path);
  if (item !== undefined) return { response: item, paging: undefined };
  const { endpoint, input, paging } = requestOf(plan, parent, args);
  const members = plan.recordMembers ?? plan.members;
  const response = context.upstream.responses.load(endpoint, input, members, path, isParentAbsent, plan.needsNoItems);
  return { response, paging };
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
