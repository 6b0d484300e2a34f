/** The facade inside another program: `import { createFacade } from 'catalog-graphql'`. */
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { EmbeddedFacade, FacadeOptions } from '../facade.d.ts';
import { readOptions } from './config/read.ts';
import { schema } from './graph/schema.ts';
import { createFetchHandler } from './server/http/fetch.ts';
import { readTabs } from './server/http/graphiql.ts';
import { createMetrics } from './server/observability/metrics.ts';
import { createGraphServer } from './server/server.ts';
import { createTracing } from './server/observability/tracing.ts';
import { observeCalls, logOutages } from './server/observability/watch.ts';
import { createUpstream } from './upstream/client.ts';

export { ConfigError } from './config/read.ts';

/** This file is one level below the directory of the package, in src and in dist. */
const packageDir = fileURLToPath(new URL('..', import.meta.url));
const operations = fileURLToPath(new URL('../operations', import.meta.url));
const graphiql = fileURLToPath(new URL('../dist/graphiql', import.meta.url));

export function createFacade(given: FacadeOptions): EmbeddedFacade {
  const { onLog, ...options } = { ...given }; // called without options, it reports the missing settings
  const config = readOptions(options);
  const write = onLog ?? ((line: string) => void process.stderr.write(line));
  const log = pino({ level: config.logLevel }, { write });
  const metrics = createMetrics();
  const tracing = createTracing(config, log);
  const upstream = createUpstream(
    { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! },
    { observe: observeCalls(metrics, log), onOutage: logOutages(log) },
  );
  const { server, paths } = createGraphServer(config, {
    schema,
    upstream,
    log,
    metrics,
    tracing,
    tabs: readTabs(operations),
    packageDir,
    graphiql,
  });
  const handler = createFetchHandler(server);

  async function end(): Promise<void> {
    await handler.close(config.shutdownMs);
    await upstream.close();
    await tracing.close();
  }

  let ended: Promise<void> | undefined;
  async function fetch(request: Request, from?: { address?: string }): Promise<Response> {
    if (tracing.loading) await tracing.loading;
    return handler.fetch(request, from);
  }

  return { fetch, paths, close: () => (ended ??= end()) };
}
