/** What is cached of one record or response, and how it is stored. */
import { isDeepStrictEqual } from 'node:util';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Credential } from '../auth/credentials.ts';
import type { RequestContext } from '../auth/request-context.ts';
import type { Cacheability } from './caching-header.ts';
import { type LifetimeSettings, absentUntil, responseSeconds, timesOf } from './lifetime.ts';
import {
  type Cache,
  type CacheEntry,
  type CacheKey,
  type CacheLookup,
  type CacheReader,
  type VersionToken,
  cacheKeyOf,
} from './memory.ts';
import { mayHoldViewerData, withoutViewerMember } from './redact.ts';

type Json = Record<string, unknown>;

/** Who reads, as far as it matters to the cache. */
export interface CacheViewer extends Partial<Pick<RequestContext, 'cancellation' | 'reload'>> {
  readonly credential: Pick<Credential, 'id' | 'isOwn' | 'accepted'>;
}

/** What all callers share. */
export interface CacheParts extends LifetimeSettings {
  cache: Cache;
  /** Other replicas read and invalidate it too. */
  isShared: boolean;
  drop: (key: CacheKey) => void;
  /** Endpoints whose last response could not be stored: nobody waits for such a response. */
  unstored: Set<Endpoint>;
}

export interface ResponseMeta {
  bytes: number;
  reuse: Cacheability;
}

/** What is cached of one record or response, as one caller may use it during one operation. */
export class CacheHandle {
  private readonly reader: ViewerCache;
  /** Null if nothing is cached. */
  private readonly key: CacheKey | null;
  /** The key, also while the cache is off. */
  private readonly sharedAs: CacheKey | null;
  private readonly endpoint: Endpoint;
  private readonly seconds: number;
  /** At the first lookup: a response is not stored if its key was invalidated while the call was in flight. */
  private version: VersionToken | undefined = undefined;
  private readonly releases: (() => void)[] = [];
  /** At the last lookup. */
  private found: CacheEntry | undefined = undefined;

  /** `key`: null if it may not be cached. `seconds`: how long a response is fresh if upstream does not say. */
  constructor(
    reader: ViewerCache,
    key: CacheKey | null,
    endpoint: Endpoint,
    seconds = responseSeconds[endpoint.share],
  ) {
    this.reader = reader;
    this.key = reader.parts.ttlSeconds === 0 ? null : key;
    this.sharedAs = key;
    this.endpoint = endpoint;
    this.seconds = seconds;
  }

  private readerOf(members?: readonly string[], isPeek?: true): CacheReader {
    const { since, viewer, parts } = this.reader;
    const { cancellation, credential } = viewer;
    // A read with a credential that upstream accepts is quick enough for other replicas to wait for.
    const mayLease = !isPeek && credential.accepted && !parts.unstored.has(this.endpoint);
    return { members, since, cancellation, mayLease };
  }

  /**
   * `members`: those that are needed of a record. At the end `release` is called: others may wait for what the reader lacks, unless it only
   * looks.
   */
  get(members?: readonly string[], isPeek?: true): Promise<CacheEntry | undefined> | CacheEntry | undefined {
    if (!this.key) return undefined;
    const found = this.reader.parts.cache.get(this.key, this.readerOf(members, isPeek));
    return found instanceof Promise ? found.then((later) => this.note(later)) : this.note(found);
  }

  private note({ entry, version, release }: CacheLookup): CacheEntry | undefined {
    this.version ??= version;
    if (release) this.releases.push(release);
    this.found = entry;
    return entry;
  }

  /** Whether it is cached that there is no such record. Where other processes may have made it since, Redis is asked, with the lookups of the same tick. */
  isAbsent(): boolean | Promise<boolean> {
    const { key, reader } = this;
    if (key === null) return false;
    const { cache } = reader.parts;
    const found = (isCurrent: boolean) => {
      const entry = isCurrent ? cache.find(key) : undefined;
      return entry?.isAbsent === true && this.isFresh(entry);
    };
    const isCurrent = cache.isCurrent(this.readerOf());
    return isCurrent instanceof Promise ? isCurrent.then(found) : found(isCurrent);
  }

  /** Whether it may be used without a call. What the client wants newer may not, while there is room to read it. */
  isFresh(entry: CacheEntry): boolean {
    if (performance.now() >= entry.freshUntil) return false;
    return !this.isOld(entry) || !this.reader.viewer.reload!.mayRead(this.key!.text);
  }

  /** The client wants something newer: the response has the age of what it gets instead. */
  isOld({ since }: CacheEntry): boolean {
    const { reload } = this.reader.viewer;
    return reload !== undefined && since < reload.since;
  }

  /** The response is stored, or there is none: nobody has to wait for it any longer. */
  release(): void {
    for (const release of this.releases.splice(0)) release();
  }

  delete(): void {
    if (this.key) this.reader.parts.drop(this.key);
  }

  /** Whether equal reads in flight may be shared: not if other replicas write, and need not say so because nobody caches it. */
  isShareable(): boolean {
    return !this.reader.parts.isShared || this.sharedAs !== null;
  }

  /** Whether an equal read in flight may be joined, which another replica may have made untrue since it began. */
  mayJoin(): boolean | Promise<boolean> {
    const { sharedAs, reader } = this;
    const { cache, isShared } = reader.parts;
    return !isShared || !sharedAs || sharedAs.isReadOnly || cache.isCurrent(this.readerOf());
  }

  /** Remembers for a short time that there is no such record, instead of what is cached. */
  putAbsent({ reuse }: Pick<ResponseMeta, 'reuse'>): void {
    const { key, reader, found } = this;
    if (!key) return;
    if (found && this.isOld(found)) reader.viewer.reload!.wasRead(key.text);
    // Without an entry nothing has to be invalidated in other replicas: requests for absent ids must not do so.
    if (found) this.delete();
    if (reuse.refusal !== undefined) return;
    const { cache } = reader.parts;
    const until = absentUntil(reuse, reader.parts);
    const now = performance.now();
    if (until <= now) return;
    const times = { since: now - reuse.age * 1000, freshUntil: until, keptUntil: until };
    cache.set(key, this.version, { value: nothing, bytes: 0, isAbsent: true, ...times });
  }

  /**
   * `members`: the requested ones; those that the record lacks are cached as absent. `all`: what a record may have; of any other member nobody
   * knows whom it is for, so it is not cached. Returns freshUntil; null if not reusable.
   */
  putRecord(record: Json, members: readonly string[], meta: ResponseMeta, all?: readonly string[]): number | null {
    const value: Json = {};
    for (const member of members) value[member] = record[member];
    for (const member in record) if (!all || all.includes(member)) value[member] = record[member];
    return this.put(value, meta);
  }

  /** Returns freshUntil; null if not reusable. */
  put(response: object, { bytes, reuse }: ResponseMeta): number | null {
    const { key, reader, endpoint } = this;
    if (!key) return null;
    const value = withoutViewerMember(response as Json, endpoint);
    this.endReload(key, value);
    const { cache, unstored } = reader.parts;
    if (reuse.refusal !== undefined) {
      unstored.add(endpoint);
      return null;
    }
    if (unstored.size > 0) unstored.delete(endpoint);
    const times = timesOf(this.seconds, reuse, reader.parts);
    cache.set(key, this.version, { value, bytes, ...times });
    return times.freshUntil;
  }

  /** If an old entry has changed, it is dropped with the responses made of it. Other entries stay: they may be another caller's. */
  private endReload({ text, isRecord }: CacheKey, after: Json): void {
    const { found, reader } = this;
    if (!found || !this.isOld(found)) return;
    reader.viewer.reload!.wasRead(text);
    if (hasChanged(found.value, after, isRecord)) this.delete();
  }
}

/** Whether a member that a record had has changed, or anything of another response. An absent record that is there has changed. */
const hasChanged = (before: Json, after: Json, isRecord: boolean): boolean =>
  isRecord && Object.keys(before).length > 0
    ? Object.keys(after).some((member) => member in before && !isDeepStrictEqual(before[member], after[member]))
    : !isDeepStrictEqual(before, after);

const nothing = Object.freeze({});

/** Seconds since it was read. */
export const ageOf = ({ since }: CacheEntry): number => Math.max(0, Math.round((performance.now() - since) / 1000));

/** The cache as one caller may use it. */
export class ViewerCache {
  readonly parts: CacheParts;
  readonly viewer: CacheViewer;
  /** When the operation began. */
  readonly since: number;

  constructor(parts: CacheParts, viewer: CacheViewer) {
    this.parts = parts;
    this.viewer = viewer;
    this.since = parts.cache.readVersion?.() ?? 0;
  }

  record(endpoint: Endpoint, kind: string, key: string): CacheHandle {
    const partition = this.partitionOf(endpoint);
    const cacheKey =
      partition === null
        ? null
        : cacheKeyOf(partition, `${kind}:${key}`, undefined, kind, endpoint.isReadOnly, endpoint.service);
    return new CacheHandle(this, cacheKey, endpoint, endpoint.freshSeconds);
  }

  /** `request`: path and query, which are unique over all services. */
  response(endpoint: Endpoint, request: string): CacheHandle {
    return new CacheHandle(this, this.keyOf(endpoint, request), endpoint);
  }

  private keyOf(endpoint: Endpoint, request: string): CacheKey | null {
    const partition = this.partitionOf(endpoint);
    if (partition === null) return null;
    const mark = request.indexOf('?');
    const query = mark < 0 ? '' : request.slice(mark + 1);
    if (!this.viewer.credential.isOwn && partition === 'public' && mayHoldViewerData(endpoint, query)) return null;
    const path = mark < 0 ? request : request.slice(0, mark);
    return cacheKeyOf(partition, path, query, endpoint.path, endpoint.isReadOnly, endpoint.service);
  }

  /** Null if the endpoint's data may not be cached for this viewer. */
  private partitionOf({ share }: Endpoint): string | null {
    const { id, isOwn } = this.viewer.credential;
    if (share === 'viewer' || (share === 'anonymous' && !isOwn)) return null;
    return share === 'tier' ? tierPartition(id) : share;
  }
}

export const tierPartition = (credential: string): string => `tier ${credential}`;
