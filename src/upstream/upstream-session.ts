/** The reads and writes of one operation, called by resolvers. Nothing here outlives the operation. */
import type { Path } from 'graphql/jsutils/Path.js';
import type { Endpoint } from '../api/endpoint.ts';
import type { Credential } from './auth/credentials.ts';
import type { RequestContext } from './auth/request-context.ts';
import type { Viewer } from './auth/viewer.ts';
import { CachePolicy } from './cache/cache-policy.ts';
import type { ViewerCache } from './cache/handle.ts';
import { type RecordCache, createRecordCache } from './cache/record-cache.ts';
import { type CallLog, responsePath } from './call-log.ts';
import type { CallServices } from './http/call.ts';
import { CallPolicy } from './http/call-policy.ts';
import type { FilePart } from './http/multipart.ts';
import { createApiRequest } from '../api/api-request.ts';
import { lazily } from '../lib/promises.ts';
import type { RateLimitState } from './limits/rate-limiter.ts';
import type { ChangeLock, ChangeLocks } from './change-locks.ts';
import type { FilledIn, GuardedWrite, PatchSource, ReadRecord, WriteGuard } from './write-guard.ts';
import type { LoadContext } from './loading/load-context.ts';
import { RecordLoader } from './loading/record-loader.ts';
import { ResponseLoader } from './loading/response-loader.ts';

/** What all operations share. */
export interface SessionServices extends CallServices {
  records: RecordCache;
  changeLocks: ChangeLocks;
  /** Drops records and lists from the cache, for all callers. False if other replicas may still have them. */
  invalidate: (tags: readonly string[]) => boolean | Promise<boolean>;
}

/** How a write of a mutation is recognised, and what is done if it ends after its operation. */
type Settling = Pick<GuardedWrite, 'rule' | 'onLate' | 'kept' | 'known'>;

/** For reads that a cache must not answer, and for a caller with an unreadable Authorization. */
const emptyCache = createRecordCache({ ttlSeconds: 0 });

export class UpstreamSession implements LoadContext {
  readonly calls: CallPolicy;
  readonly cache: ViewerCache;
  readonly viewer: Omit<Viewer, 'person'> & Pick<Credential, 'person'>;
  readonly callLog: CallLog;
  /** How long everything that was read so far may be used again, and by whom. */
  readonly cachePolicy: CachePolicy;
  /** A write was made, and Redis did not take note of it yet: other replicas may show the state before it. */
  replicasMayLag = false;
  readonly records = new RecordLoader(this);
  private responseLoader: ResponseLoader | undefined = undefined;
  private nobody: (() => ResponseLoader) | undefined = undefined;
  /** The locks of the change that is being made: an operation makes its changes one after the other. */
  private locks: ChangeLock[] = [];
  /** Writes with a key that go on although nobody waits for them. */
  private readonly unfinished: Promise<unknown>[] = [];
  private readonly services: SessionServices;
  private readonly context: RequestContext;

  /** `cachePolicy`: of its operation, if that reads other services too. */
  constructor(services: SessionServices, context: RequestContext, cachePolicy?: CachePolicy) {
    const { credential, isUnreadable } = context;
    const isLoggedIn = !credential.isOwn;
    this.services = services;
    this.context = context;
    this.calls = new CallPolicy(services, context);
    this.cache = (isUnreadable ? emptyCache : services.records).forViewer(context);
    const { isRejected, filmTier, person } = credential;
    this.viewer = { isLoggedIn, isRejected, filmTier, person };
    this.callLog = context.callLog;
    this.cachePolicy = cachePolicy ?? new CachePolicy(isLoggedIn || isUnreadable);
  }

  /** Many operations read records alone. */
  get responses(): ResponseLoader {
    return (this.responseLoader ??= new ResponseLoader(this));
  }

  /** The response of a write, which is sent at most once. Lists that were read before it are requested again after it. */
  async write(
    endpoint: Endpoint,
    input: object,
    path: Path | undefined,
    files?: readonly FilePart[],
    settling?: Settling,
  ): Promise<unknown> {
    this.cachePolicy.restrict(null);
    const { writes } = this.context;
    try {
      if (writes && settling) return await this.guarded(writes, { endpoint, input, files, ...settling }, path);
      return (await this.calls.send(createApiRequest(endpoint, input), path, { files })).value;
    } finally {
      this.responseLoader?.clear();
      this.nobody = undefined;
      this.learnPerson();
    }
  }

  /** Until then, all fields of a response know of the caller what was known before. */
  learnPerson(): void {
    this.viewer.person = this.context.credential.person;
  }

  /**
   * Completes a change by what the record has now, under the lock of the record, until `endChange`. What is kept is what an earlier request
   * with the key has recorded, or is read now, never from a cache.
   */
  async beginChange(
    path: Path | undefined,
    record: string,
    fillIn: (reads: PatchSource) => Promise<FilledIn>,
  ): Promise<FilledIn> {
    const { writes, credential, cancellation, slot } = this.context;
    const kept = writes?.keptBy(responsePath(path).join('.'));
    if (kept) return { kept };
    this.cachePolicy.restrict(null);
    const reads = (): PatchSource => ({
      read: this.reader(path),
      readAsNobody: this.readerAsNobody(path, this.loaderOfNobody()),
      get person() {
        return credential.person?.id;
      },
    });
    const readAt = performance.now();
    const filled = await fillIn(reads());
    if (!filled.known || filled.isUnchanged) return filled; // nothing was read, or nothing is to be written
    const { owner = ` ${credential.id}` } = filled;
    const changing = { record, owner, credential, readAt, cancellation, slot };
    const lock = await this.services.changeLocks.take(changing);
    this.locks.push(lock);
    return lock.isOvertaken ? fillIn(reads()) : filled;
  }

  /** Reads without any token, equal ones once. What is computed of that is of the caller alone. */
  readerAsNobody(path: Path | undefined, loader = (this.nobody ??= this.loaderOfNobody())): ReadRecord {
    this.cachePolicy.restrict(null);
    return (endpoint, input, members) => loader().load(endpoint, input as object, members, path);
  }

  /** A session is opened by its first read: most changes make none. */
  private loaderOfNobody(): () => ResponseLoader {
    const services = { ...this.services, records: emptyCache };
    const nobody = { credential: services.credentials.anonymous, isUnreadable: false, isUnshared: true };
    return lazily(() => new UpstreamSession(services, { ...this.context, ...nobody }, this.cachePolicy).responses);
  }

  /** `isUncounted`: it does not keep the operation from its other calls. */
  private reader(path: Path | undefined, isUncounted?: true): ReadRecord {
    const calls = new CallPolicy(this.services, { ...this.context, isUnshared: true, isUncounted });
    return async (of, given, members) =>
      (await calls.send(createApiRequest(of, given as object, members), path)).value as never;
  }

  /** Ends the locks of a change, once its write is over: with a key it may outlive its operation. */
  endChange(): void {
    const { locks, unfinished } = this;
    this.locks = [];
    const leave = (): void => locks.forEach((lock) => lock.leave());
    if (unfinished.length === 0) return leave();
    void Promise.allSettled(unfinished).then(leave);
  }

  /** A write of a request with an idempotency key. */
  private guarded(
    writes: WriteGuard,
    write: Pick<GuardedWrite, 'endpoint' | 'input' | 'files'> & Settling,
    path: Path | undefined,
  ): Promise<unknown> {
    const { cancellation, credential } = this.context;
    const { endpoint, input } = write;
    return writes.write({
      ...write,
      field: responsePath(path).join('.'),
      cancellation,
      person: () => credential.person?.id,
      onLeft: (running) => void this.unfinished.push(running),
      send: async (parts, mayBegin) =>
        (await this.calls.send(createApiRequest(endpoint, input), path, { files: parts, mayBegin })).value,
      read: this.reader(path, true),
    });
  }

  /** Drops what a mutation made untrue, for this operation and for all. `tags`: see `invalidate` of the record cache. */
  async invalidate(tags: readonly string[]): Promise<void> {
    this.records.clear();
    if (tags.length > 0 && !(await this.services.invalidate(tags))) this.replicasMayLag = true;
  }

  /** What the rate limit leaves to the caller's own token, or to all agents; null without a token or a limit. */
  async rateBudget(): Promise<RateLimitState | null> {
    const { credential, rateShare } = this.context;
    if (credential.isOwn && rateShare === undefined) return null;
    return this.services.rateLimiter.state(credential, rateShare);
  }
}
