/** What one operation knows of a record: its fields so far, the errors of those that failed, and the loads under way. */
import type { Path } from 'graphql/jsutils/Path.js';
import { type Tier, tiers } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import { type GatedRecord, fieldsWithheldByTier } from '../auth/tiers.ts';
import type { Cached, RecordHandle } from '../cache/record-cache.ts';
import { TierRequired } from '../errors.ts';

/** How records of a kind are requested by key. */
export interface RecordSource extends GatedRecord {
  readonly input: (key: string) => object;
  /** Every field that a record may have. */
  readonly members?: readonly string[];
  /** The record in a response that is not the record itself. */
  readonly read?: (response: never, key: string) => object | null;
  /** The key of a record; its `id` by default, null if it cannot be requested. */
  readonly keyOf?: (record: never) => string | null;
  /** The fields that its key consists of; `id` by default. */
  readonly keyFields?: readonly string[];
  /** Fields that hold other records. They are large, so they are requested only if they are needed. */
  readonly embeds?: readonly string[];
}

/** Above this share of a record's fields the whole record is requested: it can then be cached as a whole. */
const WHOLE_RECORD_SHARE = 0.85;

/** Whether to request the whole record: nearly all fields are needed, and all that hold other records. */
export const wantsWhole = ({ members, embeds = [] }: RecordSource, names: FieldNames): boolean =>
  members !== undefined &&
  names.length > members.length * WHOLE_RECORD_SHARE &&
  embeds.every((name) => names.includes(name));

export type UpstreamRecord = Record<string, unknown>;
export type FieldNames = readonly string[];

export class RecordState {
  readonly kind: string;
  readonly key: string;
  readonly source: RecordSource;
  /** What is cached of it. */
  readonly cache: RecordHandle;
  /** A field that was requested and is absent is present here as undefined. */
  readonly record: UpstreamRecord = {};
  /** The whole record was requested: `record` has all its fields. */
  isWhole = false;
  isAbsent = false;
  /** Loads that are not settled yet. */
  loads: readonly FieldLoad[] = noLoads;
  errors: Map<string, Error> | undefined = undefined;

  constructor(kind: string, key: string, source: RecordSource, cache: RecordHandle) {
    this.kind = kind;
    this.key = key;
    this.source = source;
    this.cache = cache;
  }
}

/** One request for fields of a record. */
export interface FieldLoad {
  readonly state: RecordState;
  /** Sorted. */
  names: FieldNames;
  /** What the cache had of the record when the load was created. */
  readonly cached: Cached | undefined | Promise<Cached | undefined>;
  readonly path: Path | undefined;
  /** Other loads of the same tick may still add fields. */
  isOpen: boolean;
  /** Never rejects: errors are stored in the state, for each field. */
  done: Promise<unknown> | undefined;
}

const noLoads: readonly FieldLoad[] = Object.freeze([]);

/** The unsettled loads that include one of these fields. */
export const loadsOf = ({ loads }: RecordState, names: FieldNames): readonly FieldLoad[] =>
  loads.length === 0 ? loads : loads.filter((load) => names.some((name) => load.names.includes(name)));

/** The fields that have no value or error yet and are not loading; undefined if there are none. */
export function missingOf({ record, isWhole, errors, source, loads }: RecordState, names: FieldNames) {
  if (isWhole) return undefined;
  const isKnown = (name: string) => name in record || errors?.has(name) || !isUpstreamField(source, name);
  const isLoading = (name: string) => loads.some((load) => load.names.includes(name));
  const missing = names.filter((name) => !isKnown(name) && !isLoading(name));
  return missing.length > 0 ? missing : undefined;
}

export const setError = (state: RecordState, name: string, error: Error): void =>
  void (state.errors ??= new Map<string, Error>()).set(name, error);

/**
 * Merges a response to a request for `names`: those that it lacks are known to be absent. `requested`: all fields that were requested;
 * `possibleTiers`: of the caller. Together they show which fields the tier withholds.
 */
export function merge(
  state: RecordState,
  response: UpstreamRecord,
  names: FieldNames,
  possibleTiers: readonly Tier[],
  requested: FieldNames = names,
): void {
  const { kind, source, record } = state;
  for (const name in response) if (response[name] !== undefined) record[name] = response[name];
  for (const name of names) if (!(name in record)) record[name] = undefined;
  for (const name of fieldsWithheldByTier(source, record, requested, possibleTiers))
    setError(state, name, tierRequired(kind, source, name));
}

/** Not every tier gets the endpoint, so a record may also be rejected individually. */
export const mayBeRefused = ({ endpoint }: RecordSource): boolean => endpoint.tiers.length < tiers.length;

/** False for fields that only the facade has. */
export const isUpstreamField = ({ members }: RecordSource, name: string): boolean => members?.includes(name) ?? true;

export const tierRequired = (kind: string, source: RecordSource, name: string): Error =>
  new TierRequired(source.tiers?.[name] ?? [], `${kind}.${name}`);

/** The error for one field of a record that was rejected as a whole: the tiers are those of the field. */
export function fieldError({ tiers }: RecordSource, name: string, error: Error): Error {
  const having = error instanceof TierRequired && error.ofEndpoint ? tiers?.[name] : undefined;
  return having ? new TierRequired(having, error.message, true) : error;
}

/** The known fields with the loaded ones, of which the failed ones throw when they are read; null if the record is absent. */
export function viewOf(known: UpstreamRecord, state: RecordState, names: FieldNames): UpstreamRecord | null {
  const { record, errors, source, isAbsent } = state;
  const keyFields = keyFieldsOf(source);
  if (isAbsent) return null;
  // The usual case needs no copy.
  if (!errors && hasOnly(known, keyFields)) {
    for (const name of keyFields) record[name] ??= known[name];
    return record;
  }
  const view = shallowCopy(known);
  const failed = names.filter((name) => errors?.has(name));
  for (const name of names)
    if (!errors?.has(name)) view[name] = keyFields.includes(name) ? (record[name] ?? known[name]) : record[name];
  if (failed.length === 0) return view;
  const failures = failed.map((name) => errors!.get(name)!);
  // If every requested field failed and only the key is known, throw the error. But a record with fields withheld from the tier exists.
  const isLost = failed.length === names.filter((name) => isUpstreamField(source, name)).length;
  if (isLost && hasOnly(known, [...keyFields, '__typename']) && !failures.some(isWithheld)) throw failures[0]!;
  // Known fields stay: a list of the record may be open to a caller who is denied the record.
  const unknown = failed.filter((name) => !(name in known));
  return withThrowingFields(view, unknown, (name) => fieldError(source, name, errors!.get(name)!));
}

const isWithheld = (error: Error): boolean => error instanceof TierRequired && !error.ofEndpoint;

const ID: readonly string[] = Object.freeze(['id']);

export const keyFieldsOf = ({ keyFields = ID }: RecordSource): readonly string[] => keyFields;

function hasOnly(record: UpstreamRecord, names: readonly string[]): boolean {
  for (const name in record) if (!names.includes(name)) return false;
  return true;
}

/** A copy of the record in which reading one of these fields throws, so that each place that shows it reports the error. */
export function withThrowingFields(
  record: UpstreamRecord,
  names: FieldNames,
  errorOf: (name: string) => Error,
): UpstreamRecord {
  // Copy property descriptors: existing throwing getters are non-enumerable and a spread would drop them.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as UpstreamRecord;
  for (const name of names) {
    const get = () => {
      throw errorOf(name);
    };
    Object.defineProperty(copy, name, { configurable: true, enumerable: false, get });
  }
  return copy;
}
