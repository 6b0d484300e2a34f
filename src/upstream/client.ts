/** The service, as the callers of the facade see it. */
import type { Tier } from '../api/endpoint.ts';
import type { Config } from '../config/settings.ts';
import { type LimitedCalls, createRateLimiter } from './limits/rate-limiter.ts';
import { createCalls } from './http/calls.ts';
import type { CallParts, OperationContext } from './http/call.ts';
import { type Credential, createCredentials } from './auth/credentials.ts';
import { createInFlightRequests } from './http/in-flight.ts';
import type { CancellationToken } from '../lib/cancellation.ts';
import { createCachePolicy } from './cache/cache-policy.ts';
import { Operation } from './operation.ts';
import type { OnAvailabilityChange } from './availability.ts';
import { type RecordCache, createRecordCache } from './cache/record-cache.ts';
import { connectRedis } from './redis.ts';
import type { ObservedCall, Span } from './trace-context.ts';
import { createCallLog } from './call-log.ts';
import { type Transport, createTransport } from './http/pool.ts';

/** Who runs an operation. */
export interface RequestContext {
  /** The Authorization header as it came. */
  authorization: string | undefined;
  address: string;
  requestId: string;
  /** The operation, where somebody follows it. */
  span?: Span | undefined;
}

export interface UpstreamClient {
  /** The service for one operation, as long as that goes on. */
  forOperation: (asker: RequestContext, lifetime: CancellationToken) => Operation;
  /** Counts what was dropped of what is kept; null where nobody here can tell. */
  epoch: () => number | null;
  /** What goes on at each service now. */
  state: Transport['state'];
  /** Calls that wait for the rate limiter or count towards it. */
  limited: () => LimitedCalls;
  /** Reads in flight; equal reads share one. */
  sharedReads: () => number;
  close: () => Promise<void>;
}

export type UpstreamSettings = Parameters<typeof createTransport>[0] &
  Pick<
    Config,
    | 'maxJsonBytes'
    | 'maxAtomBytes'
    | 'maxUpstreamCalls'
    | 'retryAfterSeconds'
    | 'maxRetryAfterSeconds'
    | 'operationTimeoutMs'
  > & {
    accessToken?: string | undefined;
    filmTier?: Tier | undefined;
    recordTtlSeconds?: number | undefined;
    redisUrl?: string | undefined;
  };

export interface UpstreamParts {
  transport?: Transport;
  records?: RecordCache;
  /** Told of each call that was made, and of each that a kept record spared. */
  observe?: (seen: ObservedCall) => void;
  /** Told when a service or Redis goes away, and when it is back. */
  onOutage?: OnAvailabilityChange;
}

export function createUpstream(settings: UpstreamSettings, parts: UpstreamParts = {}): UpstreamClient {
  const transport = parts.transport ?? createTransport(settings, undefined, parts.onOutage);
  // Facades over other services may share the same Redis.
  const shared = settings.redisUrl
    ? connectRedis(settings.redisUrl, `${settings.baseUrl} ${settings.eventBaseUrl}`, parts.onOutage)
    : undefined;
  const records = parts.records ?? createRecordCache({ ttlSeconds: settings.recordTtlSeconds, cache: shared?.cache });
  // Whose Authorization cannot be read is told so, and not shown what is kept.
  const nothingKept = createRecordCache({ ttlSeconds: 0 });
  const credentials = createCredentials(settings.accessToken, settings.filmTier);
  const budget = createRateLimiter(settings, shared?.windows, ({ id }, service) =>
    credentials.rejections.has(id, service),
  );
  const flights = createInFlightRequests();
  const invalidate = (scope: string) => {
    flights.forget();
    return records.invalidate(scope);
  };
  const observe = parts.observe ?? (() => undefined);
  const onRejected = ({ id, isOwn }: Credential) => void records.invalidateCredential(id, isOwn);
  const callParts: CallParts = { settings, transport, credentials, flights, budget, onRejected, observe };

  return {
    forOperation({ authorization, address, requestId, span }, lifetime) {
      const token = bearerOf(authorization);
      const isUnreadable = authorization !== undefined && token === null;
      const credential = credentials.of(token);
      const trace = createCallLog();
      const cachePolicy = createCachePolicy(authorization !== undefined);
      const caller: OperationContext = { isUnreadable, credential, trace, lifetime, requestId, address, span };
      const calls = createCalls(callParts, caller);
      return new Operation({
        calls,
        cache: (isUnreadable ? nothingKept : records).forViewer({
          credential: credential.id,
          hasToken: token !== null,
        }),
        callLog: trace,
        cachePolicy,
        viewer: { isLoggedIn: token !== null, filmTier: credential.filmTier },
        invalidate,
        rateBudget: () => (token === null ? Promise.resolve(null) : budget.state(credential)),
      });
    },
    epoch: () => records.epoch(),
    state: () => transport.state(),
    limited: () => budget.calls(),
    sharedReads: flights.size,
    close: async () => {
      await transport.close();
      await shared?.close();
    },
  };
}

/** The token of `Bearer …`; null for anything else. */
const bearerOf = (authorization: string | undefined): string | null =>
  /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
