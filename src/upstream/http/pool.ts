/** The shared connection: to each service a pool, a gate, a breaker and a clock. */
import { type Dispatcher, Pool } from 'undici';
import type { Config } from '../../config/settings.ts';
import { type CircuitBreakerSettings, createCircuitBreaker } from '../limits/circuit-breaker.ts';
import { createDeadlineQueue } from '../../lib/deadlines.ts';
import { type ConcurrencySettings, createConcurrencyLimiter } from '../limits/concurrency.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { OnAvailabilityChange } from '../availability.ts';
import type { Service } from '../errors.ts';
import { type HostPool, unavailable, send } from './attempts.ts';
import type { HttpRequest } from './request.ts';

export interface Transport {
  /** Sends it, and tells it what came; a GET is tried again when the connection is lost or a gateway fails. */
  send: (request: HttpRequest, asker: CancellationToken) => void;
  /** Throws UpstreamFailure where the service is known to be down: asked before anything is spent on a call. */
  refuseDown: (request: Pick<HttpRequest, 'service' | 'requestLine'>) => void;
  state: () => Record<Service, ServiceState>;
  close: () => Promise<void>;
}

export interface ServiceState {
  isOpen: boolean;
  running: number;
  waiting: number;
  /** Calls with a running deadline. */
  deadlines: number;
}

export type TransportSettings = Pick<
  Config,
  'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'callTimeoutMs' | 'readAttempts' | 'maxHeaderBytes'
> &
  CircuitBreakerSettings &
  ConcurrencySettings & { baseUrl: string; eventBaseUrl: string };

export function createTransport(
  settings: TransportSettings,
  dispatcher?: Dispatcher,
  onOutage?: OnAvailabilityChange,
): Transport {
  // One dead service must not hold up the other.
  const way = (service: Service, address: string): HostPool => {
    const base = new URL(address);
    return {
      origin: base.origin,
      path: base.pathname.replace(/\/$/, ''),
      pool:
        dispatcher ??
        new Pool(base.origin, {
          connections: settings.maxBusyConnections, // the gate lets fewer through while that is enough
          connect: { timeout: settings.connectTimeoutMs },
          headersTimeout: settings.headersTimeoutMs,
          bodyTimeout: settings.bodyTimeoutMs,
          maxHeaderSize: settings.maxHeaderBytes,
        }),
      breaker: createCircuitBreaker(settings, (reason) => onOutage?.(service, reason)),
      gate: createConcurrencyLimiter(settings),
      clock: createDeadlineQueue(settings.callTimeoutMs),
      callTimeoutMs: settings.callTimeoutMs,
      readAttempts: settings.readAttempts,
    };
  };
  const ways: Record<Service, HostPool> = {
    catalog: way('catalog', settings.baseUrl),
    event: way('event', settings.eventBaseUrl),
  };

  return {
    send: (request, asker) => send(ways[request.service], request, asker),
    refuseDown({ service, requestLine }) {
      if (ways[service].breaker.isRefusing()) throw unavailable({ service, requestLine });
    },
    state: () => ({ catalog: stateOf(ways.catalog), event: stateOf(ways.event) }),
    close: async () => {
      await Promise.all([...new Set([ways.catalog.pool, ways.event.pool])].map((pool) => pool.close()));
    },
  };
}

const stateOf = ({ breaker, gate, clock }: HostPool): ServiceState => ({
  isOpen: breaker.isOpen(),
  running: gate.running(),
  waiting: gate.waiting(),
  deadlines: clock.size(),
});
