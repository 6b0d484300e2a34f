/** Starts the facade, with an origin of its own unless the settings name a service. */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { NOT_SHARED, type StartedFacade } from '../cli/banner.ts';
import { type Closable, endProcess, logUnhandledErrors, openPort } from '../cli/process.ts';
import type { Flags } from '../config/read.ts';
import type { Config } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { UserError } from '../lib/user-error.ts';
import { packageDir } from '../package.ts';
import type { GraphServer } from '../server/server.ts';
import type { FleetMember } from '../workers/worker.ts';
import { startMessage, startOrigin } from './origin.ts';
import { messageFor, serve } from './run.ts';

export const serveFacade = (flags: Flags): Promise<void> => serve(flags, startFacade, startWorker);

async function startFacade(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  for (const warning of startWarnings(config, 'facade')) log.warn(warning);
  // Only the facade calls its own origin, so HOST does not apply.
  const origin = config.ownOrigin ? await startOrigin(config, '127.0.0.1', log, opened) : undefined;
  const upstream = withOrigin(config, origin?.url);
  const facade = await (upstream.workers > 1 ? startFleet : openFacade)(upstream, log, opened);
  return startMessage({ facade, ...(origin && { origin }) }, upstream);
}

function hasManifest({ persistedOperations, mcpOperations }: Config): boolean {
  return persistedOperations !== undefined || mcpOperations !== undefined;
}

async function startFleet(config: Config, log: Logger, opened: Closable[]): Promise<StartedFacade> {
  const { startWorkers } = await import('../workers/primary.ts');
  const workers = await startWorkers(config, log);
  opened.unshift(workers);
  if (hasManifest(config)) process.on('SIGHUP', () => workers.signal('SIGHUP'));
  if (!config.redisUrl) log.warn({ workers: config.workers }, NOT_SHARED);
  return workers;
}

/** The primary process decides when a worker stops, and reports its errors at the start. */
async function startWorker(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  const { joinFleet } = await import('../workers/worker.ts');
  const fleet = joinFleet(() => endProcess(opened, log));
  logUnhandledErrors(log);
  try {
    const { port, originUrl } = await fleet.assignment();
    await fleet.listening(await openFacade(withOrigin({ ...config, port }, originUrl), log, opened, fleet));
  } catch (error) {
    const message = messageFor(error);
    if (message === undefined) throw error;
    await fleet.failed(message);
    process.exit(1);
  }
  return '';
}

async function openFacade(config: Config, log: Logger, opened: Closable[], fleet?: FleetMember) {
  const { createGraphServer, openServer } = await import('../server/server.ts');
  const { createCore } = await import('../server/core.ts');
  const { allFeatures } = await import('../server/features/features.ts');
  const core = createCore(config, log);
  let server: GraphServer | undefined;
  opened.unshift({ close: () => core.close().then(() => server?.end()) });
  core.metrics.collectProcessMetrics();
  const [welcome, docs] = [resolve(packageDir, 'welcome'), resolve(packageDir, 'dist/docs')];
  const features = allFeatures({ graphiql: resolve(packageDir, 'dist/graphiql'), welcome, docs }, fleet);
  const opening = (server = createGraphServer(core, features, fleet?.othersAcceptWork));
  const problem = await opening.checkRedis();
  if (problem !== undefined) throw new UserError(problem);
  const warning = await core.keysWarning();
  if (warning !== undefined) log.warn(warning);
  const facade = await openPort('PORT', config.port, () => openServer(core, opening));
  opened.unshift(facade);
  // Without a manifest the signal does what it does by default: it ends the process when its terminal is closed.
  if (hasManifest(config)) process.on('SIGHUP', () => void facade.reload());
  return { url: facade.url, upstreams: await facade.checkUpstreams(), trouble: () => facade.trouble() };
}

function withOrigin(config: Config, url: string | undefined): Config {
  return url === undefined ? config : Object.freeze({ ...config, baseUrl: url, eventBaseUrl: url });
}
