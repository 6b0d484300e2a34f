/** The command `doctor`: whether the set-up is right, and whether the service still speaks the interface. */
import { ConfigError } from '../config/read.ts';
import { type Config, entries } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { checkMemory } from './check-machine.ts';
import { checkKeyRedis, checkRedisState } from './check-redis-state.ts';
import { checkCaching, checkInterface, checkReachable, checkScopes, checkToken } from './check-service.ts';
import { type Diagnosis, failed, ok, warning } from './diagnosis.ts';
import { readEach } from '../inspect/read-plan.ts';
import { createServiceReader } from '../inspect/service-reader.ts';

export interface DoctorParts {
  /** Reads the settings; throws a ConfigError. */
  readSettings: () => Config;
  /** Variables that are spelled nearly like a setting. */
  misspelled: readonly { given: string; meant: string }[];
  /** What is wrong with documents of the manifest. */
  manifestProblems: (config: Config) => Promise<readonly string[]>;
}

/** Everything that is checked, in the order of what depends on what. */
export async function diagnose({ readSettings, misspelled, manifestProblems }: DoctorParts): Promise<Diagnosis[]> {
  let config: Config;
  try {
    config = readSettings();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) =>
      failed('settings', problem, 'Correct it: the facade does not start like this, and nothing else was checked.'),
    );
  }
  const given = misspelled.map(({ given: name, meant }) =>
    warning('settings', `${name} is not a setting and has no effect`, `Did you mean ${meant}?`),
  );
  const warned = startWarnings(config, 'facade').map((text) => {
    const [message, advice = ''] = splitLast(text);
    return warning('settings', message, advice);
  });
  return [
    ok('settings', `the ${entries().length} settings can be used${config.production ? ', in production' : ''}`),
    ...given,
    ...warned,
    await checkManifest(config, manifestProblems),
    checkMemory(config),
    await checkRedisState(config),
    await checkKeyRedis(config),
    ...(await checkService(config)),
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

async function checkService(config: Config): Promise<Diagnosis[]> {
  const own = `http://127.0.0.1:${config.originPort}`;
  const { baseUrl = own, eventBaseUrl = own } = config;
  const reader = createServiceReader({ ...config, baseUrl, eventBaseUrl });
  try {
    const unread = await readEach(reader);
    const { reads } = reader;
    const addressed = { ...config, baseUrl, eventBaseUrl };
    return [
      checkReachable('catalog', reads, addressed),
      checkReachable('events', reads, addressed),
      checkToken(reads, config),
      checkScopes(reads, config),
      checkCaching(reads, config),
      ...checkInterface(reads, unread),
    ];
  } finally {
    await reader.close();
  }
}
