/** The connections to services: each has a pool, a circuit breaker, a concurrency limiter and deadlines of its own. */
import type { Dispatcher } from 'undici/index.js';
import { isOfCatalog } from '../../api/service-descriptor.ts';
import type { Config } from '../../config/settings.ts';
import { type TlsFiles, type TlsUser, readTlsFiles } from '../../config/upstream-tls.ts';
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
  renewCertificates?: (service: Exclude<TlsUser, 'redis'>) => boolean;
  state: () => Record<Service, ServiceState>;
  close: () => Promise<void>;
}

export type ServiceState = ReturnType<typeof stateOf>;

/** The addresses must be set. */
export type TransportSettings = Config & { baseUrl: string; eventBaseUrl: string };

/** The connections to the catalog. */
export function createTransport(
  settings: TransportSettings,
  dispatcher?: Dispatcher,
  onOutage?: OnAvailabilityChange,
): Transport {
  const { baseUrl: catalog, eventBaseUrl: events } = settings;
  return transportTo({ catalog, events }, settings, onOutage, dispatcher);
}

/** `addresses`: of each service, by its name. */
export function transportTo(
  addresses: Readonly<Record<string, string>>,
  settings: Config,
  onOutage?: OnAvailabilityChange,
  dispatcher?: Dispatcher,
): Transport {
  const services = Object.keys(addresses);
  const filesOf = (service: Service): TlsFiles => (isOfCatalog(service) ? readTlsFiles(service, settings) : {});
  const tls = Object.fromEntries(services.map((service) => [service, filesOf(service)]));
  // One dead service must not hold up the other.
  const hostPool = (service: Service, address: string): HostPool => {
    const base = new URL(address);
    return {
      origin: base.origin,
      path: base.pathname.replace(/\/$/, ''),
      pool: dispatcher ?? createDispatcher(base.origin, settings, tls[service]!),
      breaker: createCircuitBreaker(settings, (reason) => onOutage?.(service, reason)),
      limiter: createConcurrencyLimiter(settings),
      settings,
      deadlines: 0,
    };
  };
  const hosts = Object.fromEntries(
    Object.entries(addresses).map(([service, address]) => [service, hostPool(service, address)]),
  );

  /** Requests from now on have new connections; the others go on to their end. */
  function renewConnections(service: Service): void {
    const host = hosts[service]!;
    const { pool, origin } = host;
    host.pool = createDispatcher(origin, settings, tls[service]!);
    void pool.close();
  }
  const { maxConnectionAgeMs } = settings;
  // Not the `clientTtl` of undici: with all connections at that age at once, requests wait in its pool and are never sent.
  const renewal =
    dispatcher || maxConnectionAgeMs === 0
      ? undefined
      : setInterval(() => services.forEach(renewConnections), maxConnectionAgeMs).unref();

  return {
    send: (request, cancellation) =>
      new Promise((resolve, reject) => {
        new HttpAttempts(hosts[request.service]!, request, cancellation, resolve, reject).start();
      }),
    renewCertificates: (service) => {
      const files = filesOf(service);
      if (JSON.stringify(files) === JSON.stringify(tls[service])) return false;
      tls[service] = files;
      renewConnections(service);
      return true;
    },
    state: () => Object.fromEntries(services.map((service) => [service, stateOf(hosts[service]!)])) as never,
    close: async () => {
      clearInterval(renewal);
      await Promise.all([...new Set(Object.values(hosts).map(({ pool }) => pool))].map((pool) => pool.close()));
    },
  };
}

const stateOf = ({ origin, breaker, limiter, deadlines }: HostPool) => ({
  origin,
  isOpen: breaker.isOpen(),
  running: limiter.running(),
  waiting: limiter.waiting(),
  deadlines,
});
