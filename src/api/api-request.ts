/** The request of an endpoint, before it is one of HTTP. */
import type { Endpoint } from './endpoint.ts';

/** The request of an endpoint with an input. */
export interface ApiRequest {
  readonly endpoint: Endpoint;
  readonly input: object;
  /** The members of the response that are requested, sorted; undefined for all. */
  readonly members: readonly string[] | undefined;
  /** Path and query as sent; equal requests have equal texts. */
  readonly wirePath: string;
}

/** The Atom service has no parameter for members: it sends all. */
export function createApiRequest(endpoint: Endpoint, input: object, requested?: readonly string[]): ApiRequest {
  const members = endpoint.hasFields ? requested : undefined;
  return { endpoint, input, members, wirePath: pathOf(endpoint, input, members) };
}

/** Fills in the path. The other values of a read's input and the members become the query, sorted by name. */
function pathOf({ params, between, method }: Endpoint, input: object, members?: readonly string[]): string {
  const values = input as Record<string, unknown>;
  let filled = between[0]!;
  for (let at = 0; at < params.length; at++) {
    const value = values[params[at]!];
    // Nothing, a dot segment, which leads to another path however it is encoded, or what has no text of its own.
    if (typeof value === 'string' ? /^\.{0,2}$/.test(value) : typeof value !== 'number' && typeof value !== 'bigint')
      throw new UnusablePath(params[at]!, value);
    filled += encoded(value) + between[at + 1]!;
  }
  if (method !== 'GET') return filled;
  const names: string[] = [];
  for (const name in values) if (values[name] != null && !params.includes(name)) insert(names, name);
  if (members) insert(names, FIELDS);
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    const value = name === FIELDS && members ? members.join(',') : values[name];
    filled += `${at === 0 ? '?' : '&'}${name}=${encoded(value)}`;
  }
  return filled;
}

/** A value that cannot be a part of a path: nothing is called. */
export class UnusablePath extends Error {
  readonly parameter: string;
  /** Somebody gave it: what a response lacks is no text. */
  readonly isGiven: boolean;

  constructor(parameter: string, value: unknown) {
    super(`the parameter ${parameter} of the path is empty, a dot segment, or neither a text nor a number`);
    this.parameter = parameter;
    this.isGiven = typeof value === 'string' && value !== '';
  }
}

/** For plans: undefined if the request cannot be made, which its field reports when it is run. */
export function requestIfUsable(...request: Parameters<typeof createApiRequest>): ApiRequest | undefined {
  try {
    return createApiRequest(...request);
  } catch (error) {
    if (error instanceof UnusablePath) return undefined;
    throw error;
  }
}

const FIELDS = 'fields';

/** Inserts into a short sorted list; cheaper than sorting, which copies it. */
export function insert(names: string[], name: string): void {
  let at = names.length;
  for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!;
  names[at] = name;
}

/** Lone surrogates are replaced, because `encodeURIComponent` throws on them. */
function encoded(value: unknown): string {
  const text = String(value);
  if (/^[\w.~,-]*$/.test(text)) return text;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%2C', ',');
}

/** Method and path: upstream names requests like this in its errors. */
export function requestLine(method: string, wirePath: string): string {
  const query = wirePath.indexOf('?');
  return `${method} ${query < 0 ? wirePath : wirePath.slice(0, query)}`;
}

/** A part of a list; the first item is 0. */
export interface ListWindow {
  start: number;
  count: number;
}

/** Position and number of items, by the `paging` of an endpoint. */
export const windowNames = { start: ['start', 'count'], 'start-index': ['start-index', 'max-results'] } as const;

/** The window of a request; undefined if it has none. */
export function windowFor({ endpoint: { list, paging }, input }: ApiRequest): ListWindow | undefined {
  const [startName, countName] = windowNames[paging];
  const { [startName]: start, [countName]: count } = input as Record<string, unknown>;
  if (list === undefined || typeof count !== 'number') return undefined;
  return { start: typeof start === 'number' ? start - (paging === 'start' ? 0 : 1) : 0, count };
}
