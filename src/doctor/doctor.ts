/** The command `doctor`: whether the set-up is right: settings, Redis, the service, the token and caching. */
import { ConfigError, withService } from '../config/read.ts';
import { type Config, entries } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { checkMemory } from './check-machine.ts';
import { checkKeyRedis, checkRedisState } from './check-redis-state.ts';
import { checkCaching } from './check-caching.ts';
import { checkReachable, checkScopes, checkToken } from './check-service.ts';
import { type Diagnosis, failed, ok, warning } from './diagnosis.ts';
import { readSamples } from './sample-reads.ts';
import { createServiceReader } from '../inspect/service-reader.ts';

export interface DoctorParts {
  /** Reads the settings; throws a ConfigError. */
  readSettings: () => Config;
  /** What keeps the server from its start although every setting can be read. */
  startProblems: (config: Addressed) => Promise<readonly string[]>;
  /** Sentences on what is given and has no effect. */
  withoutEffect: readonly string[];
  /** What is wrong with documents of the manifest. */
  manifestProblems: (config: Config) => Promise<readonly string[]>;
}

const CORRECT = 'Correct it: the facade does not start like this';

/** Everything that is checked, in the order of what depends on what. */
export async function diagnose({ readSettings, startProblems, ...parts }: DoctorParts): Promise<Diagnosis[]> {
  let config: Config;
  try {
    config = withService(readSettings());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => failed('settings', problem, `${CORRECT}, and nothing else was checked.`));
  }
  const addressed = withAddresses(config);
  const problems = (await startProblems(addressed)).map((problem) => failed('settings', problem, `${CORRECT}.`));
  const usable = `the ${entries().length} settings can be used${config.production ? ', in production' : ''}`;
  const warned = [...parts.withoutEffect, ...startWarnings(config, 'facade')].map((text) => {
    const [message, advice = ''] = splitLast(text);
    return warning('settings', message, advice);
  });
  return [
    ...(problems.length > 0 ? problems : [ok('settings', usable)]),
    ...warned,
    await checkManifest(config, parts.manifestProblems),
    checkMemory(config),
    await checkRedisState(config),
    await checkKeyRedis(config),
    ...(await checkService(addressed)),
  ];
}

/** The last sentence of a warning says what to do. */
function splitLast(text: string): [message: string, advice: string | undefined] {
  const at = text.lastIndexOf('. ');
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 2)];
}

async function checkManifest(config: Config, problems: DoctorParts['manifestProblems']): Promise<Diagnosis> {
  const { persistedOperations, trustedDocuments, persistedOnly } = config;
  if (persistedOperations === undefined) return ok('manifest', 'PERSISTED_OPERATIONS is not set');
  const found = await problems(config);
  const size = `${trustedDocuments.size} documents in ${persistedOperations}${persistedOnly ? ', and no others are accepted' : ''}`;
  if (found.length === 0) return ok('manifest', size);
  const message = `${size}; ${found.join(' ')}`;
  return warning(
    'manifest',
    message,
    'These operations fail for every client: make the manifest again from the documents of the clients.',
  );
}

type Addressed = Config & { baseUrl: string; eventBaseUrl: string };

/** An origin beside the facade is at the addresses that its settings say. */
function withAddresses(config: Config): Addressed {
  const own = `http://127.0.0.1:${config.originPort}`;
  const { baseUrl = own, eventBaseUrl = own } = config;
  return { ...config, baseUrl, eventBaseUrl };
}

async function checkService(config: Addressed): Promise<Diagnosis[]> {
  const reader = createServiceReader(config);
  try {
    await readSamples(reader);
    const { reads } = reader;
    return [
      checkReachable('catalog', reads, config),
      checkReachable('events', reads, config),
      checkToken(reads, config),
      checkScopes(reads, config),
      checkCaching(reads, config),
    ];
  } finally {
    await reader.close();
  }
}
