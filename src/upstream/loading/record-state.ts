/** What one operation knows of a record: its members so far, the errors of those that failed, and the loads under way. */
import type { Path } from 'graphql/jsutils/Path.js';
import { type Tier, tiers } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import { type GatedRecord, membersWithheldByTier } from '../auth/tiers.ts';
import type { Cached, RecordHandle } from '../cache/handle.ts';
import { TierRequired } from '../errors.ts';

/** How records of a kind are requested by key. */
export interface RecordSource extends GatedRecord {
  readonly input: (key: string) => object;
  /** Every member that a record may have. */
  readonly members?: readonly string[];
  /** The record in a response that is not the record itself. */
  readonly read?: (response: never, key: string) => object | null;
  /** The key of a record; its `id` by default, null if it cannot be requested. */
  readonly keyOf?: (record: never) => string | null;
  /** The members that its key consists of; `id` by default. */
  readonly keyMembers?: readonly string[];
  /** Members that hold other records. They are large, so they are requested only if they are needed. */
  readonly embeds?: readonly string[];
}

/** Above this share of a record's members the whole record is requested: it can then be cached as a whole. */
const WHOLE_RECORD_SHARE = 0.85;

/** Whether to request the whole record: nearly all members are needed, and all that hold other records. */
export const wantsWhole = ({ members, embeds = [] }: RecordSource, needed: MemberNames): boolean =>
  members !== undefined &&
  needed.length > members.length * WHOLE_RECORD_SHARE &&
  embeds.every((member) => needed.includes(member));

export type UpstreamRecord = Record<string, unknown>;
export type MemberNames = readonly string[];

export class RecordState {
  readonly kind: string;
  readonly key: string;
  readonly source: RecordSource;
  /** What is cached of it. */
  readonly cache: RecordHandle;
  /** A member that was requested and is absent is present here as undefined. */
  readonly record: UpstreamRecord = {};
  /** The whole record was requested: `record` has all its members. */
  isWhole = false;
  isAbsent = false;
  /** Loads that are not settled yet. */
  loads: readonly MemberLoad[] = noLoads;
  errors: Map<string, Error> | undefined = undefined;

  constructor(kind: string, key: string, source: RecordSource, cache: RecordHandle) {
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
  readonly cached: Cached | undefined | Promise<Cached | undefined>;
  readonly path: Path | undefined;
  /** Other loads of the same tick may still add members. */
  isOpen: boolean;
  /** Never rejects: errors are stored in the state, for each member. */
  done: Promise<unknown> | undefined;
}

const noLoads: readonly MemberLoad[] = Object.freeze([]);

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
export function markWithheld(state: RecordState, requested: MemberNames, possibleTiers: readonly Tier[]): void {
  const { kind, source, record } = state;
  for (const member of membersWithheldByTier(source, record, requested, possibleTiers))
    setError(state, member, tierRequired(kind, source, member));
}

/** Not every tier gets the endpoint, so a record may also be rejected individually. */
export const mayBeRefused = ({ endpoint }: RecordSource): boolean => endpoint.tiers.length < tiers.length;

/** False for members that only the facade has. */
export const isUpstreamMember = ({ members }: RecordSource, member: string): boolean =>
  members?.includes(member) ?? true;

export const tierRequired = (kind: string, source: RecordSource, member: string): Error =>
  new TierRequired(source.tiers?.[member] ?? [], `${kind}.${member}`);

/** The error for one member of a record that was rejected as a whole: the tiers are those of the member. */
export function memberError({ tiers }: RecordSource, member: string, error: Error): Error {
  const having = error instanceof TierRequired && error.ofEndpoint ? tiers?.[member] : undefined;
  return having ? new TierRequired(having, error.message, true) : error;
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
  for (const member of members)
    if (!errors?.has(member))
      view[member] = keyMembers.includes(member) ? (record[member] ?? known[member]) : record[member];
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

const ID: readonly string[] = Object.freeze(['id']);

export const keyMembersOf = ({ keyMembers = ID }: RecordSource): readonly string[] => keyMembers;

function hasOnly(record: UpstreamRecord, members: readonly string[]): boolean {
  for (const member in record) if (!members.includes(member)) return false;
  return true;
}

/** A copy of the record in which reading one of these members throws, so that each place that shows it reports the error. */
export function withThrowingMembers(
  record: UpstreamRecord,
  members: MemberNames,
  errorOf: (member: string) => Error,
): UpstreamRecord {
  // Copy property descriptors: existing throwing getters are non-enumerable and a spread would drop them.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as UpstreamRecord;
  for (const member of members) {
    const get = () => {
      throw errorOf(member);
    };
    Object.defineProperty(copy, member, { configurable: true, enumerable: false, get });
  }
  return copy;
}
