/** What resolvers call. Nothing here outlives the operation. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../api/endpoint.ts';
import type { Viewer } from './auth/viewer.ts';
import type { CachePolicy } from './cache/cache-policy.ts';
import type { CallLog } from './call-log.ts';
import type { FilePart } from './http/multipart.ts';
import { createApiRequest } from './http/request.ts';
import type { RateLimitState } from './limits/rate-limiter.ts';
import { type LoadContext } from './loading/load-context.ts';
import { RecordLoader } from './loading/record-loader.ts';
import {
  type FieldNames,
  type RecordSource,
  type UpstreamRecord,
  tierRequired,
  withThrowingFields,
} from './loading/record-state.ts';
import { ResponseLoader } from './loading/response-loader.ts';

interface OperationParts extends LoadContext {
  callLog: CallLog;
  rateBudget: () => Promise<RateLimitState | null>;
  /** Drops a record or a list from the cache, for all callers. */
  invalidate: (tag: string) => void | Promise<void>;
}

export class Operation {
  readonly viewer: Viewer;
  readonly callLog: CallLog;
  /** How long everything that was read so far may be used again, and by whom. */
  readonly cachePolicy: CachePolicy;
  /** What the rate limit leaves to the caller's own token; null without a token or a limit. */
  readonly rateBudget: () => Promise<RateLimitState | null>;
  private readonly parts: OperationParts;
  private readonly records: RecordLoader;
  private readonly responses: ResponseLoader;

  constructor(parts: OperationParts) {
    this.parts = parts;
    this.viewer = parts.viewer;
    this.callLog = parts.callLog;
    this.cachePolicy = parts.cachePolicy;
    this.rateBudget = parts.rateBudget;
    this.records = new RecordLoader(parts);
    this.responses = new ResponseLoader(parts);
  }

  /** The record with these fields in addition to the known ones; null if it is absent. */
  load(
    kind: string,
    source: RecordSource,
    key: string,
    names: FieldNames,
    known: UpstreamRecord,
    path: Path | undefined,
  ): Promise<UpstreamRecord | null> | UpstreamRecord | null {
    return this.records.load(kind, source, key, names, known, path);
  }

  /** The response of an endpoint, null if what it returns is absent. Equal requests of an operation are made once. */
  list(endpoint: Endpoint, input: object, names: FieldNames | undefined, path: Path | undefined): Promise<unknown> {
    return this.responses.load(endpoint, input, names, path);
  }

  /** The response of a write, which is sent at most once. Lists that were read before it are requested again after it. */
  async write(
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: AsyncIterable<FilePart>,
  ): Promise<unknown> {
    this.cachePolicy.restrict(null);
    try {
      return (await this.parts.calls.send(createApiRequest(endpoint, input), path, files)).value;
    } finally {
      this.responses.clear();
    }
  }

  /** Drops what a mutation made untrue, for this operation and for all. `tags`: see `invalidate` of the record cache. */
  async invalidate(tags: readonly string[]): Promise<void> {
    this.records.clear();
    await Promise.all(tags.map(async (tag) => this.parts.invalidate(tag)));
  }

  /** The record, in which reading one of these fields throws that the caller's tier does not get it. */
  withhold(kind: string, source: RecordSource, record: UpstreamRecord, names: FieldNames): UpstreamRecord {
    return withThrowingFields(record, names, (name) => tierRequired(kind, source, name));
  }

  /** Throws unless the caller sent a token of their own. */
  requireLogin(): void {
    this.parts.calls.requireLogin();
  }

  /** The request that `list` would send now; null if it would send none. */
  wouldList(endpoint: Endpoint, input: object, names: FieldNames | undefined): Promise<string | null> {
    return this.responses.wouldSend(endpoint, input, names);
  }

  /** The record that `load` would request now; null if it would request none. */
  wouldLoad(kind: string, source: RecordSource, key: string, names: FieldNames): Promise<string | null> {
    return this.records.wouldRequest(kind, source, key, names);
  }
}
