import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Command, InvalidArgumentError, Option } from 'commander';
import { printSchema } from 'graphql';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { type StartedServers, banner, startLine } from './cli/banner.ts';
import { entries, flagOf, settings } from './config/settings.ts';
import { ConfigError, readConfig } from './config/read.ts';
import type { Config, SettingName } from './config/settings.ts';
import type { Flags } from './config/read.ts';
import { schema } from './graph/schema.ts';
import { createManifest } from './cli/manifest.ts';
import { ManifestError } from './config/trusted-documents.ts';
import type { ManifestOptions } from './cli/manifest.ts';
import { createProgress } from './cli/progress.ts';
import { SqliteMissingError } from './origin/store/sqlite.ts';
import { readPanel, readTabs } from './server/http/graphiql.ts';
import { createMetrics } from './server/observability/metrics.ts';
import { openServer } from './server/server.ts';
import { createTracing } from './server/observability/tracing.ts';
import { observeCalls, logOutages } from './server/observability/watch.ts';
import { createUpstream } from './upstream/client.ts';

// Left to itself, the heap of a machine with much memory grows to several times what is in use before anybody clears it up.
// What NODE_OPTIONS says of it is overridden.
setFlagsFromString('--heap-growing-percent=100');

/** Where the package lies: this file is one step below it, in src as in dist. */
const root = fileURLToPath(new URL('..', import.meta.url));
const demoDir = resolve(root, 'demo');

const ORIGIN_SETTINGS: readonly SettingName[] = [
  'originPort',
  'host',
  'publicUrl',
  'dataDir',
  'demoTokens',
  'logLevel',
];

const HELP_WIDTH = 100;

/** What is told to people in place of a stack. */
class StartError extends Error {}

interface Closable {
  close(): Promise<void>;
}

const version = (JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }).version;

const program = new Command('catalog-graphql')
  .description('One GraphQL graph over a catalog and community service, with that service next door.')
  .version(version)
  .configureOutput({ getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_WIDTH, HELP_WIDTH) })
  .addHelpText('after', '\nEach setting is a flag or a variable of the environment, named last.')
  .allowExcessArguments()
  .action(() => {
    const [name] = program.args;
    if (name === undefined) return run(runFacade);
    const names = program.commands.map((command) => command.name()).join(', ');
    program.error(`error: unknown command '${name}'\n(The commands are ${names}.)`);
  });

program
  .command('origin')
  .description('the origin alone')
  .action(() => run(runOrigin));

program
  .command('seed')
  .description('add invented books to the data of the origin, in any number, for measuring')
  .requiredOption('--books <number>', 'how many', wholeNumber)
  .option(`${flagOf('dataDir')} <value>`, `${settings.dataDir.description} (${settings.dataDir.env})`)
  .action(({ books }: { books: number }) => run((config) => runSeed(config, books)));

program
  .command('schema')
  .description('print the schema')
  .action(() => {
    process.stdout.write(`${printSchema(schema)}\n`);
  });

program
  .command('manifest')
  .description('print the manifest of the operations in files and folders, for PERSISTED_OPERATIONS')
  .argument('<paths...>', 'GraphQL files, and folders of them')
  .addOption(
    new Option('--format <format>', 'hash and text of each, or the list that tools of Apollo read')
      .choices(['hashes', 'apollo'])
      .default('hashes'),
  )
  .option('--typename', 'with __typename in every selection, as Apollo Client sends them', false)
  .action((paths: string[], options: ManifestOptions) => {
    try {
      process.stdout.write(`${createManifest(paths, schema, options)}\n`);
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  });

for (const command of [program, ...program.commands.filter((each) => each.name() === 'origin')]) {
  for (const [name, { description, must, env, byDefault, shown }] of entries()) {
    if (command !== program && !ORIGIN_SETTINGS.includes(name)) continue;
    const text = `${description} (${must}; default: ${shown ?? String(byDefault(false))}) ${env}`;
    command.addOption(new Option(`${flagOf(name)} <value>`, text));
  }
}
// `origin --data-dir x` is the origin's, not the facade's of the same name.
program.enablePositionalOptions();

// `catalog-graphql schema | head`: who stops reading has read enough.
process.stdout.on('error', () => undefined);

await program.parseAsync();

async function run(start: (config: Config, log: Logger, opened: Closable[]) => Promise<string>): Promise<void> {
  const opened: Closable[] = [];
  try {
    const config = readConfig(undefined, flags());
    const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: false }));
    const told = await start(config, log, opened);
    closeOnSignal(opened, log);
    watchFaults(log);
    process.stdout.write(told);
  } catch (error) {
    await closeAll(opened);
    const message = messageFor(error);
    if (message === undefined) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  }
}

/** What a start that failed says to people; undefined where only a stack would help. */
function messageFor(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof StartError || error instanceof SqliteMissingError)
    return error.message;
  const { cause = error } = error as Error;
  const { code, errcode, message } = cause as NodeJS.ErrnoException & { errcode?: number };
  // A damaged file, a full disk, a database that another user made.
  if (code === 'ERR_SQLITE_ERROR') return `The database in DATA_DIR cannot be used: ${message} (SQLite ${errcode}).`;
  return undefined;
}

async function runFacade(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  let settled = config;
  const started: StartedServers = {};
  if (config.ownOrigin) {
    // Whatever HOST is: the service next door is for this house alone.
    const origin = await startOrigin(config, '127.0.0.1', log, opened);
    settled = Object.freeze({ ...config, baseUrl: origin.url, eventBaseUrl: origin.url });
    started.origin = origin;
  }
  const metrics = createMetrics();
  metrics.collectProcessMetrics();
  const tracing = createTracing(config, log);
  await tracing.loading;
  opened.unshift(tracing);
  const upstream = createUpstream(
    { ...settled, baseUrl: settled.baseUrl!, eventBaseUrl: settled.eventBaseUrl! },
    { observe: observeCalls(metrics), onOutage: logOutages(log) },
  );
  opened.unshift(upstream);
  const facade = await listening('PORT', config.port, () =>
    openServer(settled, {
      schema,
      upstream,
      log,
      metrics,
      tracing,
      tabs: readTabs(resolve(root, 'operations')),
      panel: readPanel(resolve(root, 'graphiql')),
      packageDir: root,
    }),
  );
  opened.unshift(facade);
  started.graph = facade.url;
  return tell(started, config);
}

async function runOrigin(config: Config, log: Logger, opened: Closable[]): Promise<string> {
  const origin = await startOrigin(config, config.host, log, opened);
  return tell({ origin }, config);
}

function tell(started: StartedServers, config: Config): string {
  return (process.stdout.isTTY ? banner : startLine)(started, config);
}

async function runSeed(config: Config, books: number): Promise<string> {
  const { dataDir } = config;
  refuseUnwritable(dataDir);
  const progress = createProgress(process.stderr);
  const { growCatalog } = await import('./origin/store/seed/synthetic.ts');
  growCatalog({ dataDir, demoDir, books, onProgress: (done) => progress.at(done, books, `${done} of ${books} books`) });
  progress.end();
  return `seeded    ${books} books, the data in ${dataDir}\n`;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 99999999.');
  return Number(text);
}

async function startOrigin(config: Config, host: string, log: Logger, opened: Closable[]) {
  const { dataDir, originPort, publicUrl, demoTokens } = config;
  refuseUnwritable(dataDir);
  const onFault = (error: unknown, request: string) => log.error({ err: error, request }, 'the origin failed');
  const progress = createProgress(process.stderr);
  // A log is told once, when it is done; a person waits, and sees that something happens.
  const onStep = process.stderr.isTTY ? progress.at : undefined;
  // A facade over another service has no use for it, nor for SQLite.
  const { openOrigin } = await import('./origin/server.ts');
  const origin = await listening('ORIGIN_PORT', originPort, () =>
    openOrigin({ dataDir, port: originPort, host, demoDir, demoTokens, publicUrl, onFault, onStep }),
  );
  progress.end();
  opened.push(origin);
  return origin;
}

/** A port that cannot be had is told by the name of its setting. */
async function listening<T>(variable: string, port: number, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { cause = error } = error as Error;
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new StartError(`Port ${port} is in use. Set ${variable} to another.`);
    if (syscall === 'listen' || syscall === 'getaddrinfo') {
      throw new StartError(`Cannot listen on port ${port} (${code}). Check HOST and ${variable}.`);
    }
    throw error;
  }
}

function refuseUnwritable(dataDir: string): void {
  try {
    makeDirectory(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `Cannot write to ${resolve(dataDir)} (${code}). Set DATA_DIR to a directory that can be written.`,
    );
  }
}

/** Node's own `recursive` never ends below a directory that takes none, as /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeDirectory(parent);
  mkdirSync(path);
}

function closeOnSignal(opened: Closable[], log: Logger): void {
  let closing = false;
  const close = () => {
    if (closing) process.exit(1); // asked twice: at once
    closing = true;
    closeAll(opened).then(
      () => {
        log.flush(() => process.exit(0));
      },
      (error: unknown) => {
        log.error({ err: error }, 'closing failed');
        log.flush(() => process.exit(1));
      },
    );
  };
  process.on('SIGTERM', close);
  process.on('SIGINT', close);
}

/**
 * What nobody caught. A rejection has lost its own answer and nothing else: it is logged, and what runs beside it goes on, or one
 * question in an odd corner would end all others with it. After an exception nothing is known to be whole: it ends.
 */
function watchFaults(log: Logger): void {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a rejection that nobody caught'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an exception that nobody caught: ending');
    log.flush(() => process.exit(1));
  });
}

/** The facade first: it may still be asking the origin. */
async function closeAll(opened: Closable[]): Promise<void> {
  for (const each of opened) await each.close();
}

function flags(): Flags {
  const given = Object.assign({}, program.opts(), ...program.commands.map((command) => command.opts())) as object;
  return Object.fromEntries(Object.entries(given).filter(([name]) => name in settings));
}
