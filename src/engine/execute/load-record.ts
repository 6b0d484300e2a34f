/**
 * Loads the selected fields that a record does not have yet.
 *
 * The fields of the initial result are loaded at once, together with the calls below the record. The fields of deferred fragments are
 * loaded when the first fragment that needs one of them is run.
 */
import { withMembers } from '../../lib/objects.ts';
import { asError, isPromise, lazily, withValue } from '../../lib/promises.ts';
import { keyMembersOf, withThrowingMembers } from '../../api/record-source.ts';
import { RecordRejected, isForbidden, isRecordRejection, memberError, tierRequired } from '../../upstream/errors.ts';
import { asObject } from '../values/decode.ts';
import { type ParentRecord, type Resolution, startCall } from './field-call.ts';
import { type SelectionPlan, responseKeyOf } from '../plan/operation-plan.ts';
import {
  type ChildCall,
  type Existence,
  type LoadPlan,
  childCallsOf,
  keyIn,
  planLoad,
  providesOf,
} from './plan-load.ts';

/** The record with the missing members that the initial result needs. */
export function loadMissing(
  record: ParentRecord,
  selection: SelectionPlan,
  missing: readonly string[],
  existence: Existence,
  resolution: Resolution,
  /** The key of a reference may be longer than the `id` that is loaded later. */
  key = keyIn(record, selection.rule.record!),
): unknown {
  if (!key) return record;
  const children = eagerChildrenOf(record, selection, key, resolution);
  const plan = planLoad(selection, missing, existence, record, children);
  const loading: Loading = { record, key, selection, plan };
  const started = plan.startsChildren && children.length > 0 ? startAll(children, loading, resolution) : noneStarted;
  const loaded = execute(loading, started, resolution);
  return plan.later.length === 0 ? loaded : partlyLoaded(loaded, loading, resolution);
}

/**
 * A reference that the client named, with its missing members. It is null if a call of the operation, its own or one of a list below it,
 * says that there is no such record, and none shows it. If no call is made, nothing is claimed.
 */
export function loadNamedReference(
  record: ParentRecord,
  selection: SelectionPlan,
  missing: readonly string[],
  resolution: Resolution,
): unknown {
  const { type, rule } = selection;
  const key = keyIn(record, rule.record!);
  // Started also if the reference is remembered as absent: then they send nothing.
  const calls = childCallsOf(record, selection, resolution.variables).filter(
    ({ plan, showsRecord }) => showsRecord && selection.fields.includes(plan),
  );
  startAll(calls, { record, key, selection }, resolution);
  const loaded = missing.length > 0 ? loadMissing(record, selection, missing, 'referred', resolution) : record;
  const initial = missing.filter((member) => selection.initialMembers.includes(member));
  if (initial.length > 0) {
    const own = Promise.resolve(loaded).then((value) => (hasAny(value, initial) ? value : null));
    resolution.context.upstream.records.addEvidence(type.name, rule.record!, key, own);
  }
  return nullIfAbsent(loaded, { key, selection }, resolution);
}

/** Whether a load has provided any of the members, or the error of one. */
function hasAny(loaded: unknown, members: readonly string[]): boolean {
  const record = (loaded instanceof PartlyLoaded ? loaded.record : loaded) as ParentRecord;
  return members.some((member) => member in record);
}

/** What was loaded; null if the calls of the operation say that there is no such record. */
const nullIfAbsent = (
  loaded: unknown,
  { key, selection: { type, rule } }: Pick<Loading, 'key' | 'selection'>,
  { context }: Resolution,
): Promise<unknown> =>
  context.upstream.records.isAbsent(type.name, rule.record!, key).then((isAbsent) => (isAbsent ? null : loaded));

/** A record that is known to be absent has nothing below it. */
function eagerChildrenOf(
  record: ParentRecord,
  selection: SelectionPlan,
  key: string,
  { context, variables }: Resolution,
): readonly ChildCall[] {
  const { eagerCalls, type, rule } = selection;
  const hasNone = eagerCalls.length === 0 || context.upstream.records.absenceOf(type.name, rule.record!, key) === true;
  return hasNone ? noChildren : childCallsOf(record, selection, variables);
}

interface Loading {
  record: ParentRecord;
  key: string;
  selection: SelectionPlan;
  plan: LoadPlan;
}

/** Set on a record that was listed although the service has no such record: its lists are null, as their calls say. */
export const ABSENT = Symbol('absent');

/** Does what the plan says. */
function execute(loading: Loading, started: readonly StartedChild[], resolution: Resolution): unknown {
  const { context, path } = resolution;
  const { record, key, selection, plan } = loading;
  const { request, providers, keeps, refused } = plan;
  if (plan.isShownByChildren) return nullIfAbsent(record, loading, resolution);
  if (request.length === 0 && providers.length === 0 && refused.length === 0) return record;
  const { type, rule } = selection;
  const source = rule.record!;
  const send = (members: readonly string[]) =>
    members.length > 0 ? context.upstream.records.load(type.name, source, key, members, record, path) : record;
  const telling = providers.length > 0 ? started.filter(({ call }) => providers.includes(call)) : noneStarted;
  const load = () =>
    telling.length > 0 ? loadFromChildren(telling, record, request, keyMembersOf(source), send) : send(request);
  const loaded = keeps === 'never' ? load() : keepOnError(load, loading, resolution);
  if (keeps !== 'always' && refused.length === 0) return loaded;
  return withValue(loaded, (value) => {
    if (value === null && keeps !== 'always') return null;
    const known = value === null ? { ...record, [ABSENT]: true } : (value as ParentRecord);
    const absent = refused.filter((member) => !(member in known));
    if (absent.length === 0) return known;
    return withThrowingMembers(known, absent, (member) => tierRequired(type.name, source, member));
  });
}

/**
 * Loads the members. If that fails, the known part of the record is kept, and each field that needs a missing member reports the error.
 *
 * A record that the tier may not load may have lists that it may, so its known part is kept too. The exception is a record that the client
 * named without selecting such a list: nothing shows that it exists, so it is rejected as a whole.
 */
function keepOnError(load: () => unknown, loading: Loading, resolution: Resolution): unknown {
  const { record, selection, plan } = loading;
  const { keeps, request } = plan;
  const keep = (error: unknown) => {
    if (keeps === 'ifRejected' && !isRecordRejection(error)) throw error;
    // What is deferred is refused with the rest, as in a complete result.
    const lost = isRecordRejection(error) ? [...request, ...plan.later] : request;
    const unknown = keeps === 'always' ? lost : lost.filter((member) => !(member in record));
    const kept = withThrowingMembers(record, unknown, (member) =>
      memberError(selection.rule.record!, member, asError(error)),
    );
    if (keeps === 'always') return kept;
    // Lists that the record would have contained are called instead.
    const eagerCalls = mayHaveLists(error) ? selection.fields.filter(({ mode }) => mode === 'embedded') : [];
    startAll(childCallsOf(record, { ...selection, eagerCalls }, resolution.variables), loading, resolution);
    return nullIfAbsent(kept, loading, resolution);
  };
  try {
    const loaded = load();
    return isPromise(loaded) ? loaded.catch(keep) : loaded;
  } catch (error) {
    return keep(error); // the same load failed earlier, for another field
  }
}

/** Whether lists of a rejected record may be open to the caller, because the tier may be the reason. */
export const mayHaveLists = (error: unknown): boolean =>
  isRecordRejection(error) && !(error instanceof RecordRejected && !error.mayBeTier);

/** The record with what was loaded, and a way to load the members that only deferred fragments need. */
const partlyLoaded = (loaded: unknown, { key, selection, plan }: Loading, resolution: Resolution): unknown =>
  withValue(loaded, (value) => {
    if (value === null) return null;
    const rest = plan.later.filter((member) => !(member in (value as ParentRecord)));
    if (rest.length === 0) return value;
    // A copy, because later loads of the operation add to the record. Fields that throw are not enumerable.
    const known = Object.defineProperties({}, Object.getOwnPropertyDescriptors(value)) as ParentRecord;
    const whole = { ...selection, initialMembers: selection.members };
    const load = () => loadMissing(known, whole, rest, 'shown', resolution, key);
    return new PartlyLoaded(known, rest, load as () => ParentRecord | Promise<ParentRecord>);
  });

/** A record without the members that only its deferred fragments need. They are loaded together, when the first of them is needed. */
export class PartlyLoaded {
  readonly record: ParentRecord;
  private readonly rest: readonly string[];
  private readonly load: () => ParentRecord | Promise<ParentRecord>;

  constructor(record: ParentRecord, rest: readonly string[], load: () => ParentRecord | Promise<ParentRecord>) {
    this.record = record;
    this.rest = rest;
    this.load = lazily(load);
  }

  loadedWith(members: readonly string[]): ParentRecord | Promise<ParentRecord> {
    return members.some((member) => this.rest.includes(member)) ? this.load() : this.record;
  }
}

interface StartedChild {
  call: ChildCall;
  response: Promise<unknown>;
}
const noChildren: readonly ChildCall[] = Object.freeze([]);
const noneStarted: readonly StartedChild[] = Object.freeze([]);

/** Starts the calls below a record, without waiting for the record. */
const startAll = (
  calls: readonly ChildCall[],
  { record, key, selection: { type, rule, fields } }: Pick<Loading, 'record' | 'key' | 'selection'>,
  { context, path: prev, variables }: Resolution,
): StartedChild[] => {
  const { records } = context.upstream;
  const absence = records.absenceOf(type.name, rule.record!, key);
  const isAbsent = absence === true ? undefined : absence;
  return calls.map((call) => {
    const { plan, args } = call;
    let response: Promise<unknown>;
    try {
      if (args instanceof Error) throw args;
      const path = { prev, key: responseKeyOf(plan), typename: type.name };
      response = Promise.resolve(startCall(record, { plan, args, context, path, variables }, isAbsent).response);
    } catch (error) {
      response = Promise.reject(asError(error));
    }
    response.catch(() => undefined); // the field reports it: it gets the same response from the operation
    // Those of deferred fragments come too late to say that there is no such reference.
    if (call.showsRecord && (!rule.isReference || fields.includes(plan)))
      records.addEvidence(type.name, rule.record!, key, response, rule.isReference);
    return { call, response };
  });
};

/**
 * The members that a child's response carries of its parent, and no others: which child responds must not change what is shown. If all
 * carry less than declared, they are requested; if all say that there is no such record, it is null.
 */
async function loadFromChildren(
  children: readonly StartedChild[],
  record: ParentRecord,
  members: readonly string[],
  keyMembers: readonly string[],
  request: (missing: readonly string[]) => unknown,
): Promise<unknown> {
  let mayExist = false;
  for (const { call, response } of children) {
    const provides = providesOf(call.plan)!;
    try {
      const received = await response;
      if (received === null) continue;
      mayExist = true;
      const shown = asObject(provides.read(received, record));
      const provided = only(provides.members, shown);
      // What is known stays. The response may tell more of the key: the id of a person who was named by a uid.
      if (members.every((member) => member in provided))
        return withMembers(withMembers(only(keyMembers, shown), provided), record);
    } catch (error) {
      // The record in another variant is denied as the record is.
      if (call.plan.recordMembers && isForbidden(error)) throw error;
      mayExist = true;
    }
  }
  return mayExist ? request(members) : null;
}

function only(members: readonly string[], record: ParentRecord): ParentRecord {
  const some: ParentRecord = {};
  for (const member of members) if (member in record) some[member] = record[member];
  return some;
}
