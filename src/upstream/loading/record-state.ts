/** What is known of one record, and what of it is wished for. */
import type { Path } from 'graphql/jsutils/Path.js';
import { type Endpoint, type Tier, tiers } from '../../api/endpoint.ts';
import { shallowCopy } from '../../lib/objects.ts';
import type { CachedRecord } from '../cache/record-cache.ts';
import { TierRequired } from '../errors.ts';
import { fieldsWithheldByTier } from '../auth/tiers.ts';

/** How the whole record of a kind is told by its key. */
export interface RecordSource {
  readonly endpoint: Endpoint;
  readonly input: (key: string) => object;
  /** Every member a record may have. */
  readonly members?: readonly string[];
  /** The tiers that get each member, where they differ. */
  readonly tiers?: Readonly<Record<string, readonly Tier[]>>;
  /** The record in an answer that is not the record itself. */
  readonly read?: (answer: never, key: string) => object | null;
  /** The key of a record at hand; its `id` by default, null where it has none to ask by. */
  readonly keyOf?: (record: never) => string | null;
}

export type UpstreamRecord = Record<string, unknown>;
export type FieldNames = readonly string[];

/** What is known of one record. A name that was asked for and did not come is there as undefined. */
export interface RecordState {
  kind: string;
  key: string;
  source: RecordSource;
  record: UpstreamRecord;
  /** Everything that upstream has of it is in `record`. */
  isWhole: boolean;
  isAbsent: boolean;
  /** Wishes that are not granted yet. */
  loads: readonly FieldLoad[];
  errors: Map<string, Error> | undefined;
}
export interface FieldLoad {
  state: RecordState;
  /** Sorted. */
  names: FieldNames;
  /** What the cache has of it, as it was when the wish came. */
  cached: CachedRecord | undefined | Promise<CachedRecord | undefined>;
  path: Path | undefined;
  /** Until its tick is over, more may be wished for with it. */
  isOpen: boolean;
  done: Promise<void>;
  settle: () => void;
}

export const noLoads: readonly FieldLoad[] = Object.freeze([]);

export const createRecordState = (kind: string, key: string, source: RecordSource): RecordState => ({
  kind,
  key,
  source,
  record: {},
  isWhole: false,
  isAbsent: false,
  loads: noLoads,
  errors: undefined,
});

/** The wishes that these names wait for. */
export const loadsOf = ({ loads }: RecordState, names: FieldNames): readonly FieldLoad[] =>
  loads.length === 0 ? loads : loads.filter((wish) => names.some((name) => wish.names.includes(name)));

const isLoading = (wishes: readonly FieldLoad[], name: string): boolean =>
  wishes.length > 0 && wishes.some((wish) => wish.names.includes(name));

/** The names of which nothing is known, and nothing is on its way; undefined where there are none. */
export function missingOf(
  { record, isWhole, errors, source, loads }: RecordState,
  names: FieldNames,
): string[] | undefined {
  if (isWhole) return undefined;
  let missing: string[] | undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    if (!(name in record) && !errors?.has(name) && isUpstreamField(source, name) && !isLoading(loads, name))
      (missing ??= []).push(name);
  }
  return missing;
}

export const viewOf = (seen: UpstreamRecord, entry: RecordState, names: FieldNames): UpstreamRecord | null =>
  entry.isAbsent ? null : withFields(seen, entry, names);

export function whenLoaded(
  waits: readonly FieldLoad[],
  seen: UpstreamRecord,
  entry: RecordState,
  names: FieldNames,
): Promise<UpstreamRecord | null> {
  const granted = waits.length === 1 ? waits[0]!.done : Promise.all(waits.map((wish) => wish.done));
  return granted.then(() => viewOf(seen, entry, names));
}

export const setError = (entry: RecordState, name: string, error: Error): void =>
  void (entry.errors ??= new Map<string, Error>()).set(name, error);

/** Stores what came, as the answer to `names`. `requested`: all names that it answers; `possibleTiers`: of the caller. */
export function merge(
  entry: RecordState,
  came: UpstreamRecord,
  names: FieldNames,
  possibleTiers: readonly Tier[],
  requested: FieldNames = names,
): void {
  const { kind, source, record } = entry;
  for (const name in came) if (came[name] !== undefined) record[name] = came[name];
  for (const name of names) if (!(name in record)) record[name] = undefined;
  for (const name of fieldsWithheldByTier(source, record, requested, possibleTiers))
    setError(entry, name, tierRequired(kind, source, name));
}

/** Some tier is refused the whole record: a record of such an endpoint may also be refused by itself. */
export const mayBeRefused = ({ endpoint }: RecordSource): boolean => endpoint.tiers.length < tiers.length;

/** False for a name that is ours alone: no record of the service has it. */
export const isUpstreamField = ({ members }: RecordSource, name: string): boolean => members?.includes(name) ?? true;

export function tierRequired(kind: string, source: RecordSource, name: string): Error {
  return new TierRequired(source.tiers?.[name] ?? [], `${kind}.${name}`);
}

function withFields(seen: UpstreamRecord, { record, errors, source }: RecordState, names: FieldNames): UpstreamRecord {
  // Known by its id alone, it is what is known of it; a failed name is not among them.
  if (!errors && isBareId(seen)) {
    record.id ??= seen.id;
    return record;
  }
  const whole = shallowCopy(seen);
  const broken: string[] = [];
  for (const name of names) {
    if (errors?.has(name)) broken.push(name);
    else whole[name] = record[name];
  }
  if (broken.length === 0) return whole;
  // If every member failed and only the id is known, throw the error. A record whose members are withheld from the tier is there.
  const isLost = broken.length === names.filter((name) => isUpstreamField(source, name)).length;
  if (isLost && Object.keys(seen).every((name) => name === 'id' || name === '__typename')) {
    const failures = broken.map((name) => errors!.get(name)!);
    if (!failures.some((error) => error instanceof TierRequired && !error.ofEndpoint)) throw failures[0]!;
  }
  // What it was found by stays known: a list beside the record may be open where the record is not.
  const untold = broken.filter((name) => !(name in seen));
  return withThrowingFields(whole, untold, (name) => errors!.get(name)!);
}

function isBareId(record: UpstreamRecord): boolean {
  for (const name in record) if (name !== 'id') return false;
  return true;
}

/** A copy of the record in which reading one of these names throws: each place that shows it reports it. */
export function withThrowingFields(
  record: UpstreamRecord,
  names: FieldNames,
  errorOf: (name: string) => Error,
): UpstreamRecord {
  // With what tells already: a spread would leave it out.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as UpstreamRecord;
  for (const name of names) {
    Object.defineProperty(copy, name, {
      configurable: true,
      enumerable: false,
      get: () => {
        throw errorOf(name);
      },
    });
  }
  return copy;
}
