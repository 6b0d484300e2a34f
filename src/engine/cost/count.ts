/** The state of one count of calls, to which each call and each load of a record is added. */
import { type Representation, isProvided } from '../../api/endpoint.ts';
import { isUpstreamMember } from '../../api/record-source.ts';
import type { Variables } from '../plan/document.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import { type Calls, type CostTree, nodeAt } from './cost-tree.ts';
import { type Frame, capped, pathTo, provides } from './frame.ts';
import {
  type CallCost,
  type CallRange,
  type FieldCost,
  type Maximum,
  type PricedEndpoint,
  type WorstCase,
  noCalls,
} from './worst-case.ts';

export interface CallCount extends Omit<WorstCase, 'calls'> {
  readonly variables: Variables;
  readonly calls: CallRange & Pick<CallCost, 'services'>;
  readonly costs: Map<string, FieldCost>;
  /** The likely calls that were counted, and where in the tree: one that several fields need is made once. */
  readonly likely: Map<string, { at: Calls | undefined; likely: number }>;
  readonly tree: CostTree | undefined;
}

export const newCount = (variables: Variables, tree: CostTree | undefined): CallCount => ({
  variables,
  calls: { ...noCalls(), services: { catalog: noCalls(), events: noCalls() } },
  costs: new Map(),
  likely: new Map(),
  tree,
  items: nothing(),
  values: nothing(),
});

const nothing = (): Maximum => ({ max: 0, dearest: { path: '', coordinate: 'Query', max: 0 } });

export const coordinateOf = ({ parent, field }: PlannedField): string => `${parent}.${field.name}`;

/** `at`: where in the tree, if not at the field itself. What no change of one field saves is at the root. */
export function addCall(total: CallCount, field: PlannedField, frame: Frame, called: PricedEndpoint, at?: Calls): void {
  const { calls, costs, tree } = total;
  const { path, times, source } = frame;
  const endpoint = `${called.method} ${called.path}`;
  const key = `${path} ${endpoint}`;
  const own = tree && (at ?? nodeAt(tree, path));
  const likely = addLikely(total, `${source} ${endpoint}`, frame.likely, own);
  const cost = costs.get(key) ?? { path, coordinate: coordinateOf(field), endpoint, ...noCalls() };
  costs.set(key, cost);
  for (const each of [calls, (calls.services[called.service] ??= noCalls()), cost, ...(own ? [own] : [])]) {
    each.max = capped(each.max + times);
    each.likely = capped(each.likely + likely);
  }
}

/** The likely calls that none has counted yet. In the tree, those that several fields share are at the root. */
function addLikely({ likely: known, tree }: CallCount, key: string, likely: number, at: Calls | undefined): number {
  const first = known.get(key);
  if (!first) {
    if (likely > 0) known.set(key, { at, likely });
    return likely;
  }
  if (tree && first.at) {
    first.at.likely -= first.likely;
    tree.get('')!.likely += first.likely;
    first.at = undefined;
  }
  return 0;
}

/** The representation of a record that a client named: nothing is known, not even that its id exists. */
export const nothingProvided: Representation = { members: [] };

type Has = (member: string) => boolean;

/** Adds one call for all missing members, at the first field that needs one of them. It is not likely if they are sent. */
export function addLoad(total: CallCount, selection: SelectionPlan, frame: Frame, isKnown: Has, isSent: Has): boolean {
  const { members, tierRefused, rule, fields } = selection;
  const record = rule.record!;
  const missing = members.filter(
    (member) => !isKnown(member) && !tierRefused.has(member) && isUpstreamMember(record, member),
  );
  const field = fields.find(({ needs }) => needs.some((member) => missing.includes(member)));
  if (!field) return false;
  const isProvided = fields.some((each) => each.mode === 'call' && provides(each, missing));
  const likely = isProvided || missing.every(isSent) ? 0 : frame.likely;
  const load = total.tree && loadAt(total.tree, selection, frame, missing);
  addCall(total, field, { ...frame, likely, path: pathTo(frame.path, field) }, record.endpoint, load);
  return true;
}

/** Where the tree has the load of a record: with the fields that need it, unless it is made whatever is left out of them. */
function loadAt(tree: CostTree, { fields }: SelectionPlan, frame: Frame, missing: readonly string[]): Calls {
  if (frame.records) return nodeAt(tree, '');
  const node = nodeAt(tree, frame.path);
  if (frame.provided === nothingProvided) return node;
  const needing = fields.filter(({ needs }) => needs.some((member) => missing.includes(member)));
  const load = { likely: 0, max: 0, keys: needing.map(responseKeyOf) };
  node.loads.push(load);
  return load;
}

/** Without a representation only the id is certain, and with one, unless the client named the record. */
export const isCertain = (provided: Representation | undefined, member: string): boolean =>
  (member === 'id' && provided !== nothingProvided) || (provided !== undefined && isProvided(provided, member));
