/** Pages of lists: the window that arguments select, the cursors, and the page made from a response. */
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import { badInput, requireRange } from '../errors/to-client-error.ts';
import { asFloat, asInt, asText, isReadableId } from './decode.ts';

/** The largest `first`. */
export const FIRST_MAX = 100;

/** The largest position that a cursor can have. */
const POSITION_MAX = 999_999_999;

/** One page of a list, as a connection shows it. */
export interface Page<Item> {
  /** In the order of the list. An item that cannot be shown is null, so that positions stay right. */
  items: readonly (Item | null)[];
  /** The position of the first item in the list. */
  start: number;
  /** The position of the next page. It may be further on than the items reach, because the service leaves out some. */
  end: number;
  total: number | null;
  totalIsCapped: boolean;
  hasNext: boolean;
  title: string | null;
  /** The response, with its members about the list itself. */
  envelope: object;
  /** Identifies the list in cursors; computed only when a cursor is read or shown. */
  listId: () => string;
  /** The members that its items provide. */
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
  endpoint.paging === 'start-index' ? { 'start-index': start + 1, 'max-results': first } : { start, count: first };

/** Identifies a list by its path and filters, without the window. */
export function listIdOf(endpoint: Endpoint, input: object): string {
  const filters = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  return fingerprint(JSON.stringify([endpoint.path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]));
}

interface ListResponse {
  total?: unknown;
  totalResults?: unknown;
  start?: unknown;
  startIndex?: unknown;
  next_start?: unknown;
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
  received: readonly (Item | null | undefined)[],
  { first, start }: PageWindow,
  { listId, representation, keys, totalIsCapped }: PageOptions,
): Page<Item> {
  const counted = asInt(response.total ?? response.totalResults);
  const items = isLastPageInstead(response, received.length, start, counted) ? [] : received;
  const shown = items.slice(0, first);
  // A negative total, or one below what was shown, is wrong.
  const isWrong = counted !== null && (counted < 0 || (shown.length > 0 && start + shown.length > counted));
  const total = isWrong && !totalIsCapped ? null : counted;
  const next = items.length > first ? null : nextStart(response, start);
  const end = next ?? start + shown.length;
  // Some endpoints have a smaller maximum of their own and return it.
  const full = Math.min(first, asInt(response.count ?? response.itemsPerPage) || first);
  const hasNext =
    total === null || totalIsCapped
      ? items.length > 0 && (items.length >= full || next !== null)
      : end > start && end < total;
  return {
    items: shown.map((item) => (isReadable(item, keys) ? item : null)),
    start,
    end,
    total,
    totalIsCapped,
    hasNext: hasNext || items.length > first,
    title: asText(response.title).trim() || null,
    envelope: response,
    listId,
    representation,
  };
}

/** Where the service says that the next page begins; null if it does not say. */
function nextStart({ next_start }: ListResponse, start: number): number | null {
  const next = asFloat(next_start);
  return next !== null && Number.isInteger(next) && next > start && next <= POSITION_MAX ? next : null;
}

/** Whether the service returned its last page because the requested one lies beyond the end. */
function isLastPageInstead(response: ListResponse, length: number, start: number, total: number | null): boolean {
  const from = asInt(response.start ?? (asInt(response.startIndex) ?? NaN) - 1);
  // Services exist that always say 0.
  return from !== null && from + length <= start && (total === null ? from > 0 : start >= total);
}

/** The position of an item, for its cursor. The last one stands for the end of the page. */
export function positionOf(
  { items, start, end }: Pick<Page<unknown>, 'items' | 'start' | 'end'>,
  index: number,
): number {
  return index === items.length - 1 ? end - 1 : Math.min(start + index, end - 1);
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
