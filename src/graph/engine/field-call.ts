/** The upstream call of a field: whether it is needed, and starting it. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import { withMembers } from '../../lib/objects.ts';
import type { Context } from './builder.ts';
import { endpointOf } from './declarations.ts';
import type { Variables } from './document.ts';
import { type PageWindow, listIdOf, windowInput, windowOf } from '../types/connection.ts';
import type { PlannedField } from './operation-plan.ts';
import { lazily } from '../../lib/promises.ts';

/** A record, a page or an entry: what the fields below it are resolved from. */
export type ParentRecord = Record<string, unknown>;

/** Where in a run a field is answered: its place in the response, and the variables that its arguments may take. */
export interface FieldPosition {
  path: Path;
  variables: Variables;
}

export interface StartedCall {
  response: unknown;
  /** Of a list. */
  paging: Paging | undefined;
}
interface Paging {
  endpoint: Endpoint;
  window: PageWindow;
  list: () => string;
}

/** Makes the call of a field, or finds it on its way: equal calls of an operation are one. */
export function startCall(
  { rule, names }: PlannedField,
  parent: ParentRecord,
  args: object,
  { upstream, viewer }: Context,
  { path }: FieldPosition,
): StartedCall {
  const endpoint = endpointOf(rule, args);
  const input = rule.input!(parent, args, viewer);
  if (rule.pageSize === undefined) return { response: upstream.list(endpoint, input, names, path), paging: undefined };
  const paging = pagingOf(endpoint, input, args, rule.pageSize);
  const response = upstream.list(endpoint, withMembers(input, windowInput(endpoint, paging.window)), names, path);
  return { response, paging };
}

function pagingOf(endpoint: Endpoint, input: object, args: object, first: number): Paging {
  const list = lazily(() => listIdOf(endpoint, input));
  return { endpoint, window: windowOf(args, first, list), list };
}

/** A single record that the parent holds with all that is wanted of it, as the answer to a write does; undefined where it does not. */
export function embeddedWhole(
  { rule, mode, selections }: PlannedField,
  parent: ParentRecord,
  args: object,
): object | null | undefined {
  const { embedded } = rule;
  if (mode !== 'call' || !embedded || embedded.when || rule.pageSize !== undefined || endpointOf(rule, args).list)
    return undefined;
  if (!Object.prototype.propertyIsEnumerable.call(parent, embedded.member)) return undefined;
  const member = parent[embedded.member];
  if (typeof member !== 'object' || member === null) return member === null ? null : undefined;
  return [...selections.values()].every(({ names }) => names.every((name) => name in member)) ? member : undefined;
}
