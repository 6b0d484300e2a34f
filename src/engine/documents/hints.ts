/** How an operation becomes cheaper: with smaller pages, or without the fields that need the most calls. */
import { costTreeOf } from '../cost/call-cost.ts';
import { type Calls, type CostNode, type PricedPage, sumOf } from '../cost/cost-tree.ts';
import type { Variables } from '../plan/document.ts';
import type { OperationPlan } from '../plan/operation-plan.ts';
import { type DocumentSettings, exceededCalls, isOfMutation } from './limits.ts';

/** One change of an operation, and what it would cost then. Its names are public: they are those of `x-explain: plan`. */
export interface Hint {
  /** Response keys from the root, joined by dots: the list whose page may be smaller, or the object of which fields may be left out. */
  path: string;
  /** The size of the page; not set if fields are left out. */
  first?: number;
  /** Response keys of the fields that are left out. */
  without?: string[];
  /** The likely upstream calls with this change, by which a query is refused. */
  likely: number;
  /** The most. */
  calls: number;
}

/** An operation of fewer calls has no hints. */
const DEAR = 15;
const SHOWN = 3;
/** A hint leaves at most this part of the calls. */
const GAIN = 0.75;
const PAGES = [20, 10, 5, 2] as const;

/** A change, and the calls that it concerns: of a page, those of its items; of fields, those that go with them. */
interface Change {
  path: string;
  page?: PricedPage;
  without?: string[];
  calls: Calls;
}

/** The hints of a plan with these variables. A mutation has none: its calls are its writes. */
export const hintsOf = (
  { plan, variables }: { plan: OperationPlan; variables: Variables },
  limits: Pick<DocumentSettings, 'maxUpstreamCalls' | 'possibleCallsFactor'>,
): Hint[] =>
  isOfMutation(plan) ? [] : hintsFor(costTreeOf(plan, variables), (calls) => !exceededCalls(calls, false, limits));

/**
 * What suffices comes first: what brings the calls within the limits, or halves them. Of these smaller pages, which lose no field, and then
 * what is deepest. Empty if few calls are needed, or if no change gains.
 */
export function hintsFor(root: CostNode, isAllowed: (calls: Calls) => boolean): Hint[] {
  const changes: Change[] = [];
  const total = readNode(root, changes);
  if (total.max < DEAR || total.max >= Number.MAX_SAFE_INTEGER) return [];
  const isRefused = !isAllowed(total);
  const isEnough = (calls: Calls) => (isRefused ? isAllowed(calls) : calls.max <= total.max / 2);
  const rank = (hint: Hint) => [
    Number(!isEnough({ likely: hint.likely, max: hint.calls })),
    Number(hint.first === undefined),
    -hint.path.split('.').length,
    hint.calls,
  ];
  return changes
    .flatMap((change) => hintOf(change, total, isEnough))
    .filter(({ calls }) => calls > 0 && calls <= total.max * GAIN)
    .map((hint) => ({ hint, rank: rank(hint) }))
    .sort((a, b) => a.rank.reduce((order, each, at) => order || each - b.rank[at]!, 0))
    .slice(0, SHOWN)
    .map(({ hint }) => hint);
}

/** As people read it, in one line; the limit is named if more calls are possible. */
export const hintText = ({ path, first, without = [], likely, calls }: Hint, limit: number): string => {
  const change =
    first === undefined ? `without ${without.join(', ')} of ${path || 'the query'}` : `with first: ${first} at ${path}`;
  return `${change}: about ${likely}, at most ${calls} ${calls === 1 ? 'call' : 'calls'}${calls > limit ? `; ${limit} allowed` : ''}`;
};

/** The calls of a node. Adds the changes that save the most of them: of its page, of one of its fields, and of one of its loads. */
function readNode(node: CostNode, changes: Change[]): Calls {
  const { path, page, isList, loads, children, selected } = node;
  const fields = new Map(children.map((child) => [keyOf(child), readNode(child, changes)]));
  const below = [...fields.values(), ...loads];
  const items = sumOf(isList ? below : children.flatMap((child) => (child.isList ? fields.get(keyOf(child))! : [])));
  if (page && items.max > 0) changes.push({ path, page, calls: items });
  const without = (keys: readonly string[]) => {
    const lost = loads.filter((load) => load.keys.every((key) => keys.includes(key)));
    const calls = sumOf([...lost, ...keys.flatMap((key) => fields.get(key) ?? [])]);
    if (keys.length < selected && calls.max > 0) changes.push({ path, without: [...keys], calls });
  };
  const child = dearest(children.map((each) => ({ ...fields.get(keyOf(each))!, keys: [keyOf(each)] })));
  const load = dearest(loads);
  if (child) without(child.keys);
  if (load && (load.keys.length > 1 || load.keys[0] !== child?.keys[0])) without(load.keys);
  return sumOf([node, ...below]);
}

const keyOf = ({ path }: CostNode): string => path.slice(path.lastIndexOf('.') + 1);

const dearest = <Each extends Calls>(all: readonly Each[]): Each | undefined =>
  all.reduce<Each | undefined>((a, b) => (a && a.max >= b.max ? a : b), undefined);

/** The hint of a change. Its page is the largest that suffices, else the smallest. */
function hintOf({ path, page, without, calls }: Change, total: Calls, isEnough: (calls: Calls) => boolean): Hint[] {
  const rest = { likely: total.likely - calls.likely, max: total.max - calls.max };
  if (!page) return [{ path, without: without!, likely: rest.likely, calls: rest.max }];
  const { size, usual, least } = page;
  const sizes = PAGES.filter((first) => first < size && first >= least).map((first) => ({
    first,
    likely: rest.likely + Math.ceil((calls.likely * Math.min(first, usual)) / usual),
    max: rest.max + Math.ceil((calls.max * first) / size),
  }));
  const found = sizes.find(isEnough) ?? sizes.at(-1);
  return found ? [{ path, first: found.first, likely: found.likely, calls: found.max }] : [];
}
