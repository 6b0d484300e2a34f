/** The fewest calls that a query makes: those of its root fields that no cache, no remembered rejection and no pause saves. */
import type { Endpoint } from '../../api/endpoint.ts';
import { requestIfUsable } from '../../api/api-request.ts';
import { type MemberNames, type RecordSource, isUpstreamMember } from '../../api/record-source.ts';
import type { UpstreamSession } from '../../upstream/upstream-session.ts';
import { type MergeableRead, listOf, mergedReads } from '../../upstream/loading/merged-reads.ts';
import { worstCaseOf } from './call-cost.ts';
import type { CallCost } from './worst-case.ts';
import type { Variables } from '../plan/document.ts';
import { type ParentRecord, requestOf } from '../execute/field-call.ts';
import { type OperationPlan, type PlannedField, type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import { partsOfId } from '../plan/read-declarations.ts';
import { childCallsOf, keyIn, membersOrId, planLoad } from '../execute/plan-load.ts';

/** A request that the query makes unless it is cached. */
interface RootRequest extends MergeableRead {
  path: string;
  endpoint: Endpoint;
  /** Path and query without members and window: one response may answer all requests that have the same. */
  list: string;
  /** Whether the session would send it. */
  wouldSend: (session: Pick<UpstreamSession, 'responses' | 'records'>) => Promise<boolean>;
}

/** The worst case of a plan, with the fewest calls in `min`: those that the session would send now. No fewer are likely. */
export async function callRangeOf(
  plan: OperationPlan,
  variables: Variables,
  session: Pick<UpstreamSession, 'responses' | 'records'>,
): Promise<CallCost> {
  const cost = structuredClone(worstCaseOf(plan, variables).calls);
  const open = new Map<string, RootRequest[]>();
  const answered = new Set<string>();
  for (const request of requestsOf(plan, variables)) {
    const { list } = request;
    if (!(await request.wouldSend(session))) answered.add(list);
    else if (!open.get(list)?.push(request)) open.set(list, [request]);
  }
  for (const [list, requests] of open)
    if (!answered.has(list) && !(await isMergedCached(requests, session))) addRequest(cost, requests[0]!);
  for (const each of [cost, ...Object.values(cost.services), ...cost.fields])
    each.likely = Math.max(each.likely, each.min);
  return cost;
}

/** Whether the response to one request for several of them is cached: the loader merges what differs in members and window. */
async function isMergedCached(requests: RootRequest[], { responses }: Pick<UpstreamSession, 'responses'>) {
  const merged = mergedReads(requests).filter(({ reads }) => reads.length > 1);
  const sent = merged.map(({ request: { endpoint, input, members } }) => responses.wouldSend(endpoint, input, members));
  return (await Promise.all(sent)).includes(null);
}

/** The fewest calls if nothing is cached. With `ofAny`, for variables that may make requests of one endpoint equal. */
export const fewestCalls = (plan: OperationPlan, variables: Variables, ofAny: boolean): number =>
  new Set(requestsOf(plan, variables).map(({ endpoint, list }) => (ofAny ? endpoint : list))).size;

const requestsOf = (plan: OperationPlan, variables: Variables): RootRequest[] =>
  [plan.root, ...plan.root.deferred].flatMap(({ fields }) =>
    fields.flatMap((field) => requestsOfField(field, {}, variables, responseKeyOf(field))),
  );

function requestsOfField(field: PlannedField, parent: ParentRecord, variables: Variables, path: string): RootRequest[] {
  const { mode, members, recordMembers = members, needsNoItems } = field;
  if (mode === 'value' && field.parent === 'Query')
    return recordsNamedBy(field, variables).flatMap(({ record, selection }) =>
      requestsOfRecord(record, selection, variables, path),
    );
  if (mode !== 'call' && mode !== 'lookup') return [];
  const called = requestIfAny(field, parent, variables);
  if (!called) return [];
  const { endpoint, input } = called;
  if (mode === 'call') {
    const made = rootRequests(path, endpoint, input, recordMembers, async ({ responses }) => {
      return (await responses.wouldSend(endpoint, input, recordMembers)) !== null;
    });
    return made.map((request) => ({ ...request, needsNoItems }));
  }
  return requestsOfRecord(input as ParentRecord, field.onlySelection!, variables, path);
}

/** The records that a root field names by its arguments alone, such as `node` and `city`. Those that cannot be are left out. */
function recordsNamedBy(
  { field, rule, args, selections, onlySelection }: PlannedField,
  variables: Variables,
): { record: ParentRecord; selection: SelectionPlan }[] {
  try {
    const given = args(variables);
    if (rule.globalIds)
      return rule.globalIds(given).flatMap((id) => {
        const parts = partsOfId(id);
        const selection = parts && selections.get(parts.type);
        const record = parts && selection?.rule.nodeOf?.(parts.key);
        return record && selection?.rule.record ? [{ record: record as ParentRecord, selection }] : [];
      });
    if (!onlySelection?.rule.isReference || !onlySelection.rule.record) return [];
    return [
      { record: field.resolve!({}, given, undefined, undefined as never) as ParentRecord, selection: onlySelection },
    ];
  } catch {
    return [];
  }
}

/** A record that the client named is loaded, and its lists, without waiting for anything. */
function requestsOfRecord(
  record: ParentRecord,
  selection: SelectionPlan,
  variables: Variables,
  path: string,
): RootRequest[] {
  const { type, rule, members } = selection;
  const source = rule.record!;
  const key = keyIn(record, source);
  const children = childCallsOf(record, selection, variables);
  const ofChildren = children
    .flatMap(({ plan }) => requestsOfField(plan, record, variables, `${path}.${responseKeyOf(plan)}`))
    .map((request) => unlessAbsent(request, type.name, source, key));
  // Deferred members are loaded only if the record exists.
  const { request, providers } = rule.isReference
    ? planLoad(
        selection,
        members.filter((member) => !(member in record) && isUpstreamMember(source, member)),
        'referred',
        record,
        children,
      )
    : planLoad(selection, membersOrId(selection), 'named', record, children);
  if (providers.length > 0 || request.length === 0) return ofChildren;
  const own = rootRequests(path, source.endpoint, source.input(key), undefined, async ({ records }) => {
    return (await records.wouldRequest(type.name, source, key, request)) !== null;
  });
  return [...ofChildren, ...own];
}

/** A record that is known to be absent has nothing below it. */
const unlessAbsent = (request: RootRequest, kind: string, source: RecordSource, key: string): RootRequest => ({
  ...request,
  wouldSend: async (session) => {
    const absence = session.records.absenceOf(kind, source, key);
    const isAbsent = typeof absence === 'function' ? await absence() : absence;
    return !isAbsent && request.wouldSend(session);
  },
});

/** None if it cannot be made. */
function rootRequests(
  path: string,
  endpoint: Endpoint,
  input: object,
  members: MemberNames | undefined,
  wouldSend: RootRequest['wouldSend'],
): RootRequest[] {
  const request = requestIfUsable(endpoint, input, members);
  return request ? [{ path, endpoint, list: `${endpoint.service} ${listOf(request)}`, request, wouldSend }] : [];
}

/** Undefined if the field makes no call, because its list is empty or its arguments are wrong. */
function requestIfAny(field: PlannedField, parent: ParentRecord, variables: Variables) {
  const { rule, args } = field;
  try {
    if (rule.isUnavailable?.(parent) || rule.isEmpty?.(parent)) return undefined;
    return requestOf(field, parent, args(variables), variables);
  } catch {
    return undefined;
  }
}

function addRequest(cost: CallCost, { path, endpoint }: RootRequest): void {
  cost.min++;
  cost.services[endpoint.service]!.min++;
  const ofEndpoint = cost.fields.filter((each) => each.endpoint === `${endpoint.method} ${endpoint.path}`);
  // The load of a record is listed at the first field that needs it.
  const field =
    ofEndpoint.find((each) => each.path === path) ?? ofEndpoint.find((each) => each.path.startsWith(`${path}.`));
  if (field) field.min++;
}
