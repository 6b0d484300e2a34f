/** The reads and writes of one operation, called by resolvers. Nothing here outlives the operation. */
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
  readonly records: RecordLoader;
  readonly responses: ResponseLoader;
  private readonly parts: OperationParts;

  constructor(parts: OperationParts) {
    this.parts = parts;
    this.viewer = parts.viewer;
    this.callLog = parts.callLog;
    this.cachePolicy = parts.cachePolicy;
    this.rateBudget = parts.rateBudget;
    this.records = new RecordLoader(parts);
    this.responses = new ResponseLoader(parts);
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

  /** Throws unless the caller sent a token of their own. */
  requireLogin(): void {
    this.parts.calls.requireLogin();
  }
}
