/** What a server and its features are made from: the settings, the schema, the client of the service, the log and the metrics. */
import { join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { catalogService } from '../graph/service/descriptor.ts';
import type { Config } from '../config/settings.ts';
import { schema } from '../graph/schema.ts';
import { packageDir } from '../package.ts';
import { type UpstreamClient, createUpstream } from '../upstream/client.ts';
import { type Tab, readTabs } from './graphql/documents/tabs.ts';
import { type Trusted, createTrusted, operationNames } from './graphql/documents/trusted.ts';
import { helpUrlOf } from './http/response/http-error.ts';
import { type Metrics, createMetrics } from './observability/metrics.ts';
import {
  logForbiddenCaching,
  logOutages,
  observeCalls,
  observeInterface,
  observePauses,
} from './observability/watch.ts';
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

export function coreOf(config: Config, parts: CoreParts): Core {
  const trusted = createTrusted(config.trustedDocuments);
  const ofPages = operationNames(parts.tabs.map(({ query }) => query));
  return { ...parts, config, trusted, isKnownName: (name) => ofPages.has(name) || trusted.hasName(name) };
}

/**
 * What the command and an embedding program make a server of. The addresses of the upstream must be set; the port is 0 if there is none.
 * `extended`: the schema with what the program adds.
 */
export function createCore(given: Config, log: Logger, extended: GraphQLSchema = schema) {
  const config = { ...given, helpUrl: helpUrlOf(given) };
  const metrics = createMetrics();
  const upstream = createUpstream(
    catalogService,
    { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! },
    {
      observe: observeCalls(metrics, log),
      inspect: config.checkResponses ? observeInterface(metrics, log) : undefined,
      onOutage: logOutages(log),
      onPause: observePauses(metrics, log),
      onCachingForbidden: logForbiddenCaching(log),
      onRedisRestored: () => log.debug('redis closed an idle connection, which is restored'),
      onLostInvalidations: (count) =>
        log.error({ count }, 'invalidations were not written to Redis: replicas may serve old records'),
    },
  );
  const secrets = followSecrets(config, upstream, log);
  return {
    ...coreOf(config, { schema: extended, upstream, log, metrics, tabs: readTabs(join(packageDir, 'operations')) }),
    /** A sentence if idempotency keys are used, and their Redis may forget them. */
    keysWarning: async () => (config.idempotencyTtlSeconds > 0 ? upstream.keysWarning() : undefined),
    close: async (): Promise<void> => {
      await secrets.close();
      await upstream.close();
    },
  };
}
