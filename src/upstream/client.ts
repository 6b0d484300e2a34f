/** The client of the service: what all operations share, and an operation for each request. */
import type { ServiceDescriptor } from '../api/service-descriptor.ts';
import { networkOf } from '../lib/text/ip-address.ts';
import type { CancellationToken } from '../lib/cancellation.ts';
import { readTlsFiles } from '../config/upstream-tls.ts';
import { type Credential, createCredentials } from './auth/credentials.ts';
import { type OnOwnRefused, createOwnRefusals } from './auth/own-refusals.ts';
import { noTiers } from './auth/tiers.ts';
import { type Sender, bearerOf } from './auth/request-context.ts';
import type { OnAvailabilityChange } from './availability.ts';
import { type RecordCache, createRecordCache } from './cache/record-cache.ts';
import { createCachingWatch } from './cache/caching-watch.ts';
import { createCallLog } from './call-log.ts';
import { type HeadersTo, addedHeaders } from './http/request.ts';
import type { ObservedCall } from './http/call.ts';
import type { InspectedResponse } from './http/response.ts';
import { InFlightRequests } from './http/in-flight.ts';
import { type Transport, type TransportSettings, createTransport } from './http/pool.ts';
import type { OnPause } from './limits/pauses.ts';
import { createReloads } from './limits/reloads.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { type TakeLease, createChangeLocks } from './change-locks.ts';
import { UpstreamSession, type SessionServices } from './upstream-session.ts';
import type { RedisConnection } from './redis/connection/connection.ts';
import { lossWarning, openKeyRedis } from './redis/connection/key-redis.ts';
import { serviceName } from './redis/keys.ts';
import { type SharedState, connectRedis } from './redis/shared-state.ts';

export type UpstreamClient = ReturnType<typeof createUpstream>;

export interface UpstreamParts {
  /** Names the service in Redis; by default its address. */
  namespace?: string;
  /** Callers share no read in flight of what is not for everybody, not even if none sends a token. */
  keepsCallersApart?: boolean;
  transport?: Transport;
  records?: RecordCache;
  /** Called for each call, and for each that the cache made unnecessary. */
  observe?: (seen: ObservedCall) => void;
  /** Called with each decoded response. */
  inspect?: ((response: InspectedResponse) => void) | undefined;
  /** More headers for the calls of a service. */
  headersTo?: HeadersTo | undefined;
  /** Called when a service or Redis becomes unreachable, and when it is reachable again. */
  onOutage?: OnAvailabilityChange;
  onOwnRefused?: OnOwnRefused;
  /** Called when a service asks for a pause of its calls. */
  onPause?: OnPause;
  /** Called at the end if invalidations could not be written to Redis: other replicas may serve what they concern. */
  onLostInvalidations?: (count: number) => void;
}

export function createUpstream(service: ServiceDescriptor, settings: TransportSettings, parts: UpstreamParts = {}) {
  const { services, shared, ownKeys } = openServices(service, settings, parts);
  const { transport, records, credentials, ownRefusals, rateLimiter } = services;
  const reloads = createReloads();
  return {
    service,
    /** Until the token is cancelled. `beside`: the session of another service in the same operation. */
    forOperation(sender: Sender, cancellation: CancellationToken, beside?: UpstreamSession): UpstreamSession {
      // Each member by name: a rest object is one of slow properties, which cost W1 a sixth of its CPU.
      const { authorization, address, requestId, span, rateShare, writes, slot, isReload } = sender;
      const token = bearerOf(authorization);
      const network = networkOf(address);
      const context = {
        credential: credentials.of(token),
        isUnreadable: authorization !== undefined && token === null,
        address: network,
        requestId,
        cancellation,
        callLog: beside?.callLog ?? createCallLog(),
        span,
        rateShare,
        writes,
        slot,
        reload: isReload ? reloads(network) : undefined,
      };
      return new UpstreamSession(parts.keepsCallersApart ? apart(services) : services, context, beside?.cachePolicy);
    },
    /** Whose request it is. Responses show at any time that the service accepts the token, and who the person is. */
    senderOf: (token: string): Pick<Credential, 'id' | 'accepted' | 'person'> => credentials.of(token),

    /** Counts invalidations of the cache; null if nothing is cached. */
    epoch: records.epoch,
    /** Where replicas invalidate too: resolves when the epoch counts all that they did before the call, with false if it may not. */
    confirmEpoch: records.confirmEpoch,
    /** The size of the record cache in memory. */
    cacheSize: () => records.size(),
    /** Responses that their headers forbid to store, by reason. */
    notStored: () => services.caching.refused(),

    /** The current load of each service. */
    state: () => transport.state(),
    /** Reads in flight; equal reads share one. */
    sharedReads: () => services.inFlight.size(),
    /** What the rate limit leaves to the facade's own token; null if it has none. */
    ownBudget: () => rateLimiter.state(credentials.own),
    /** Whether a service refuses the facade's own credential. */
    isOwnRefused: ownRefusals.has,
    /** For requests from now on that have no token of their own. */
    changeAccessToken: (token: string): void => (credentials.changeOwn(token), ownRefusals.clear()),
    /** Processes that share a store have the locks of changes in it. */
    shareChangeLocks: (take: TakeLease): void => services.changeLocks.share(take),

    ...redisOf(shared, ownKeys),
    close: async (): Promise<void> => {
      await transport.close();
      const lost = await shared?.close(settings.shutdownMs);
      await ownKeys?.close();
      if (lost) parts.onLostInvalidations?.(lost);
    },
  };
}

function openServices(service: ServiceDescriptor, settings: TransportSettings, parts: UpstreamParts) {
  const {
    namespace = serviceName(settings.baseUrl),
    onOutage,
    onOwnRefused,
    onPause,
    observe,
    inspect,
    headersTo,
  } = parts;
  const { accessToken, filmTier, recordTtlSeconds: ttlSeconds, absentTtlSeconds } = settings;
  const transport = parts.transport ?? createTransport(settings, undefined, onOutage);
  const inFlight = new InFlightRequests();
  // Later reads do not join those in flight: a write may have changed the result.
  const shared = openSharedState(settings, namespace, onOutage, () => inFlight.forget());
  const ownKeys = openKeyRedis(settings, namespace, onOutage);
  const cacheSettings = { ttlSeconds, absentTtlSeconds, cache: shared?.cache };
  const records = parts.records ?? createRecordCache(cacheSettings);
  const { tiers = noTiers } = service;
  const credentials = createCredentials(tiers, accessToken, filmTier);
  const limits = { ...settings, ...service };
  const services: SessionServices = {
    settings,
    transport,
    service,
    tiers,
    credentials,
    ownRefusals: createOwnRefusals(onOwnRefused),
    inFlight,
    addHeaders: headersTo && addedHeaders(headersTo),
    rateLimiter: new RateLimiter(limits, shared?.windows, onPause),
    records,
    caching: createCachingWatch(settings),
    changeLocks: createChangeLocks(),
    onRejected: ({ id }) => void records.invalidateCredential(id),
    observe,
    inspect,
    invalidate: (tags) => (inFlight.forget(), records.invalidate(tags)),
  };
  return { services, shared, ownKeys };
}

/** What the client tells of the Redis that replicas share, and of that of the idempotency keys. */
const redisOf = (shared: SharedState | undefined, ownKeys: RedisConnection | undefined) => ({
  /** The state of Redis; undefined without it. */
  redis: shared?.state,
  /** Where idempotency keys and the locks of changes are; undefined without Redis. */
  keyConnection: ownKeys ?? shared?.connection,
  /** The state of IDEMPOTENCY_REDIS_URL; undefined if that is not set. */
  keyRedis: ownKeys?.state,
  /** A sentence if a Redis cannot be used as it is set. */
  checkRedis: async (): Promise<string | undefined> => (await shared?.connection.check()) ?? (await ownKeys?.check()),
  /** A sentence if the Redis of the idempotency keys may forget them. */
  keysWarning: () => lossWarning(ownKeys ?? shared?.connection),
});

/** Reads in flight are shared by credential, so each operation has its own for what is not for everybody. */
const apart = (services: SessionServices): SessionServices => {
  const { credentials } = services;
  return { ...services, credentials: { ...credentials, anonymous: { ...credentials.own } } };
};

/** Facades over other services may share the same Redis. */
const openSharedState = (
  settings: TransportSettings,
  namespace: string,
  onAvailabilityChange: OnAvailabilityChange | undefined,
  onInvalidation: () => void,
) =>
  settings.redisUrl === undefined
    ? undefined
    : connectRedis({
        ...{ url: settings.redisUrl, tls: readTlsFiles('redis', settings), namespace },
        events: serviceName(settings.eventBaseUrl),
        onAvailabilityChange,
        onInvalidation,
      });
