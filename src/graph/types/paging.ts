/** Pages of lists: the window that arguments select, the cursors, and the page made from a response. */
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import { badInput, requireRange } from '../errors/to-client-error.ts';
import { asInt, asText, isReadableId } from './decode.ts';

/** The largest `first`. */
export const FIRST_MAX = 100;

/** One page of a list, as a connection shows it. */
export interface Page<Item> {
  /** In the order of the list. An item that cannot be shown is null, so that positions stay right. */
  items: readonly (Item | null)[];
  /** The position of the first item in the list. */
  start: number;
  total: number | null;
  totalIsCapped: boolean;
  hasNext: boolean;
  title: string | null;
  /** The response, with its members about the list itself. */
  envelope: object;
  /** Identifies the list in cursors; computed only when a cursor is read or shown. */
  listId: () => string;
  /** The names that its items provide. */
  representation: Representation;
}

export interface PageWindow {
  first: number;
  start: number;
}

/** The arguments of every connection. */
export interface PagingArgs {
  first?: number | null;
  after?: string | null;
  offset?: number | null;
}

/** The window that the arguments select; throws if they are wrong. */
export function windowOf({ first, after, offset }: PagingArgs, pageSize: number, listId: () => string): PageWindow {
  requireRange('first', first, 1, FIRST_MAX);
  if (after != null && offset != null) throw badInput('Give `after` or `offset`, not both.', { argument: 'offset' });
  if (offset != null && offset < 0) throw badInput('`offset` must be 0 or more.', { argument: 'offset' });
  return { first: first ?? pageSize, start: after != null ? decodeCursor(listId(), after) + 1 : (offset ?? 0) };
}

/** The window as parameters of the endpoint. */
export const windowInput = (endpoint: Endpoint, { first, start }: PageWindow): object =>
  endpoint.service === 'events' ? { 'start-index': start + 1, 'max-results': first } : { start, count: first };

/** Identifies a list by its path and filters, without the window. */
export function listIdOf(endpoint: Endpoint, input: object): string {
  const filters = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  return fingerprint(JSON.stringify([endpoint.path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]));
}

interface ListResponse {
  total?: unknown;
  totalResults?: unknown;
  count?: unknown;
  itemsPerPage?: unknown;
  title?: unknown;
}

interface PageOptions extends Pick<Page<unknown>, 'listId' | 'representation' | 'totalIsCapped'> {
  /** Members that identify an item if it has no `id`; without these too it is left out. Undefined if items have no id. */
  keys: readonly string[] | undefined;
}

export function pageOf<Item>(
  response: ListResponse,
  items: readonly (Item | null | undefined)[],
  { first, start }: PageWindow,
  { listId, representation, keys, totalIsCapped }: PageOptions,
): Page<Item> {
  const total = asInt(response.total ?? response.totalResults);
  // Some endpoints have a smaller maximum of their own and return it.
  const full = Math.min(first, asInt(response.count ?? response.itemsPerPage) || first);
  const hasNext =
    items.length > 0 && (total === null || totalIsCapped ? items.length >= full : start + items.length < total);
  return {
    items: items.slice(0, first).map((item) => (isReadable(item, keys) ? item : null)),
    start,
    total: total === null || total < 0 ? null : total,
    totalIsCapped,
    hasNext: hasNext || items.length > first,
    title: asText(response.title).trim() || null,
    envelope: response,
    listId,
    representation,
  };
}

export const emptyPage = (representation: Representation): Page<never> =>
  pageOf(
    { total: 0 },
    [],
    { first: 0, start: 0 },
    { listId: () => '', representation, keys: undefined, totalIsCapped: false },
  );

function isReadable<Item>(item: Item | null | undefined, keys: readonly string[] | undefined): item is Item {
  if (typeof item !== 'object' || item === null) return false;
  const record = item as Record<string, unknown>;
  return !keys || isReadableId(record.id) || keys.every((name) => isReadableId(record[name]));
}

export const encodeCursor = (listId: string, position: number): string =>
  Buffer.from(`${listId}:${position}`).toString('base64url');

function decodeCursor(listId: string, cursor: string): number {
  const [, of, position] = /^([0-9a-z]+):(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (!position) throw badInput('This is not a cursor.', { argument: 'after' });
  if (of !== listId) throw badInput('This cursor belongs to another list, or to other filters.', { argument: 'after' });
  return Number(position);
}

/** FNV-1a, 32 bits: it distinguishes lists and has no security purpose. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
