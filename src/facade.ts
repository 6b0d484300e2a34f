/** The facade inside another program: `import { createFacade } from 'catalog-graphql'`. */
import type { EmbeddedFacade, FacadeOptions } from '../facade.d.ts';
import type { Logger } from 'pino';
import { readOptions } from './config/read.ts';
import { createLog } from './lib/log.ts';
import { createFetchHandler } from './fetch-handler.ts';
import { helpUrlOf } from './server/http/response/http-error.ts';
import { createGraphServer, createParts } from './server/server.ts';

export { ConfigError } from './config/read.ts';

export function createFacade(given: FacadeOptions): EmbeddedFacade {
  const { onLog, ...options } = { ...given }; // called without options, it reports the missing settings
  const config = readOptions(options);
  const write = onLog ?? ((line: string) => void process.stderr.write(line));
  const log = createLog(config.logLevel, { write });
  const parts = createParts(config, log);
  const { upstream, tracing, secrets } = parts;
  void reportRedis(parts, log);
  // It opens no port, so only settings can tell where the page of errors is.
  const helpUrl = helpUrlOf({ ...config, port: 0 });
  const { server, paths, closeManifests } = createGraphServer({ ...config, helpUrl }, parts);
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

/** Logs what is wrong with Redis, once it can be asked. */
async function reportRedis(
  { checkRedis, keysWarning }: Pick<ReturnType<typeof createParts>, 'checkRedis' | 'keysWarning'>,
  log: Logger,
): Promise<void> {
  const problem = await checkRedis();
  if (problem !== undefined) return log.error(problem);
  const warning = await keysWarning();
  if (warning !== undefined) log.warn(warning);
}
