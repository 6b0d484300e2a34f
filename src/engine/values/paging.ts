/** Pages of lists: the window that arguments select, the cursors, and the page made from a response. */
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import { badInput, requireRange } from '../errors/to-client-error.ts';
import { asFloat, asInt, asText, isReadableId } from './decode.ts';
import { type Anchor, type NewestFirst, anchorAt, decodeAnchor, encodeAnchor, passedItems } from './newest-first.ts';

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
  /** Whether the order of the list is a ranking. */
  isRanked: boolean;
  hasNext: boolean;
  title: string | null;
  /** The response, with its members about the list itself. */
  envelope: object;
  /** Identifies the list in cursors; computed only when a cursor is read or shown. */
  listId: () => string;
  /** The members that its items provide. */
  representation: Representation;
  /** Set for a list that is ordered by time. */
  newestFirst: NewestFirst | undefined;
  /** The item that it starts after, if its cursor names it. */
  behind: Anchor | undefined;
  /** An empty page that goes backward has the cursor of its start, where the next one ends. */
  isBackward?: boolean;
}

export interface PageWindow {
  first: number;
  start: number;
  /** The item of the cursor, in a list that is ordered by time. */
  behind: Anchor | undefined;
  /** The last `size` nodes from a position up to position `end`, or to the end of the list: of a page that goes backward. */
  backward?: { size: number; from: number; end: number | undefined };
}

/** The arguments of every connection. */
export interface PagingArgs {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  offset?: number | null;
  /** What a field that tells changes takes instead of a cursor. */
  since?: string | null;
}

/** The window that the arguments select; throws if they are wrong. */
export function windowOf(args: PagingArgs, pageSize: number, listId: () => string): PageWindow {
  const { first, after, offset } = args;
  requireRange('first', first, 1, FIRST_MAX);
  if (after != null && offset != null) throw badInput('Give `after` or `offset`, not both.', { argument: 'offset' });
  if (offset != null && offset < 0) throw badInput('`offset` must be 0 or more.', { argument: 'offset' });
  const window: PageWindow = { first: first ?? pageSize, start: offset ?? 0, behind: undefined };
  if (after != null) {
    const { position, behind } = decodeCursor(listId(), 'after', after);
    window.start = position + 1;
    window.behind = behind;
  }
  return args.last == null && args.before == null ? window : windowBefore(args, window.start, pageSize, listId);
}

export const goesBackward = ({ first, last, before }: PagingArgs): boolean =>
  last != null || (before != null && first == null);

/** The window of a page that ends before a cursor, or with the list. */
function windowBefore(
  { first, last, before, offset }: PagingArgs,
  from: number,
  pageSize: number,
  listId: () => string,
): PageWindow {
  requireRange('last', last, 1, FIRST_MAX);
  if (first != null && last != null) throw badInput('Give `first` or `last`, not both.', { argument: 'last' });
  if (offset != null)
    throw badInput('`offset` counts from the beginning: give it without `last` and `before`.', { argument: 'offset' });
  const end = before == null ? undefined : decodeCursor(listId(), 'before', before).own;
  if (first != null) return { first: Math.min(first, Math.max(0, end! - from)), start: from, behind: undefined };
  const size = last ?? pageSize;
  // Without an end, the first page shows whether it is the last one too.
  const start = end === undefined ? from : Math.max(from, end - size);
  const most = end === undefined ? size : Math.max(0, end - start);
  return { first: most, start, behind: undefined, backward: { size, from, end } };
}

/** The window as parameters of the endpoint, at least one item. */
export const windowInput = (
  { paging }: Endpoint,
  { first: size, start }: Pick<PageWindow, 'first' | 'start'>,
): object =>
  paging === 'start-index' ? { 'start-index': start + 1, 'max-results': size || 1 } : { start, count: size || 1 };

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

interface PageOptions extends Pick<
  Page<unknown>,
  'listId' | 'representation' | 'totalIsCapped' | 'newestFirst' | 'isRanked'
> {
  /** Members that identify an item if it has no `id`; without these too it is left out. Undefined if items have no id. */
  keys: readonly string[] | undefined;
}

export function pageOf<Item>(
  response: ListResponse,
  items: readonly (Item | null | undefined)[],
  { first, start, behind, backward }: PageWindow,
  { listId, representation, keys, totalIsCapped, newestFirst, isRanked }: PageOptions,
  /** Set if only the list is shown: the response may be of another window. */
  needsNoItems = false,
): Page<Item> {
  const counted = totalOf(response);
  const shown = items.slice(0, first);
  const from = needsNoItems ? (statedStart(response) ?? 0) : start;
  const total = totalIsCapped ? counted : plausible(counted, from, shown.length);
  const next = items.length > first || first === 0 ? null : nextStart(response, start);
  const end = next ?? start + shown.length;
  // Some endpoints have a smaller maximum of their own and return it.
  const full = Math.min(first, statedCount(response, first));
  // The end has been passed, although the page is said to be the requested one.
  const isPast = counted !== null && counted <= from && shown.length <= counted && !totalIsCapped;
  const hasMore =
    total === null || totalIsCapped
      ? items.length > 0 && (items.length >= full || next !== null)
      : end > start && end < total;
  const passed = newestFirst && behind ? passedItems(shown, newestFirst, behind) : 0;
  return {
    items: shown.map((item, at) => (at >= passed && isReadable(item, keys) ? item : null)),
    start,
    end,
    total,
    totalIsCapped,
    isRanked,
    hasNext: !isPast && (hasMore || items.length > first),
    title: asText(response.title).trim() || null,
    envelope: response,
    listId,
    representation,
    newestFirst,
    behind,
    isBackward: backward !== undefined,
  };
}

/** A negative total, or one below what was shown, is wrong: null. */
const plausible = (total: number | null, start: number, shown: number): number | null =>
  total !== null && (total < 0 || (shown > 0 && start + shown > total)) ? null : total;

/**
 * Where to read a page that goes backward, now that a response tells how long the list is or how short its pages are; null if this response
 * is that page. Throws if the end of the list is not known.
 */
export function windowBackward(
  response: ListResponse,
  received: number,
  { start, first, backward }: PageWindow,
  totalIsCapped: boolean,
  needsNoItems: boolean,
): { start: number; first: number } | null {
  const { size, from, end } = backward!;
  const shown = Math.min(received, first);
  const readFrom = needsNoItems ? (statedStart(response) ?? 0) : start;
  const total = totalIsCapped ? null : plausible(totalOf(response), readFrom, shown);
  if (end === undefined && total === null)
    throw badInput('The service does not say how long this list is: give `before` with `last`.', { argument: 'last' });
  if (needsNoItems) return null;
  const until = Math.min(end ?? Infinity, total ?? Infinity);
  const read = Math.max(shown, (nextStart(response, start) ?? 0) - start);
  // A page may be shorter than requested: more items follow, or the service states its own maximum.
  const isCut = read > 0 && (total !== null || statedCount(response, first) < first);
  const isShort = start + read < until && (end === undefined || isCut);
  if (!isShort && (start < until || until <= from)) return null;
  const begin = Math.max(from, until - (isShort ? Math.min(size, read || size) : size));
  return { start: begin, first: until - begin };
}

export const totalOf = ({ total, totalResults }: ListResponse): number | null => asInt(total ?? totalResults);

/** Where the service says that the next page begins; null if it does not say. */
function nextStart({ next_start }: ListResponse, start: number): number | null {
  const next = asFloat(next_start);
  return next !== null && Number.isInteger(next) && next > start && next <= POSITION_MAX ? next : null;
}

export const statedCount = ({ count, itemsPerPage }: ListResponse, first: number): number =>
  asInt(count ?? itemsPerPage) || first;

const statedStart = ({ start, startIndex }: ListResponse): number | null =>
  asInt(start ?? (asInt(startIndex) ?? NaN) - 1);

/** The cursor of an item. In a list that is ordered by time it names the item, or the one before it that can be shown. */
export function cursorOf(page: Page<unknown>, index: number): string {
  const { items, newestFirst, behind, total } = page;
  const position = positionOf(page, index);
  const own = newestFirst ? position : ownPosition(page, index);
  const text = `${page.listId()}:${own === position ? '' : `${own}-`}${position}`;
  let shown = index;
  while (shown >= 0 && items[shown] === null) shown--;
  const key = newestFirst && (shown < 0 ? behind : anchorAt(items, shown, newestFirst, total));
  return Buffer.from(key ? `${text}:${encodeAnchor({ ...key, total })}` : text).toString('base64url');
}

/**
 * The position of the item itself, for a page before it. Where the service leaves out items, only that of the first is certain: of others it
 * may be further on than they are, so that a page before them rather repeats an item than leaves one out.
 */
const ownPosition = ({ items, start, end }: Pick<Page<unknown>, 'items' | 'start' | 'end'>, index: number): number =>
  index === 0 ? start : Math.max(start + index, end - items.length + index);

/** The position of an item, for its cursor. The last one stands for the end of the page. */
function positionOf({ items, start, end }: Pick<Page<unknown>, 'items' | 'start' | 'end'>, index: number): number {
  return index === items.length - 1 ? end - 1 : Math.min(start + index, end - 1);
}

export function emptyPage(representation: Representation): Page<never> {
  const window = { first: 0, start: 0, behind: undefined };
  const options = { keys: undefined, totalIsCapped: false, newestFirst: undefined, isRanked: false };
  return pageOf({ total: 0 }, [], window, { listId: () => '', representation, ...options });
}

function isReadable<Item>(item: Item | null | undefined, keys: readonly string[] | undefined): item is Item {
  if (typeof item !== 'object' || item === null) return false;
  const record = item as Record<string, unknown>;
  return !keys || isReadableId(record.id) || keys.every((name) => isReadableId(record[name]));
}

interface Cursor {
  position: number;
  /** The position at which a page before it ends. */
  own: number;
  behind: Anchor | undefined;
}

function decodeCursor(listId: string, argument: 'after' | 'before', cursor: string): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, of, own, position, item] = /^([0-9a-z]+):(?:(\d{1,9})-)?(\d{1,9})(?::(.*))?$/.exec(text) ?? [];
  const behind = item === undefined ? undefined : decodeAnchor(item);
  if (!position || (item !== undefined && !behind)) throw badInput('This is not a cursor.', { argument });
  if (of !== listId) throw badInput('This cursor belongs to another list.', { argument });
  return { position: Number(position), own: Number(own ?? position), behind };
}

/** FNV-1a, 32 bits: it distinguishes lists and has no security purpose. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
