/** The facade inside another program: `import { createFacade } from 'catalog-graphql'`. */
import { join } from 'node:path';
import type { EmbeddedFacade, FacadeOptions } from '../facade.d.ts';
import type { Logger } from 'pino';
import { readOptions } from './config/read.ts';
import { createLog } from './lib/log.ts';
import { createFetchHandler } from './fetch-handler.ts';
import { packageDir } from './package.ts';
import { createCore } from './server/core.ts';
import { allFeatures } from './server/features/features.ts';
import { createGraphServer } from './server/server.ts';

export { ConfigError } from './config/read.ts';

export function createFacade(given: FacadeOptions): EmbeddedFacade {
  const { onLog, ...options } = { ...given }; // called without options, it reports the missing settings
  const config = readOptions(options);
  const write = onLog ?? ((line: string) => void process.stderr.write(line));
  const log = createLog(config.logLevel, { write });
  // It opens no port, so only settings can tell where the page of errors is.
  const core = createCore({ ...config, port: 0 }, log);
  const features = allFeatures({ graphiql: join(packageDir, 'dist/graphiql') });
  const { server, paths, checkRedis, loading, closeManifests, end } = createGraphServer(core, features);
  void reportRedis(checkRedis, core.keysWarning, log);
  const handler = createFetchHandler(server);

  async function close(): Promise<void> {
    await handler.close(config.shutdownMs);
    closeManifests();
    await core.close();
    await end();
  }

  let closed: Promise<void> | undefined;
  async function fetch(request: Request, from?: { address?: string } | null): Promise<Response> {
    for (let waiting = loading(); waiting; waiting = loading()) await waiting;
    return handler.fetch(request, from);
  }

  return { fetch, paths, close: () => (closed ??= close()) };
}

/** Logs what is wrong with Redis, once it can be asked. */
async function reportRedis(
  checkRedis: () => Promise<string | undefined>,
  keysWarning: () => Promise<string | undefined>,
  log: Logger,
): Promise<void> {
  const problem = await checkRedis();
  if (problem !== undefined) return log.error(problem);
  const warning = await keysWarning();
  if (warning !== undefined) log.warn(warning);
}
