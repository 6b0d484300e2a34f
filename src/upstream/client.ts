/** The client of the service: what all operations share, and an operation for each request. */
import type { Config } from '../config/settings.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { Calls } from './http/calls.ts';
import type { CallServices, ObservedCall } from './http/call.ts';
import { type Credential, createCredentials } from './auth/credentials.ts';
import type { RequestContext } from './auth/request-context.ts';
import { InFlightRequests } from './http/in-flight.ts';
import type { CancellationToken } from '../lib/cancellation.ts';
import type { OperationSpan } from '../lib/trace-context.ts';
import { CachePolicy } from './cache/cache-policy.ts';
import { Operation } from './operation.ts';
import type { OnAvailabilityChange } from './availability.ts';
import { type RecordCache, createRecordCache } from './cache/record-cache.ts';
import { connectRedis } from './redis.ts';
import { createCallLog } from './call-log.ts';
import { type Transport, createTransport } from './http/pool.ts';

/** Who sent a request. */
export interface Sender {
  /** The Authorization header as received. */
  authorization: string | undefined;
  address: string;
  requestId: string;
  /** The span of the operation, if it is traced. */
  span?: OperationSpan | undefined;
  /** The part of the rate limit that agents have together; undefined for everybody else. */
  rateShare?: number | undefined;
}

export type UpstreamClient = ReturnType<typeof createUpstream>;

export type UpstreamSettings = Parameters<typeof createTransport>[0] &
  Pick<
    Config,
    | 'maxJsonBytes'
    | 'maxAtomBytes'
    | 'maxUpstreamCalls'
    | 'retryAfterSeconds'
    | 'maxRetryAfterSeconds'
    | 'operationTimeoutMs'
  > &
  Partial<Pick<Config, 'accessToken' | 'filmTier' | 'recordTtlSeconds' | 'redisUrl'>>;

export interface UpstreamParts {
  transport?: Transport;
  records?: RecordCache;
  /** Called for each call, and for each that the cache made unnecessary. */
  observe?: (seen: ObservedCall) => void;
  /** Called when a service or Redis becomes unreachable, and when it is reachable again. */
  onOutage?: OnAvailabilityChange;
}

export function createUpstream(settings: UpstreamSettings, parts: UpstreamParts = {}) {
  const transport = parts.transport ?? createTransport(settings, undefined, parts.onOutage);
  // Facades over other services may share the same Redis.
  const shared = settings.redisUrl
    ? connectRedis(settings.redisUrl, `${settings.baseUrl} ${settings.eventBaseUrl}`, parts.onOutage)
    : undefined;
  const records = parts.records ?? createRecordCache({ ttlSeconds: settings.recordTtlSeconds, cache: shared?.cache });
  // A caller with an unreadable Authorization gets errors, and nothing from the cache.
  const emptyCache = createRecordCache({ ttlSeconds: 0 });
  const credentials = createCredentials(settings.accessToken, settings.filmTier);
  const rateLimiter = new RateLimiter(settings, shared?.windows, ({ id }, service) =>
    credentials.rejections.has(id, service),
  );
  const inFlight = new InFlightRequests();
  const invalidate = (scope: string) => {
    inFlight.forget();
    return records.invalidate(scope);
  };
  const onRejected = ({ id, isOwn }: Credential) => void records.invalidateCredential(id, isOwn);
  const { observe } = parts;
  const services: CallServices = { settings, transport, credentials, inFlight, rateLimiter, onRejected, observe };

  return {
    /** Until the token is cancelled. */
    forOperation(sender: Sender, cancellation: CancellationToken): Operation {
      const { authorization, address, requestId, span, rateShare } = sender;
      const token = bearerOf(authorization);
      const isUnreadable = authorization !== undefined && token === null;
      const credential = credentials.of(token);
      const callLog = createCallLog();
      const cachePolicy = new CachePolicy(authorization !== undefined);
      const context: RequestContext = {
        credential,
        isUnreadable,
        address,
        requestId,
        cancellation,
        callLog,
        span,
        rateShare,
      };
      return new Operation({
        calls: new Calls(services, context),
        cache: (isUnreadable ? emptyCache : records).forViewer({
          credential: credential.id,
          hasToken: token !== null,
        }),
        callLog,
        cachePolicy,
        viewer: { isLoggedIn: token !== null, filmTier: credential.filmTier, person: credential.person },
        invalidate,
        rateBudget: () =>
          token === null && rateShare === undefined ? Promise.resolve(null) : rateLimiter.state(credential, rateShare),
      });
    },
    /** Counts invalidations of the cache; null if this process does not see them all. */
    epoch: () => records.epoch(),
    /** The current load of each service. */
    state: () => transport.state(),
    /** Calls that wait for the rate limiter or count towards it. */
    limited: () => rateLimiter.calls(),
    /** Reads in flight; equal reads share one. */
    sharedReads: () => inFlight.size(),
    close: async (): Promise<void> => {
      await transport.close();
      await shared?.close();
    },
  };
}

/** The token of `Bearer …`; null for anything else. */
const bearerOf = (authorization: string | undefined): string | null =>
  /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
