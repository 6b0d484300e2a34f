import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../src/config/settings.ts';
import { coreOf } from '../../src/server/core.ts';
import { allFeatures } from '../../src/server/features/features.ts';
import type { PageFolders } from '../../src/server/features/pages/feature.ts';
import type { Tab } from '../../src/server/graphql/documents/tabs.ts';
import { helpUrlOf } from '../../src/server/http/response/http-error.ts';
import { type Metrics, createMetrics } from '../../src/server/observability/metrics.ts';
import { createGraphServer, openServer as open } from '../../src/server/server.ts';
import type { UpstreamClient } from '../../src/upstream/client.ts';
import { oneValue } from './one-value.ts';

export interface ServerParts extends PageFolders {
  schema: GraphQLSchema;
  upstream: UpstreamClient;
  log: Logger;
  metrics?: Metrics;
  tabs?: readonly Tab[];
}

/** A server with all features over a client of the service that the test has made. */
export function createServer(config: Config, { tabs = [], metrics = createMetrics(), ...parts }: ServerParts) {
  const { schema, upstream, log, ...folders } = parts;
  const core = coreOf(config, { schema, upstream, log, metrics, tabs });
  const features = allFeatures(folders);
  return { ...createGraphServer(core, (made) => [...features(made), oneValue]), core };
}

/** The same with a port. */
export async function openServer(config: Config, parts: ServerParts) {
  const { core, ...server } = createServer({ ...config, helpUrl: helpUrlOf(config) }, parts);
  const facade = await open(core, server);
  /** Closes it after its use: what is idle then need not be waited for, as it must be where a client may send more. */
  const leave = (): Promise<void> => {
    const closed = facade.close();
    server.server.closeIdleConnections();
    return closed;
  };
  return { ...facade, end: server.end, leave };
}
