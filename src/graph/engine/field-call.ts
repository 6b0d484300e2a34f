/** The upstream call of a field: whether it is needed, and starting it. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import { withMembers } from '../../lib/objects.ts';
import type { Context } from './builder.ts';
import { endpointOf } from './declarations.ts';
import type { Variables } from './document.ts';
import { type Window, listOf, windowInput, windowOf } from '../types/connection.ts';
import type { FieldPlan } from './operation-plan.ts';
import { lazily } from '../../lib/promises.ts';

/** A record, a page or an entry: what the fields below it are resolved from. */
export type Parent = Record<string, unknown>;

/** Where in a run a field is answered: its place in the response, and the variables that its arguments may take. */
export interface At {
  path: Path;
  variables: Variables;
}

export interface StartedCall {
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
export function startCall(
  { rule, names }: FieldPlan,
  parent: Parent,
  args: object,
  { upstream, viewer }: Context,
  { path }: At,
): StartedCall {
  const endpoint = endpointOf(rule, args);
  const input = rule.input!(parent, args, viewer);
  if (rule.first === undefined) return { answer: upstream.list(endpoint, input, names, path), paging: undefined };
  const paging = pagingOf(endpoint, input, args, rule.first);
  const answer = upstream.list(endpoint, withMembers(input, windowInput(endpoint, paging.window)), names, path);
  return { answer, paging };
}

function pagingOf(endpoint: Endpoint, input: object, args: object, first: number): Paging {
  const list = lazily(() => listOf(endpoint, input));
  return { endpoint, window: windowOf(args, first, list), list };
}

/** A single record that the parent holds with all that is wanted of it, as the answer to a write does; undefined where it does not. */
export function heldWhole({ rule, mode, below }: FieldPlan, parent: Parent, args: object): object | null | undefined {
  const { hand } = rule;
  if (mode !== 'ask' || !hand || hand.when || rule.first !== undefined || endpointOf(rule, args).list) return undefined;
  if (!Object.prototype.propertyIsEnumerable.call(parent, hand.name)) return undefined;
  const member = parent[hand.name];
  if (typeof member !== 'object' || member === null) return member === null ? null : undefined;
  return [...below.values()].every(({ names }) => names.every((name) => name in member)) ? member : undefined;
}
