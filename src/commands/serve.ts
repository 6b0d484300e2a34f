/** Starts the facade, with an origin of its own unless the settings name a service. */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Closable, openPort } from '../cli/process.ts';
import { type Flags, withService } from '../config/read.ts';
import type { Config } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { UserError } from '../lib/user-error.ts';
import { packageDir } from '../package.ts';
import type { Facade, GraphServer } from '../server/server.ts';
import { startMessage, startOrigin } from './origin.ts';
import { serve } from './run.ts';

export const serveFacade = (flags: Flags): Promise<void> => serve(flags, startFacade);

async function startFacade(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  withService(config);
  for (const warning of startWarnings(config, 'facade')) log.warn(warning);
  // Only the facade calls its own origin, so HOST does not apply.
  const origin = config.ownOrigin ? await startOrigin(config, '127.0.0.1', log, opened) : undefined;
  const upstream = withOrigin(config, origin?.url);
  const facade = await openFacade(upstream, log, opened);
  return startMessage({ facade, ...(origin && { origin }) }, upstream, log);
}

async function openFacade(config: Config, log: Logger, opened: Closable[]): Promise<Facade> {
  const { createGraphServer, openServer } = await import('../server/server.ts');
  const { createCore } = await import('../server/core.ts');
  const { allFeatures } = await import('../server/features/features.ts');
  const core = createCore(config, log);
  let server: GraphServer | undefined;
  opened.unshift({ close: () => core.close().then(() => server?.end()) });
  core.metrics.collectProcessMetrics();
  const [welcome, docs] = [resolve(packageDir, 'welcome'), resolve(packageDir, 'dist/docs')];
  const features = allFeatures({ graphiql: resolve(packageDir, 'dist/graphiql'), welcome, docs });
  const opening = (server = createGraphServer(core, features));
  const problem = await opening.checkRedis();
  if (problem !== undefined) throw new UserError(problem);
  const warning = await core.keysWarning();
  if (warning !== undefined) log.warn(warning);
  const facade = await openPort('PORT', config.port, () => openServer(core, opening));
  opened.unshift(facade);
  return facade;
}

function withOrigin(config: Config, url: string | undefined): Config {
  return url === undefined ? config : Object.freeze({ ...config, baseUrl: url, eventBaseUrl: url });
}
