type Args = Readonly<Record<string, string | number | boolean | null>>;

/** A structural part of Graphcache's `Cache`, so that this package does not need urql. */
interface Cache {
  resolve(entity: string, field: string, args?: Args): unknown;
  inspectFields(entity: string): readonly { fieldKey: string; fieldName: string; arguments: object | null }[];
  invalidate(entity: string, field?: string, args?: Args): void;
}

/** A structural part of Graphcache's `ResolveInfo`. */
interface Info extends Place {
  variables: object;
  optimistic?: boolean | undefined;
}

/** A list of an object in the cache. */
interface Place {
  parentKey: string;
  fieldName: string;
}

/** What a resolver returns for the pages of a list: what is not in it, Graphcache reads from the first page. */
interface Connection {
  [field: string]: string | string[] | PageInfo | undefined;
  __typename: string;
  edges?: string[];
  nodes?: string[];
  pageInfo?: PageInfo;
}

interface PageInfo {
  [field: string]: string | boolean | null;
  __typename: string;
}

type Value = string | null | undefined;
export type PageResolver = (parent: unknown, args: Args, cache: Cache, info: Info) => Connection | Value;
export type PageUpdate = (result: unknown, args: Args, cache: Cache, info: Info) => void;

/**
 * The resolver of a connection, and what is removed when its first page is written. Each set of arguments has a page of its own, so that
 * a list shows what the server says for its arguments. Where the operation has the variable that pages of this list use for `after`, the
 * list without a cursor shows its page and the loaded pages after it. `relayPagination` of Graphcache cannot do this: it joins pages of
 * all sizes, has null for a list without arguments, and an empty list for what a page did not select. Objects with the keys `deleted` are
 * left out, unless they were written again: a list that has one of them would be null until it is loaded again.
 */
export function pagedList(deleted: ReadonlySet<string>): { resolve: PageResolver; update: PageUpdate } {
  /** The names of variables with which pages of this list were read. Graphcache passes no arguments that are null. */
  const cursorVariables = new Set(['after']);
  return {
    resolve(_parent, args, cache, info) {
      const page = pageOf(info, args, cache);
      if (args.after !== undefined) {
        for (const [name, value] of Object.entries(info.variables)) if (value === args.after) cursorVariables.add(name);
        return withoutDeleted(page, deleted, cache);
      }
      const isPaged = Object.keys(info.variables).some((name) => cursorVariables.has(name));
      const others = page && isPaged ? pagesAfter(page, args, cache, info) : [];
      const keys = others.map(({ key }) => key);
      return withoutDeleted(page && keys.length > 0 ? joined(page, keys, cache) : page, deleted, cache);
    },
    // A page that was loaded before the first page was loaded again may overlap with it, or leave a gap.
    update(result, args, cache, info) {
      const written = (result as Record<string, object | null | undefined>)[info.fieldName];
      if (info.optimistic || args.after !== undefined || !written || !('edges' in written || 'nodes' in written))
        return;
      const page = pageOf(info, args, cache);
      for (const { args: outdated } of page ? pagesAfter(page, args, cache, info) : [])
        cache.invalidate(info.parentKey, info.fieldName, outdated);
    },
  };
}

interface LoadedPage {
  key: string;
  args: Args;
}

/** The pages that were loaded after a page, in order. */
function pagesAfter(first: string, args: Args, cache: Cache, place: Place): LoadedPage[] {
  const pages: LoadedPage[] = [];
  const cursors = new Set<string>();
  for (let page: LoadedPage | undefined = { key: first, args }; page;) {
    const after = endCursor(page.key, cache);
    if (typeof after !== 'string' || cursors.has(after)) break;
    cursors.add(after);
    page = pageAt({ ...args, after }, cache, place);
    if (page) pages.push(page);
  }
  return pages;
}

/** Graphcache's key of a field without arguments differs from that with an empty object. */
const pageOf = ({ parentKey, fieldName }: Place, args: Args, cache: Cache): Value =>
  cache.resolve(parentKey, fieldName, Object.keys(args).length > 0 ? args : undefined) as Value;

/** The page with these arguments, or one of another size. */
function pageAt(args: Args, cache: Cache, { parentKey, fieldName }: Place): LoadedPage | undefined {
  const key = pageOf({ parentKey, fieldName }, args, cache);
  if (key) return { key, args };
  for (const field of cache.inspectFields(parentKey)) {
    const others = field.fieldName === fieldName && (field.arguments as Args | null);
    const page = others && isSameList(others, args) && (cache.resolve(parentKey, field.fieldKey) as Value);
    if (page) return { key: page, args: others };
  }
  return undefined;
}

function isSameList(one: Args, other: Args): boolean {
  const names = Object.keys({ ...one, ...other }).filter((name) => name !== 'first');
  return names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
}

function endCursor(page: string, cache: Cache): unknown {
  const pageInfo = cache.resolve(page, 'pageInfo') as Value;
  const lastEdge = listIn(page, 'edges', cache)?.at(-1);
  return (pageInfo && cache.resolve(pageInfo, 'endCursor')) ?? (lastEdge && cache.resolve(lastEdge, 'cursor'));
}

const listIn = (page: string, list: 'edges' | 'nodes', cache: Cache): string[] | undefined =>
  cache.resolve(page, list) as string[] | undefined;

/** The first page, with the items of the pages after it. */
function joined(first: string, others: readonly string[], cache: Cache): Connection {
  const nodesIn = (page: string) =>
    listIn(page, 'nodes', cache) ??
    listIn(page, 'edges', cache)?.flatMap((edge) => (cache.resolve(edge, 'node') as Value) ?? []);
  const edges = appended(listIn(first, 'edges', cache), others, (page) => listIn(page, 'edges', cache));
  const nodes = appended(listIn(first, 'nodes', cache), others, nodesIn);
  const pageInfo = cache.resolve(first, 'pageInfo') ? endOf(others.at(-1)!, cache) : undefined;
  return {
    __typename: cache.resolve(first, '__typename') as string,
    ...(edges && { edges: unique(edges, (edge) => cache.resolve(edge, 'node')) }),
    ...(nodes && { nodes: unique(nodes, (node) => node) }),
    ...(pageInfo && { pageInfo }),
  };
}

function withoutDeleted(shown: Connection | Value, deleted: ReadonlySet<string>, cache: Cache): Connection | Value {
  if (!shown || deleted.size === 0) return shown;
  const isThere = (node: unknown) =>
    !deleted.has(node as string) || cache.resolve(node as string, '__typename') !== undefined;
  const page = typeof shown === 'string' ? pageWithLists(shown, cache) : shown;
  const edges = page.edges?.filter((edge) => isThere(cache.resolve(edge, 'node')));
  const nodes = page.nodes?.filter(isThere);
  const isWhole = edges?.length === page.edges?.length && nodes?.length === page.nodes?.length;
  return isWhole ? shown : { ...page, ...(edges && { edges }), ...(nodes && { nodes }) };
}

function pageWithLists(page: string, cache: Cache): Connection {
  const [edges, nodes] = [listIn(page, 'edges', cache), listIn(page, 'nodes', cache)];
  const __typename = cache.resolve(page, '__typename') as string;
  return { __typename, ...(edges && { edges }), ...(nodes && { nodes }) };
}

/** The list with those of the pages after it, up to a page without. */
function appended(
  list: string[] | undefined,
  pages: readonly string[],
  listOf: (page: string) => string[] | undefined,
): string[] | undefined {
  const lists = list && pages.map(listOf);
  const missing = lists?.indexOf(undefined) ?? -1;
  return list && [list, ...lists!.slice(0, missing < 0 ? undefined : missing)].flatMap((each) => each ?? []);
}

/** Without items that an earlier page has too, as after an insertion into the list. */
function unique(items: readonly string[], nodeOf: (item: string) => unknown): string[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const node = nodeOf(item) ?? item;
    const isNew = !seen.has(node);
    seen.add(node);
    return isNew;
  });
}

function endOf(page: string, cache: Cache): PageInfo | undefined {
  const pageInfo = cache.resolve(page, 'pageInfo') as Value;
  if (!pageInfo) return undefined;
  const known = ['endCursor', 'hasNextPage'].map((name) => [name, cache.resolve(pageInfo, name)] as const);
  return Object.fromEntries([
    ['__typename', 'PageInfo'],
    ...known.filter(([, value]) => value !== undefined),
  ]) as PageInfo;
}
