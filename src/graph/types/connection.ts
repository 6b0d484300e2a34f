import type { ObjectRef } from '@pothos/core';
import type { Endpoint, Representation } from '../../api/endpoint.ts';
import { asInt, asText, isReadableId } from './decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { type GraphTypes, builder } from '../engine/builder.ts';

/** The largest `first`. */
export const FIRST_MAX = 100;

type Types = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;

/** One answered window of a list: what a connection shows. */
export interface Page<Item> {
  /** In the list's order; a hole where an item could not be shown, so that positions stay true. */
  items: readonly (Item | null)[];
  /** The list position of the first item. */
  start: number;
  total: number | null;
  totalIsCapped: boolean;
  hasNext: boolean;
  title: string | null;
  /** The list that its cursors belong to: named when a cursor is read or shown. */
  listId: () => string;
  /** How whole its items are. */
  representation: Representation;
}
interface Edge<Item> {
  page: Page<Item>;
  index: number;
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
export interface ConnectionArgs {
  arg: { int(options: object): unknown; string(options: object): unknown };
}
export const pagingArgs = (t: ConnectionArgs, first: number) => ({
  first: t.arg.int({ defaultValue: first, description: `How many nodes at most, 1 to ${FIRST_MAX}.` }),
  after: t.arg.string({
    description: 'The cursor of the edge to go on from; a cursor of this very list, with the same filters.',
  }),
  offset: t.arg.int({ description: 'How many nodes to skip, to jump to a numbered page; not together with `after`.' }),
});

const connections = new WeakMap<object, ObjectRef<Types, Page<unknown>>>();

/** The connection over a type, made on first use. */
export function connectionOf<Item>(of: ObjectRef<Types, Item> | ObjectRef<never, Item>): ObjectRef<Types, Page<Item>> {
  const made = connections.get(of) ?? makeConnection(of as ObjectRef<Types, unknown>);
  connections.set(of, made);
  return made as ObjectRef<Types, Page<Item>>;
}

const PageInfo = builder.objectRef<Page<unknown>>('PageInfo').implement({
  description: 'Where a page stands in its list.',
  isWrapper: true,
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether more nodes follow; without a total, whether a full page came.',
      resolve: (page) => page.hasNext,
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether nodes stand before this page.',
      resolve: (page) => page.start > 0,
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first edge; null on an empty page.',
      resolve: (page) => (page.items.length ? encodeCursor(page.listId(), page.start) : null),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last edge, to give as `after`; null on an empty page.',
      resolve: (page) => (page.items.length ? encodeCursor(page.listId(), page.start + page.items.length - 1) : null),
    }),
  }),
});

function makeConnection(of: ObjectRef<Types, unknown>): ObjectRef<Types, Page<unknown>> {
  const name = of.name;
  const EdgeRef = builder.objectRef<Edge<unknown>>(`${name}Edge`).implement({
    description: `One ${name} at its place in a list.`,
    isWrapper: true,
    fields: (t) => ({
      cursor: t.string({
        description: 'Its place, to give as `after`.',
        resolve: ({ page, index }) => encodeCursor(page.listId(), page.start + index),
      }),
      node: t.field({
        type: of,
        description: `The ${name}.`,
        resolve: ({ page, index }) => page.items[index] as never,
      }),
    }),
  });
  return builder.objectRef<Page<unknown>>(`${name}Connection`).implement({
    description: `A page of a list of ${name} nodes, in the list's own order.`,
    isWrapper: true,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        description: 'The nodes with their cursors.',
        resolve: (page) => page.items.flatMap((item, index) => (item === null ? [] : [{ page, index }])),
      }),
      nodes: t.field({
        type: [of],
        description: 'The nodes alone.',
        resolve: ({ items }) => (items.includes(null) ? items.filter((item) => item !== null) : items) as never,
      }),
      pageInfo: t.field({ type: PageInfo, description: 'Where this page stands.', resolve: (page) => page }),
      totalCount: t.int({
        nullable: true,
        description: 'How many nodes the whole list has; null where the service does not say.',
        resolve: (page) => page.total,
      }),
      totalIsCapped: t.boolean({
        description: 'True where `totalCount` is only where the service stopped counting.',
        resolve: (page) => page.totalIsCapped,
      }),
    }),
  });
}

/** The window that the arguments ask for; refuses what no list can give. */
export function windowOf({ first, after, offset }: PagingArgs, byDefault: number, list: () => string): PageWindow {
  const size = first ?? byDefault;
  if (size < 1 || size > FIRST_MAX)
    throw badInput(`\`first\` must be from 1 to ${FIRST_MAX}.`, { argument: 'first', limit: FIRST_MAX });
  if (after != null && offset != null) throw badInput('Give `after` or `offset`, not both.', { argument: 'offset' });
  if (offset != null && offset < 0) throw badInput('`offset` must be 0 or more.', { argument: 'offset' });
  return { first: size, start: after != null ? decodeCursor(list(), after) + 1 : (offset ?? 0) };
}

/** The names under which an endpoint's window travels. */
export const windowInput = (endpoint: Endpoint, { first, start }: PageWindow): object =>
  endpoint.service === 'event' ? { 'start-index': start + 1, 'max-results': first } : { start, count: first };

/** Tells one list from another: the path and the filters, without the window. */
export function listIdOf(endpoint: Endpoint, input: object): string {
  const filters = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  return fingerprint(JSON.stringify([endpoint.path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]));
}

interface Answered {
  total?: unknown;
  totalResults?: unknown;
  count?: unknown;
  itemsPerPage?: unknown;
  title?: unknown;
}

/** The page that an answer makes. `keyed` items without an id are left out. */
export function pageOf<Item>(
  answer: Answered,
  items: readonly (Item | null | undefined)[],
  { first, start }: PageWindow,
  {
    listId,
    representation,
    keyed,
    totalIsCapped,
  }: { listId: () => string; representation: Representation; keyed: boolean; totalIsCapped: boolean },
): Page<Item> {
  const total = asInt(answer.total ?? answer.totalResults);
  // The service may give fewer than asked for by a cap of its own, which some endpoints echo.
  const full = Math.min(first, asInt(answer.count ?? answer.itemsPerPage) || first);
  const hasNext =
    items.length > 0 && (total === null || totalIsCapped ? items.length >= full : start + items.length < total);
  return {
    items: shownOf(items, first, keyed),
    start,
    total: total === null || total < 0 ? null : total,
    totalIsCapped,
    hasNext: hasNext || items.length > first,
    title: asText(answer.title).trim() || null,
    listId,
    representation,
  };
}

function shownOf<Item>(items: readonly (Item | null | undefined)[], first: number, keyed: boolean): (Item | null)[] {
  const shown: (Item | null)[] = [];
  for (let at = 0; at < items.length && at < first; at++) {
    const item = items[at];
    shown.push(isShown(item, keyed) ? item : null);
  }
  return shown;
}

function isShown<Item>(item: Item | null | undefined, keyed: boolean): item is Item {
  if (typeof item !== 'object' || item === null) return false;
  const { id } = item as { id?: unknown };
  return !keyed || isReadableId(id);
}

export const encodeCursor = (list: string, position: number): string =>
  Buffer.from(`${list}:${position}`).toString('base64url');

export function decodeCursor(list: string, cursor: string): number {
  const [, of, position] = /^([0-9a-z]+):(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (!position) throw badInput('That is not a cursor.', { argument: 'after' });
  if (of !== list) throw badInput('That cursor belongs to another list, or to other filters.', { argument: 'after' });
  return Number(position);
}

/** FNV-1a, 32 bits: tells lists apart, guards nothing. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
