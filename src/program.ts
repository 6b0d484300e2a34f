import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { type Logger, destination } from 'pino';
import { NOT_SHARED, type StartedFacade, type StartedServers, banner, startLine } from './cli/banner.ts';
import { wholeNumber } from './cli/arguments.ts';
import { CHECK_SETTINGS, CHECK_USAGE, addCheckCommand } from './check/cli.ts';
import type { ManifestOptions } from './cli/manifest.ts';
import {
  type Closable,
  StartError,
  checkWritable,
  closeAll,
  closeOnSignal,
  endProcess,
  logUnhandledErrors,
  openPort,
} from './cli/process.ts';
import { watchOutput, writeDocument } from './cli/output.ts';
import { createProgress } from './cli/progress.ts';
import { addSettingFlags } from './cli/setting-flags.ts';
import { addSettingsCommand } from './cli/settings.ts';
import { addDoctorCommand } from './doctor/cli.ts';
import { ConfigError, type Flags, misspelledSettings, readConfig } from './config/read.ts';
import { type Config, type SettingName, entries, flagOf, settings } from './config/settings.ts';
import { startWarnings } from './config/start-warnings.ts';
import { ManifestError } from './config/trusted-documents.ts';
import { createLog } from './lib/log.ts';
import { printable } from './lib/text/printable.ts';
import { NewerDatabaseError, SqliteMissingError } from './origin/store/database/sqlite.ts';
import { packageDir, version } from './package.ts';
import { addUsageCommand } from './server/usage/cli.ts';
import type { Fleet } from './workers/worker.ts';

const demoDir = resolve(packageDir, 'demo');

const ORIGIN_SETTINGS: readonly SettingName[] = [
  'originPort',
  'host',
  'publicUrl',
  'dataDir',
  'demoTokens',
  'logLevel',
];
const HELP_WIDTH = 100;

const EXPECTED_ERRORS = [ConfigError, ManifestError, StartError, SqliteMissingError, NewerDatabaseError];

const program = new Command('catalog-graphql')
  .description('A GraphQL API over a catalog and community service, and that service itself, the origin.')
  .version(version)
  .configureOutput({ getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_WIDTH, HELP_WIDTH) })
  .addHelpText('after', '\nEach setting is a flag or an environment variable, which is named last.')
  .helpCommand('help [command]', 'show the help of a command')
  .allowExcessArguments()
  .action(() => {
    const [name] = program.args;
    if (name === undefined) return serve(runFacade);
    const names = [...program.commands.map((command) => command.name()), 'help'].join(', ');
    program.error(`error: unknown command '${name}'\n(The commands are ${names}.)`);
  });

program
  .command('origin')
  .description('start the origin only')
  .action(() => serve(runOrigin));

program
  .command('seed')
  .description('add generated books to the data of the origin, for measurements')
  .requiredOption('--books <number>', 'number of books', wholeNumber)
  .option(`${flagOf('dataDir')} <value>`, `${settings.dataDir.description} (${settings.dataDir.env})`)
  .action(({ books }: { books: number }) => run((config) => runSeed(config, books)));

program
  .command('backup')
  .description('copy the data of the origin, which may be running, to a new folder')
  .argument('<folder>', 'the folder; an origin can be started with it as its data folder')
  .option(`${flagOf('dataDir')} <value>`, `${settings.dataDir.description} (${settings.dataDir.env})`)
  .action((folder: string) => run((config) => runBackup(config, folder)));

program
  .command('schema')
  .description('print the schema')
  .action(async () => {
    const { printMarkedSchema } = await import('./engine/null-conditions.ts');
    writeDocument(`${printMarkedSchema(await loadSchema())}\n`);
  });

addSettingsCommand(program);

program
  .command('manifest')
  .description('print a manifest of the operations in files and folders, for PERSISTED_OPERATIONS')
  .argument('<paths...>', 'GraphQL files, folders or patterns of them, or - for the standard input')
  .addOption(
    new Option('--format <format>', 'hashes and texts, or the format of Apollo')
      .choices(['hashes', 'apollo'])
      .default('hashes'),
  )
  .option('--typename', 'add __typename to every selection, as Apollo Client does', false)
  .action(async (paths: string[], options: ManifestOptions) => {
    try {
      const { createManifest } = await import('./cli/manifest.ts');
      writeDocument(`${createManifest(paths, await loadSchema(), options)}\n`);
    } catch (error) {
      fail(error);
    }
  });

addCheckCommand(program, () => flags());
addDoctorCommand(program, flags, async (config) => {
  const { manifestProblems } = await import('./engine/documents/check-manifest.ts');
  return manifestProblems(await loadSchema(), config);
});
addUsageCommand(program);

const everySetting = entries().map(([name]) => name);
const settingsOf: Record<string, readonly SettingName[]> = {
  origin: ORIGIN_SETTINGS,
  check: CHECK_SETTINGS,
  doctor: everySetting,
};
addSettingFlags(program, everySetting);
for (const command of program.commands) addSettingFlags(command, settingsOf[command.name()] ?? []);
// `origin --data-dir x` sets the option of the command `origin`, not the option of the program.
program.enablePositionalOptions();

watchOutput(() => (program.args[0] === 'check' ? CHECK_USAGE : 1));

await program.parseAsync();

/** Loaded on demand, as is the server: it takes half of the time of a start, and most commands do without. */
async function loadSchema() {
  return (await import('./graph/schema.ts')).schema;
}

type Start = (config: Config, log: Logger, opened: Closable[]) => Promise<string>;

/** Runs what serves until a signal stops it, also one that comes while it starts. */
function serve(start: Start): Promise<void> {
  return run(async (config, log, opened) => {
    const stopping = closeOnSignal(opened, log);
    try {
      const output = await start(config, log, opened);
      return stopping.aborted ? '' : output;
    } catch (error) {
      if (stopping.aborted) return ''; // it could not use what the stop has closed
      throw error;
    }
  });
}

async function run(start: Start): Promise<void> {
  const opened: Closable[] = [];
  try {
    const config = readConfig(undefined, flags());
    // Without a `minLength` a flush waits for nothing, and the lines of the end may be lost or out of order.
    const log = createLog(config.logLevel, destination({ dest: 2, sync: false, minLength: 1 }));
    if (config.workers > 1 && (await import('node:cluster')).default.isWorker)
      return await runWorker(config, log, opened);
    for (const { given, meant } of misspelledSettings())
      log.warn({ variable: given }, `${given} is not a setting and has no effect. Did you mean ${meant}?`);
    const output = await start(config, log, opened);
    logUnhandledErrors(log);
    process.stdout.write(output);
  } catch (error) {
    await closeAll(opened);
    fail(error);
  }
}

/** Ends the command with the message of an expected error; any other is thrown, because its stack is needed. */
function fail(error: unknown): void {
  const message = messageFor(error);
  if (message === undefined) throw error;
  process.stderr.write(`${printable(message)}\n`);
  process.exitCode = 1;
}

function messageFor(error: unknown): string | undefined {
  if (EXPECTED_ERRORS.some((each) => error instanceof each)) return (error as Error).message;
  const { cause = error } = error as Error;
  const { code, errcode, message } = cause as NodeJS.ErrnoException & { errcode?: number };
  // A damaged file, a full disk, or a database of another user.
  if (code === 'ERR_SQLITE_ERROR') return `The database in DATA_DIR cannot be used: ${message} (SQLite ${errcode}).`;
  return undefined;
}

async function runFacade(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  for (const warning of startWarnings(config, 'facade')) log.warn(warning);
  // Only the facade calls its own origin, so HOST does not apply.
  const origin = config.ownOrigin ? await startOrigin(config, '127.0.0.1', log, opened) : undefined;
  const upstream = ofOrigin(config, origin?.url);
  const facade = await (upstream.workers > 1 ? startFleet : openFacade)(upstream, log, opened);
  return startMessage({ version, facade, ...(origin && { origin }) }, upstream);
}

function hasManifest({ persistedOperations, mcpOperations }: Config): boolean {
  return persistedOperations !== undefined || mcpOperations !== undefined;
}

async function startFleet(config: Config, log: Logger, opened: Closable[]): Promise<StartedFacade> {
  const { startWorkers } = await import('./workers/primary.ts');
  const workers = await startWorkers(config, log);
  opened.unshift(workers);
  if (hasManifest(config)) process.on('SIGHUP', () => workers.signal('SIGHUP'));
  if (!config.redisUrl) log.warn({ workers: config.workers }, NOT_SHARED);
  return workers;
}

/** The primary process decides when a worker stops, and reports its errors at the start. */
async function runWorker(config: Config, log: Logger, opened: Closable[]): Promise<void> {
  const { joinFleet } = await import('./workers/worker.ts');
  const fleet = joinFleet(() => endProcess(opened, log));
  logUnhandledErrors(log);
  try {
    const { port, originUrl } = await fleet.assignment();
    await fleet.listening(await openFacade(ofOrigin({ ...config, port }, originUrl), log, opened, fleet));
  } catch (error) {
    const message = messageFor(error);
    if (message === undefined) throw error;
    await fleet.failed(message);
    process.exit(1);
  }
}

async function openFacade(config: Config, log: Logger, opened: Closable[], fleet?: Fleet) {
  const { createParts, openServer } = await import('./server/server.ts');
  const parts = createParts(config, log);
  opened.unshift(parts.secrets, parts.upstream, parts.tracing);
  parts.metrics.collectProcessMetrics();
  const problem = await parts.checkRedis();
  if (problem !== undefined) throw new StartError(problem);
  const warning = await parts.keysWarning();
  if (warning !== undefined) log.warn(warning);
  await parts.tracing.loading;
  const pages = { welcome: resolve(packageDir, 'welcome'), docs: resolve(packageDir, 'dist/docs') };
  const ofFleet = fleet?.wholeParts(parts);
  const facade = await openPort('PORT', config.port, () => openServer(config, { ...parts, ...ofFleet, ...pages }));
  opened.unshift(facade);
  // Without a manifest the signal does what it does by default: it ends the process when its terminal is closed.
  if (hasManifest(config)) process.on('SIGHUP', () => void facade.reload());
  return { url: facade.url, upstreams: await facade.checkUpstreams(), trouble: () => facade.trouble() };
}

function ofOrigin(config: Config, url: string | undefined): Config {
  return url === undefined ? config : Object.freeze({ ...config, baseUrl: url, eventBaseUrl: url });
}

async function runOrigin(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  for (const warning of startWarnings(config, 'origin')) log.warn(warning);
  const origin = await startOrigin(config, config.host, log, opened);
  return startMessage({ version, origin }, config);
}

function startMessage(started: StartedServers, config: Config): string {
  return (process.stdout.isTTY ? banner : startLine)(started, config);
}

async function runSeed(config: Config, books: number): Promise<string> {
  const { dataDir } = config;
  checkWritable(dataDir);
  const progress = createProgress(process.stderr);
  const { growCatalog } = await import('./origin/store/seed/synthetic.ts');
  growCatalog({ dataDir, demoDir, books, onProgress: (done) => progress.at(done, books, `${done} of ${books} books`) });
  progress.end();
  return `seeded    ${books} books, the data in ${dataDir}\n`;
}

async function runBackup({ dataDir }: Config, folder: string): Promise<string> {
  const { BackupError, backUp } = await import('./origin/store/database/backup.ts');
  try {
    const pictures = backUp(dataDir, folder);
    return `backup    the database and ${pictures} ${pictures === 1 ? 'picture' : 'pictures'} of ${dataDir}, in ${folder}\n`;
  } catch (error) {
    throw error instanceof BackupError ? new StartError(error.message) : error;
  }
}

async function startOrigin(config: Config, host: string, log: Logger, opened: Closable[]) {
  const { dataDir, originPort, publicUrl, demoTokens } = config;
  checkWritable(dataDir);
  const onError = (error: unknown, request: string) => log.error({ err: error, request }, 'the origin failed');
  const progress = createProgress(process.stderr);
  // Progress is for a person at a terminal; a log gets the result only.
  const onStep = process.stderr.isTTY ? progress.at : undefined;
  // A facade over another service needs neither the origin nor SQLite.
  const { openOrigin } = await import('./origin/server.ts');
  const origin = await openPort('ORIGIN_PORT', originPort, () =>
    openOrigin({ dataDir, port: originPort, host, demoDir, demoTokens, publicUrl, onError, onStep }),
  );
  progress.end();
  opened.push(origin);
  return origin;
}

function flags(): Flags {
  const given = Object.assign({}, program.opts(), ...program.commands.map((command) => command.opts())) as object;
  return Object.fromEntries(Object.entries(given).filter(([name]) => name in settings));
}
