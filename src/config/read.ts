/** Reads the settings, from the environment and flags or from the options of `createFacade`, and checks them all at once. */
import { editDistance } from '../lib/text/edit-distance.ts';
import { connectionProblems } from './upstream-tls.ts';
import { type Config, type Given, type Setting, type SettingName, type Values, entries, settings } from './settings.ts';
import { derivedFrom, fixed } from './fixed.ts';
import { type RemovedName, removedSettings } from './removed-settings.ts';
import { readSecretFiles } from './secret-files.ts';
import { type TrustedDocuments, readManifest } from './documents/trusted-documents.ts';
import { UserError } from '../lib/user-error.ts';

/** The flags of the command and their texts. */
export type Flags = Partial<Record<SettingName | RemovedName, string>>;

export class ConfigError extends UserError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads and checks everything at once; a flag wins over the environment, and an empty variable is an absent one. */
export function readConfig(env: NodeJS.ProcessEnv = process.env, flags: Flags = {}): Config {
  const source: Source = {
    text: (name) => (flags[name] ?? variableIn(env, settings[name])) || undefined,
    shown: (text) => text,
    production: env.NODE_ENV === 'production',
    nameOf: (name) => settings[name].env,
    mustOf: ({ must }) => must,
  };
  const problems: string[] = [];
  const given = valuesOf(source, problems);
  const [baseUrl, eventBaseUrl] = [source.text('baseUrl'), source.text('eventBaseUrl')];
  if (baseUrl && !eventBaseUrl) problems.push('EVENT_BASE_URL must be set too, because BASE_URL is');
  if (eventBaseUrl && !baseUrl) problems.push('BASE_URL must be set too, because EVENT_BASE_URL is');
  const values = checked(given, source, problems);

  const ownOrigin = !values.baseUrl;
  const demo = ownOrigin && values.demo && !values.accessToken;
  return Object.freeze({
    ...values,
    ownOrigin,
    accessToken: demo ? 'demo-app' : values.accessToken,
    filmTier: values.filmTier ?? (demo ? 'advance' : undefined),
  });
}

/** What a facade is started with: a service that is named, or the demo. */
export function withService(config: Config): Config {
  if (!config.ownOrigin || config.demo) return config;
  throw new ConfigError(['BASE_URL and EVENT_BASE_URL must name the service, or DEMO=on asks for the demo']);
}

const variableIn = (
  environment: NodeJS.ProcessEnv,
  { env, isConventional }: Pick<Setting<unknown>, 'env' | 'isConventional'>,
): string | undefined => (isConventional && environment[env.toLowerCase()]) || environment[env];

/** What Kubernetes sets for a service of the name `redis`, and what other clients of Redis read. */
const OF_OTHERS = /^REDIS_(PORT|HOST|DB)$/;

/** A NODE_ENV that is not quite `production` leaves everything of the demo on. */
const NEARLY_PRODUCTION = /^\s*prod/i;

/** Variables of the environment that are no settings, but spelled nearly like one. */
function misspelledSettings(env: NodeJS.ProcessEnv): string[] {
  const hint = (given: string, meant: string) => `${given} is not a setting and has no effect. Did you mean ${meant}?`;
  const rows = entries().map(([, row]) => row);
  const names = [...rows, ...removedSettings].map((row) => row.env);
  // FTP_PROXY is no misspelled HTTP_PROXY.
  const own = rows.filter((row) => !row.isConventional).map((row) => row.env);
  return Object.entries(env).flatMap(([given, value = '']) => {
    if (given === 'NODE_ENV' && value !== 'production' && NEARLY_PRODUCTION.test(value))
      return [hint(`${given}=${value}`, 'NODE_ENV=production')];
    if (names.includes(given) || OF_OTHERS.test(given)) return [];
    const meant = closest(given.toUpperCase(), own);
    return meant === undefined ? [] : [hint(given, meant)];
  });
}

/** What is given and has no effect: variables that are spelled nearly like a setting, and settings that are gone. */
export function withoutEffect(flags: Flags = {}, env: NodeJS.ProcessEnv = process.env): string[] {
  const removed = removedSettings.flatMap(({ name, env: variable, whyOf }) => {
    const value = flags[name] ?? env[variable];
    const why = value && whyOf(value);
    return why ? [`${variable} has no effect: ${why}`] : [];
  });
  return [...misspelledSettings(env), ...removed];
}

/** The name that was probably meant. Short ones must be closer: HOME is not a wrong HOST. */
function closest(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({
      name,
      distance: editDistance(given, name),
      most: name.length < 8 ? 1 : name.length < 12 ? 2 : 3,
    }))
    .filter(({ distance, most }) => distance <= most);
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}

/** A problem for each member that is no option. */
export const unknownOptions = (given: object, known: readonly string[]): string[] =>
  unknownNames(Object.keys(given), known, 'is not an option');

/** A problem for each name that is none of those known. */
export const unknownNames = (given: readonly string[], known: readonly string[], what: string): string[] =>
  given
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = closest(name, known);
      return `${name} ${what}${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
    });

/** The settings that are options of `createFacade`. */
export function options(): [SettingName, Setting<unknown>][] {
  return entries().filter(([, { isStandalone }]) => !isStandalone);
}

/** Reads the options of a facade inside another program: checked as the environment is, of which only NODE_ENV is read. */
export function readOptions(given: Readonly<Record<string, unknown>>): Config {
  const removed = removedSettings.filter(({ name }) => name in given);
  const known = ['production', ...options().map(([name]) => name as string), ...removed.map(({ name }) => name)];
  const problems = unknownOptions(given, known);
  for (const { name, whyOf } of removed) problems.push(`${name} is not an option: ${whyOf(String(given[name]))}`);
  const { production = process.env.NODE_ENV === 'production' } = given;
  if (typeof production !== 'boolean') problems.push('production must be true or false');
  for (const name of ['baseUrl', 'eventBaseUrl'] as const) if (!given[name]) problems.push(`${name} must be set`);
  const source: Source = {
    text: (name) => {
      const { isStandalone, spell }: Setting<unknown> = settings[name];
      return isStandalone || given[name] === undefined ? undefined : (spell(given[name]) ?? UNREADABLE) || undefined;
    },
    shown: (_, name) => given[name],
    production: production === true,
    nameOf: (name) => name,
    mustOf: ({ must, optionMust }) => optionMust ?? must,
  };
  const values = checked(valuesOf(source, problems), source, problems);
  return Object.freeze({ ...values, ownOrigin: false });
}

/** Is no value of any setting. */
const UNREADABLE = '\0';

/** Where values come from, and what messages call them. */
interface Source {
  /** The text of a value; undefined if it is absent. */
  text: (name: SettingName) => string | undefined;
  /** A value as messages may show it. */
  shown: (text: string, name: SettingName) => unknown;
  production: boolean;
  nameOf: (name: SettingName) => string;
  mustOf: (setting: Setting<unknown>) => string;
}

/** All values, from the text or the default of each. */
function valuesOf(source: Source, problems: string[]): Values {
  const { text, production, nameOf, mustOf } = source;
  const values = entries().map(([name, setting]) => {
    const given = text(name);
    const value = given === undefined ? setting.byDefault(production) : setting.read(given);
    if (given !== undefined && value === undefined)
      problems.push(
        `${nameOf(name)} ${setting.mistake?.(given) ?? `must be ${mustOf(setting)}${refused(name, given, source)}`}`,
      );
    return [name, value];
  });
  const all = Object.fromEntries(values) as Given;
  return { ...fixed, ...derivedFrom(all), ...all };
}

/** A refused value that is shown is cut to this length. */
const SHOWN_CHARACTERS = 60;

/** `, not "abc"`, for a value that cannot be a secret: one may also be in the wrong variable. */
function refused(name: SettingName, given: string, { text, shown }: Source): string {
  const isSecret = (each: SettingName) => settings[each].isSecret === true;
  const secrets = entries().flatMap(([each]) => (isSecret(each) ? (text(each) ?? []) : []));
  const value = shown(given, name);
  if (isSecret(name) || secrets.some((secret) => String(value).includes(secret))) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return `, not ${value}`;
  if (typeof value !== 'string') return '';
  const safe = (settings[name] as Setting<unknown>).redact?.(value) ?? value;
  return `, not ${JSON.stringify(safe.length > SHOWN_CHARACTERS ? `${safe.slice(0, SHOWN_CHARACTERS)}…` : safe)}`;
}

/** Checks the values together, and reads the manifest. Throws if there are problems, with those found before. */
function checked(given: Values, { production, nameOf }: Source, problems: string[]): Omit<Config, 'ownOrigin'> {
  const secrets = readSecretFiles(given, nameOf);
  problems.push(...secrets.problems);
  const values = { ...given, ...secrets.values };
  problems.push(...connectionProblems(values, nameOf));
  const { mcp, mcpFree, persistedOnly, persistedOperations } = values;
  if (mcp && mcpFree && persistedOnly)
    problems.push(`${nameOf('mcpFree')} must be off, because ${nameOf('persistedOnly')} is on`);
  if (persistedOnly && persistedOperations === undefined)
    problems.push(`${nameOf('persistedOperations')} must be set too, because ${nameOf('persistedOnly')} is on`);
  let trustedDocuments: TrustedDocuments = new Map();
  try {
    if (persistedOperations !== undefined) trustedDocuments = readManifest(persistedOperations);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.push(`${nameOf('persistedOperations')} must be a manifest of documents: ${error.message}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...values, production, trustedDocuments };
}
