/** The calls of an operation as a tree of its fields: what a smaller page saves, or a field that is left out. */

/** As `CallRange`. */
export interface Calls {
  likely: number;
  max: number;
}

/** The load of an object's record, which is made unless all fields that need it are left out. */
interface RecordLoad extends Calls {
  /** Their response keys. */
  keys: readonly string[];
}

/** The page of a list whose size the argument `first` decides. */
export interface PricedPage {
  size: number;
  /** The items that it usually has. */
  usual: number;
  /** The smallest size for which the list is requested in the same way. */
  least: number;
}

/** A field of an operation, with the calls of its own everywhere in the response. The root is the operation. */
export interface CostNode extends Calls {
  /** Response keys from the root, joined by dots. */
  path: string;
  /** What is below it is counted once an item. */
  isList: boolean;
  page: PricedPage | undefined;
  loads: RecordLoad[];
  children: CostNode[];
  /** The number of fields that are selected of each object; 0 if none of them may be left out alone. */
  selected: number;
}

export type CostTree = Map<string, CostNode>;

export const createCostTree = (): CostTree => new Map([['', nodeOf('')]]);

const nodeOf = (path: string): CostNode => ({
  path,
  likely: 0,
  max: 0,
  isList: false,
  page: undefined,
  loads: [],
  children: [],
  selected: Infinity,
});

/** The node of a path; a new one is added to the one above it. */
export function nodeAt(tree: CostTree, path: string): CostNode {
  const known = tree.get(path);
  if (known) return known;
  const node = nodeOf(path);
  nodeAt(tree, path.slice(0, Math.max(0, path.lastIndexOf('.')))).children.push(node);
  tree.set(path, node);
  return node;
}

export const sumOf = (calls: readonly Calls[]): Calls => ({
  likely: calls.reduce((sum, { likely }) => sum + likely, 0),
  max: calls.reduce((sum, { max }) => sum + max, 0),
});
