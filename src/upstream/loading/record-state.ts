/** What is known of one record, and what of it is wished for. */
import type { Path } from 'graphql/jsutils/Path.js';
import { type Endpoint, type Tier, tiers } from '../../api/endpoint.ts';
import { copyOf } from '../../lib/copy.ts';
import type { Kept } from '../cache/record-cache.ts';
import { TierRequired } from '../errors.ts';
import { withheld } from '../auth/tiers.ts';

/** How the whole record of a kind is told by its key. */
export interface RecordSource {
  readonly ask: Endpoint;
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

export type Record_ = Record<string, unknown>;
export type Names = readonly string[];

/** What is known of one record. A name that was asked for and did not come is there as undefined. */
export interface Entry {
  kind: string;
  key: string;
  source: RecordSource;
  record: Record_;
  /** Everything that upstream has of it is in `record`. */
  whole: boolean;
  absent: boolean;
  /** Wishes that are not granted yet. */
  wishes: readonly Wish[];
  failed: Map<string, Error> | undefined;
}
export interface Wish {
  entry: Entry;
  /** Sorted. */
  names: Names;
  /** What the cache has of it, as it was when the wish came. */
  kept: Kept | undefined | Promise<Kept | undefined>;
  path: Path | undefined;
  /** Until its tick is over, more may be wished for with it. */
  isOpen: boolean;
  granted: Promise<void>;
  grant: () => void;
}

export const noWishes: readonly Wish[] = Object.freeze([]);

export const createEntry = (kind: string, key: string, source: RecordSource): Entry => ({
  kind,
  key,
  source,
  record: {},
  whole: false,
  absent: false,
  wishes: noWishes,
  failed: undefined,
});

/** The wishes that these names wait for. */
export const wishesFor = ({ wishes }: Entry, names: Names): readonly Wish[] =>
  wishes.length === 0 ? wishes : wishes.filter((wish) => names.some((name) => wish.names.includes(name)));

const isOnTheWay = (wishes: readonly Wish[], name: string): boolean =>
  wishes.length > 0 && wishes.some((wish) => wish.names.includes(name));

/** The names of which nothing is known, and nothing is on its way; undefined where there are none. */
export function missingOf({ record, whole, failed, source, wishes }: Entry, names: Names): string[] | undefined {
  if (whole) return undefined;
  let missing: string[] | undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    if (!(name in record) && !failed?.has(name) && isMember(source, name) && !isOnTheWay(wishes, name))
      (missing ??= []).push(name);
  }
  return missing;
}

export const shownOf = (seen: Record_, entry: Entry, names: Names): Record_ | null =>
  entry.absent ? null : withNames(seen, entry, names);

export function wished(waits: readonly Wish[], seen: Record_, entry: Entry, names: Names): Promise<Record_ | null> {
  const granted = waits.length === 1 ? waits[0]!.granted : Promise.all(waits.map((wish) => wish.granted));
  return granted.then(() => shownOf(seen, entry, names));
}

export const fail = (entry: Entry, name: string, error: Error): void =>
  void (entry.failed ??= new Map<string, Error>()).set(name, error);

/** Stores what came, as the answer to `names`. `requested`: all names that it answers; `possibleTiers`: of the caller. */
export function take(
  entry: Entry,
  came: Record_,
  names: Names,
  possibleTiers: readonly Tier[],
  requested: Names = names,
): void {
  const { kind, source, record } = entry;
  for (const name in came) if (came[name] !== undefined) record[name] = came[name];
  for (const name of names) if (!(name in record)) record[name] = undefined;
  for (const name of withheld(source, record, requested, possibleTiers))
    fail(entry, name, tierRequired(kind, source, name));
}

/** Some tier is refused the whole record: a record of such an endpoint may also be refused by itself. */
export const mayBeRefused = ({ ask }: RecordSource): boolean => ask.tiers.length < tiers.length;

/** False for a name that is ours alone: no record of the service has it. */
export const isMember = ({ members }: RecordSource, name: string): boolean => members?.includes(name) ?? true;

export function tierRequired(kind: string, source: RecordSource, name: string): Error {
  return new TierRequired(source.tiers?.[name] ?? [], `${kind}.${name}`);
}

function withNames(seen: Record_, { record, failed, source }: Entry, names: Names): Record_ {
  // Known by its id alone, it is what is known of it; a failed name is not among them.
  if (!failed && isBareId(seen)) {
    record.id ??= seen.id;
    return record;
  }
  const whole = copyOf(seen);
  const broken: string[] = [];
  for (const name of names) {
    if (failed?.has(name)) broken.push(name);
    else whole[name] = record[name];
  }
  if (broken.length === 0) return whole;
  // If every member failed and only the id is known, throw the error. A record whose members are withheld from the tier is there.
  const isLost = broken.length === names.filter((name) => isMember(source, name)).length;
  if (isLost && Object.keys(seen).every((name) => name === 'id' || name === '__typename')) {
    const errors = broken.map((name) => failed!.get(name)!);
    if (!errors.some((error) => error instanceof TierRequired && !error.ofEndpoint)) throw errors[0]!;
  }
  // What it was found by stays known: a list beside the record may be open where the record is not.
  const untold = broken.filter((name) => !(name in seen));
  return telling(whole, untold, (name) => failed!.get(name)!);
}

function isBareId(record: Record_): boolean {
  for (const name in record) if (name !== 'id') return false;
  return true;
}

/** A copy of the record in which reading one of these names throws: each place that shows it reports it. */
export function telling(record: Record_, names: Names, errorOf: (name: string) => Error): Record_ {
  // With what tells already: a spread would leave it out.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(record)) as Record_;
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
