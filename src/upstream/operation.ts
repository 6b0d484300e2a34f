/**
 * What one operation knows of the service: which names of which records are there, and which are on their way.
 *
 * A wish for names waits for those on their way and asks for the rest; a tick's wishes for one record are one ask. Nothing here
 * outlives the operation.
 */
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
import { type Asked, askedOf, insert } from './wire.ts';

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
  /** Wishes that are not granted yet. */
  wishes: readonly Wish[];
  failed: Map<string, Error> | undefined;
}
interface Wish {
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
  /** Of this tick. */
  private wishes: Wish[] = [];

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
    const entry = this.entryOf(kind, source, key);
    if (entry.absent) return null;
    if (this.viewer.isLoggedIn && names.includes(VIEWERS_OWN)) this.freshness.read(null);
    const missing = missingOf(entry, names);
    let waits = wishesFor(entry, names);
    if (missing) {
      const kept = this.parts.records.get(source.ask, kind, key);
      if (kept instanceof Promise || !this.takeKept(entry, kept, missing, path)) {
        const wish = this.wish(entry, missing, kept, path);
        if (!waits.includes(wish)) waits = [...waits, wish];
      }
    }
    return waits.length > 0 ? wished(waits, seen, entry, names) : shownOf(seen, entry, names);
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
      entry = { kind, key, source, record: {}, whole: false, absent: false, wishes: noWishes, failed: undefined };
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

  /** One ask for each record that a tick's wishes name; each waits for its own alone. */
  private wish(entry: Entry, names: Names, kept: Wish['kept'], path: Path | undefined): Wish {
    const open = entry.wishes.find(({ isOpen }) => isOpen);
    if (open) {
      open.names = [...open.names, ...names].sort(); // they are others, or they would be on their way
      return open;
    }
    const wish: Wish = { entry, names, kept, path, isOpen: true, granted: granting, grant: () => undefined };
    wish.granted = new Promise((resolve) => (wish.grant = resolve));
    entry.wishes = entry.wishes.length === 0 ? [wish] : [...entry.wishes, wish];
    this.wishes.push(wish);
    // All that promises bring about now belongs to this tick.
    if (this.wishes.length === 1) queueMicrotask(() => process.nextTick(grantAll, this));
    return wish;
  }

  grantAll(): void {
    const { wishes } = this;
    this.wishes = [];
    for (const wish of wishes) {
      wish.isOpen = false;
      void this.fill(wish);
    }
  }

  /** Never rejects: a failure stands under each name that it cost. */
  private async fill(wish: Wish): Promise<void> {
    const { entry, names, kept: looked, path } = wish;
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
      for (const name of names) if (!(name in entry.record)) fail(entry, name, error as Error);
    } finally {
      entry.wishes = entry.wishes.length === 1 ? noWishes : entry.wishes.filter((each) => each !== wish);
      wish.grant();
    }
  }
}

const grantAll = (known: KnownRecords): void => known.grantAll();
const noWishes: readonly Wish[] = Object.freeze([]);
const granting: Promise<void> = Promise.resolve();

/** The wishes that these names wait for. */
const wishesFor = ({ wishes }: Entry, names: Names): readonly Wish[] =>
  wishes.length === 0 ? wishes : wishes.filter((wish) => names.some((name) => wish.names.includes(name)));

const isOnTheWay = (wishes: readonly Wish[], name: string): boolean =>
  wishes.length > 0 && wishes.some((wish) => wish.names.includes(name));

/** The names of which nothing is known, and nothing is on its way; undefined where there are none. */
function missingOf({ record, whole, failed, source, wishes }: Entry, names: Names): string[] | undefined {
  if (whole) return undefined;
  let missing: string[] | undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    if (!(name in record) && !failed?.has(name) && isMember(source, name) && !isOnTheWay(wishes, name))
      (missing ??= []).push(name);
  }
  return missing;
}

const shownOf = (seen: Record_, entry: Entry, names: Names): Record_ | null =>
  entry.absent ? null : withNames(seen, entry, names);

function wished(waits: readonly Wish[], seen: Record_, entry: Entry, names: Names): Promise<Record_ | null> {
  const granted = waits.length === 1 ? waits[0]!.granted : Promise.all(waits.map((wish) => wish.granted));
  return granted.then(() => shownOf(seen, entry, names));
}

const fail = (entry: Entry, name: string, error: Error): void =>
  void (entry.failed ??= new Map<string, Error>()).set(name, error);

/** Puts what came into what is known. */
function take(entry: Entry, came: Record_, names: Names): void {
  const { kind, source, record } = entry;
  for (const name in came) if (came[name] !== undefined) record[name] = came[name];
  for (const name of names) {
    if (name in record) continue;
    record[name] = undefined;
    const tiers = source.tiers?.[name];
    if (tiers && tiers.length < 3 && isGated(source, name)) fail(entry, name, tierRequired(kind, source, name));
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
  if (names.includes('id')) return names;
  const known = names.slice();
  insert(known, 'id');
  return known;
}

function withNames(seen: Record_, { record, failed }: Entry, names: Names): Record_ {
  // Known by its id alone, it is what is known of it; a failed name is not among them.
  if (!failed && isBareId(seen)) {
    record.id ??= seen.id;
    return record;
  }
  const whole: Record_ = { ...seen };
  const broken: string[] = [];
  for (const name of names) {
    if (failed?.has(name)) broken.push(name);
    else whole[name] = record[name];
  }
  if (broken.length === 0) return whole;
  // Nothing but the failure is known of it: it is the failure.
  if (broken.length === names.length && Object.keys(seen).every((name) => name === 'id' || name === '__typename')) {
    const error = failed!.get(broken[0]!)!;
    if (!(error instanceof TierRequired)) throw error;
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
