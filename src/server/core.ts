/** What a server and its features are made from: the settings, the schema, the client of the service, the log and the metrics. */
import { join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { catalogService } from '../graph/service/descriptor.ts';
import type { Config } from '../config/settings.ts';
import { schema } from '../graph/schema.ts';
import { packageDir } from '../package.ts';
import { type UpstreamClient, type UpstreamParts, createUpstream } from '../upstream/client.ts';
import type { TransportSettings } from '../upstream/http/pool.ts';
import type { HeadersTo } from '../upstream/http/request.ts';
import { type Tab, readTabs } from './graphql/documents/tabs.ts';
import { type Trusted, createTrusted, operationNames } from './graphql/documents/trusted.ts';
import { helpUrlOf } from './http/response/http-error.ts';
import { type Metrics, createMetrics } from './observability/metrics.ts';
import { logOutages, logOwnRefused, observeCalls, observeInterface, logPauses } from './observability/watch.ts';
import { followSecrets } from './secrets.ts';

export interface CoreParts {
  readonly schema: GraphQLSchema;
  readonly upstream: UpstreamClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The pages GraphiQL opens with. */
  readonly tabs: readonly Tab[];
}

export interface Core extends CoreParts {
  readonly config: Config;
  readonly trusted: Trusted;
  /** Whether an operation is of a page of GraphiQL or of the trusted documents: then it may be counted by its name. */
  readonly isKnownName: (name: string) => boolean;
}

/** What an embedding program adds. */
export interface AddedParts {
  /** The schema with its types and fields. */
  readonly schema?: GraphQLSchema | undefined;
  /** The client with other services beside the catalog. */
  readonly join?:
    ((catalog: UpstreamClient, settings: TransportSettings, parts: UpstreamParts) => UpstreamClient) | undefined;
  /** More headers for the calls of a service. */
  readonly headersTo?: HeadersTo | undefined;
}

export function coreOf(config: Config, parts: CoreParts): Core {
  const trusted = createTrusted(config.trustedDocuments);
  const ofPages = operationNames(parts.tabs.map(({ query }) => query));
  return { ...parts, config, trusted, isKnownName: (name) => ofPages.has(name) || trusted.hasName(name) };
}

/**
 * What the command and an embedding program make a server of. The addresses of the upstream must be set; the port is 0 if there is none.
 */
export function createCore(given: Config, log: Logger, added: AddedParts = {}) {
  const config = { ...given, helpUrl: helpUrlOf(given) };
  const metrics = createMetrics();
  const settings = { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! };
  const parts: UpstreamParts = {
    headersTo: added.headersTo,
    observe: observeCalls(metrics, log),
    inspect: observeInterface(metrics, log),
    onOutage: logOutages(log),
    onOwnRefused: logOwnRefused(log),
    onPause: logPauses(log),
    onLostInvalidations: (count) =>
      log.error({ count }, 'invalidations were not written to Redis: replicas may serve old records'),
  };
  const ofCatalog = createUpstream(catalogService, settings, parts);
  const upstream = added.join?.(ofCatalog, settings, parts) ?? ofCatalog;
  const secrets = followSecrets(config, upstream, log);
  return {
    ...coreOf(config, {
      schema: added.schema ?? schema,
      upstream,
      log,
      metrics,
      tabs: readTabs(join(packageDir, 'operations')),
    }),
    /** A sentence if idempotency keys are used, and their Redis may forget them. */
    keysWarning: async () => (config.idempotencyTtlSeconds > 0 ? upstream.keysWarning() : undefined),
    close: async (): Promise<void> => {
      secrets.close();
      await upstream.close();
    },
  };
}
