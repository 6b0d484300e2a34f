/** What one operation knows of a record: its members so far, the errors of those that failed, and the loads under way. */
import type { Path } from 'graphql/jsutils/Path.js';
import { shallowCopy } from '../../lib/objects.ts';
import {
  type MemberNames,
  type RecordSource,
  type UpstreamRecord,
  isUpstreamMember,
  keyMembersOf,
  withThrowingMembers,
} from '../../api/record-source.ts';
import type { CacheHandle } from '../cache/handle.ts';
import type { CacheEntry } from '../cache/memory.ts';
import type { CallPolicy } from '../http/call-policy.ts';
import { TierRequired, UpstreamFailure, UpstreamRejection, memberError, tierRequired } from '../errors.ts';

export class RecordState {
  readonly kind: string;
  readonly key: string;
  readonly source: RecordSource;
  /** What is cached of it. */
  readonly cache: CacheHandle;
  /** A member that was requested and is absent is present here as undefined. */
  readonly record: UpstreamRecord = {};
  /** The whole record was requested: `record` has all its members. */
  isWhole = false;
  isAbsent = false;
  /** Loads that are not settled yet. */
  loads: readonly MemberLoad[] = noLoads;
  errors: Map<string, Error> | undefined = undefined;
  /** Responses that show whether it exists: null says that it does not, undefined says nothing. */
  evidence: Promise<unknown>[] | undefined = undefined;

  constructor(kind: string, key: string, source: RecordSource, cache: CacheHandle) {
    this.kind = kind;
    this.key = key;
    this.source = source;
    this.cache = cache;
  }
}

/** One request for members of a record. */
export interface MemberLoad {
  readonly state: RecordState;
  /** Sorted. */
  members: MemberNames;
  /** What the cache had of the record when the load was created. */
  readonly cached: CacheEntry | undefined | Promise<CacheEntry | undefined>;
  readonly path: Path | undefined;
  /** Other loads of the same tick may still add members. */
  isOpen: boolean;
  /** Never rejects: errors are stored in the state, for each member. */
  done: Promise<unknown> | undefined;
}

const noLoads: readonly MemberLoad[] = Object.freeze([]);

/**
 * Whether a response says that there is no such record, and none shows it. Calls in flight are waited for, so that an id has one answer
 * wherever the operation names it.
 */
export async function isShownAbsent(state: RecordState): Promise<boolean> {
  const { record, source } = state;
  const evidence = (state.evidence ??= []);
  let isShown: boolean | undefined;
  // Other responses may be added meanwhile.
  for (let known = -1; known < evidence.length;) {
    known = evidence.length;
    isShown = await isShownBy(evidence);
    if (isShown) return false;
    while (state.loads.length > 0) await state.loads[0]!.done;
  }
  return state.isAbsent || (isShown === false && !keyMembersOf(source).some((member) => member in record));
}

/** What a failed call says of a reference: true, that it may be there. A call that was not made says nothing. */
export const shownByFailure = (error: unknown): true | undefined =>
  error instanceof UpstreamFailure || error instanceof UpstreamRejection || undefined;

/** True as soon as a response shows the record; undefined if none says that there is none. */
const isShownBy = (evidence: readonly Promise<unknown>[]): Promise<boolean | undefined> =>
  new Promise((resolve) => {
    let isShown: false | undefined;
    const note = (response: unknown) => {
      if (response === null) isShown = false;
      else if (response !== undefined) resolve(true);
    };
    void Promise.all(evidence.map((each) => each.then(note, () => undefined))).then(() => resolve(isShown));
  });

/** The unsettled loads that include one of these members. */
export const loadsOf = ({ loads }: RecordState, members: MemberNames): readonly MemberLoad[] =>
  loads.length === 0 ? loads : loads.filter((load) => members.some((member) => load.members.includes(member)));

/** The members that have no value or error yet and are not loading; undefined if there are none. */
export function missingOf({ record, isWhole, errors, source, loads }: RecordState, members: MemberNames) {
  if (isWhole) return undefined;
  let missing: string[] | undefined;
  for (const member of members) {
    if (member in record || errors?.has(member) || !isUpstreamMember(source, member)) continue;
    if (loads.length === 0 || !loads.some((load) => load.members.includes(member))) (missing ??= []).push(member);
  }
  return missing;
}

export const setError = (state: RecordState, member: string, error: Error): void =>
  void (state.errors ??= new Map<string, Error>()).set(member, error);

/** Merges a response to a request for these members: those that it lacks are known to be absent. */
export function merge({ record }: RecordState, response: UpstreamRecord, members: MemberNames): void {
  for (const member in response) if (response[member] !== undefined) record[member] = response[member];
  for (const member of members) if (!(member in record)) record[member] = undefined;
}

/** Sets the error of members that the tier withholds, as all that were `requested` and the possible tiers of the caller show together. */
export function markWithheld(
  state: RecordState,
  requested: MemberNames,
  calls: Pick<CallPolicy, 'tiers' | 'possibleTiers'>,
): void {
  const { kind, source, record } = state;
  for (const member of calls.tiers.withheld(source.endpoint, record, requested, calls.possibleTiers()))
    setError(state, member, tierRequired(kind, source, member));
}

/** The known members with the loaded ones, of which the failed ones throw when they are read; null if the record is absent. */
export function viewOf(known: UpstreamRecord, state: RecordState, members: MemberNames): UpstreamRecord | null {
  const { record, errors, source, isAbsent } = state;
  const keyMembers = keyMembersOf(source);
  if (isAbsent) return null;
  // The usual case needs no copy.
  if (!errors && hasOnly(known, keyMembers)) {
    for (const member of keyMembers) record[member] ??= known[member];
    return record;
  }
  const view = shallowCopy(known);
  const failed = members.filter((member) => errors?.has(member));
  for (const member of members) if (!errors?.has(member)) view[member] = record[member];
  for (const member of keyMembers) {
    const value = record[member] ?? known[member];
    if (value !== undefined) view[member] = value;
  }
  if (failed.length === 0) return view;
  const failures = failed.map((member) => errors!.get(member)!);
  // If every requested member failed and only the key is known, throw the error. But a record with members withheld from the tier exists.
  const isLost = failed.length === members.filter((member) => isUpstreamMember(source, member)).length;
  if (isLost && hasOnly(known, [...keyMembers, '__typename']) && !failures.some(isWithheld)) throw failures[0]!;
  // Known members stay: a list of the record may be open to a caller who is denied the record.
  const unknown = failed.filter((member) => !(member in known));
  return withThrowingMembers(view, unknown, (member) => memberError(source, member, errors!.get(member)!));
}

const isWithheld = (error: Error): boolean => error instanceof TierRequired && !error.ofEndpoint;

function hasOnly(record: UpstreamRecord, members: readonly string[]): boolean {
  for (const member in record) if (!members.includes(member)) return false;
  return true;
}
