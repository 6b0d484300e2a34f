/**
 * What one operation knows of the service: which names of which records are there, and which are on their way.
 *
 * A wish for names waits for those on their way and asks for the rest; a tick's wishes for one record are one ask. Nothing here
 * outlives the operation.
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint, Tier } from '../contract/endpoint.ts';
import type { BudgetState } from './budget.ts';
import type { Calls } from './call.ts';
import type { Freshness } from './freshness.ts';
import type { FilePart } from './multipart.ts';
import { type Kept, type KeptAnswer, type Records, VIEWERS_OWN } from './records.ts';
import { TierRequired, UpstreamFault, UpstreamRefusal, isFault, isNo } from './refusal.ts';
import type { Trace } from './trace.ts';
import type { Viewer } from './viewer.ts';
import { type Asked, askedOf } from './wire.ts';

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

type Record_ = Record<string, unknown>;
type Names = readonly string[];

/** What is known of one record. A name that was asked for and did not come is there as undefined. */
interface Entry {
  kind: string;
  key: string;
  source: RecordSource;
  record: Record_;
  /** Everything that upstream has of it is in `record`. */
  whole: boolean;
  absent: boolean;
  onTheWay: Map<string, Promise<unknown>>;
  failed: Map<string, Error>;
}
interface Wish {
  entry: Entry;
  /** Sorted. */
  names: Names;
  /** What the cache has of it, as it was when the wish came. */
  kept: Kept | undefined | Promise<Kept | undefined>;
  path: Path | undefined;
}

/** In an object, because a promise among the results of a batch would hold up the others. */
interface Filling {
  done: Promise<void>;
}

/** What one operation may ask of the service. */
export interface Operation {
  readonly viewer: Viewer;
  readonly trace: Trace;
  /** How long what was read so far may be used again, and by whom. */
  readonly freshness: Freshness;
  /** What the rate limit leaves to the caller's own token; null without a token or a limit. */
  readonly rateBudget: () => Promise<BudgetState | null>;
  /** The answer of a call, null where what it asks for is absent. Equal asks of an operation are one. */
  ask: (endpoint: Endpoint, input: object, names: Names | undefined, path: Path | undefined) => unknown;
  /** The record with these names, beside those of `seen`; null where it is absent. */
  want: (
    kind: string,
    source: RecordSource,
    key: string,
    names: Names,
    seen: Record_,
    path: Path | undefined,
  ) => Promise<Record_ | null> | Record_ | null;
  /** The record, telling of each name that the caller's tier does not get it. */
  refuse: (kind: string, source: RecordSource, record: Record_, names: Names) => Record_;
  /** The answer of a write, which is made once, whatever happens to it. What was asked before it is asked again. */
  write: (
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ) => Promise<unknown>;
  /** Throws unless the caller sent a token of their own. */
  requireLogin: () => void;
  /** What a mutation made untrue, for this operation and for all: `Kind:key` for a record, a path for the lists under it. */
  changed: (what: readonly string[]) => Promise<void>;
  /** The request that an ask would make now; null where none would be made. */
  wouldAsk: (endpoint: Endpoint, input: object, names: Names | undefined) => Promise<string | null>;
  /** The same for names of a record. */
  wouldRead: (kind: string, source: RecordSource, key: string, names: Names) => Promise<string | null>;
}

/** Asked for this share of a record's members, the whole record is as good. */
export const NEARLY_ALL = 0.85;

interface OperationParts {
  calls: Calls;
  records: Records;
  viewer: Viewer;
  trace: Trace;
  /** Told of everything that is read. */
  freshness: Freshness;
  rateBudget: () => Promise<BudgetState | null>;
  /** Drops what the shared cache keeps of a record or a list, whoever asked. */
  clear: (scope: string) => void | Promise<void>;
}

export const createOperation = (parts: OperationParts): Operation => new KnownRecords(parts);

/** An object with methods, where the house has functions: each operation has one, and a closure a method would be dear. */
class KnownRecords implements Operation {
  readonly viewer: Viewer;
  readonly trace: Trace;
  readonly freshness: Freshness;
  readonly rateBudget: () => Promise<BudgetState | null>;
  private readonly parts: OperationParts;
  private readonly answers = new Map<string, unknown>();
  private readonly entries = new Map<string, Entry>();
  private loader: DataLoader<Wish, Filling, Wish> | undefined = undefined;

  constructor(parts: OperationParts) {
    this.parts = parts;
    this.viewer = parts.viewer;
    this.trace = parts.trace;
    this.freshness = parts.freshness;
    this.rateBudget = parts.rateBudget;
  }

  ask(endpoint: Endpoint, input: object, names: Names | undefined, path: Path | undefined): unknown {
    const asked = projected(endpoint, input, names);
    const key = keyOf(asked);
    let answer = this.answers.get(key);
    if (answer === undefined) {
      const kept = this.parts.records.getAnswer(endpoint, key);
      answer =
        kept instanceof Promise
          ? kept.then((found) => this.answerOf(asked, key, found, path))
          : this.answerOf(asked, key, kept, path);
      this.answers.set(key, answer);
    }
    return answer;
  }

  want(
    kind: string,
    source: RecordSource,
    key: string,
    names: Names,
    seen: Record_,
    path: Path | undefined,
  ): Promise<Record_ | null> | Record_ | null {
    const { records, freshness, viewer } = this.parts;
    const entry = this.entryOf(kind, source, key);
    if (entry.absent) return null;
    if (viewer.isLoggedIn && names.includes(VIEWERS_OWN)) freshness.read(null);
    const { record, failed, onTheWay, whole } = entry;
    const waits: Promise<unknown>[] = [];
    let missing: string[] | undefined;
    for (const name of names) {
      const coming = onTheWay.get(name);
      if (coming) {
        if (!waits.includes(coming)) waits.push(coming);
      } else if (!whole && !(name in record) && !failed.has(name) && isMember(source, name))
        (missing ??= []).push(name);
    }
    if (missing) {
      const kept = records.get(source.ask, kind, key);
      if (kept instanceof Promise || !this.takeKept(entry, kept, missing, path)) {
        const coming = this.batch.load({ entry, names: missing, kept, path }).then(doneOf);
        for (const name of missing) onTheWay.set(name, coming);
        waits.push(coming);
      }
    }
    const result = () => (entry.absent ? null : withNames(seen, entry, names));
    if (waits.length === 0) return result();
    return (waits.length === 1 ? waits[0]! : Promise.all(waits)).then(result);
  }

  refuse(kind: string, source: RecordSource, record: Record_, names: Names): Record_ {
    return telling(record, names, (name) => tierRequired(kind, source, name));
  }

  async write(
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ): Promise<unknown> {
    this.freshness.read(null);
    try {
      return (await this.parts.calls.make(askedOf(endpoint, input), path, files)).value;
    } finally {
      this.answers.clear();
    }
  }

  requireLogin(): void {
    this.parts.calls.requireLogin();
  }

  async changed(what: readonly string[]): Promise<void> {
    for (const each of what) this.entries.delete(each);
    await Promise.all(what.map(async (scope) => this.parts.clear(scope)));
  }

  async wouldAsk(endpoint: Endpoint, input: object, names: Names | undefined): Promise<string | null> {
    const key = keyOf(projected(endpoint, input, names));
    const { calls, records } = this.parts;
    if (calls.refuses(endpoint) || (await records.getAnswer(endpoint, key))?.isFresh) return null;
    return key;
  }

  async wouldRead(kind: string, source: RecordSource, key: string, names: Names): Promise<string | null> {
    const { calls, records } = this.parts;
    if (calls.refuses(source.ask)) return null;
    const kept = await records.get(source.ask, kind, key);
    return kept?.isFresh && names.every((name) => name in kept.record) ? null : `${kind}:${key}`;
  }

  /** The answer of a list or of a record asked otherwise than by its key, from the cache while it is fresh. */
  private answerOf(asked: Asked, key: string, kept: KeptAnswer | undefined, path: Path | undefined): unknown {
    if (!kept?.isFresh) return this.answerAnew(asked, key, kept, path);
    this.parts.calls.spared(asked, path, { cached: true });
    this.freshness.read(kept.freshUntil);
    return kept.answer;
  }

  private async answerAnew(
    asked: Asked,
    key: string,
    kept: KeptAnswer | undefined,
    path: Path | undefined,
  ): Promise<unknown> {
    const { endpoint } = asked;
    const { calls, records, freshness } = this.parts;
    try {
      const came = await calls.make(asked, path);
      const { value } = came;
      if (typeof value === 'object' && value !== null) freshness.read(records.putAnswer(endpoint, key, value, came));
      else {
        records.forgetAnswer(endpoint, key);
        freshness.read(null);
      }
      return value;
    } catch (error) {
      freshness.read(null);
      if (this.isDenied(endpoint, error)) records.forgetAnswer(endpoint, key);
      if (!kept || !isFault(error)) throw error;
      calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
      return kept.answer;
    }
  }

  /**
   * Upstream said no: what is kept of it is not to be shown again. Of what is the same for everybody, a no to somebody's own token
   * says nothing: anyone can send a token that is not known.
   */
  private isDenied({ share }: Endpoint, error: unknown): boolean {
    if (!(error instanceof UpstreamRefusal || error instanceof UpstreamFault) || !isNo(error.word)) return false;
    return error.word.status === 404 || share !== 'public' || !this.viewer.isLoggedIn;
  }

  private entryOf(kind: string, source: RecordSource, key: string): Entry {
    const place = `${kind}:${key}`;
    let entry = this.entries.get(place);
    if (!entry) {
      entry = { kind, key, source, record: {}, whole: false, absent: false, onTheWay: new Map(), failed: new Map() };
      this.entries.set(place, entry);
    }
    return entry;
  }

  /** Takes what the cache has of the record, where that answers the wish. */
  private takeKept(entry: Entry, kept: Kept | undefined, names: Names, path: Path | undefined): boolean {
    if (!kept?.isFresh || !names.every((name) => name in kept.record)) return false;
    const { source, key } = entry;
    this.parts.calls.spared(askedOf(source.ask, source.input(key)), path, { cached: true });
    this.freshness.read(kept.freshUntil);
    take(entry, kept.record, names);
    return true;
  }

  /** The batch is one tick's wishes; what batches them must not remember them. */
  private get batch(): DataLoader<Wish, Filling, Wish> {
    return (this.loader ??= new DataLoader<Wish, Filling, Wish>((wishes) => this.grant(wishes), byTick));
  }

  /** One ask for each record that this tick's wishes name; each waits for its own alone. */
  private grant(wishes: readonly Wish[]): Promise<Filling[]> {
    if (wishes.length === 1) return Promise.resolve([{ done: this.fill(wishes[0]!) }]);
    const asks = new Map<Entry, Wish>();
    for (const wish of wishes) {
      const before = asks.get(wish.entry);
      const names = before && [...new Set([...before.names, ...wish.names])].sort();
      asks.set(wish.entry, names ? { ...before, names } : wish);
    }
    const fillings = new Map(Array.from(asks.values(), (wish) => [wish.entry, { done: this.fill(wish) }]));
    return Promise.resolve(wishes.map(({ entry }) => fillings.get(entry)!));
  }

  /** Never rejects: a failure stands under each name that it cost. */
  private async fill({ entry, names, kept: looked, path }: Wish): Promise<void> {
    const { kind, source, key } = entry;
    const { calls, records, freshness } = this.parts;
    try {
      const kept = looked instanceof Promise ? await looked : looked;
      if (this.takeKept(entry, kept, names, path)) return;
      const fields = projection(source, kept?.isFresh ? names.filter((name) => !(name in kept.record)) : names);
      const asked = projected(source.ask, source.input(key), fields);
      try {
        const came = await calls.make(asked, path);
        const { value } = came;
        const record = value === null ? null : source.read ? source.read(value as never, key) : (value as Record_);
        if (!record) {
          entry.absent = true;
          freshness.read(null);
          records.forget(source.ask, kind, key);
          return;
        }
        // An upstream that does not honour `fields` has told the whole record.
        entry.whole ||= !fields || Object.keys(value as Record_).some((name) => !fields.includes(name));
        take(entry, kept?.isFresh ? { ...kept.record, ...record } : (record as Record_), names);
        if (kept?.isFresh) freshness.read(kept.freshUntil);
        const known = fields && !entry.whole ? fields : (source.members ?? names);
        freshness.read(records.put(source.ask, kind, key, record as Record_, known, came));
      } catch (error) {
        freshness.read(null);
        if (this.isDenied(source.ask, error)) records.forget(source.ask, kind, key);
        if (!kept || !isFault(error)) throw error;
        const there = names.filter((name) => name in kept.record);
        if (there.length && !kept.isFresh) calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
        take(entry, kept.record, there);
        if (there.length < names.length) throw error;
      }
    } catch (error) {
      for (const name of names) if (!(name in entry.record)) entry.failed.set(name, error as Error);
    } finally {
      for (const name of names) entry.onTheWay.delete(name);
    }
  }
}

const byTick: DataLoader.Options<Wish, Filling, Wish> = {
  cache: false,
  batchScheduleFn: (flush) => queueMicrotask(() => process.nextTick(flush)),
};
const doneOf = ({ done }: Filling): Promise<void> => done;

/** Puts what came into what is known. */
function take({ kind, source, record, failed }: Entry, came: Record_, names: Names): void {
  for (const name in came) if (came[name] !== undefined) record[name] = came[name];
  for (const name of names) {
    if (name in record) continue;
    record[name] = undefined;
    const tiers = source.tiers?.[name];
    if (tiers && tiers.length < 3 && isGated(source, name)) failed.set(name, tierRequired(kind, source, name));
  }
}

/** The ask with the names that are wanted of its answer; Atom takes none. */
const projected = (endpoint: Endpoint, input: object, names: Names | undefined): Asked =>
  askedOf(endpoint, names && endpoint.service === 'catalog' ? { ...input, fields: names.join(',') } : input);

const keyOf = ({ endpoint, wirePath }: Asked): string => `${endpoint.service} ${wirePath}`;

/** False for a name that is ours alone: no record of the service has it. */
const isMember = ({ members }: RecordSource, name: string): boolean => members?.includes(name) ?? true;

/** A member that not every tier with the record gets: absent, it was not given. */
function isGated({ ask, tiers }: RecordSource, name: string): boolean {
  return ask.tiers.some((tier) => tiers?.[name]?.includes(tier) === false);
}

function tierRequired(kind: string, { tiers }: RecordSource, name: string): Error {
  return new TierRequired(tiers?.[name] ?? [], `${kind}.${name}`);
}

/** The `fields` of an ask for a record: none where nearly everything is wanted. */
function projection({ ask, members }: RecordSource, names: Names): Names | undefined {
  if (!members || ask.service === 'event' || names.length > members.length * NEARLY_ALL) return undefined;
  return names.includes('id') ? names : [...names, 'id'].sort();
}

function withNames(seen: Record_, { record, failed }: Entry, names: Names): Record_ {
  // Known by its id alone, it is what is known of it; a failed name is not among them.
  if (failed.size === 0 && isBareId(seen)) {
    record.id ??= seen.id;
    return record;
  }
  const whole: Record_ = { ...seen };
  const broken: string[] = [];
  for (const name of names) {
    if (failed.has(name)) broken.push(name);
    else whole[name] = record[name];
  }
  if (broken.length === 0) return whole;
  // Nothing but the failure is known of it: it is the failure.
  if (broken.length === names.length && Object.keys(seen).every((name) => name === 'id' || name === '__typename')) {
    const error = failed.get(broken[0]!)!;
    if (!(error instanceof TierRequired)) throw error;
  }
  // What it was found by stays known: a list beside the record may be open where the record is not.
  const untold = broken.filter((name) => !(name in seen));
  return telling(whole, untold, (name) => failed.get(name)!);
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
