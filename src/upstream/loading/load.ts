/** What one operation asks of the service, and what it makes of what comes: an answer as it is, or names of a record. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Calls } from '../http/calls.ts';
import { withMembers } from '../../lib/objects.ts';
import type { CachePolicy } from '../cache/cache-policy.ts';
import {
  type RecordState,
  type FieldNames,
  type UpstreamRecord,
  type RecordSource,
  type FieldLoad,
  setError,
  noLoads,
  merge,
} from './record-state.ts';
import type { CachedRecord, CachedResponse, ViewerCache } from '../cache/record-cache.ts';
import { UpstreamFailure, UpstreamRejection, mayServeStale, isDenial } from '../errors.ts';
import { tierEvidenceFields } from '../auth/tiers.ts';
import type { Viewer } from '../auth/viewer.ts';
import {
  type ApiResponse,
  type ApiRequest,
  type ResponseHandler,
  createApiRequest,
  insert,
  withEpoch,
} from '../http/request.ts';

/** What it takes to ask, for one operation. */
export interface LoadContext {
  calls: Calls;
  cache: ViewerCache;
  viewer: Viewer;
  /** Told of everything that is read. */
  cachePolicy: CachePolicy;
}

/** Asked for this share of a record's members, the whole record is as good. */
export const WHOLE_RECORD_SHARE = 0.85;

/** The ask with the names that are wanted of its answer; Atom takes none. */
export const projectedRequest = (endpoint: Endpoint, input: object, names: FieldNames | undefined): ApiRequest =>
  createApiRequest(
    endpoint,
    names && endpoint.service === 'catalog' ? withMembers(input, { fields: names.join(',') }) : input,
  );

/** The `fields` of an ask for a record: none where nearly everything is wanted. */
function projection({ endpoint, members }: RecordSource, names: FieldNames): FieldNames | undefined {
  if (!members || endpoint.service === 'event' || names.length > members.length * WHOLE_RECORD_SHARE) return undefined;
  if (names.includes('id')) return names;
  const known = names.slice();
  insert(known, 'id');
  return known;
}

/** The answer of a list or of a record asked otherwise than by its key; what is kept of it stands in while upstream fails. */
export const requestResponse = (
  parts: LoadContext,
  asked: ApiRequest,
  kept: CachedResponse | undefined,
  path: Path | undefined,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const epoch = parts.cache.epochOfResponse(asked.endpoint, asked.wirePath);
    parts.calls.make(withEpoch(asked, epoch), path, new ListResponseHandler(parts, asked, kept, path, resolve, reject));
  });

class ListResponseHandler implements ResponseHandler {
  private readonly context: LoadContext;
  private readonly asked: ApiRequest;
  private readonly cached: CachedResponse | undefined;
  private readonly path: Path | undefined;
  private readonly resolve: (value: unknown) => void;
  private readonly reject: (reason: unknown) => void;

  constructor(
    parts: LoadContext,
    asked: ApiRequest,
    kept: CachedResponse | undefined,
    path: Path | undefined,
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
  ) {
    this.context = parts;
    this.asked = asked;
    this.cached = kept;
    this.path = path;
    this.resolve = resolve;
    this.reject = reject;
  }

  onResponse(came: ApiResponse): void {
    try {
      this.store(came);
    } catch (error) {
      return this.onError(error);
    }
    this.resolve(came.value);
  }

  private store(came: ApiResponse): void {
    const { cache, cachePolicy } = this.context;
    const { endpoint, wirePath } = this.asked;
    const { value } = came;
    if (typeof value === 'object' && value !== null)
      cachePolicy.restrict(cache.putResponse(endpoint, wirePath, value, came), endpoint);
    else {
      cache.deleteResponse(endpoint, wirePath);
      cachePolicy.restrict(null);
    }
  }

  onError(error: unknown): void {
    try {
      if (!this.serveStale(error)) this.reject(error);
    } catch (defect) {
      this.reject(defect);
    }
  }

  /** Answers with what is kept, where that may stand in for what failed. */
  private serveStale(error: unknown): boolean {
    const { context, asked, cached, path } = this;
    const { calls, cache, cachePolicy } = context;
    cachePolicy.restrict(null);
    if (isDenied(context, asked.endpoint, error)) cache.deleteResponse(asked.endpoint, asked.wirePath);
    if (!cached || !mayServeStale(error)) return false;
    calls.logUncalled(asked, path, { staleSeconds: cached.ageSeconds });
    this.resolve(cached.response);
    return true;
  }
}

/** Takes what the cache has of the record; false where that does not answer the wish. */
export function mergeCached(
  { calls, cachePolicy }: LoadContext,
  entry: RecordState,
  kept: CachedRecord | undefined,
  names: FieldNames,
  path: Path | undefined,
): boolean {
  if (!kept?.isFresh || !names.every((name) => name in kept.record)) return false;
  const { source, key } = entry;
  calls.logUncalled(createApiRequest(source.endpoint, source.input(key)), path, { cached: true });
  cachePolicy.restrict(kept.freshUntil, source.endpoint);
  merge(entry, kept.record, names, calls.possibleTiers(), requestedFieldsOf(source, kept, names));
  return true;
}

/** Grants a wish, in the end: a failure stands under each name that it cost. */
export function fulfil(parts: LoadContext, wish: FieldLoad): void {
  const { cached } = wish;
  if (cached instanceof Promise) fulfilLater(parts, wish, cached);
  else fulfilFrom(parts, wish, cached);
}

function fulfilLater(parts: LoadContext, wish: FieldLoad, kept: Promise<CachedRecord | undefined>): void {
  kept.then(
    (found) => fulfilFrom(parts, wish, found),
    (error: unknown) => failLoad(wish, error),
  );
}

/** The names of a kept record, where it matters what was requested together. */
const requestedFieldsOf = ({ tiers }: RecordSource, kept: CachedRecord, names: FieldNames): FieldNames =>
  tiers ? Object.keys(kept.record) : names;

/** What is not known yet, and what shows whether the tier of the caller gets it. */
function fieldsToRequest(
  { calls }: LoadContext,
  source: RecordSource,
  names: FieldNames,
  known: UpstreamRecord | undefined,
): FieldNames {
  const missing = known ? names.filter((name) => !(name in known)) : names;
  const evidence = tierEvidenceFields(source, missing, calls.possibleTiers());
  if (evidence.length === 0) return missing;
  const all = missing.slice();
  for (const name of evidence) if (!all.includes(name) && !(known && name in known)) insert(all, name);
  return all;
}

function fulfilFrom(parts: LoadContext, wish: FieldLoad, kept: CachedRecord | undefined): void {
  const { state, names, path } = wish;
  const { source, key } = state;
  try {
    if (mergeCached(parts, state, kept, names, path)) return settleLoad(wish);
    const fields = projection(source, fieldsToRequest(parts, source, names, kept?.isFresh ? kept.record : undefined));
    const asked = projectedRequest(source.endpoint, source.input(key), fields);
    const epoch = parts.cache.epochOfRecord(source.endpoint, state.kind, key);
    parts.calls.make(withEpoch(asked, epoch), path, new RecordResponseHandler(parts, wish, kept, fields, asked));
  } catch (error) {
    failLoad(wish, error);
  }
}

class RecordResponseHandler implements ResponseHandler {
  private readonly context: LoadContext;
  private readonly load: FieldLoad;
  private readonly cached: CachedRecord | undefined;
  private readonly fields: FieldNames | undefined;
  private readonly asked: ApiRequest;

  constructor(
    parts: LoadContext,
    wish: FieldLoad,
    kept: CachedRecord | undefined,
    fields: FieldNames | undefined,
    asked: ApiRequest,
  ) {
    this.context = parts;
    this.load = wish;
    this.cached = kept;
    this.fields = fields;
    this.asked = asked;
  }

  onResponse(came: ApiResponse): void {
    try {
      this.store(came);
    } catch (error) {
      return this.onError(error);
    }
    settleLoad(this.load);
  }

  private store(came: ApiResponse): void {
    const { cached, fields, load } = this;
    const { calls, cache, cachePolicy } = this.context;
    const { state, names } = load;
    const { kind, source, key } = state;
    const { value } = came;
    const record = value === null ? null : source.read ? source.read(value as never, key) : (value as UpstreamRecord);
    if (!record) {
      state.isAbsent = true;
      cachePolicy.restrict(null);
      cache.delete(source.endpoint, kind, key);
      return;
    }
    if (!fields) state.isWhole = true;
    // Only what this very answer was asked for is known to be absent: members that came unasked do not prove that all came.
    const known = fields ?? source.members ?? names;
    if (cached?.isFresh) {
      const requested = source.tiers ? [...known, ...Object.keys(cached.record)] : names;
      merge(state, withMembers(cached.record, record), names, calls.possibleTiers(), requested);
      cachePolicy.restrict(cached.freshUntil, source.endpoint);
    } else merge(state, record as UpstreamRecord, names, calls.possibleTiers(), known);
    cachePolicy.restrict(cache.put(source.endpoint, kind, key, record as UpstreamRecord, known, came), source.endpoint);
  }

  onError(error: unknown): void {
    let reason = error;
    try {
      this.serveStale(error);
    } catch (defect) {
      reason = defect;
    }
    failLoad(this.load, reason);
  }

  /** Takes what is kept, as far as that may stand in for what failed. */
  private serveStale(error: unknown): void {
    const { context, asked, cached, load } = this;
    const { calls, cache, cachePolicy } = context;
    const { state, names, path } = load;
    const { kind, source, key } = state;
    cachePolicy.restrict(null);
    if (isDenied(context, source.endpoint, error)) cache.delete(source.endpoint, kind, key);
    if (!cached || !mayServeStale(error)) return;
    const there = names.filter((name) => name in cached.record);
    if (there.length && !cached.isFresh) calls.logUncalled(asked, path, { staleSeconds: cached.ageSeconds });
    merge(state, cached.record, there, calls.possibleTiers(), requestedFieldsOf(source, cached, there));
  }
}

/** What is not known by now will not be. */
function failLoad(wish: FieldLoad, error: unknown): void {
  const { state, names } = wish;
  for (const name of names) if (!(name in state.record)) setError(state, name, error as Error);
  settleLoad(wish);
}

function settleLoad(wish: FieldLoad): void {
  const { state } = wish;
  state.loads = state.loads.length === 1 ? noLoads : state.loads.filter((each) => each !== wish);
  wish.settle();
}

/**
 * Upstream said no: what is kept of it is not to be shown again. Of what is the same for everybody, a no to somebody's own token
 * says nothing: anyone can send a token that is not known.
 */
function isDenied({ viewer }: LoadContext, { share }: Endpoint, error: unknown): boolean {
  if (!(error instanceof UpstreamRejection || error instanceof UpstreamFailure) || !isDenial(error.details))
    return false;
  return error.details.status === 404 || share !== 'public' || !viewer.isLoggedIn;
}
