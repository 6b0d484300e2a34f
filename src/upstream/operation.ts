/**
 * What one operation knows of the service: which names of which records are there, and which are on their way.
 *
 * A wish for names waits for those on their way and asks for the rest; a tick's wishes for one record are one ask. Nothing here
 * outlives the operation.
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint, Tier } from '../contract/endpoint.ts';
import type { Call } from './call.ts';
import type { Freshness } from './freshness.ts';
import type { FilePart } from './multipart.ts';
import { type Kept, type KeptAnswer, type Records, VIEWERS_OWN } from './records.ts';
import { TierRequired, UpstreamFault, UpstreamRefusal, isFault, isNo } from './refusal.ts';
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

export interface Operation {
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
  call: Call;
  records: Records;
  /** Told of everything that is read. */
  freshness: Freshness;
  /** The caller sent a token of their own. */
  hasToken: boolean;
  /** Drops what the shared cache keeps of a record or a list, whoever asked. */
  clear: (scope: string) => void | Promise<void>;
}

export function createOperation({ call, records, freshness, hasToken, clear }: OperationParts): Operation {
  const answers = new Map<string, unknown>();
  const entries = new Map<string, Entry>();

  // The batch is one tick's wishes; what batches them must not remember them.
  const loader = new DataLoader<Wish, Filling, Wish>(grant, {
    cache: false,
    batchScheduleFn: (flush) => queueMicrotask(() => process.nextTick(flush)),
  });

  return {
    ask(endpoint, input, names, path) {
      const asked = projected(endpoint, input, names);
      const key = keyOf(asked);
      let answer = answers.get(key);
      if (answer === undefined) {
        const kept = records.getAnswer(endpoint, key);
        const answerBy = (found: KeptAnswer | undefined) => answerOf(asked, key, found, path);
        answer = kept instanceof Promise ? kept.then(answerBy) : answerBy(kept);
        answers.set(key, answer);
      }
      return answer;
    },

    want(kind, source, key, names, seen, path) {
      const entry = entryOf(kind, source, key);
      if (entry.absent) return null;
      if (hasToken && names.includes(VIEWERS_OWN)) freshness.read(null);
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
        if (kept instanceof Promise || !takeKept(entry, kept, missing, path)) {
          const coming = loader.load({ entry, names: missing, kept, path }).then(({ done }) => done);
          for (const name of missing) onTheWay.set(name, coming);
          waits.push(coming);
        }
      }
      const result = () => (entry.absent ? null : withNames(seen, entry, names));
      if (waits.length === 0) return result();
      return (waits.length === 1 ? waits[0]! : Promise.all(waits)).then(result);
    },

    refuse: (kind, source, record, names) => telling(record, names, (name) => tierRequired(kind, source, name)),

    async write(endpoint, input, path, files) {
      freshness.read(null);
      try {
        return (await call(askedOf(endpoint, input), path, files)).value;
      } finally {
        answers.clear();
      }
    },

    requireLogin: () => call.requireLogin(),

    async changed(what) {
      for (const each of what) entries.delete(each);
      await Promise.all(what.map(async (scope) => clear(scope)));
    },

    async wouldAsk(endpoint, input, names) {
      const key = keyOf(projected(endpoint, input, names));
      if (call.refuses(endpoint) || (await records.getAnswer(endpoint, key))?.isFresh) return null;
      return key;
    },

    async wouldRead(kind, source, key, names) {
      if (call.refuses(source.ask)) return null;
      const kept = await records.get(source.ask, kind, key);
      return kept?.isFresh && names.every((name) => name in kept.record) ? null : `${kind}:${key}`;
    },
  };

  /** The answer of a list or of a record asked otherwise than by its key, from the cache while it is fresh. */
  function answerOf(asked: Asked, key: string, kept: KeptAnswer | undefined, path: Path | undefined): unknown {
    if (!kept?.isFresh) return answerAnew(asked, key, kept, path);
    call.spared(asked, path, { cached: true });
    freshness.read(kept.freshUntil);
    return kept.answer;
  }

  async function answerAnew(
    asked: Asked,
    key: string,
    kept: KeptAnswer | undefined,
    path: Path | undefined,
  ): Promise<unknown> {
    const { endpoint } = asked;
    try {
      const came = await call(asked, path);
      const { value } = came;
      if (typeof value === 'object' && value !== null) freshness.read(records.putAnswer(endpoint, key, value, came));
      else {
        records.forgetAnswer(endpoint, key);
        freshness.read(null);
      }
      return value;
    } catch (error) {
      freshness.read(null);
      if (isDenied(endpoint, error)) records.forgetAnswer(endpoint, key);
      if (!kept || !isFault(error)) throw error;
      call.spared(asked, path, { staleSeconds: kept.ageSeconds });
      return kept.answer;
    }
  }

  /**
   * Upstream said no: what is kept of it is not to be shown again. Of what is the same for everybody, a no to somebody's own token
   * says nothing: anyone can send a token that is not known.
   */
  function isDenied({ share }: Endpoint, error: unknown): boolean {
    if (!(error instanceof UpstreamRefusal || error instanceof UpstreamFault) || !isNo(error.word)) return false;
    return error.word.status === 404 || share !== 'public' || !hasToken;
  }

  function entryOf(kind: string, source: RecordSource, key: string): Entry {
    const place = `${kind}:${key}`;
    let entry = entries.get(place);
    if (!entry) {
      entry = { kind, key, source, record: {}, whole: false, absent: false, onTheWay: new Map(), failed: new Map() };
      entries.set(place, entry);
    }
    return entry;
  }

  /** Takes what the cache has of the record, where that answers the wish. */
  function takeKept(entry: Entry, kept: Kept | undefined, names: Names, path: Path | undefined): boolean {
    if (!kept?.isFresh || !names.every((name) => name in kept.record)) return false;
    const { source, key } = entry;
    call.spared(askedOf(source.ask, source.input(key)), path, { cached: true });
    freshness.read(kept.freshUntil);
    take(entry, kept.record, names);
    return true;
  }

  /** One ask for each record that this tick's wishes name; each waits for its own alone. */
  function grant(wishes: readonly Wish[]): Promise<Filling[]> {
    const asks = new Map<Entry, Wish>();
    for (const wish of wishes) {
      const before = asks.get(wish.entry);
      const names = before && [...new Set([...before.names, ...wish.names])].sort();
      asks.set(wish.entry, names ? { ...before, names } : wish);
    }
    const fillings = new Map(Array.from(asks.values(), (wish) => [wish.entry, { done: fill(wish) }]));
    return Promise.resolve(wishes.map(({ entry }) => fillings.get(entry)!));
  }

  /** Never rejects: a failure stands under each name that it cost. */
  async function fill({ entry, names, kept: looked, path }: Wish): Promise<void> {
    const { kind, source, key } = entry;
    try {
      const kept = looked instanceof Promise ? await looked : looked;
      if (takeKept(entry, kept, names, path)) return;
      const fields = projection(source, kept?.isFresh ? names.filter((name) => !(name in kept.record)) : names);
      const asked = projected(source.ask, source.input(key), fields);
      try {
        const came = await call(asked, path);
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
        if (isDenied(source.ask, error)) records.forget(source.ask, kind, key);
        if (!kept || !isFault(error)) throw error;
        const there = names.filter((name) => name in kept.record);
        if (there.length && !kept.isFresh) call.spared(asked, path, { staleSeconds: kept.ageSeconds });
        take(entry, kept.record, there);
        if (there.length < names.length) throw error;
      }
    } catch (error) {
      for (const name of names) if (!(name in entry.record)) entry.failed.set(name, error as Error);
    } finally {
      for (const name of names) entry.onTheWay.delete(name);
    }
  }

  function take({ kind, source, record, failed }: Entry, came: Record_, names: Names): void {
    for (const name of Object.keys(came)) if (came[name] !== undefined) record[name] = came[name];
    for (const name of names) {
      if (name in record) continue;
      record[name] = undefined;
      const tiers = source.tiers?.[name];
      if (tiers && tiers.length < 3 && came[name] === undefined && isGated(source, name))
        failed.set(name, tierRequired(kind, source, name));
    }
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
