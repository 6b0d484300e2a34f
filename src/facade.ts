/** The facade inside another program: `import { createFacade } from 'catalog-graphql'`. */
import type { EmbeddedFacade, FacadeOptions } from '../facade.d.ts';
import { readOptions } from './config/read.ts';
import { createLog } from './lib/log.ts';
import { createFetchHandler } from './fetch-handler.ts';
import { createGraphServer, createParts } from './server/server.ts';

export { ConfigError } from './config/read.ts';

export function createFacade(given: FacadeOptions): EmbeddedFacade {
  const { onLog, ...options } = { ...given }; // called without options, it reports the missing settings
  const config = readOptions(options);
  const write = onLog ?? ((line: string) => void process.stderr.write(line));
  const log = createLog(config.logLevel, { write });
  const parts = createParts(config, log);
  const { upstream, tracing, secrets } = parts;
  void parts.checkRedis().then((problem) => problem !== undefined && log.error(problem));
  const { server, paths, closeManifests } = createGraphServer(config, parts);
  const handler = createFetchHandler(server);

  async function end(): Promise<void> {
    await handler.close(config.shutdownMs);
    await secrets.close();
    closeManifests();
    await upstream.close();
    await tracing.close();
  }

  let ended: Promise<void> | undefined;
  async function fetch(request: Request, from?: { address?: string } | null): Promise<Response> {
    if (tracing.loading) await tracing.loading;
    return handler.fetch(request, from);
  }

  return { fetch, paths, close: () => (ended ??= end()) };
}
