/** The connections to services: each has a pool, a circuit breaker and a semaphore of its own. */
import type { Dispatcher } from 'undici/index.js';
import { isOfCatalog } from '../../api/service-descriptor.ts';
import type { Config } from '../../config/settings.ts';
import { readTlsFiles } from '../../config/upstream-tls.ts';
import { createCircuitBreaker } from '../limits/circuit-breaker.ts';
import { createSemaphore } from '../limits/semaphore.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import type { OnAvailabilityChange } from '../availability.ts';
import type { Service } from '../errors.ts';
import { type HostPool, HttpAttempts } from './attempts.ts';
import { createDispatcher } from './dispatcher.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';

export interface Transport {
  /** A GET is retried if the connection is lost or a gateway fails. Rejects with UpstreamFailure if there is no response. */
  send: (request: HttpRequest, cancellation: CancellationToken) => Promise<HttpResponse>;
  state: () => Record<Service, ServiceState>;
  close: () => Promise<void>;
}

export type ServiceState = ReturnType<typeof stateOf>;

/** The addresses must be set. */
export type TransportSettings = Config & { baseUrl: string; eventBaseUrl: string };

/** `addresses`: of each service, by its name. */
export function createTransport(
  settings: TransportSettings,
  dispatcher?: Dispatcher,
  onOutage?: OnAvailabilityChange,
  addresses: Readonly<Record<string, string>> = { catalog: settings.baseUrl, events: settings.eventBaseUrl },
): Transport {
  const tls = { catalog: readTlsFiles('catalog', settings), events: readTlsFiles('events', settings) };
  const hostPool = (service: Service, address: string): HostPool => {
    const base = new URL(address);
    return {
      origin: base.origin,
      path: base.pathname.replace(/\/$/, ''),
      // One dead service must not hold up the other.
      pool: dispatcher ?? createDispatcher(base.origin, settings, isOfCatalog(service) ? tls[service] : {}),
      breaker: createCircuitBreaker(settings, (reason) => onOutage?.(service, reason)),
      limiter: createSemaphore(() => settings.maxConnections),
      settings,
    };
  };
  const hosts = Object.fromEntries(
    Object.entries(addresses).map(([service, address]) => [service, hostPool(service, address)]),
  );

  return {
    send: (request, cancellation) =>
      new Promise((resolve, reject) => {
        new HttpAttempts(hosts[request.service]!, request, cancellation, resolve, reject).start();
      }),
    state: () => Object.fromEntries(Object.entries(hosts).map(([service, host]) => [service, stateOf(host)])) as never,
    close: async () => {
      await Promise.all([...new Set(Object.values(hosts).map(({ pool }) => pool))].map((pool) => pool.close()));
    },
  };
}

const stateOf = ({ origin, breaker, limiter }: HostPool) => ({
  origin,
  isOpen: breaker.isOpen(),
  running: limiter.running(),
  waiting: limiter.waiting(),
});
