/**
 * How an operation becomes cheaper: it is planned with smaller pages and without the fields that need the most calls, and the changes that
 * gain most are told.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  getOperationAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { FieldCost, WorstCase } from '../cost/worst-case.ts';
import { type ChangeField, type Fragments, fragmentsOf, keyOfField, rewriteOperation } from './rewrite.ts';

/** One change of an operation, and what it would cost then. Its names are public: they are those of `x-explain: plan`. */
export interface Hint {
  /** Response keys from the root, joined by dots: the list whose page may be smaller, or the object of which fields may be left out. */
  path: string;
  /** The size of the page; not set if fields are left out. */
  first?: number;
  /** Response keys of the fields that are left out. */
  without?: string[];
  /** The most upstream calls with this change. */
  calls: number;
}

/** The worst case of an operation of a document. Throws PlanTooLarge. */
export type WorstOf = (document: DocumentNode, operation: OperationDefinitionNode) => WorstCase;

/** An operation of fewer calls is not dear. */
const DEAR = 15;
const SHOWN = 3;
/** A hint leaves at most this part of the calls. */
const GAIN = 0.75;
const PAGES = [20, 10, 5, 2] as const;
/** The most costs that are tried, the most lists, and the most fields of one object. */
const TRIED = 8;

/** Those first that halve the calls, and of these those that leave out the fewest leaves; empty if it needs few calls, or if no change gains. */
export function hintsFor(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  worstOf: WorstOf,
): Hint[] {
  const operation = getOperationAST(document, operationName);
  if (!operation || operation.operation === 'mutation') return [];
  const worst = worstOf(document, operation);
  const most = worst.calls.max;
  if (most < DEAR) return [];
  const fragments = fragmentsOf(document);
  const costly = worst.calls.fields.toSorted((a, b) => b.max - a.max).slice(0, TRIED);
  const tried: Try = { operation, fragments, worstOf, most };
  const { lists, leaves } = readSelections(schema, tried);
  const above = new Set(costly.flatMap(({ path }) => lists.filter((list) => path.startsWith(`${list.path}.`))));
  const found = [
    ...[...above].slice(0, TRIED).flatMap((list) => smallerPage(tried, list)),
    ...costly.flatMap((cost) => withoutFields(tried, cost)),
  ];
  const lost = ({ path, without = [] }: Hint) =>
    leaves.filter((leaf) => without.some((key) => isWithin(leaf, path === '' ? key : `${path}.${key}`))).length;
  const isHalf = ({ calls }: Hint) => Number(calls <= most / 2);
  const best = found
    .filter(({ calls }) => calls <= most * GAIN)
    .sort((a, b) => isHalf(b) - isHalf(a) || lost(a) - lost(b) || depth(b) - depth(a) || a.calls - b.calls);
  return best.filter((hint, at) => best.findIndex((each) => isSame(each, hint)) === at).slice(0, SHOWN);
}

const depth = ({ path }: Hint): number => path.split('.').length;

const isWithin = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}.`);

/** As people read it, in one line. */
export const hintText = ({ path, first, without = [], calls }: Hint): string =>
  `${first === undefined ? `without ${without.join(', ')} of ${path || 'the query'}` : `with first: ${first} at ${path}`}, at most ${calls} ${calls === 1 ? 'call' : 'calls'}`;

interface Try {
  operation: OperationDefinitionNode;
  fragments: Fragments;
  worstOf: WorstOf;
  /** The calls of the operation as it is. */
  most: number;
}

const isSame = (one: Hint, other: Hint): boolean =>
  one.path === other.path && one.first === other.first && String(one.without) === String(other.without);

interface PagedList {
  path: string;
  /** The size of the page; undefined if a variable decides. */
  size: number | undefined;
}

/** The lists with a page size, and the paths of all leaves. */
function readSelections(schema: GraphQLSchema, { operation, fragments }: Try) {
  const inline = rewriteOperation(operation, fragments, (_, field) => field)!;
  const types = new TypeInfo(schema);
  const at: string[] = [];
  const leaves: string[] = [];
  const lists = new Map<string, PagedList>();
  const enter = (node: FieldNode) => {
    at.push(keyOfField(node));
    const path = at.join('.');
    if (!node.selectionSet) leaves.push(path);
    const first = types.getFieldDef()?.args.find(({ name }) => name === 'first');
    const given = node.arguments?.find(({ name }) => name.value === 'first')?.value;
    const size = !given ? Number(first?.defaultValue) : given.kind === Kind.INT ? Number(given.value) : undefined;
    if (first) lists.set(path, { path, size });
  };
  visit(inline, visitWithTypeInfo(types, { Field: { enter, leave: () => void at.pop() } }));
  return { lists: [...lists.values()], leaves };
}

/** The largest page that halves the calls, else the smallest. */
function smallerPage(tried: Try, { path, size = Infinity }: PagedList): Hint[] {
  let found: Hint | undefined;
  for (const first of PAGES) {
    if (first >= size) continue;
    const calls = mostAfter(tried, (at, field) => (at === path ? withFirst(field, first) : field));
    found = { path, first, calls };
    if (calls <= tried.most / 2) break;
  }
  return found ? [found] : [];
}

const withFirst = (field: FieldNode, first: number): FieldNode => ({
  ...field,
  arguments: [
    ...(field.arguments ?? []).filter(({ name }) => name.value !== 'first'),
    {
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: 'first' },
      value: { kind: Kind.INT, value: String(first) },
    },
  ],
});

/** Without the field, and without those beside it that need the same call. */
function withoutFields(tried: Try, { path, endpoint }: FieldCost): Hint[] {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')));
  const isBeside = (other: string) => other.slice(0, Math.max(0, other.lastIndexOf('.'))) === parent;
  const left = new Set<string>();
  let calls = tried.most;
  for (let next: string | undefined = path; calls === tried.most;) {
    if (next === undefined || left.size === TRIED) return [];
    left.add(next);
    const worst = worstAfter(tried, (at, field) => (left.has(at) ? null : field));
    if (!worst) return [];
    calls = worst.calls.max;
    next = worst.calls.fields.find((each) => each.endpoint === endpoint && isBeside(each.path))?.path;
  }
  return [{ path: parent, without: [...left].map((at) => at.slice(at.lastIndexOf('.') + 1)), calls }];
}

const mostAfter = (tried: Try, change: ChangeField): number => worstAfter(tried, change)?.calls.max ?? 0;

function worstAfter({ operation, fragments, worstOf }: Try, change: ChangeField): WorstCase | undefined {
  const document = rewriteOperation(operation, fragments, change);
  const changed = document && getOperationAST(document, operation.name?.value);
  return document && changed ? worstOf(document, changed) : undefined;
}
