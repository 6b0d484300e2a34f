/** The command `origin`: the service alone. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { type BannerSettings, type StartedServers, banner, logStart } from '../cli/banner.ts';
import { type Closable, openPort } from '../cli/process.ts';
import { checkWritable } from '../origin/store/data-directory.ts';
import type { Flags } from '../config/read.ts';
import type { Config, SettingName } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { createLog } from '../lib/log.ts';
import { packageDir, version } from '../package.ts';
import { serve } from './run.ts';

export const ORIGIN_SETTINGS: readonly SettingName[] = [
  'originPort',
  'host',
  'publicUrl',
  'dataDir',
  'demo',
  'logLevel',
];

export const demoDir = resolve(packageDir, 'demo');

export function addOriginCommand(program: Command, flags: () => Flags): void {
  program
    .command('origin')
    .description('start the origin only')
    .action(() => serve(flags(), startAlone));
}

async function startAlone(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  for (const warning of startWarnings(config, 'origin')) log.warn(warning);
  const origin = await startOrigin(config, config.host, log, opened);
  return startMessage({ origin }, config, log);
}

/** A line of the log. On stdout are the addresses for a person at a terminal, and the same line for a program that let the system choose a port. */
export function startMessage(
  started: Omit<StartedServers, 'version'>,
  config: BannerSettings & Pick<Config, 'port' | 'originPort'>,
  log: Logger,
): string {
  const servers = { version, ...started };
  const { isTTY } = process.stdout;
  if (!isTTY || !process.stderr.isTTY) logStart(servers, config, log);
  if (isTTY) return banner(servers, config);
  const isChosen = (started.facade && config.port === 0) || (started.origin && config.originPort === 0);
  let line = '';
  if (isChosen) logStart(servers, config, createLog('info', { write: (text: string) => void (line = text) }));
  return line;
}

export async function startOrigin(config: Config, host: string, log: Logger, opened: Closable[]) {
  const { dataDir, originPort, publicUrl, demo } = config;
  checkWritable(dataDir);
  const onError = (error: unknown, request: string) => log.error({ err: error, request }, 'the origin failed');
  // A facade over another service needs neither the origin nor SQLite.
  const { openOrigin } = await import('../origin/server.ts');
  const origin = await openPort('ORIGIN_PORT', originPort, () =>
    openOrigin({ dataDir, port: originPort, host, demoDir, demoTokens: demo, publicUrl, onError }),
  );
  opened.push(origin);
  return origin;
}
