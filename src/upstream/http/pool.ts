/** The connections to both services: each has a pool, a circuit breaker, a concurrency limiter and deadlines of its own. */
import type { Dispatcher } from 'undici/index.js';
import type { Config } from '../../config/settings.ts';
import { type TlsFiles, readTlsFiles } from '../../config/upstream-tls.ts';
import { createCircuitBreaker } from '../limits/circuit-breaker.ts';
import { createConcurrencyLimiter } from '../limits/concurrency.ts';
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
  /** Requests from now on have connections with the certificates that are in the files now. Throws if they cannot be used; false if they are in use. */
  renewCertificates?: (service: Service) => boolean;
  state: () => Record<Service, ServiceState>;
  close: () => Promise<void>;
}

export type ServiceState = ReturnType<typeof stateOf>;

/** The addresses must be set. */
export type TransportSettings = Config & { baseUrl: string; eventBaseUrl: string };

export function createTransport(
  settings: TransportSettings,
  dispatcher?: Dispatcher,
  onOutage?: OnAvailabilityChange,
): Transport {
  const tls: Record<Service, TlsFiles> = {
    catalog: readTlsFiles('catalog', settings),
    events: readTlsFiles('events', settings),
  };
  // One dead service must not hold up the other.
  const hostPool = (service: Service, address: string): HostPool => {
    const base = new URL(address);
    return {
      origin: base.origin,
      path: base.pathname.replace(/\/$/, ''),
      pool: dispatcher ?? createDispatcher(base.origin, settings, tls[service]),
      breaker: createCircuitBreaker(settings, (reason) => onOutage?.(service, reason)),
      limiter: createConcurrencyLimiter(settings),
      settings,
      deadlines: 0,
    };
  };
  const hosts: Record<Service, HostPool> = {
    catalog: hostPool('catalog', settings.baseUrl),
    events: hostPool('events', settings.eventBaseUrl),
  };

  return {
    send: (request, cancellation) =>
      new Promise((resolve, reject) => {
        new HttpAttempts(hosts[request.service], request, cancellation, resolve, reject).start();
      }),
    renewCertificates: (service) => {
      const files = readTlsFiles(service, settings);
      if (JSON.stringify(files) === JSON.stringify(tls[service])) return false;
      const host = hosts[service];
      const { pool, origin } = host;
      tls[service] = files;
      host.pool = createDispatcher(origin, settings, files);
      void pool.close(); // after the requests that it has
      return true;
    },
    state: () => ({ catalog: stateOf(hosts.catalog), events: stateOf(hosts.events) }),
    close: async () => {
      await Promise.all([...new Set([hosts.catalog.pool, hosts.events.pool])].map((pool) => pool.close()));
    },
  };
}

const stateOf = ({ breaker, limiter, deadlines }: HostPool) => ({
  isOpen: breaker.isOpen(),
  running: limiter.running(),
  waiting: limiter.waiting(),
  deadlines,
});
