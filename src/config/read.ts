/** Reads the settings, from the environment and flags or from the options of `createFacade`, and checks them all at once. */
import { type Config, type Setting, type SettingName, type Values, entries, settings } from './settings.ts';
import { ManifestError, type TrustedDocuments, readManifest } from './trusted-documents.ts';

/** What the flags of the command say, as written. */
export type Flags = Partial<Record<SettingName, string>>;

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads and checks everything at once; a flag wins over the environment, and an empty variable is an absent one. */
export function readConfig(env: NodeJS.ProcessEnv = process.env, flags: Flags = {}): Config {
  const production = env.NODE_ENV === 'production';
  const problems: string[] = [];
  const spelled = (name: SettingName) => flags[name] ?? env[settings[name].env];
  const values = checked(spelled, production, problems, ({ env: variable, must, mistake }, _, text) => {
    return `${variable} ${mistake?.(text) ?? `must be ${must}`}`;
  });
  const [baseUrl, eventBaseUrl] = [spelled('baseUrl'), spelled('eventBaseUrl')];
  if (baseUrl && !eventBaseUrl) problems.push('EVENT_BASE_URL must be set too, because BASE_URL is');
  if (eventBaseUrl && !baseUrl) problems.push('BASE_URL must be set too, because EVENT_BASE_URL is');
  if (values.maxBusyConnections < values.maxConnections && problems.length === 0) {
    problems.push('MAX_BUSY_CONNECTIONS must not be less than MAX_CONNECTIONS');
  }
  refuseFree(values, problems, (name) => settings[name].env);
  const trustedDocuments = documentsOf(values, problems, (name) => settings[name].env);
  if (problems.length > 0) throw new ConfigError(problems);

  const ownOrigin = !values.baseUrl;
  const demo = ownOrigin && values.demoTokens && !values.accessToken;
  return Object.freeze({
    ...values,
    production,
    trustedDocuments,
    ownOrigin,
    accessToken: demo ? 'demo-app' : values.accessToken,
    filmTier: values.filmTier ?? (demo ? 'advance' : undefined),
  });
}

/** Settings of the port and of the origin: a facade inside another program has neither. */
const NOT_EMBEDDED = new Set<string>([
  'port',
  'host',
  'dataDir',
  'originPort',
  'publicUrl',
  'demoTokens',
  'maxClientConnections',
  'requestHeadersTimeoutMs',
  'connectionTimeoutMs',
  'drainMs',
] satisfies SettingName[]);

/** The settings that are options of `createFacade`. */
export function options(): [SettingName, Setting<unknown>][] {
  return entries().filter(([name]) => !NOT_EMBEDDED.has(name));
}

/** Reads the options of a facade inside another program: checked as the environment is, of which only NODE_ENV is read. */
export function readOptions(given: Readonly<Record<string, unknown>>): Config {
  const problems = Object.keys(given)
    .filter((name) => name !== 'production' && !options().some(([known]) => known === name))
    .map((name) => `${name} is not an option`);
  const { production = process.env.NODE_ENV === 'production' } = given;
  if (typeof production !== 'boolean') problems.push('production must be true or false');
  for (const name of ['baseUrl', 'eventBaseUrl'] as const) if (!given[name]) problems.push(`${name} must be set`);
  const spelled = (name: SettingName) =>
    NOT_EMBEDDED.has(name) || given[name] === undefined ? undefined : (settings[name].spell(given[name]) ?? UNREADABLE);
  const values = checked(spelled, production === true, problems, ({ must, optionMust, mistake }, name, text) => {
    return `${name} ${mistake?.(text) ?? `must be ${optionMust ?? must}`}`;
  });
  if (values.maxBusyConnections < values.maxConnections && problems.length === 0) {
    problems.push('maxBusyConnections must not be less than maxConnections');
  }
  refuseFree(values, problems, (name) => name);
  const trustedDocuments = documentsOf(values, problems, (name) => name);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({ ...values, production: production === true, trustedDocuments, ownOrigin: false });
}

/** Is no value of any setting. */
const UNREADABLE = '\0';

/** All values, from the text or the default of each; what is wrong with them is added to the problems. */
function checked(
  spelled: (name: SettingName) => string | undefined,
  production: boolean,
  problems: string[],
  problem: (setting: Setting<unknown>, name: SettingName, text: string) => string,
): Values {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of entries()) {
    const text = spelled(name) || undefined;
    if (text === undefined) {
      values[name] = setting.byDefault(production);
      continue;
    }
    const value = setting.read(text);
    // The value is not repeated: it may be a secret in the wrong variable.
    if (value === undefined) problems.push(problem(setting, name, text));
    else values[name] = value;
  }
  return values as Values;
}

/** Free documents are what PERSISTED_ONLY forbids. */
function refuseFree(
  { mcp, mcpFree, persistedOnly }: Values,
  problems: string[],
  nameOf: (name: SettingName) => string,
): void {
  if (mcp && mcpFree && persistedOnly) {
    problems.push(`${nameOf('mcpFree')} must be off, because ${nameOf('persistedOnly')} is on`);
  }
}

/** Reads the manifest; errors name the setting that named it. */
function documentsOf(
  { persistedOperations, persistedOnly }: Values,
  problems: string[],
  nameOf: (name: SettingName) => string,
): TrustedDocuments {
  if (persistedOperations === undefined) {
    if (persistedOnly) {
      problems.push(`${nameOf('persistedOperations')} must be set too, because ${nameOf('persistedOnly')} is on`);
    }
    return new Map();
  }
  try {
    return readManifest(persistedOperations);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    problems.push(`${nameOf('persistedOperations')} must be a manifest of documents: ${error.message}`);
    return new Map();
  }
}
