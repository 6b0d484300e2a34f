/** The fewest calls that a query makes now: those of its root fields that no cache and no remembered rejection saves. */
import type { Endpoint } from '../../api/endpoint.ts';
import type { Context } from '../context.ts';
import { type CallCost, worstCaseOf } from './call-cost.ts';
import type { Variables } from '../plan/document.ts';
import { type ParentRecord, requestOf } from '../execute/field-call.ts';
import { type OperationPlan, type PlannedField, responseKeyOf } from '../plan/operation-plan.ts';
import { childCallsOf, membersOrId, planLoad } from '../execute/plan-load.ts';

/** The state of one count. */
interface Count {
  readonly cost: CallCost;
  /** The requests counted so far: equal ones are made once. */
  readonly requests: Set<string>;
  readonly variables: Variables;
  readonly context: Context;
}

/** The worst case of a plan, with the fewest calls in `min`. */
export async function callRangeOf(plan: OperationPlan, variables: Variables, context: Context): Promise<CallCost> {
  const cost = structuredClone(worstCaseOf(plan, variables).calls);
  const count: Count = { cost, requests: new Set(), variables, context };
  for (const { fields } of [plan.root, ...plan.root.deferred])
    for (const field of fields) await countField(count, field, {}, responseKeyOf(field));
  return cost;
}

async function countField(count: Count, field: PlannedField, parent: ParentRecord, path: string): Promise<void> {
  const { rule, mode, members } = field;
  if (rule.writeEndpoint || (mode !== 'call' && mode !== 'lookup')) return;
  const request = requestIfAny(count, field, parent);
  if (!request) return;
  const { endpoint, input } = request;
  const { upstream } = count.context;
  if (mode === 'call')
    return addRequest(count, path, endpoint, await upstream.responses.wouldSend(endpoint, input, members));

  const reference = input as ParentRecord;
  const selection = field.selections.values().next().value!;
  const children = childCallsOf(reference, selection, count.variables);
  for (const { plan } of children) await countField(count, plan, reference, `${path}.${responseKeyOf(plan)}`);
  // Deferred members are loaded only if the record exists.
  const { request: requested, provider } = planLoad(selection, membersOrId(selection), 'named', reference, children);
  if (provider || requested.length === 0) return;
  const { type, rule: typeRule } = selection;
  const load = await upstream.records.wouldRequest(type.name, typeRule.record!, String(reference.id), requested);
  addRequest(count, path, endpoint, load);
}

/** Undefined if the field makes no call, because its list is empty or its arguments are wrong. */
function requestIfAny({ variables }: Count, field: PlannedField, parent: ParentRecord) {
  const { rule, args } = field;
  try {
    if (rule.isUnavailable?.(parent) || rule.isEmpty?.(parent)) return undefined;
    return requestOf(field, parent, args(variables));
  } catch {
    return undefined;
  }
}

function addRequest({ cost, requests }: Count, path: string, endpoint: Endpoint, request: string | null): void {
  if (request === null || requests.has(request)) return;
  requests.add(request);
  cost.min++;
  cost.services[endpoint.service].min++;
  const called = `${endpoint.method} ${endpoint.path}`;
  const field = cost.fields.find((each) => each.path === path && each.endpoint === called);
  if (field) field.min++;
}
