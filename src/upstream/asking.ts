/** What one operation asks of the service, and what it makes of what comes: an answer as it is, or names of a record. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../contract/endpoint.ts';
import type { Calls } from './call.ts';
import { joined } from './copy.ts';
import type { Freshness } from './freshness.ts';
import { type Entry, type RecordSource, type Wish, fail, noWishes, take } from './known.ts';
import type { Kept, KeptAnswer, Records } from './records.ts';
import { UpstreamFault, UpstreamRefusal, isFault, isNo } from './refusal.ts';
import type { Viewer } from './viewer.ts';
import { type Answer, type Asked, type Recipient, askedOf, insert } from './wire.ts';

type Record_ = Record<string, unknown>;
type Names = readonly string[];

/** What asking takes, of one operation. */
export interface Asking {
  calls: Calls;
  records: Records;
  viewer: Viewer;
  /** Told of everything that is read. */
  freshness: Freshness;
}

/** Asked for this share of a record's members, the whole record is as good. */
export const NEARLY_ALL = 0.85;

/** The ask with the names that are wanted of its answer; Atom takes none. */
export const projected = (endpoint: Endpoint, input: object, names: Names | undefined): Asked =>
  askedOf(endpoint, names && endpoint.service === 'catalog' ? joined(input, { fields: names.join(',') }) : input);

/** The `fields` of an ask for a record: none where nearly everything is wanted. */
function projection({ ask, members }: RecordSource, names: Names): Names | undefined {
  if (!members || ask.service === 'event' || names.length > members.length * NEARLY_ALL) return undefined;
  if (names.includes('id')) return names;
  const known = names.slice();
  insert(known, 'id');
  return known;
}

/** The answer of a list or of a record asked otherwise than by its key; what is kept of it stands in while upstream fails. */
export const answerAnew = (
  asking: Asking,
  asked: Asked,
  kept: KeptAnswer | undefined,
  path: Path | undefined,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    asking.calls.make(asked, path, new Answering(asking, asked, kept, path, resolve, reject));
  });

class Answering implements Recipient {
  private readonly asking: Asking;
  private readonly asked: Asked;
  private readonly kept: KeptAnswer | undefined;
  private readonly path: Path | undefined;
  private readonly resolve: (value: unknown) => void;
  private readonly reject: (reason: unknown) => void;

  constructor(
    asking: Asking,
    asked: Asked,
    kept: KeptAnswer | undefined,
    path: Path | undefined,
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
  ) {
    this.asking = asking;
    this.asked = asked;
    this.kept = kept;
    this.path = path;
    this.resolve = resolve;
    this.reject = reject;
  }

  came(came: Answer): void {
    try {
      this.keep(came);
    } catch (error) {
      return this.failed(error);
    }
    this.resolve(came.value);
  }

  private keep(came: Answer): void {
    const { records, freshness } = this.asking;
    const { endpoint, wirePath } = this.asked;
    const { value } = came;
    if (typeof value === 'object' && value !== null) freshness.read(records.putAnswer(endpoint, wirePath, value, came));
    else {
      records.forgetAnswer(endpoint, wirePath);
      freshness.read(null);
    }
  }

  failed(error: unknown): void {
    const { asking, asked, kept, path } = this;
    const { calls, records, freshness } = asking;
    freshness.read(null);
    if (isDenied(asking, asked.endpoint, error)) records.forgetAnswer(asked.endpoint, asked.wirePath);
    if (!kept || !isFault(error)) return this.reject(error);
    calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
    this.resolve(kept.answer);
  }
}

/** Takes what the cache has of the record, where that answers the wish. */
export function takeKept(
  { calls, freshness }: Asking,
  entry: Entry,
  kept: Kept | undefined,
  names: Names,
  path: Path | undefined,
): boolean {
  if (!kept?.isFresh || !names.every((name) => name in kept.record)) return false;
  const { source, key } = entry;
  calls.spared(askedOf(source.ask, source.input(key)), path, { cached: true });
  freshness.read(kept.freshUntil);
  take(entry, kept.record, names);
  return true;
}

/** Grants a wish, in the end: a failure stands under each name that it cost. */
export function fill(asking: Asking, wish: Wish): void {
  const { kept } = wish;
  if (kept instanceof Promise) fillLater(asking, wish, kept);
  else fillFrom(asking, wish, kept);
}

function fillLater(asking: Asking, wish: Wish, kept: Promise<Kept | undefined>): void {
  kept.then(
    (found) => fillFrom(asking, wish, found),
    (error: unknown) => lose(wish, error),
  );
}

function fillFrom(asking: Asking, wish: Wish, kept: Kept | undefined): void {
  const { entry, names, path } = wish;
  const { source, key } = entry;
  try {
    if (takeKept(asking, entry, kept, names, path)) return granted(wish);
    const fields = projection(source, kept?.isFresh ? names.filter((name) => !(name in kept.record)) : names);
    const asked = projected(source.ask, source.input(key), fields);
    asking.calls.make(asked, path, new Filling(asking, wish, kept, fields, asked));
  } catch (error) {
    lose(wish, error);
  }
}

class Filling implements Recipient {
  private readonly asking: Asking;
  private readonly wish: Wish;
  private readonly kept: Kept | undefined;
  private readonly fields: Names | undefined;
  private readonly asked: Asked;

  constructor(asking: Asking, wish: Wish, kept: Kept | undefined, fields: Names | undefined, asked: Asked) {
    this.asking = asking;
    this.wish = wish;
    this.kept = kept;
    this.fields = fields;
    this.asked = asked;
  }

  came(came: Answer): void {
    try {
      this.taken(came);
    } catch (error) {
      return this.failed(error);
    }
    granted(this.wish);
  }

  private taken(came: Answer): void {
    const { kept, fields, wish } = this;
    const { records, freshness } = this.asking;
    const { entry, names } = wish;
    const { kind, source, key } = entry;
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
    take(entry, kept?.isFresh ? joined(kept.record, record) : (record as Record_), names);
    if (kept?.isFresh) freshness.read(kept.freshUntil);
    const known = fields && !entry.whole ? fields : (source.members ?? names);
    freshness.read(records.put(source.ask, kind, key, record as Record_, known, came));
  }

  failed(error: unknown): void {
    const { asking, asked, kept, wish } = this;
    const { calls, records, freshness } = asking;
    const { entry, names, path } = wish;
    const { kind, source, key } = entry;
    freshness.read(null);
    if (isDenied(asking, source.ask, error)) records.forget(source.ask, kind, key);
    if (kept && isFault(error)) {
      const there = names.filter((name) => name in kept.record);
      if (there.length && !kept.isFresh) calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
      take(entry, kept.record, there);
    }
    lose(wish, error);
  }
}

/** What is not known by now will not be. */
function lose(wish: Wish, error: unknown): void {
  const { entry, names } = wish;
  for (const name of names) if (!(name in entry.record)) fail(entry, name, error as Error);
  granted(wish);
}

function granted(wish: Wish): void {
  const { entry } = wish;
  entry.wishes = entry.wishes.length === 1 ? noWishes : entry.wishes.filter((each) => each !== wish);
  wish.grant();
}

/**
 * Upstream said no: what is kept of it is not to be shown again. Of what is the same for everybody, a no to somebody's own token
 * says nothing: anyone can send a token that is not known.
 */
function isDenied({ viewer }: Asking, { share }: Endpoint, error: unknown): boolean {
  if (!(error instanceof UpstreamRefusal || error instanceof UpstreamFault) || !isNo(error.word)) return false;
  return error.word.status === 404 || share !== 'public' || !viewer.isLoggedIn;
}
