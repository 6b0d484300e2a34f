/**
 * Loads the selected fields that a record does not have yet.
 *
 * The fields of the initial result are loaded at once, together with the calls below the record. The fields of deferred fragments are
 * loaded when the first fragment that needs one of them is run.
 */
import { withMembers } from '../../lib/objects.ts';
import { asError, isPromise, lazily, withValue } from '../../lib/promises.ts';
import { isRecordRejection } from '../../upstream/errors.ts';
import {
  type RecordSource,
  mayBeRefused,
  fieldError,
  isUpstreamField,
  keyFieldsOf,
  tierRequired,
  withThrowingFields,
} from '../../upstream/loading/record-state.ts';
import { insert } from '../../upstream/http/request.ts';
import { asObject, asText } from '../types/decode.ts';
import { endpointOf } from './declarations.ts';
import { type ParentRecord, type Resolution, embeddedRecord, startCall } from './field-call.ts';
import { type PlannedField, type SelectionPlan, responseKeyOf } from './operation-plan.ts';

/** How certain it is that a record exists. */
export type Existence =
  /** The client named it: nothing shows yet that it exists. */
  | 'named'
  /** Upstream returned its id only. If the record is absent or cannot be loaded, the whole object is null or an error. */
  | 'referred'
  /** Upstream listed it or returned a part of it: that part is kept, whatever happens to the rest. */
  | 'shown';

interface Loading {
  record: ParentRecord;
  /** '' if it has none. The key of a reference may be longer than the `id` that is loaded later. */
  key: string;
  selection: SelectionPlan;
  missing: readonly string[];
  existence: Existence;
}

/** The record with the missing names that the initial result needs. */
export function loadMissing(
  record: ParentRecord,
  selection: SelectionPlan,
  missing: readonly string[],
  existence: Existence,
  resolution: Resolution,
): unknown {
  const { names, initialNames, rule } = selection;
  const loading: Loading = { record, key: keyIn(record, rule.record!), selection, missing, existence };
  if (initialNames === names) return loadNames(loading, resolution);

  const exists = existence === 'shown' || rule.isReference === true;
  const first = exists ? missing.filter((name) => initialNames.includes(name)) : namesLoadedFirst(missing, selection);
  if (first === missing) return loadNames(loading, resolution);
  const initial = first.length > 0 ? loadNames({ ...loading, missing: first }, resolution) : record;
  return withValue(initial, (loaded) => {
    if (loaded === null) return null;
    const rest = missing.filter((name) => !(name in (loaded as ParentRecord)));
    if (rest.length === 0) return loaded;
    // A copy, because later loads of the operation add to the record. Fields that throw are not enumerable.
    const known = Object.defineProperties({}, Object.getOwnPropertyDescriptors(loaded)) as ParentRecord;
    const load = () => loadNames({ ...loading, record: known, missing: rest, existence: 'shown' }, resolution);
    return new PartlyLoaded(known, rest, load as () => ParentRecord | Promise<ParentRecord>);
  });
}

/** A record without the names that only its deferred fragments need. They are loaded together, when the first of them is needed. */
export class PartlyLoaded {
  readonly record: ParentRecord;
  private readonly rest: readonly string[];
  private readonly load: () => ParentRecord | Promise<ParentRecord>;

  constructor(record: ParentRecord, rest: readonly string[], load: () => ParentRecord | Promise<ParentRecord>) {
    this.record = record;
    this.rest = rest;
    this.load = lazily(load);
  }

  withNames(names: readonly string[]): ParentRecord | Promise<ParentRecord> {
    return names.some((name) => this.rest.includes(name)) ? this.load() : this.record;
  }
}

/** The key to load a record by; '' if it has none. */
const keyIn = (record: ParentRecord, { keyOf }: RecordSource): string =>
  (keyOf ? keyOf(record as never) : asText(record.id)) ?? '';

function loadNames(loading: Loading, resolution: Resolution): unknown {
  const { record, key, selection, missing, existence } = loading;
  const { rule, type, tierRefused } = selection;
  const source = rule.record!;
  if (!key) return record;
  const started = selection.eagerCalls.length > 0 ? startEagerCalls(record, selection, resolution) : nothingStarted;

  // If only child endpoints are selected, they show whether the record exists, and it is not loaded.
  const isNamed = existence === 'named';
  if (isNamed && !selection.readsRecord && started.length > 0 && missing.every((name) => name in record))
    return nullIfShownAbsent(record, started);

  const names = namesToRequest(missing, selection, isNamed);
  const provider = started.find((call) => providesNeeded(call, names, missing));
  if (names.length === 0 && !provider && tierRefused.size === 0) return record;

  const { context, path } = resolution;
  const { upstream } = context;
  const request = (wanted: readonly string[]) =>
    wanted.length > 0 ? upstream.records.load(type.name, source, key, wanted, record, path) : record;
  const load = () => (provider ? loadFromChild(provider, record, names, request) : request(names));
  const exists = rule.isReference === true || existence === 'shown';
  const loaded = exists || mayBeRefused(source) ? keepOnError(load, loading, names, exists) : load();
  return withValue(loaded, (value) => {
    if (value === null && !exists) return null;
    const known = (value ?? record) as ParentRecord;
    const refused = missing.filter((name) => tierRefused.has(name) && !(name in known));
    return refused.length > 0
      ? withThrowingFields(known, refused, (name) => tierRequired(type.name, source, name))
      : known;
  });
}

function providesNeeded({ plan }: StartedChild, names: readonly string[], missing: readonly string[]): boolean {
  const { names: provided = [], member } = plan.rule.provides ?? {};
  if (member !== undefined && plan.names?.includes(member) === false) return false;
  const isProvided = (name: string) => provided.includes(name);
  return names.length > 0 ? names.every(isProvided) : missing.some(isProvided);
}

/**
 * Loads the names. If that fails, the known part of an existing record is kept, and each field that needs a missing name reports the error.
 *
 * A record that the tier may not load may have lists that it may, so its known part is kept too. The exception is a record that the client
 * named without selecting such a list: nothing shows that it exists, so it is rejected as a whole.
 */
function keepOnError(
  load: () => unknown,
  { record, selection, existence }: Loading,
  names: readonly string[],
  exists: boolean,
): unknown {
  const keep = (error: unknown) => {
    if (!exists && (!isRecordRejection(error) || (existence === 'named' && !hasCalls(selection)))) throw error;
    const unknown = exists ? names : names.filter((name) => !(name in record));
    return withThrowingFields(record, unknown, (name) => fieldError(selection.rule.record!, name, asError(error)));
  };
  try {
    const loaded = load();
    return isPromise(loaded) ? loaded.catch(keep) : loaded;
  } catch (error) {
    return keep(error); // the same load failed earlier, for another field
  }
}

/** Whether a field of the record has an endpoint of its own, deferred fields included. */
const hasCalls = (selection: SelectionPlan): boolean =>
  [selection, ...selection.deferred].some(({ fields }) =>
    fields.some(({ mode }) => mode === 'call' || mode === 'embedded'),
  );

/** A call below a record that was started together with the load of the record. */
interface StartedChild {
  plan: PlannedField;
  response: Promise<unknown>;
  /** If it is absent, so is the record: it is a list of the record, or the record itself in another variant. */
  showsRecord: boolean;
}
const nothingStarted: readonly StartedChild[] = Object.freeze([]);

/** Only a record that does not exist has no list and no other variant: an empty list is a response too. */
function nullIfShownAbsent(record: ParentRecord, started: readonly StartedChild[]): unknown {
  const shows = started.find(({ showsRecord }) => showsRecord);
  return shows
    ? shows.response.then(
        (response) => (response === null ? null : record),
        () => record,
      )
    : record;
}

/** Starts the calls below a record whose input is known, without waiting for the record. */
function startEagerCalls(
  record: ParentRecord,
  selection: SelectionPlan,
  { context, path: prev, variables }: Resolution,
): StartedChild[] {
  const started: StartedChild[] = [];
  for (const plan of selection.eagerCalls) {
    // A name that upstream does not know cannot arrive later.
    const isKnown = (name: string) => name in record || !isUpstreamField(selection.rule.record!, name);
    if (!plan.rule.from?.every(isKnown)) continue;
    let response: Promise<unknown>;
    let showsRecord = false;
    try {
      const args = plan.args(variables);
      const path = { prev, key: responseKeyOf(plan), typename: selection.type.name };
      const child = { plan, args, context, path, variables };
      if (plan.rule.isUnavailable?.(record) || plan.rule.isEmpty?.(record)) continue;
      if (embeddedRecord(record, child) !== undefined) continue;
      const endpoint = endpointOf(plan.rule, args);
      showsRecord = endpoint.list !== undefined || endpoint === selection.rule.record?.endpoint;
      response = Promise.resolve(startCall(record, child).response);
    } catch (error) {
      response = Promise.reject(asError(error)); // wrong input: no call is made, not even for the record
    }
    response.catch(() => undefined); // the field reports it: it gets the same response from the operation
    started.push({ plan, response, showsRecord });
  }
  return started;
}

/**
 * The names that a child's response carries of its parent, and no other members: which child responds must not change what is shown. If it
 * carries less than declared, they are requested.
 */
async function loadFromChild(
  { plan, response }: StartedChild,
  record: ParentRecord,
  names: readonly string[],
  request: (names: readonly string[]) => unknown,
): Promise<unknown> {
  const provides = plan.rule.provides!;
  let provided: ParentRecord;
  try {
    const received = await response;
    if (received === null) return null;
    provided = membersOf(asObject(provides.read(received)), provides.names);
  } catch {
    return request(names);
  }
  if (!names.every((name) => name in provided)) return request(names);
  return withMembers(provided, record); // what is known stays: a person named by uid keeps it as the id
}

function membersOf(record: ParentRecord, names: readonly string[]): ParentRecord {
  const members: ParentRecord = {};
  for (const name of names) if (name in record) members[name] = record[name];
  return members;
}

const ID: readonly string[] = Object.freeze(['id']);

/** The names of a record that the client named: its id if nothing of it is selected. */
export const namesOrId = ({ names }: SelectionPlan): readonly string[] => (names.length > 0 ? names : ID);

/**
 * The names to request. Names that the tier does not get are left out, and so is the id of a record that upstream named, because it would
 * show nothing new. A record that the client named is requested with its id if no other name can be requested.
 */
export function namesToRequest(
  missing: readonly string[],
  { tierRefused, rule }: SelectionPlan,
  isNamed: boolean,
): readonly string[] {
  const takesId = isNamed || !keyFieldsOf(rule.record!).includes('id');
  const requested =
    (takesId || !missing.includes('id')) && tierRefused.size === 0
      ? missing
      : missing.filter((name) => (name !== 'id' || takesId) && !tierRefused.has(name));
  if (!isNamed || requested.some((name) => isUpstreamField(rule.record!, name))) return requested;
  const names = requested.slice();
  insert(names, 'id');
  return names;
}

/** The names to load first. If the initial result needs none of them, all are loaded, because they also show whether the record exists. */
export function namesLoadedFirst(missing: readonly string[], { initialNames }: SelectionPlan): readonly string[] {
  const first = missing.filter((name) => initialNames.includes(name));
  return first.length > 0 ? first : missing;
}
