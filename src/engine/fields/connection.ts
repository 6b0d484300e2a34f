import type { ObjectRef } from '@pothos/core';
import { type BuilderTypes, builder } from '../builder.ts';
import { oncePer } from '../../lib/remember.ts';
import type { ListChanges } from '../values/list-changes.ts';
import { FIRST_MAX, type Page, cursorOf } from '../values/paging.ts';
import { encodeSince } from '../values/since.ts';

interface Edge<Item> {
  page: Page<Item>;
  index: number;
}

interface ArgumentBuilder {
  arg: { int(options: object): unknown; string(options: object): unknown };
}
const SAME_LIST = 'It must be a cursor of the same list with the same filters.';
const FEWER = 'The service may return fewer at once: `hasNextPage` says whether there are more.';

export const pagingArgs = (t: ArgumentBuilder, first: number) => ({
  first: t.arg.int({ defaultValue: first, description: `The most nodes to return, 1 to ${FIRST_MAX}. ${FEWER}` }),
  after: t.arg.string({ description: `The page starts after the edge with this cursor. ${SAME_LIST}` }),
  offset: t.arg.int({
    description: 'The number of nodes to skip, for numbered pages. Do not use it together with `after`.',
  }),
});

/** For lists that are not ordered by time: a position is the same from both ends. */
export const backwardArgs = (t: ArgumentBuilder, last: number) => ({
  last: t.arg.int({
    description:
      `The most nodes to return, 1 to ${FIRST_MAX}: those right before \`before\`, or the last of the list, which costs a call more if the list is longer. ` +
      `${last} if \`before\` is given and \`first\` is not. Do not use it together with \`first\`.`,
  }),
  after: t.arg.string({
    description: `The page starts after the edge with this cursor, which is a position. ${SAME_LIST}`,
  }),
  before: t.arg.string({ description: `The page ends before the edge with this cursor. ${SAME_LIST}` }),
});

export const changesArgs = (t: ArgumentBuilder) => ({
  since: t.arg.string({
    description: 'The `since` of the last call, of the same list; without it all nodes are told, a hundred a call.',
  }),
});

/** The connection type of a node type; created on first use. */
export const connectionOf = oncePer(makeConnection) as <Item>(
  of: ObjectRef<BuilderTypes, Item> | ObjectRef<never, Item>,
) => ObjectRef<BuilderTypes, Page<Item>>;

const PageInfo = builder.objectRef<Page<unknown>>('PageInfo').implement({
  description: 'The position of a page in its list.',
  isWrapper: true,
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNext', {
      description: 'Whether more nodes follow. If the service gives no total: whether the page is full.',
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether there are nodes before this page.',
      needsNoItems: 'forward',
      resolve: (page) => page.start > 0,
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first edge, for `before`.',
      nullIf: 'the page is empty',
      resolve: (page) =>
        page.items.length > 0 || (page.isBackward && page.end > 0)
          ? cursorOf(page, Math.max(0, page.items.findIndex(isShown)))
          : null,
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last edge, for `after`.',
      nullIf: 'the page is empty and the service does not say where the next one begins',
      resolve: (page) => (page.end > page.start ? cursorOf(page, page.items.length - 1) : null),
    }),
  }),
});

const isShown = (item: unknown): boolean => item !== null;

/** The edge type of a node type; created on first use. */
export const edgeOf = oncePer(makeEdge) as <Item>(
  of: ObjectRef<BuilderTypes, Item>,
) => ObjectRef<BuilderTypes, Edge<Item>>;

function makeEdge(of: ObjectRef<BuilderTypes, unknown>): ObjectRef<BuilderTypes, Edge<unknown>> {
  const name = of.name;
  return builder.objectRef<Edge<unknown>>(`${name}Edge`).implement({
    description: `One ${name} in a list.`,
    isWrapper: true,
    fields: (t) => ({
      cursor: t.string({
        description: 'The position of the node in the list, for `after`.',
        resolve: ({ page, index }) => cursorOf(page, index),
      }),
      node: t.field({
        type: of,
        description: `The ${name}.`,
        resolve: ({ page, index }) => page.items[index] as never,
      }),
    }),
  });
}

/** What has changed in a list, for a node type; created on first use. */
export const changesTypeOf = oncePer(makeChanges) as <Item>(
  of: ObjectRef<BuilderTypes, Item> | ObjectRef<never, Item>,
) => ObjectRef<BuilderTypes, ListChanges<Item>>;

function makeChanges(of: ObjectRef<BuilderTypes, unknown>): ObjectRef<BuilderTypes, ListChanges<unknown>> {
  return builder.objectRef<ListChanges<unknown>>(`${of.name}Changes`).implement({
    description: `What has changed in a list of ${of.name} nodes since the client asked last.`,
    isWrapper: true,
    fields: (t) => ({
      nodes: t.field({
        type: [of],
        description: 'Nodes that are new or have changed: store each by its id, in place of the one before.',
        resolve: ({ items }) => items as never,
      }),
      removedIds: t.exposeIDList('removedIds', {
        description: 'The global ids of nodes that are no longer in the list: remove them.',
      }),
      since: t.string({
        description:
          'For the next call. It has the ids that the client has once it has stored these nodes, so store it with them, in one step.',
        resolve: ({ listId, progress }) => encodeSince(listId(), progress),
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether to call again now.' }),
    }),
  });
}

function makeConnection(of: ObjectRef<BuilderTypes, unknown>): ObjectRef<BuilderTypes, Page<unknown>> {
  const name = of.name;
  return builder.objectRef<Page<unknown>>(`${name}Connection`).implement({
    description: `A page of a list of ${name} nodes, in the order of the list.`,
    isWrapper: true,
    fields: (t) => ({
      edges: t.field({
        type: [edgeOf(of)],
        description: 'The nodes with their cursors.',
        resolve: (page) => page.items.flatMap((item, index) => (item === null ? [] : [{ page, index }])),
      }),
      nodes: t.field({
        type: [of],
        description: 'The nodes without their cursors.',
        resolve: ({ items }) => (items.includes(null) ? items.filter((item) => item !== null) : items) as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'The position of this page in the list.',
        resolve: (page) => page,
      }),
      totalCount: t.exposeInt('total', {
        nullable: true,
        description: 'The number of nodes in the whole list.',
        nullIf: 'the service does not return it',
        needsNoItems: true,
      }),
      totalIsCapped: t.exposeBoolean('totalIsCapped', {
        needsNoItems: true,
        description: 'True if the service stopped counting at `totalCount`.',
      }),
    }),
  });
}
