/** A structural part of Apollo's `FieldPolicy`. */
export interface FieldPolicy {
  keyArgs: (args: Args | null, field: { fieldName: string }) => string;
  read: (existing: Page | null | undefined, options: ReadOptions) => Page | null | undefined;
  merge: (existing: Page | null | undefined, incoming: Page | null, options: MergeOptions) => Page | null;
}

type Args = Record<string, unknown>;
type Edge = Readonly<Record<string, unknown>>;

/** A connection in the cache: what the server sent for one set of arguments. */
interface Page {
  readonly edges?: readonly Edge[];
  readonly nodes?: readonly unknown[];
  readonly pageInfo?: Readonly<Record<string, unknown>>;
  /** The page size that was requested: pages that begin after the same cursor have one place in the cache. */
  readonly first?: unknown;
  /** When its items were written. */
  readonly writtenAt?: number;
}

interface MergeOptions {
  args: Args | null;
  readField(this: void, field: Field): unknown;
}

interface Field {
  fieldName: string;
  /** The parent, if it is not the parent of the list. */
  from?: object | undefined;
  args?: Args | null | undefined;
}

interface ReadOptions extends MergeOptions {
  fieldName: string;
  field: { readonly selectionSet?: SelectionSet | undefined } | null;
  canRead(this: void, value: unknown): boolean;
}

interface SelectionSet {
  readonly selections: readonly Selection[];
}

interface Selection {
  readonly kind: string;
  readonly name?: { readonly value: string } | undefined;
  readonly selectionSet?: SelectionSet | undefined;
}

/** Marks the arguments with which the first page reads the pages after it, whatever their size. */
const joining = Symbol('joining');

/**
 * The policy of a connection. Each set of arguments has a value of its own, so that a list shows what the server says for its arguments.
 * Where the document has the argument `after`, the list without a cursor shows its page and the loaded pages after it.
 * `relayStylePagination` of Apollo Client cannot do this: it has one value for all pages and selections of a list.
 */
export function pagedList(): FieldPolicy {
  return { keyArgs: storageKey, read: readPages, merge: writePage };
}

const hasPaging = (args: Args | null): boolean => args !== null && 'after' in args;

/** A list with paging is apart from one without: programs add items to it, which must not appear in lists of a fixed size. */
function storageKey(args: Args | null, { fieldName }: { fieldName: string }): string {
  const { after, first, ...others } = args ?? {};
  const key = Object.entries({ ...others, ...(isCursor(after) ? { after } : { first }) })
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${fieldName}:${JSON.stringify(Object.fromEntries(key))}${hasPaging(args) && !isCursor(after) ? '+' : ''}`;
}

const isCursor = (after: unknown): after is string => typeof after === 'string';

function writePage(
  existing: Page | null | undefined,
  incoming: Page | null,
  { args, readField }: MergeOptions,
): Page | null {
  if (!incoming) return incoming;
  const before = existing && existing.first === args?.first ? existing : {};
  const nodeOf = (edge: Edge | undefined) => referenceOf(edge && readField({ fieldName: 'node', from: edge }));
  const edges = incoming.edges?.map((edge, at) => {
    const known = before.edges?.[at];
    const isSame = known !== undefined && nodeOf(known) !== undefined && nodeOf(known) === nodeOf(edge);
    if (isSame) return { ...known, ...edge };
    const node = withKnown(known?.node, edge.node);
    return node === edge.node ? edge : { ...known, ...edge, node };
  });
  const nodes = incoming.nodes?.map((node, at) => withKnown(before.nodes?.[at], node));
  return {
    ...before,
    ...incoming,
    ...(edges && { edges }),
    ...(nodes && { nodes }),
    ...(incoming.pageInfo && { pageInfo: { ...before.pageInfo, ...incoming.pageInfo } }),
    ...(args?.first !== undefined && { first: args.first }),
    ...((incoming.edges ?? incoming.nodes) && { writtenAt: timestamp() }),
  };
}

/** An item without an id, with what is known of it: it is the same item if it holds the same object with an id. */
function withKnown(known: unknown, item: unknown): unknown {
  if (!isPlain(known) || !isPlain(item)) return item;
  const held = Object.keys(item).filter((name) => referenceOf(item[name]) !== undefined && name in known);
  const isSame = held.length > 0 && held.every((name) => referenceOf(known[name]) === referenceOf(item[name]));
  return isSame ? { ...known, ...item } : item;
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && referenceOf(value) === undefined;

/** Of the pages that were written or read: a stored cache may be of a clock that was ahead. */
let latest = 0;
/** Later than the timestamps of these pages. */
const timestamp = (): number => (latest = Math.max(latest + 1, Date.now()));

function readPages(existing: Page | null | undefined, options: ReadOptions): Page | null | undefined {
  const { args, canRead, readField } = options;
  if (!existing) return existing;
  latest = Math.max(latest, existing.writtenAt ?? 0);
  if (isCursor(args?.after) && !(joining in args) && existing.first !== args.first) return undefined;
  // An edge whose node was removed from the cache is left out, as Apollo Client does for lists of nodes.
  const edges = existing.edges?.filter(
    (edge) => edge.node === undefined || canRead(readField({ fieldName: 'node', from: edge })),
  );
  const page = edges ? { ...existing, edges } : existing;
  return hasPaging(args) && !isCursor(args?.after) ? joined(page, options) : page;
}

/** The first page with the pages that were loaded after it. */
function joined(base: Page, { args, field, fieldName, readField }: ReadOptions): Page {
  const lists = listsOf(field?.selectionSet, base);
  const pages = [base];
  const cursors = new Set<unknown>();
  for (let page: Page | null | undefined = base; page;) {
    const cursor = endCursor(page, readField);
    if (!isCursor(cursor) || cursors.has(cursor)) break;
    cursors.add(cursor);
    page = readField({ fieldName, args: { ...args, after: cursor, [joining]: true } }) as Page | null | undefined;
    // A page that was loaded before the first page was loaded again may overlap with it, or leave a gap.
    if (!page || (page.writtenAt ?? 0) < (base.writtenAt ?? 0) || lists.some((list) => !page?.[list])) break;
    pages.push(page);
  }
  if (pages.length === 1) return base;
  const merged = pages.reduce<Page>((before, page) => ({ ...before, ...page }), {});
  const { startCursor, hasPreviousPage, ...end } = pages.at(-1)?.pageInfo ?? {};
  return {
    ...withoutLists(merged),
    ...(lists.includes('edges') && {
      edges: unique(
        pages.flatMap(({ edges = [] }) => edges),
        (edge) => edge.node,
      ),
    }),
    ...(lists.includes('nodes') && {
      nodes: unique(
        pages.flatMap(({ nodes = [] }) => nodes),
        (node) => node,
      ),
    }),
    ...(base.pageInfo && { pageInfo: { ...base.pageInfo, ...end } }),
  };
}

const withoutLists = ({ edges, nodes, ...others }: Page): Page => others;

const endCursor = ({ edges, pageInfo }: Page, readField: ReadOptions['readField']): unknown => {
  const lastEdge = edges?.at(-1);
  return pageInfo?.endCursor ?? (lastEdge && readField({ fieldName: 'cursor', from: lastEdge }));
};

/** The lists that a field selects; where it selects by fragments of another place, those that the page has. */
function listsOf(selected: SelectionSet | undefined, page: Page): ('edges' | 'nodes')[] {
  const names = new Set<string>();
  const collect = ({ selections }: SelectionSet): void => {
    for (const { kind, name, selectionSet } of selections) {
      if (kind === 'FragmentSpread') for (const list of Object.keys(page)) names.add(list);
      else if (kind === 'InlineFragment' && selectionSet) collect(selectionSet);
      else if (name) names.add(name.value);
    }
  };
  if (selected) collect(selected);
  return (['edges', 'nodes'] as const).filter((list) => names.has(list));
}

/** Without items that an earlier page has too, as after an insertion into the list. */
function unique<Item>(items: readonly Item[], nodeOf: (item: Item) => unknown): Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const reference = referenceOf(nodeOf(item));
    if (reference === undefined) return true;
    const isNew = !seen.has(reference);
    seen.add(reference);
    return isNew;
  });
}

/** What Apollo Client has in the place of an object with an id. */
const referenceOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && '__ref' in value ? String(value.__ref) : undefined;
