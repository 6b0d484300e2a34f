/** What the command and an embedding program make a server of. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { schema } from '../graph/schema.ts';
import { createUpstream } from '../upstream/client.ts';
import { readTabs } from './http/graphiql.ts';
import { createMetrics } from './observability/metrics.ts';
import { createTracing } from './observability/tracing.ts';
import { observeCalls, logOutages } from './observability/watch.ts';

/** The addresses of the upstream must be set. */
export function createParts(config: Config, log: Logger, packageDir: string) {
  const metrics = createMetrics();
  const upstream = createUpstream(
    { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! },
    { observe: observeCalls(metrics, log), onOutage: logOutages(log) },
  );
  return {
    schema,
    upstream,
    log,
    metrics,
    tracing: createTracing(config, log),
    tabs: readTabs(join(packageDir, 'operations')),
    graphiql: join(packageDir, 'dist/graphiql'),
    packageDir,
  };
}
