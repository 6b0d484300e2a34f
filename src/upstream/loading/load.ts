/** What one operation asks of the service, and what it makes of what comes: an answer as it is, or names of a record. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Calls } from '../http/calls.ts';
import { joined } from '../../lib/copy.ts';
import type { Freshness } from '../cache/cache-policy.ts';
import {
  type Entry,
  type Names,
  type Record_,
  type RecordSource,
  type Wish,
  fail,
  noWishes,
  take,
} from './record-state.ts';
import type { Kept, KeptAnswer, Records } from '../cache/record-cache.ts';
import { UpstreamFault, UpstreamRefusal, isFault, isNo } from '../errors.ts';
import { evidenceNames } from '../auth/tiers.ts';
import type { Viewer } from '../auth/viewer.ts';
import { type Answer, type Asked, type Recipient, askedOf, insert, withEpoch } from '../http/request.ts';

/** What it takes to ask, for one operation. */
export interface AskingParts {
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
  parts: AskingParts,
  asked: Asked,
  kept: KeptAnswer | undefined,
  path: Path | undefined,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const epoch = parts.records.epochOfAnswer(asked.endpoint, asked.wirePath);
    parts.calls.make(withEpoch(asked, epoch), path, new Answering(parts, asked, kept, path, resolve, reject));
  });

class Answering implements Recipient {
  private readonly parts: AskingParts;
  private readonly asked: Asked;
  private readonly kept: KeptAnswer | undefined;
  private readonly path: Path | undefined;
  private readonly resolve: (value: unknown) => void;
  private readonly reject: (reason: unknown) => void;

  constructor(
    parts: AskingParts,
    asked: Asked,
    kept: KeptAnswer | undefined,
    path: Path | undefined,
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
  ) {
    this.parts = parts;
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
    const { records, freshness } = this.parts;
    const { endpoint, wirePath } = this.asked;
    const { value } = came;
    if (typeof value === 'object' && value !== null)
      freshness.read(records.putAnswer(endpoint, wirePath, value, came), endpoint);
    else {
      records.forgetAnswer(endpoint, wirePath);
      freshness.read(null);
    }
  }

  failed(error: unknown): void {
    try {
      if (!this.standIn(error)) this.reject(error);
    } catch (defect) {
      this.reject(defect);
    }
  }

  /** Answers with what is kept, where that may stand in for what failed. */
  private standIn(error: unknown): boolean {
    const { parts, asked, kept, path } = this;
    const { calls, records, freshness } = parts;
    freshness.read(null);
    if (isDenied(parts, asked.endpoint, error)) records.forgetAnswer(asked.endpoint, asked.wirePath);
    if (!kept || !isFault(error)) return false;
    calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
    this.resolve(kept.answer);
    return true;
  }
}

/** Takes what the cache has of the record; false where that does not answer the wish. */
export function takeKept(
  { calls, freshness }: AskingParts,
  entry: Entry,
  kept: Kept | undefined,
  names: Names,
  path: Path | undefined,
): boolean {
  if (!kept?.isFresh || !names.every((name) => name in kept.record)) return false;
  const { source, key } = entry;
  calls.spared(askedOf(source.ask, source.input(key)), path, { cached: true });
  freshness.read(kept.freshUntil, source.ask);
  take(entry, kept.record, names, calls.possibleTiers(), namesOfKept(source, kept, names));
  return true;
}

/** Grants a wish, in the end: a failure stands under each name that it cost. */
export function fill(parts: AskingParts, wish: Wish): void {
  const { kept } = wish;
  if (kept instanceof Promise) fillLater(parts, wish, kept);
  else fillFrom(parts, wish, kept);
}

function fillLater(parts: AskingParts, wish: Wish, kept: Promise<Kept | undefined>): void {
  kept.then(
    (found) => fillFrom(parts, wish, found),
    (error: unknown) => lose(wish, error),
  );
}

/** The names of a kept record, where it matters what was requested together. */
const namesOfKept = ({ tiers }: RecordSource, kept: Kept, names: Names): Names =>
  tiers ? Object.keys(kept.record) : names;

/** What is not known yet, and what shows whether the tier of the caller gets it. */
function namesToRequest({ calls }: AskingParts, source: RecordSource, names: Names, known: Record_ | undefined): Names {
  const missing = known ? names.filter((name) => !(name in known)) : names;
  const evidence = evidenceNames(source, missing, calls.possibleTiers());
  if (evidence.length === 0) return missing;
  const all = missing.slice();
  for (const name of evidence) if (!all.includes(name) && !(known && name in known)) insert(all, name);
  return all;
}

function fillFrom(parts: AskingParts, wish: Wish, kept: Kept | undefined): void {
  const { entry, names, path } = wish;
  const { source, key } = entry;
  try {
    if (takeKept(parts, entry, kept, names, path)) return granted(wish);
    const fields = projection(source, namesToRequest(parts, source, names, kept?.isFresh ? kept.record : undefined));
    const asked = projected(source.ask, source.input(key), fields);
    const epoch = parts.records.epochOfRecord(source.ask, entry.kind, key);
    parts.calls.make(withEpoch(asked, epoch), path, new Filling(parts, wish, kept, fields, asked));
  } catch (error) {
    lose(wish, error);
  }
}

class Filling implements Recipient {
  private readonly parts: AskingParts;
  private readonly wish: Wish;
  private readonly kept: Kept | undefined;
  private readonly fields: Names | undefined;
  private readonly asked: Asked;

  constructor(parts: AskingParts, wish: Wish, kept: Kept | undefined, fields: Names | undefined, asked: Asked) {
    this.parts = parts;
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
    const { calls, records, freshness } = this.parts;
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
    if (!fields) entry.whole = true;
    // Only what this very answer was asked for is known to be absent: members that came unasked do not prove that all came.
    const known = fields ?? source.members ?? names;
    if (kept?.isFresh) {
      const requested = source.tiers ? [...known, ...Object.keys(kept.record)] : names;
      take(entry, joined(kept.record, record), names, calls.possibleTiers(), requested);
      freshness.read(kept.freshUntil, source.ask);
    } else take(entry, record as Record_, names, calls.possibleTiers(), known);
    freshness.read(records.put(source.ask, kind, key, record as Record_, known, came), source.ask);
  }

  failed(error: unknown): void {
    let reason = error;
    try {
      this.standIn(error);
    } catch (defect) {
      reason = defect;
    }
    lose(this.wish, reason);
  }

  /** Takes what is kept, as far as that may stand in for what failed. */
  private standIn(error: unknown): void {
    const { parts, asked, kept, wish } = this;
    const { calls, records, freshness } = parts;
    const { entry, names, path } = wish;
    const { kind, source, key } = entry;
    freshness.read(null);
    if (isDenied(parts, source.ask, error)) records.forget(source.ask, kind, key);
    if (!kept || !isFault(error)) return;
    const there = names.filter((name) => name in kept.record);
    if (there.length && !kept.isFresh) calls.spared(asked, path, { staleSeconds: kept.ageSeconds });
    take(entry, kept.record, there, calls.possibleTiers(), namesOfKept(source, kept, there));
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
function isDenied({ viewer }: AskingParts, { share }: Endpoint, error: unknown): boolean {
  if (!(error instanceof UpstreamRefusal || error instanceof UpstreamFault) || !isNo(error.word)) return false;
  return error.word.status === 404 || share !== 'public' || !viewer.isLoggedIn;
}
