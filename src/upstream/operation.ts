/**
 * What one operation knows of the service: which names of which records are there, and which are on their way.
 *
 * A wish for names waits for those on their way and asks for the rest; a tick's wishes for one record are one ask. Nothing here
 * outlives the operation.
 */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../api/endpoint.ts';
import { type LoadContext, requestResponse, fulfil, projectedRequest, mergeCached } from './loading/load.ts';
import type { RateLimitState } from './limits/rate-limiter.ts';
import type { CachePolicy } from './cache/cache-policy.ts';
import {
  type RecordState,
  type FieldNames,
  type UpstreamRecord,
  type RecordSource,
  type FieldLoad,
  createRecordState,
  isUpstreamField,
  missingOf,
  viewOf,
  withThrowingFields,
  tierRequired,
  whenLoaded,
  loadsOf,
} from './loading/record-state.ts';
import type { FilePart } from './http/multipart.ts';
import { type CachedResponse, VIEWER_FIELD } from './cache/record-cache.ts';
import type { CallLog } from './call-log.ts';
import type { Viewer } from './auth/viewer.ts';
import { type ApiResponse, type ApiRequest, createApiRequest } from './http/request.ts';

/** What one operation may ask of the service. */
export interface Operation {
  readonly viewer: Viewer;
  readonly callLog: CallLog;
  /** How long what was read so far may be used again, and by whom. */
  readonly cachePolicy: CachePolicy;
  /** What the rate limit leaves to the caller's own token; null without a token or a limit. */
  readonly rateBudget: () => Promise<RateLimitState | null>;
  /** The answer of a call, null where what it asks for is absent. Equal asks of an operation are one. */
  list: (endpoint: Endpoint, input: object, names: FieldNames | undefined, path: Path | undefined) => unknown;
  /** The record with these names, beside those of `seen`; null where it is absent. */
  load: (
    kind: string,
    source: RecordSource,
    key: string,
    names: FieldNames,
    seen: UpstreamRecord,
    path: Path | undefined,
  ) => Promise<UpstreamRecord | null> | UpstreamRecord | null;
  /** The record, telling of each name that the caller's tier does not get it. */
  withhold: (kind: string, source: RecordSource, record: UpstreamRecord, names: FieldNames) => UpstreamRecord;
  /** The answer of a write, which is made once, whatever happens to it. What was asked before it is asked again. */
  write: (
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ) => Promise<unknown>;
  /** Throws unless the caller sent a token of their own. */
  requireLogin: () => void;
  /** What a mutation made untrue, for this operation and for all: see `clear` of the record store. */
  invalidate: (what: readonly string[]) => Promise<void>;
  /** The request that an ask would make now; null where none would be made. */
  wouldList: (endpoint: Endpoint, input: object, names: FieldNames | undefined) => Promise<string | null>;
  /** The same for names of a record. */
  wouldLoad: (kind: string, source: RecordSource, key: string, names: FieldNames) => Promise<string | null>;
}

interface OperationParts extends LoadContext {
  trace: CallLog;
  rateBudget: () => Promise<RateLimitState | null>;
  /** Drops what the shared cache keeps of a record or a list, whoever asked. */
  invalidate: (scope: string) => void | Promise<void>;
}

export const createOperation = (parts: OperationParts): Operation => new UpstreamOperation(parts);

class UpstreamOperation implements Operation {
  readonly viewer: Viewer;
  readonly callLog: CallLog;
  readonly cachePolicy: CachePolicy;
  readonly rateBudget: () => Promise<RateLimitState | null>;
  private readonly parts: OperationParts;
  private readonly responses = new Map<string, unknown>();
  private readonly states = new Map<string, RecordState>();
  /** Of this tick. */
  private loads: FieldLoad[] = [];

  constructor(parts: OperationParts) {
    this.parts = parts;
    this.viewer = parts.viewer;
    this.callLog = parts.trace;
    this.cachePolicy = parts.cachePolicy;
    this.rateBudget = parts.rateBudget;
  }

  list(endpoint: Endpoint, input: object, names: FieldNames | undefined, path: Path | undefined): unknown {
    const asked = projectedRequest(endpoint, input, names);
    const key = asked.wirePath;
    let answer = this.responses.get(key);
    if (answer === undefined) {
      const kept = this.parts.cache.getResponse(endpoint, key);
      answer =
        kept instanceof Promise
          ? kept.then((found) => this.responseOf(asked, found, path))
          : this.responseOf(asked, kept, path);
      this.responses.set(key, answer);
    }
    return answer;
  }

  load(
    kind: string,
    source: RecordSource,
    key: string,
    names: FieldNames,
    seen: UpstreamRecord,
    path: Path | undefined,
  ): Promise<UpstreamRecord | null> | UpstreamRecord | null {
    const entry = this.stateOf(kind, source, key);
    if (entry.isAbsent) return null;
    if (this.viewer.isLoggedIn && names.includes(VIEWER_FIELD)) this.cachePolicy.restrict(null);
    const missing = missingOf(entry, names);
    let waits = loadsOf(entry, names);
    if (missing) {
      const kept = this.parts.cache.get(source.endpoint, kind, key);
      if (kept instanceof Promise || !mergeCached(this.parts, entry, kept, missing, path)) {
        const load = this.loadLater(entry, missing, kept, path);
        if (!waits.includes(load)) waits = [...waits, load];
      }
    }
    return waits.length > 0 ? whenLoaded(waits, seen, entry, names) : viewOf(seen, entry, names);
  }

  withhold(kind: string, source: RecordSource, record: UpstreamRecord, names: FieldNames): UpstreamRecord {
    return withThrowingFields(record, names, (name) => tierRequired(kind, source, name));
  }

  async write(
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ): Promise<unknown> {
    this.cachePolicy.restrict(null);
    try {
      const came = await new Promise<ApiResponse>((resolve, reject) => {
        this.parts.calls.make(createApiRequest(endpoint, input), path, { onResponse: resolve, onError: reject }, files);
      });
      return came.value;
    } finally {
      this.responses.clear();
    }
  }

  requireLogin(): void {
    this.parts.calls.requireLogin();
  }

  async invalidate(what: readonly string[]): Promise<void> {
    this.states.clear();
    await Promise.all(what.map(async (scope) => this.parts.invalidate(scope)));
  }

  async wouldList(endpoint: Endpoint, input: object, names: FieldNames | undefined): Promise<string | null> {
    const key = projectedRequest(endpoint, input, names).wirePath;
    const { calls, cache } = this.parts;
    if (calls.refuses(endpoint) || (await cache.getResponse(endpoint, key))?.isFresh) return null;
    return key;
  }

  async wouldLoad(kind: string, source: RecordSource, key: string, names: FieldNames): Promise<string | null> {
    const { calls, cache } = this.parts;
    if (calls.refuses(source.endpoint)) return null;
    const kept = await cache.get(source.endpoint, kind, key);
    const isKept = kept?.isFresh && names.every((name) => name in kept.record || !isUpstreamField(source, name));
    return isKept ? null : `${kind}:${key}`;
  }

  /** From the cache while that is fresh. */
  private responseOf(asked: ApiRequest, kept: CachedResponse | undefined, path: Path | undefined): unknown {
    if (!kept?.isFresh) return requestResponse(this.parts, asked, kept, path);
    this.parts.calls.logUncalled(asked, path, { cached: true });
    this.cachePolicy.restrict(kept.freshUntil, asked.endpoint);
    return kept.response;
  }

  private stateOf(kind: string, source: RecordSource, key: string): RecordState {
    const place = `${kind}:${key}`;
    let entry = this.states.get(place);
    if (!entry) {
      entry = createRecordState(kind, key, source);
      this.states.set(place, entry);
    }
    return entry;
  }

  /** One ask for each record that a tick's wishes name; each waits for its own alone. */
  private loadLater(
    state: RecordState,
    names: FieldNames,
    cached: FieldLoad['cached'],
    path: Path | undefined,
  ): FieldLoad {
    const open = state.loads.find(({ isOpen }) => isOpen);
    if (open) {
      open.names = [...open.names, ...names].sort(); // they are others, or they would be on their way
      return open;
    }
    let settle!: () => void;
    const done = new Promise<void>((resolve) => (settle = resolve));
    const load: FieldLoad = { state, names, cached, path, isOpen: true, done, settle };
    state.loads = state.loads.length === 0 ? [load] : [...state.loads, load];
    this.loads.push(load);
    // All that promises bring about now belongs to this tick.
    if (this.loads.length === 1) void soon.then(() => process.nextTick(fulfilAll, this));
    return load;
  }

  fulfilAll(): void {
    const { loads } = this;
    this.loads = [];
    for (const wish of loads) {
      wish.isOpen = false;
      fulfil(this.parts, wish);
    }
  }
}

const fulfilAll = (known: UpstreamOperation): void => known.fulfilAll();

/** A microtask of its own makes Node follow it as it would a call from outside, at three times the price. */
const soon = Promise.resolve();
