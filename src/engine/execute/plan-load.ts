/** Decides what to load of a record. `load-record.ts` does what it says, `call-range.ts` counts it. */
import { asError } from '../../lib/promises.ts';
import { insert } from '../../api/api-request.ts';
import { type RecordSource, isUpstreamMember, keyMembersOf, mayBeRefused } from '../../api/record-source.ts';
import { asText } from '../values/decode.ts';
import { endpointOf } from '../plan/read-declarations.ts';
import type { Variables } from '../plan/document.ts';
import type { FieldRule } from '../plan/declaration-types.ts';
import { type ParentRecord, embeddedRecord } from './field-call.ts';
import type { PlannedField, SelectionPlan } from '../plan/operation-plan.ts';

/** How certain it is that a record exists. */
export type Existence =
  /** The client named it: nothing shows yet that it exists. */
  | 'named'
  /** Upstream returned its id only. If the record is absent or cannot be loaded, the whole object is null or an error. */
  | 'referred'
  /** Upstream listed it or returned a part of it: that part is kept, whatever happens to the rest. */
  | 'shown';

/** A call below a record that starts together with the load of the record. */
export interface ChildCall {
  plan: PlannedField;
  /** Its arguments, or the error in them or in the input: no call is made then, not even for the record. */
  args: object | Error;
  /** If it is absent, so is the record: it is a list of the record, or the record itself in another variant. */
  showsRecord: boolean;
}

export interface LoadPlan {
  /** Whether the child calls start now. */
  startsChildren: boolean;
  /** Only they show whether the record exists: it is not requested. */
  isShownByChildren: boolean;
  /** The members to request; if there are none, the record is not requested. */
  request: readonly string[];
  /** The child calls of which a response may have these members. They are requested only if none has all. */
  providers: readonly ChildCall[];
  /** Missing members that the configured tier does not get: the fields that read them fail. */
  refused: readonly string[];
  /** When the known part of the record stays: whatever happens, if the load is rejected, or never. */
  keeps: 'always' | 'ifRejected' | 'never';
  /** Members that are loaded when a deferred fragment needs them. */
  later: readonly string[];
}

const noMembers: readonly string[] = Object.freeze([]);
const noCalls: readonly ChildCall[] = Object.freeze([]);

/** What to load of a record of which these members are missing. `children` are the calls below it whose input is known. */
export function planLoad(
  selection: SelectionPlan,
  missing: readonly string[],
  existence: Existence,
  record: ParentRecord,
  children: readonly ChildCall[],
): LoadPlan {
  const { readsRecord, rule, tierRefused, members, initialMembers } = selection;
  const isNamed = existence === 'named';
  const exists = existence === 'shown' || rule.isReference === true;
  const first = initialMembers === members ? missing : membersLoadedFirst(missing, initialMembers, exists);
  const startsChildren = first.length > 0;
  const isKnown = isNamed && children.length > 0 && first.every((member) => member in record);
  // Its id alone needs no request if a list shows that the record exists.
  const isShownByChildren =
    isKnown && (!readsRecord || (first === missing && children.some(({ showsRecord }) => showsRecord)));
  const request = isShownByChildren || !startsChildren ? noMembers : membersToRequest(first, selection, isNamed);
  return {
    startsChildren,
    isShownByChildren,
    request,
    providers: isShownByChildren ? noCalls : children.filter((child) => providesNeeded(child, request, first)),
    refused: tierRefused.size === 0 ? noMembers : first.filter((member) => tierRefused.has(member)),
    keeps: exists ? 'always' : mayBeRefused(rule.record!) && (!isNamed || hasCalls(selection)) ? 'ifRejected' : 'never',
    later: first === missing ? noMembers : missing.filter((member) => !first.includes(member)),
  };
}

/**
 * The members that the initial result needs. If it needs none of a record that may be absent, all are loaded, because they also show whether
 * the record exists.
 */
function membersLoadedFirst(
  missing: readonly string[],
  initialMembers: readonly string[],
  exists: boolean,
): readonly string[] {
  const first = missing.filter((member) => initialMembers.includes(member));
  return first.length > 0 || exists ? first : missing;
}

/**
 * Members that the tier does not get are left out, and so is the id of a record that upstream named: it is no reason for a request, and the
 * record loader adds it to one. A record that the client named is requested with its id if no other member can be requested.
 */
function membersToRequest(
  missing: readonly string[],
  { tierRefused, rule }: SelectionPlan,
  isNamed: boolean,
): readonly string[] {
  const takesId = isNamed || !keyMembersOf(rule.record!).includes('id');
  const requested =
    (takesId || !missing.includes('id')) && tierRefused.size === 0
      ? missing
      : missing.filter((member) => (member !== 'id' || takesId) && !tierRefused.has(member));
  if (!isNamed || requested.some((member) => isUpstreamMember(rule.record!, member))) return requested;
  const members = requested.slice();
  insert(members, 'id');
  return members;
}

/** What the response of a call below a record tells of it: its list beside the items, or the record itself in another variant. */
export function providesOf({ rule, members, recordMembers }: PlannedField): FieldRule['provides'] {
  if (recordMembers) {
    const own = rule.embedded!.member;
    const known = recordMembers.filter((member) => member !== own);
    // What was requested and is absent has no value.
    const read = (record: unknown) => Object.fromEntries(known.map((name) => [name, (record as ParentRecord)[name]]));
    return { members: known, read };
  }
  const { provides } = rule;
  return provides?.carriedBy !== undefined && members?.includes(provides.carriedBy) === false ? undefined : provides;
}

function providesNeeded({ plan }: ChildCall, members: readonly string[], missing: readonly string[]): boolean {
  const known = providesOf(plan)?.members ?? noMembers;
  const isCarried = (member: string) => known.includes(member);
  return members.length > 0 ? members.every(isCarried) : missing.some(isCarried);
}

/** Whether a field of the record has an endpoint of its own, deferred fields included. */
const hasCalls = (selection: SelectionPlan): boolean =>
  [selection, ...selection.deferred].some(({ fields }) =>
    fields.some(({ mode }) => mode === 'call' || mode === 'embedded'),
  );

/** The key to load a record by; '' if it has none. */
export const keyIn = (record: ParentRecord, { keyOf }: RecordSource): string =>
  (keyOf ? keyOf(record as never) : asText(record.id)) ?? '';

const ID: readonly string[] = Object.freeze(['id']);

/** The members of a record that the client named: its id if nothing of it is selected. */
export const membersOrId = ({ members }: SelectionPlan): readonly string[] => (members.length > 0 ? members : ID);

/** The calls below a record whose input is known, so that they need not wait for the record. */
export function childCallsOf(record: ParentRecord, selection: SelectionPlan, variables: Variables): ChildCall[] {
  const calls: ChildCall[] = [];
  for (const plan of selection.eagerCalls) {
    const { rule } = plan;
    // A member that upstream does not know cannot arrive later.
    const isKnown = (member: string) => member in record || !isUpstreamMember(selection.rule.record!, member);
    if (!rule.from?.every(isKnown)) continue;
    try {
      const args = plan.args(variables);
      if (rule.isUnavailable?.(record) || rule.isEmpty?.(record)) continue;
      if (embeddedRecord(record, { plan, args }) !== undefined) continue;
      const endpoint = endpointOf(rule, args);
      // A list without a parameter in its path, such as a search, is of the whole service.
      const isOfRecord = endpoint.list !== undefined && endpoint.params.length > 0;
      const showsRecord = isOfRecord || endpoint === selection.rule.record?.endpoint;
      calls.push({ plan, args, showsRecord });
    } catch (error) {
      calls.push({ plan, args: asError(error), showsRecord: false });
    }
  }
  return calls;
}
