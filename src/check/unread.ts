/** What of an operation no program has read. */
import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, getOperationAST } from 'graphql';
import type { FieldReads, Reads } from './reads-file.ts';

export interface UnreadFields {
  /** The leaves of the document, without `id` and `__typename`, by which clients find their records. */
  leaves: number;
  read: number;
  /** Leaves of objects that no response had: nobody can say whether they are read. */
  unknown: number;
  /** Response keys from the root, joined by dots: the highest fields of which nothing is read. */
  paths: readonly string[];
  /** Bytes of all responses, and of what is not read of them. */
  bytes: number;
  unreadBytes: number;
  /** Bytes of all calls to the service, and of those below `paths`; 0 if no result told its calls. */
  callBytes: number;
  unreadCallBytes: number;
}

/** A field of the response, of all selections that name it. */
interface Node {
  children: Map<string, Node>;
  counts: FieldReads;
}

const nothing: FieldReads = { received: 0, read: 0, bytes: 0 };
/** Read by the caches of clients. */
const isForCaches = (key: string): boolean => key === 'id' || key === '__typename';

/** Undefined if no result of the operation was tracked. */
export function unreadOf(
  document: DocumentNode,
  operationName: string | undefined,
  reads: Reads,
): UnreadFields | undefined {
  const operation = getOperationAST(document, operationName);
  const own = reads.get(operation?.name?.value ?? '');
  if (!operation || !own) return undefined;
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  );
  const root: Node = { children: new Map(), counts: nothing };
  const name = operation.name?.value ?? '';
  addSelections(root, operation.selectionSet, { fragments, reads, places: [{ name, path: '' }] });
  const sum = { leaves: 0, read: 0, unknown: 0, unreadBytes: 0, paths: [] as string[] };
  for (const [key, node] of root.children) judge(sum, node, key);
  const { calls } = own;
  const isBelow = (path: string) => sum.paths.some((each) => path === each || path.startsWith(`${each}.`));
  const bytesOf = (paths: readonly string[]) => paths.reduce((all, path) => all + calls.get(path)!, 0);
  return {
    ...sum,
    bytes: [...root.children.values()].reduce((all, { counts }) => all + counts.bytes, 0),
    callBytes: bytesOf([...calls.keys()]),
    unreadCallBytes: bytesOf([...calls.keys()].filter(isBelow)),
  };
}

interface Scope {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  reads: Reads;
  /** The documents below whose root the selection stands, and where: a component reads by its fragment, a page by its operation. */
  places: readonly { name: string; path: string }[];
}

function addSelections(parent: Node, { selections }: SelectionSetNode, scope: Scope): void {
  const { fragments, reads, places } = scope;
  for (const selection of selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT) addSelections(parent, selection.selectionSet, scope);
    else if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const { value: name } = selection.name;
      const inside = { ...scope, places: [...places, { name, path: '' }] };
      addSelections(parent, fragments.get(name)!.selectionSet, inside);
    } else {
      const key = (selection.alias ?? selection.name).value;
      const below = places.map(({ name, path }) => ({ name, path: path === '' ? key : `${path}.${key}` }));
      const node = parent.children.get(key) ?? { children: new Map(), counts: nothing };
      parent.children.set(key, node);
      for (const { name, path } of below) node.counts = most(node.counts, reads.get(name)?.fields.get(path) ?? nothing);
      if (selection.selectionSet) addSelections(node, selection.selectionSet, { ...scope, places: below });
    }
  }
}

/** The counts of one field by two documents, which have seen the same objects. */
const most = (one: FieldReads, other: FieldReads): FieldReads => ({
  received: Math.max(one.received, other.received),
  read: Math.max(one.read, other.read),
  bytes: Math.max(one.bytes, other.bytes),
});

type Sum = Pick<UnreadFields, 'leaves' | 'read' | 'unknown' | 'unreadBytes'> & { paths: string[] };

function judge(sum: Sum, { children, counts }: Node, path: string): void {
  const key = path.slice(path.lastIndexOf('.') + 1);
  if (children.size === 0 && isForCaches(key)) return;
  if (counts.received === 0) {
    const leaves = leavesOf(children, key);
    sum.leaves += leaves;
    sum.unknown += leaves;
  } else if (counts.read === 0) {
    sum.leaves += leavesOf(children, key);
    sum.paths.push(path);
    sum.unreadBytes += counts.bytes;
  } else if (children.size === 0) {
    sum.leaves++;
    sum.read++;
  } else for (const [name, child] of children) judge(sum, child, `${path}.${name}`);
}

function leavesOf(children: ReadonlyMap<string, Node>, key: string): number {
  if (children.size === 0) return isForCaches(key) ? 0 : 1;
  return [...children].reduce((sum, [name, { children: below }]) => sum + leavesOf(below, name), 0);
}
