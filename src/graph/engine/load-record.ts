/**
 * Loads what a record lacks of the fields that are selected of it.
 *
 * What the first part of the answer shows is loaded at once, together with the calls below the record; the names of deferred parts are
 * loaded when the first deferred field needs one of them.
 */
import type { GraphQLFieldResolver } from 'graphql';
import { withMembers } from '../../lib/objects.ts';
import { type RecordSource, mayBeRefused, withThrowingFields } from '../../upstream/loading/record-state.ts';
import { isRecordRejection } from '../../upstream/errors.ts';
import type { Context } from './builder.ts';
import { type FieldPosition, type ParentRecord, embeddedWhole, startCall } from './field-call.ts';
import { asText } from '../types/decode.ts';
import { endpointOf } from './declarations.ts';
import { type SelectionPlan, type PlannedField, responseKeyOf } from './operation-plan.ts';
import { namesLoadedFirst, namesToRequest } from './lookup.ts';
import { asError, isPromise, lazily, withValue } from '../../lib/promises.ts';

/** How sure it is that there is such a record. */
export type Existence =
  /** The caller named it: even its id shows nothing yet. */
  | 'named'
  /** Upstream named it by its id: where the record is absent, or fails to load, the field is too. */
  | 'referred'
  /** Upstream showed something of it, or listed it: what is known of it stays, whatever comes of the rest. */
  | 'shown';

/** The record with the missing names, as far as they are shown at first. */
export function loadMissing(
  record: ParentRecord,
  below: SelectionPlan,
  missing: readonly string[],
  existence: Existence,
  context: Context,
  at: FieldPosition,
): unknown {
  const { names, initialNames, rule } = below;
  const isSure = existence === 'shown' || rule.isReference === true;
  const load = (of: ParentRecord, wanted: readonly string[], as: Existence) =>
    loadNames({ record: of, below, missing: wanted, existence: as }, context, at);
  if (initialNames === names) return load(record, missing, existence);

  const first = isSure ? missing.filter((name) => initialNames.includes(name)) : namesLoadedFirst(missing, below);
  if (first === missing) return load(record, missing, existence);
  return withValue(first.length ? load(record, first, existence) : record, (loaded) => {
    if (loaded === null) return null;
    const rest = missing.filter((name) => !(name in (loaded as ParentRecord)));
    return rest.length ? postpone(loaded as ParentRecord, rest, (known) => load(known, rest, 'shown')) : loaded;
  });
}

interface Postponed {
  names: readonly string[];
  load: () => unknown;
}
const postponed = new WeakMap<object, Postponed>();

/** A copy of the record, because the same one may be shown elsewhere, with other parts deferred. */
function postpone(
  record: ParentRecord,
  names: readonly string[],
  load: (record: ParentRecord) => unknown,
): ParentRecord {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as ParentRecord;
  postponed.set(copy, { names, load: lazily(() => load(copy)) });
  return copy;
}

type Resolver = GraphQLFieldResolver<ParentRecord, Context, object>;

/** A resolver that loads the postponed names of its record before it reads one of them. */
export function loadingPostponed(inner: Resolver): Resolver {
  return (parent, args, context, info) => {
    const rest = postponed.get(parent);
    const plan = rest && context.plan.fieldAt(info.fieldNodes, info.parentType.name);
    if (!plan?.needs.some((name) => rest!.names.includes(name))) return inner(parent, args, context, info);
    return withValue(rest!.load(), (record) => inner(record as ParentRecord, args, context, info));
  };
}

interface Loading {
  record: ParentRecord;
  below: SelectionPlan;
  missing: readonly string[];
  existence: Existence;
}

/** The key that a record is asked by; '' where it has none. */
const keyIn = (record: ParentRecord, { keyOf: keyOfRecord }: RecordSource): string =>
  (keyOfRecord ? keyOfRecord(record as never) : asText(record.id)) ?? '';

function loadNames(loading: Loading, context: Context, at: FieldPosition): unknown {
  const { record, below, missing, existence } = loading;
  const source = below.rule.record!;
  const key = keyIn(record, source);
  if (!key) return record;
  const started = below.eagerCalls.length > 0 ? startChildren(record, below, context, at) : noneStarted;

  // Nothing of the record itself is selected: its children speak for it.
  const isNamed = existence === 'named';
  if (isNamed && !below.readsRecord && started.length > 0 && missing.every((name) => name in record))
    return unlessListIsAbsent(record, started);

  const asked = namesToRequest(missing, below, isNamed);
  if (started.length > 0 || below.rule.isReference || below.tierRefused.size > 0)
    return toldOrAsked(loading, asked, started, key, context, at);
  if (asked.length === 0) return record;
  const load = () => context.upstream.load(below.type.name, source, key, asked, record, at.path);
  if (existence === 'shown') return withValue(standing(load, record, asked), (loaded) => loaded ?? record);
  return mayBeRefused(source) ? keptIfRefused(load, loading, asked) : load();
}

const noneStarted: readonly Started[] = Object.freeze([]);

/** The same where a child may tell what is missing, where the record is refused in part, or stands by itself. */
function toldOrAsked(
  loading: Loading,
  asked: readonly string[],
  started: readonly Started[],
  key: string,
  { upstream }: Context,
  at: FieldPosition,
): unknown {
  const { record, below, missing, existence } = loading;
  const source = below.rule.record!;
  const teller = started.find(({ plan }) => {
    const told: readonly string[] = plan.rule.provides?.names ?? [];
    return asked.length > 0 ? asked.every((name) => told.includes(name)) : missing.some((name) => told.includes(name));
  });
  const { name } = below.type;
  const stands = below.rule.isReference === true || existence === 'shown';
  const want = (names: readonly string[]) =>
    names.length ? upstream.load(name, source, key, names, record, at.path) : record;
  const arriving = () => (teller ? toldBy(teller, record, asked, want) : want(asked));
  const loaded = stands
    ? standing(arriving, record, asked)
    : mayBeRefused(source)
      ? keptIfRefused(arriving, loading, asked)
      : arriving();
  return withValue(loaded, (told) => {
    if (told === null && !stands) return null;
    const known = (told ?? record) as ParentRecord;
    const refused = missing.filter((each) => below.tierRefused.has(each) && !(each in known));
    return refused.length ? upstream.withhold(name, source, known, refused) : known;
  });
}

/** What is known of a record stays: that something of it could not be loaded is told by the fields that show it. */
function standing(load: () => unknown, record: ParentRecord, names: readonly string[]): unknown {
  return orElse(load, (error) => withThrowingFields(record, names, () => asError(error)));
}

/**
 * Lists beside a record may be open where the record is refused. One that the caller named, with no such list selected, is refused as a
 * whole: nothing shows that it is there.
 */
function keptIfRefused(load: () => unknown, { record, below, existence }: Loading, names: readonly string[]): unknown {
  return orElse(load, (error) => {
    if (!isRecordRejection(error) || (existence === 'named' && !hasCalls(below))) throw error;
    const unknown = names.filter((name) => !(name in record));
    return withThrowingFields(record, unknown, () => asError(error));
  });
}

function orElse(load: () => unknown, failing: (error: unknown) => unknown): unknown {
  try {
    const came = load();
    return isPromise(came) ? came.catch(failing) : came;
  } catch (error) {
    return failing(error); // it failed before, for another place
  }
}

/** Whether a call answers a field of the record, in its deferred parts too. */
const hasCalls = (below: SelectionPlan): boolean =>
  [below, ...below.deferred].some(({ fields }) => fields.some(({ mode }) => mode === 'call' || mode === 'embedded'));

interface Started {
  plan: PlannedField;
  answer: Promise<unknown>;
  /** Whether a list is called for. */
  isList: boolean;
}

/** Only what is not there has no list: an empty one is an answer too. */
function unlessListIsAbsent(record: ParentRecord, started: readonly Started[]): unknown {
  const list = started.find(({ isList }) => isList);
  return list
    ? list.answer.then(
        (answer) => (answer === null ? null : record),
        () => record,
      )
    : record;
}

/** Starts the calls below a record that need no more of it than is known, beside the call for the record itself. */
function startChildren(record: ParentRecord, below: SelectionPlan, context: Context, at: FieldPosition): Started[] {
  const started: Started[] = [];
  for (const plan of below.eagerCalls) {
    if (!plan.rule.from?.every((name) => name in record)) continue;
    let answer: Promise<unknown>;
    let isList = false;
    try {
      const args = plan.args(at.variables);
      if (plan.rule.isEmpty?.(record) || embeddedWhole(plan, record, args) !== undefined) continue;
      const path = { prev: at.path, key: responseKeyOf(plan), typename: below.type.name };
      isList = endpointOf(plan.rule, args).list !== undefined;
      answer = Promise.resolve(startCall(plan, record, args, context, { path, variables: at.variables }).response);
    } catch (error) {
      answer = Promise.reject(asError(error)); // wrong input
    }
    answer.catch(() => undefined); // the field itself says so, and finds a call's failure in the operation's memo
    started.push({ plan, answer, isList });
  }
  return started;
}

/** The names that a child's answer tells of its parent, the rest asked for when it tells less than it should. */
async function toldBy(
  { plan, answer }: Started,
  record: ParentRecord,
  names: readonly string[],
  want: (names: readonly string[]) => unknown,
): Promise<unknown> {
  let told: ParentRecord | null | undefined;
  try {
    const came = await answer;
    if (came === null) return null;
    told = plan.rule.provides!.read(came);
  } catch {
    told = undefined;
  }
  if (!told || !names.every((name) => name in told)) return want(names);
  return withMembers(record, told);
}
