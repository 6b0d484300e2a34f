/**
 * The client of the catalog with those of other services beside it. Each has connections, limits, a circuit breaker, a cache and a Redis
 * namespace of its own; an operation counts, logs and explains the calls of all together. What belongs to the catalog alone, such as writes
 * and tokens, stays that of the catalog.
 */
import type { Endpoint, ServiceName } from '../api/endpoint.ts';
import { type ServiceDescriptor, type TierPolicy, isOfCatalog } from '../api/service-descriptor.ts';
import { noTiers } from '../upstream/auth/tiers.ts';
import { type UpstreamClient, type UpstreamParts, createUpstream } from '../upstream/client.ts';
import { type TransportSettings, createTransport } from '../upstream/http/pool.ts';
import type { RecordLoader } from '../upstream/loading/record-loader.ts';
import type { ResponseLoader } from '../upstream/loading/response-loader.ts';
import { serviceName } from '../upstream/redis/keys.ts';
import type { UpstreamSession } from '../upstream/upstream-session.ts';
import { inputProblem } from './path-values.ts';
import type { AddedService } from './service.ts';

interface Beside {
  service: AddedService;
  client: UpstreamClient;
}

export function joinServices(
  catalog: UpstreamClient,
  services: readonly AddedService[],
  settings: TransportSettings,
  parts: UpstreamParts,
): UpstreamClient {
  const beside: readonly Beside[] = services.map((service) => ({
    service,
    client: clientOf(service, settings, parts),
  }));
  const clients = [catalog, ...beside.map(({ client }) => client)];
  return {
    ...catalog,
    forOperation(sender, cancellation) {
      const session = catalog.forOperation(sender, cancellation);
      const openOne = (name: ServiceName): UpstreamSession => {
        const { service, client } = beside.find((each) => each.service.name === name)!;
        // The token of a caller is for the catalog, unless the service is declared to get it.
        const authorization = service.token === 'caller' ? sender.authorization : undefined;
        return client.forOperation({ ...sender, authorization, writes: undefined }, cancellation, session);
      };
      return joined(session, openOne);
    },
    state: () => Object.assign({}, ...clients.map((client) => client.state())) as ReturnType<UpstreamClient['state']>,
    isOwnRefused: (service) => clients.some((client) => client.isOwnRefused(service)),
    sharedReads: () => clients.reduce((sum, client) => sum + client.sharedReads(), 0),
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** Its tokens all get the same; with a limit, each has it. */
const withLimit: TierPolicy = { ...noTiers, possible: () => ['basic'] };

function clientOf(service: AddedService, settings: TransportSettings, parts: UpstreamParts): UpstreamClient {
  const { name, baseUrl, errors, token, callsAMinute, concurrency } = service;
  const descriptor: ServiceDescriptor = {
    endpoints: Object.values<Endpoint>(service.endpoints),
    errors,
    ...(callsAMinute !== undefined && { tiers: withLimit }),
    basicCallsAMinute: callsAMinute ?? Infinity,
    seesNoCaller: token !== 'caller',
  };
  const own: TransportSettings = {
    ...settings,
    ...{ baseUrl, eventBaseUrl: baseUrl, filmTier: undefined, idempotencyRedisUrl: undefined },
    accessToken: typeof token === 'object' ? token.own : undefined,
    ...(concurrency !== undefined && { maxConnections: concurrency }),
  };
  return createUpstream(descriptor, own, {
    ...parts,
    inspect: undefined,
    transport: createTransport(own, undefined, parts.onOutage, { [name]: baseUrl }),
    // A service at the address of the catalog is another one.
    namespace: `${serviceName(baseUrl)} ${name}`,
    keepsCallersApart: true,
  });
}

/** A session that reads each endpoint from its own service. The others are opened when something of them is read. */
function joined(catalog: UpstreamSession, openOne: (name: ServiceName) => UpstreamSession): UpstreamSession {
  const opened = new Map<ServiceName, UpstreamSession>();
  const sessionOf = (endpoint: Endpoint): UpstreamSession => {
    const { service } = endpoint;
    if (isOfCatalog(service)) return catalog;
    let session = opened.get(service);
    if (!session) opened.set(service, (session = openOne(service)));
    return session;
  };
  const records: Pick<RecordLoader, keyof RecordLoader> = {
    load: (kind, source, key, ...rest) => {
      const problem = inputProblem(source.endpoint, source.input(key));
      if (problem) return Promise.reject(problem);
      return sessionOf(source.endpoint).records.load(kind, source, key, ...rest);
    },
    absenceOf: (kind, source, key) => sessionOf(source.endpoint).records.absenceOf(kind, source, key),
    addEvidence: (kind, source, ...rest) => sessionOf(source.endpoint).records.addEvidence(kind, source, ...rest),
    isAbsent: (kind, source, key) => sessionOf(source.endpoint).records.isAbsent(kind, source, key),
    provide: (kind, source, ...rest) => sessionOf(source.endpoint).records.provide(kind, source, ...rest),
    wouldRequest: (kind, source, ...rest) => sessionOf(source.endpoint).records.wouldRequest(kind, source, ...rest),
    clear: () => [catalog, ...opened.values()].forEach((each) => each.records.clear()),
  };
  const responses: Pick<ResponseLoader, keyof ResponseLoader> = {
    load: (endpoint, input, ...rest) => {
      const problem = inputProblem(endpoint, input);
      if (problem) return Promise.reject(problem);
      return sessionOf(endpoint).responses.load(endpoint, input, ...rest);
    },
    wouldSend: async (endpoint, input, ...rest) =>
      inputProblem(endpoint, input) ? null : sessionOf(endpoint).responses.wouldSend(endpoint, input, ...rest),
    clear: () => [catalog, ...opened.values()].forEach((each) => each.responses.clear()),
  };
  return Object.create(catalog, { records: { value: records }, responses: { value: responses } }) as UpstreamSession;
}
