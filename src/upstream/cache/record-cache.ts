/**
 * The record cache: upstream records, not GraphQL answers, so that two different questions share one record.
 *
 * - public     the same for everybody, once `current_user_collection` is struck
 * - anonymous  as long as no token was sent
 * - tier       per credential
 * Whatever belongs to a viewer is never here.
 */
import type { Endpoint, Share } from '../../api/endpoint.ts';
import { copyOf } from '../../lib/copy.ts';
import type { Reuse } from './caching-header.ts';
import { type Cache, type Entry, type Found, type Mark, type Place, createMemoryCache, placeOf } from './memory.ts';

type Record_ = Record<string, unknown>;

/** Seconds that a record may be used again, by its kind, where upstream does not say. */
// A table is read down its columns.
// prettier-ignore
const recordSeconds: Readonly<Record<string, number>> = {
  Book:       3600,
  Subject:    3600,
  Celebrity:  3600,
  City:       3600,
  Event:        60, // people join all the time
  Annotation:   60,
  Collection:   30,
};
/** The same for lists, and for records asked otherwise than by their id. */
const answerSeconds: Readonly<Record<Share, number>> = { public: 300, tier: 300, anonymous: 30, viewer: 0 };
/** What is kept beyond that, to stand in while upstream fails. */
const STALE_SECONDS = 3600;
/** Longest that upstream's own word is taken for. */
const MAX_AGE_SECONDS = 86_400;
const MAX_BYTES = 64_000_000;
/** The member of a book that is the viewer's own. */
export const VIEWERS_OWN = 'current_user_collection';

/** Most often it is not there; to find that out by deleting it would take a call into the runtime. */
export function strikeViewersOwn(record: Record_): void {
  if (VIEWERS_OWN in record) delete record[VIEWERS_OWN];
}

export interface Kept {
  record: Record_;
  isFresh: boolean;
  /** Milliseconds, as Date.now() tells them. */
  freshUntil: number;
  ageSeconds: number;
}
export interface KeptAnswer {
  answer: unknown;
  isFresh: boolean;
  freshUntil: number;
  ageSeconds: number;
}

/** What came of a call, as far as the cache is concerned. */
export interface Came {
  bytes: number;
  reuse: Reuse;
}

/** The cache as one operation's credential sees it. */
export interface Records {
  get: (endpoint: Endpoint, kind: string, key: string) => Promise<Kept | undefined> | Kept | undefined;
  /** `names`: what is known of it, also where it is absent. Tells until when what came may be used again; null: not at all. */
  put: (
    endpoint: Endpoint,
    kind: string,
    key: string,
    record: Record_,
    names: readonly string[],
    came: Came,
  ) => number | null;
  forget: (endpoint: Endpoint, kind: string, key: string) => void;
  /** `request`: the path with its query, which no other service has. */
  getAnswer: (endpoint: Endpoint, request: string) => Promise<KeptAnswer | undefined> | KeptAnswer | undefined;
  /** Tells until when it may be used again; null: not at all. */
  putAnswer: (endpoint: Endpoint, request: string, answer: object, came: Came) => number | null;
  forgetAnswer: (endpoint: Endpoint, request: string) => void;
  /**
   * Reads in flight are shared only within one epoch, so that nobody gets a read that began before another replica wrote. Null: not shared
   * at all. Always '' with one replica, where a write ends the sharing of all reads in flight.
   */
  epochOfRecord: (endpoint: Endpoint, kind: string, key: string) => string | null;
  epochOfAnswer: (endpoint: Endpoint, request: string) => string | null;
}

/** Who asks, as far as the cache is concerned. */
export interface Partition {
  /** Stands for the credential that film calls are made with; never the token itself. */
  credential: string;
  hasToken: boolean;
}

export interface RecordStore {
  seenBy: (partition: Partition) => Records;
  /**
   * Drops, in all partitions, a record (`Book:7`), a list with any query (`/v2/book/7/annotations`, encoded as in the request), all records
   * of a kind (`Collection`), or all responses of an endpoint (`/v2/book/user/:name/collections`).
   */
  clear: (scope: string) => void | Promise<void>;
  /** Drops what was read with a credential; with the facade's own it was shown to everybody without one. */
  clearCredential: (credential: string, isOwn: boolean) => void | Promise<void>;
  /**
   * Counts what was dropped: what was read in one epoch may be shown again in the same. Null where nothing is kept, or other
   * processes drop too.
   */
  epoch: () => number | null;
}

export interface RecordSettings {
  /** Takes the place of every time to live, also of upstream's max-age; 0: nothing is kept. */
  ttlSeconds?: number | undefined;
  cache?: Cache | undefined;
}

export function createRecords({ ttlSeconds, cache: shared }: RecordSettings = {}): RecordStore {
  const cache = shared ?? createMemoryCache(MAX_BYTES);
  const hasEpochs = ttlSeconds !== 0 && !shared;
  let drops = 0;
  const clear = (name: string) => {
    drops++;
    return cache.clear(name);
  };
  const drop = (place: Place | null) => {
    if (place && cache.drop(place)) drops++;
  };
  return {
    clear,
    clearCredential: (credential, isOwn) => (isOwn ? clear(tierOf(credential)) : cache.clear(tierOf(credential))),
    epoch: () => (hasEpochs ? drops : null),
    seenBy: (partition) =>
      ttlSeconds === 0
        ? noRecords
        : new SeenRecords({ cache, isShared: shared !== undefined, ttlSeconds, drop }, partition),
  };
}

/** Where nothing is kept. */
const noRecords: Records = {
  get: () => undefined,
  put: () => null,
  forget: () => undefined,
  getAnswer: () => undefined,
  putAnswer: () => null,
  forgetAnswer: () => undefined,
  epochOfRecord: () => '',
  epochOfAnswer: () => '',
};

interface Keeping {
  /** Other replicas read and clear it too. */
  isShared: boolean;
  cache: Cache;
  ttlSeconds: number | undefined;
  drop: (place: Place | null) => void;
}

class SeenRecords implements Records {
  /** When each place was looked at: what is cleared while a call is on its way is not brought back by its answer. */
  private readonly marks = new Map<string, Mark | undefined>();
  private readonly keeping: Keeping;
  private readonly partition: Partition;

  constructor(keeping: Keeping, partition: Partition) {
    this.keeping = keeping;
    this.partition = partition;
  }

  get(endpoint: Endpoint, kind: string, key: string): Promise<Kept | undefined> | Kept | undefined {
    return this.look(this.placeOfRecord(endpoint, kind, key), asKept);
  }

  put(endpoint: Endpoint, kind: string, key: string, record: Record_, names: readonly string[], came: Came) {
    const { bytes, reuse } = came;
    const seconds = this.secondsFor(endpoint, recordSeconds[kind] ?? answerSeconds[endpoint.share], reuse);
    const place = seconds === null ? null : this.placeOfRecord(endpoint, kind, key);
    if (!place || seconds === null) return null;
    const now = Date.now();
    const { since, freshUntil, keptUntil } = timesOf(now, seconds, reuse);
    this.keep(place, (before) => {
      const merges = before !== undefined && before.freshUntil > now;
      const value: Record_ = merges ? copyOf(before.value) : {};
      for (const name of names) value[name] = undefined; // asked for and not there: known to have none
      Object.assign(value, record);
      strikeViewersOwn(value);
      if (!merges) return { value, bytes, since, freshUntil, keptUntil };
      // A merged record is as old as its oldest name, and fresh no longer than any of them.
      return {
        value,
        bytes: bytes + before.bytes,
        since: Math.min(before.since, since),
        freshUntil: Math.min(before.freshUntil, freshUntil),
        keptUntil: Math.min(before.keptUntil, keptUntil),
      };
    });
    return freshUntil;
  }

  forget(endpoint: Endpoint, kind: string, key: string): void {
    this.keeping.drop(this.placeOfRecord(endpoint, kind, key));
  }

  getAnswer(endpoint: Endpoint, request: string): Promise<KeptAnswer | undefined> | KeptAnswer | undefined {
    return this.look(this.placeOfAnswer(endpoint, request), asKeptAnswer);
  }

  putAnswer(endpoint: Endpoint, request: string, answer: object, { bytes, reuse }: Came): number | null {
    const seconds = this.secondsFor(endpoint, answerSeconds[endpoint.share], reuse);
    const place = seconds === null ? null : this.placeOfAnswer(endpoint, request);
    if (!place || seconds === null) return null;
    const value = endpoint.share === 'public' ? withoutViewer(answer as Record_, endpoint.list) : answer;
    const now = Date.now();
    const times = timesOf(now, seconds, reuse);
    this.keep(place, () => ({ value, bytes, ...times }));
    return times.freshUntil;
  }

  forgetAnswer(endpoint: Endpoint, request: string): void {
    this.keeping.drop(this.placeOfAnswer(endpoint, request));
  }

  epochOfRecord(endpoint: Endpoint, kind: string, key: string): string | null {
    return this.keeping.isShared ? this.epochOf(this.placeOfRecord(endpoint, kind, key)) : '';
  }

  epochOfAnswer(endpoint: Endpoint, request: string): string | null {
    return this.keeping.isShared ? this.epochOf(this.placeOfAnswer(endpoint, request)) : '';
  }

  /** Null if the place is never cached: it has no mark that would show a write. Without Redis, reads are shared as with one replica. */
  private epochOf(place: Place | null): string | null {
    return place && String(this.marks.get(place.key) ?? '');
  }

  private partitionOf({ share }: Endpoint): string | null {
    const { credential, hasToken } = this.partition;
    if (share === 'viewer' || (share === 'anonymous' && hasToken)) return null;
    return share === 'tier' ? tierOf(credential) : share;
  }

  private placeOfRecord(endpoint: Endpoint, kind: string, key: string): Place | null {
    const partition = this.partitionOf(endpoint);
    return partition === null ? null : placeOf(partition, `${kind}:${key}`, '', kind);
  }

  private placeOfAnswer(endpoint: Endpoint, request: string): Place | null {
    const partition = this.partitionOf(endpoint);
    if (partition === null) return null;
    const mark = request.indexOf('?');
    const query = mark < 0 ? '' : request.slice(mark + 1);
    if (this.partition.hasToken && partition === 'public' && mayTellOfViewer(endpoint, query)) return null;
    return placeOf(partition, mark < 0 ? request : request.slice(0, mark), query, endpoint.path);
  }

  private look<T>(place: Place | null, show: (entry: Entry) => T): Promise<T | undefined> | T | undefined {
    if (!place) return undefined;
    const found = this.keeping.cache.get(place);
    return found instanceof Promise
      ? found.then((came) => this.seen(place, came, show))
      : this.seen(place, found, show);
  }

  private seen<T>(place: Place, { entry, mark }: Found, show: (entry: Entry) => T): T | undefined {
    if (!this.marks.has(place.key)) this.marks.set(place.key, mark); // a call may be on its way since the first look
    return entry && show(entry);
  }

  /** Whether an answer may be kept, and how long it is fresh. */
  private secondsFor({ share }: Endpoint, byDefault: number, reuse: Reuse): number | null {
    const { noStore, isPrivate, maxAge, age = 0 } = reuse;
    const isShared = share !== 'tier' || !this.partition.hasToken;
    if (noStore || (isPrivate && isShared)) return null;
    return this.keeping.ttlSeconds ?? Math.max(0, Math.min(maxAge ?? byDefault, MAX_AGE_SECONDS) - age);
  }

  private keep(place: Place, make: (before: Entry | undefined) => Entry): void {
    const mark = this.marks.get(place.key);
    // Looked at, and the cache did not answer: nobody knows what was cleared since.
    if (mark === undefined && this.marks.has(place.key)) return;
    this.keeping.cache.set(place, mark, make);
  }
}

const asKept = ({ value, since, freshUntil }: Entry): Kept => ({
  record: value as Record_,
  ...age(since, freshUntil),
});
const asKeptAnswer = ({ value, since, freshUntil }: Entry): KeptAnswer => ({
  answer: value,
  ...age(since, freshUntil),
});

const tierOf = (credential: string): string => `tier ${credential}`;

const age = (since: number, freshUntil: number) => ({
  isFresh: Date.now() < freshUntil,
  freshUntil,
  ageSeconds: Math.max(0, Math.round((Date.now() - since) / 1000)),
});

/** The times of a cache entry in ms since the epoch; `seconds`: how much longer the response is fresh. */
const timesOf = (now: number, seconds: number, { mustRevalidate, age = 0 }: Reuse) => {
  const freshUntil = now + seconds * 1000;
  const keptUntil = mustRevalidate ? freshUntil : freshUntil + STALE_SECONDS * 1000;
  return { since: now - age * 1000, freshUntil, keptUntil };
};

/**
 * Whether what a person is answered may differ from what everybody is: annotations, of which the person's own private ones may be told,
 * and books with the person's collection, which they carry unless `fields` leaves it out.
 */
function mayTellOfViewer({ list, path }: Endpoint, query: string): boolean {
  if (list === 'tags') return false;
  if (path.includes('annotation')) return true;
  const fields = /(?:^|&)fields=([^&]*)/.exec(query)?.[1];
  return fields === undefined || fields.split(',').includes(VIEWERS_OWN);
}

/** The answer without what it tells of the one who asked: an upstream that does not honour `fields` sends it unasked. */
function withoutViewer(answer: Record_, list: string | undefined): Record_ {
  const items = list === undefined ? undefined : answer[list];
  const isTold = VIEWERS_OWN in answer || (Array.isArray(items) && items.some(tellsOfViewer));
  if (!isTold) return answer;
  const { [VIEWERS_OWN]: _, ...rest } = answer;
  return Array.isArray(items) ? { ...rest, [list!]: items.map(struck) } : rest;
}

const tellsOfViewer = (item: unknown): item is Record_ =>
  typeof item === 'object' && item !== null && VIEWERS_OWN in item;

function struck(item: unknown): unknown {
  if (!tellsOfViewer(item)) return item;
  const { [VIEWERS_OWN]: _, ...rest } = item;
  return rest;
}
