/** The command `doctor`: whether the set-up is right: settings, Redis, the service, the token and caching. */
import { ConfigError, withService } from '../config/read.ts';
import { type Config, entries } from '../config/settings.ts';
import { startWarnings } from '../config/start-warnings.ts';
import { checkKeyRedis, checkRedisState } from './check-redis-state.ts';
import { checkCaching } from './check-caching.ts';
import { checkReachable, checkToken } from './check-service.ts';
import { type Diagnosis, failed, ok, warning } from './diagnosis.ts';
import { readSamples } from './sample-reads.ts';
import { createServiceReader } from '../inspect/service-reader.ts';

interface DoctorParts {
  /** Reads the settings; throws a ConfigError. */
  readSettings: () => Config;
  /** Sentences on what is given and has no effect. */
  withoutEffect: readonly string[];
}

const CORRECT = 'Correct it: the facade does not start like this, and nothing else was checked.';

/** Everything that is checked, in the order of what depends on what. */
export async function diagnose({ readSettings, withoutEffect }: DoctorParts): Promise<Diagnosis[]> {
  let config: Config;
  try {
    config = withService(readSettings());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => failed('settings', problem, CORRECT));
  }
  const usable = `the ${entries().length} settings can be used${config.production ? ', in production' : ''}`;
  const warned = [...withoutEffect, ...startWarnings(config, 'facade')].map((text) => {
    const [message, advice = ''] = splitLast(text);
    return warning('settings', message, advice);
  });
  return [
    ok('settings', usable),
    ...warned,
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

/** An origin beside the facade is at the addresses that its settings say. */
async function checkService(given: Config): Promise<Diagnosis[]> {
  const own = `http://127.0.0.1:${given.originPort}`;
  const { baseUrl = own, eventBaseUrl = own } = given;
  const config = { ...given, baseUrl, eventBaseUrl };
  const reader = createServiceReader(config);
  try {
    await readSamples(reader);
    const { reads } = reader;
    return [
      checkReachable('catalog', reads, config),
      checkReachable('events', reads, config),
      checkToken(reads, config),
      checkCaching(reads, config),
    ];
  } finally {
    await reader.close();
  }
}
