import { addressRange } from '../lib/address-ranges.ts';
import { ManifestError, type TrustedDocuments, readManifest } from '../cli/manifest.ts';

/** What the values of some settings have in common. */
interface Kind<T> {
  /** What a value must be, in words. */
  must: string;
  /** A value as it was spelled; undefined for what it must not be. */
  read: (text: string) => T | undefined;
  /** Its type as an option of `createFacade`, in TypeScript. */
  type: string;
  /** An option as the environment would spell it; undefined where it is of another type. */
  spell: (option: unknown) => string | undefined;
  /** What an option must be, where that differs from what a variable must be. */
  optionMust?: string;
}

interface Setting<T> extends Kind<T> {
  env: string;
  byDefault: (production: boolean) => T;
  description: string;
  /** Names what stands in the default column where the value itself would not tell. */
  shown?: string;
}

const whole = (min: number, max: number) => ({
  must: `a whole number from ${min} to ${max}`,
  read: (text: string) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
  type: 'number',
  spell: (option: unknown) => (typeof option === 'number' ? String(option) : undefined),
});

const spellText = (option: unknown) => (typeof option === 'string' ? option : undefined);

const text = (must: string, pattern: RegExp) => ({
  must,
  read: (text: string) => (pattern.test(text) ? text : undefined),
  type: 'string',
  spell: spellText,
});

const oneOf = <const T extends string>(...names: [T, ...T[]]) => ({
  must: `one of ${names.join(', ')}`,
  read: (text: string) => names.find((name) => name === text),
  type: names.map((name) => `'${name}'`).join(' | '),
  spell: spellText,
});

const onOff = {
  must: 'on or off',
  optionMust: 'true or false',
  type: 'boolean',
  spell: (option: unknown) => (typeof option === 'boolean' ? (option ? 'on' : 'off') : undefined),
  read: (word: string) => {
    if (/^(on|true|yes|1)$/i.test(word)) return true;
    return /^(off|false|no|0)$/i.test(word) ? false : undefined;
  },
};

/** Credentials in an address would end in logs and errors, a query would swallow the path appended to it. */
const httpAddress = {
  must: 'an http:// or https:// address without user, query or fragment',
  read: (address: string) => {
    const url = parsed(address);
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(address);
    return isPlain ? address.replace(/(?<!\/)\/+$/, '') : undefined;
  },
  type: 'string',
  spell: spellText,
};

const redisAddress = {
  must: 'a redis:// or rediss:// address',
  read: (address: string) => (/^rediss?:$/.test(parsed(address)?.protocol ?? '') ? address : undefined),
  type: 'string',
  spell: spellText,
};

const origins = {
  must: 'a comma-separated list of origins, each like https://shop.example (no path, no *)',
  read: (text: string): readonly string[] | undefined => {
    const list = text.split(',').map((origin) => origin.trim());
    return list.every((origin) => /^https?:/.test(origin) && parsed(origin)?.origin === origin) ? list : undefined;
  },
  optionMust: 'a list of origins, each like https://shop.example (no path, no *)',
  type: 'readonly string[]',
  spell: (option: unknown) => (Array.isArray(option) ? option.map(String).join(',') : undefined),
};

const addressRanges = {
  must: 'a comma-separated list of addresses and ranges, each like 10.0.0.1, 10.0.0.0/8 or fd00::/8',
  read: (text: string): readonly string[] | undefined => {
    const list = text.split(',').map((range) => range.trim());
    return list.every(addressRange) ? list : undefined;
  },
  optionMust: 'a list of addresses and ranges, each like 10.0.0.1, 10.0.0.0/8 or fd00::/8',
  type: 'readonly string[]',
  spell: (option: unknown) => (Array.isArray(option) ? option.map(String).join(',') : undefined),
};

const headerList = {
  must: 'a comma-separated list like name=value,other=value',
  read: (text: string): Readonly<Record<string, string>> | undefined => {
    if (!/^[\w-]+=[\x21-\x2b\x2d-\x7e]*(,[\w-]+=[\x21-\x2b\x2d-\x7e]*)*$/.test(text)) return undefined;
    const cut = (pair: string) => [pair.slice(0, pair.indexOf('=')), decoded(pair.slice(pair.indexOf('=') + 1))];
    return Object.fromEntries(text.split(',').map(cut)) as Record<string, string>;
  },
  optionMust: 'an object of header names and values',
  type: 'Readonly<Record<string, string>>',
  spell: (option: unknown) =>
    typeof option === 'object' && option !== null && Object.values(option).every((value) => typeof value === 'string')
      ? Object.entries(option)
          .map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)
          .join(',')
      : undefined,
};

/** A port may be 0 in tests: the system picks one. */
const port = whole(0, 65_535);
const milliseconds = whole(1, 600_000);
const bytes = whole(1, 1_000_000_000);
const amount = whole(1, 1_000_000);

function setting<T>(
  env: string,
  kind: Kind<T>,
  byDefault: T | ((production: boolean) => T),
  description: string,
  shown?: string,
): Setting<T> {
  return { env, ...kind, byDefault: byDefault instanceof Function ? byDefault : () => byDefault, description, shown };
}

/** A setting that may be absent. */
function optional<T>(env: string, kind: Kind<T>, description: string, shown = 'none') {
  return setting<T | undefined>(env, kind, undefined, description, shown);
}

const outsideProduction = (production: boolean) => !production;
const OUTSIDE_PRODUCTION = 'on; off in production';

/** Every setting there is. It drives the environment, the flags of the command and the table that `--help` prints. */
// A table is read down its columns.
// prettier-ignore
export const settings = {
  port: setting('PORT', port, 4000, 'port of the facade'),
  host: setting(
    'HOST',
    text('a host name or address', /^[\w.:-]+$/),
    '127.0.0.1',
    'address the facade listens on (and an origin started alone)',
  ),
  baseUrl: optional('BASE_URL', httpAddress, 'upstream for books, notes and films: /v2/… is appended', 'the origin'),
  eventBaseUrl: optional(
    'EVENT_BASE_URL',
    httpAddress,
    'upstream for events: /event/…, /events, /people/… are appended',
    'the origin',
  ),
  accessToken: optional(
    'ACCESS_TOKEN',
    text('a bearer token: visible ASCII characters, no spaces', /^[\x21-\x7e]{1,2000}$/),
    "the facade's own credential, for callers without one",
    'none; demo-app beside the origin',
  ),
  filmTier: optional(
    'FILM_TIER',
    oneOf('basic', 'advance', 'premium'),
    'film tier of that credential: basic, advance or premium',
    'unknown; advance beside the origin',
  ),
  dataDir: setting(
    'DATA_DIR',
    text('a path', /^[^\0]+$/),
    '.catalog',
    'where the origin keeps its database and pictures',
  ),
  originPort: setting('ORIGIN_PORT', port, 4001, 'port of the origin'),
  publicUrl: optional(
    'PUBLIC_URL',
    httpAddress,
    'base URL of links and pictures in records of the origin',
    'as each client reached it',
  ),
  redisUrl: optional('REDIS_URL', redisAddress, 'shared state of replicas: records and budgets', 'none: in memory'),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'least severe line that is logged',
  ),

  otelExporterOtlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    httpAddress,
    'collector of OpenTelemetry spans: /v1/traces is appended, OTLP in JSON',
    'none: no spans',
  ),
  otelExporterOtlpHeaders: optional('OTEL_EXPORTER_OTLP_HEADERS', headerList, 'headers for the collector, a key say'),
  otelServiceName: setting(
    'OTEL_SERVICE_NAME',
    text('a name of visible characters', /^[\x20-\x7e]{1,100}$/),
    'catalog-graphql',
    'name of the facade in its spans',
  ),

  trustedProxies: setting(
    'TRUSTED_PROXIES',
    addressRanges,
    [],
    'proxies whose X-Forwarded-For or Forwarded names the client; each client address has a limited share of the own calls',
    'none: the address of the connection',
  ),
  corsOrigins: setting('CORS_ORIGINS', origins, [], 'browser origins that may ask from other pages', 'none'),
  graphiql: setting('GRAPHIQL', onOff, outsideProduction, 'GraphiQL at /graphql', OUTSIDE_PRODUCTION),
  introspection: setting(
    'INTROSPECTION',
    onOff,
    outsideProduction,
    'whether the schema may be asked for',
    OUTSIDE_PRODUCTION,
  ),
  suggestions: setting(
    'SUGGESTIONS',
    onOff,
    outsideProduction,
    '"Did you mean …" in error messages',
    OUTSIDE_PRODUCTION,
  ),
  explain: setting('EXPLAIN', onOff, outsideProduction, 'the x-explain header', OUTSIDE_PRODUCTION),
  demoTokens: setting(
    'DEMO_TOKENS',
    onOff,
    outsideProduction,
    'the fixed tokens of the demo people in the origin',
    OUTSIDE_PRODUCTION,
  ),

  persistedOperations: optional(
    'PERSISTED_OPERATIONS',
    text('a path', /^[^\0]+$/),
    'manifest of trusted documents, which are asked for by hash',
  ),
  persistedOnly: setting('PERSISTED_ONLY', onOff, false, 'refuses every document that is not in the manifest', 'off'),
  automaticPersistedQueries: setting(
    'AUTOMATIC_PERSISTED_QUERIES',
    onOff,
    true,
    'whether clients may have documents kept by their hashes; not with PERSISTED_ONLY',
    'on',
  ),

  maxDocumentCharacters: setting('MAX_DOCUMENT_CHARACTERS', amount, 20_000, 'longest document, in characters'),
  maxTokens: setting('MAX_TOKENS', amount, 4_000, 'tokens in a document'),
  maxNesting: setting('MAX_NESTING', amount, 100, 'brackets of any kind inside one another in a document'),
  maxDepth: setting('MAX_DEPTH', amount, 14, 'fields below one another; introspection is not counted'),
  maxFields: setting('MAX_FIELDS', amount, 1_000, 'fields in a document, fragments counted where they are spread'),
  maxPlannedFields: setting(
    'MAX_PLANNED_FIELDS',
    amount,
    3_000,
    'fields of an operation, counted for every type that they may be of',
  ),
  maxFragments: setting('MAX_FRAGMENTS', amount, 100, 'fragments in a document'),
  maxAliases: setting('MAX_ALIASES', amount, 60, 'aliases in a document'),
  maxRootFields: setting('MAX_ROOT_FIELDS', amount, 30, 'fields at the root of an operation'),
  maxMutations: setting('MAX_MUTATIONS', amount, 10, 'mutations in an operation'),
  maxDirectives: setting('MAX_DIRECTIVES', amount, 50, 'directives in a document'),

  maxUpstreamCalls: setting('MAX_UPSTREAM_CALLS', amount, 250, 'upstream calls an operation may cost'),
  maxItems: setting('MAX_ITEMS', amount, 10_000, 'items of lists in an answer'),
  maxValues: setting('MAX_VALUES', amount, 50_000, 'values in an answer: the fields of all items'),
  maxAnswerBytes: setting('MAX_ANSWER_BYTES', bytes, 5_000_000, 'approximate size of an answer, in bytes'),
  recordTtlSeconds: optional(
    'RECORD_TTL_SECONDS',
    whole(0, 31_536_000),
    'time to live of every kind of record; 0 turns reuse off',
    "each kind's own",
  ),
  operationTimeoutMs: setting('OPERATION_TIMEOUT_MS', milliseconds, 15_000, 'deadline of an operation'),
  maxRunningOperations: setting('MAX_RUNNING_OPERATIONS', amount, 256, 'operations running at once'),
  maxWaitingOperations: setting(
    'MAX_WAITING_OPERATIONS',
    whole(0, 1_000_000),
    256,
    'operations waiting to run; more are refused with 503',
  ),

  maxClientConnections: setting(
    'MAX_CLIENT_CONNECTIONS',
    amount,
    4_000,
    'connections of clients; what is asked over more is refused with 503',
  ),

  maxBodyBytes: setting('MAX_BODY_BYTES', bytes, 1_000_000, 'largest JSON body of a request'),
  maxHeaderBytes: setting('MAX_HEADER_BYTES', whole(1_024, 1_000_000), 16_384, 'largest headers of a request'),
  requestHeadersTimeoutMs: setting(
    'REQUEST_HEADERS_TIMEOUT_MS',
    milliseconds,
    15_000,
    'time for the headers of a request to arrive',
  ),
  requestBodyTimeoutMs: setting(
    'REQUEST_BODY_TIMEOUT_MS',
    milliseconds,
    30_000,
    'time for the JSON body of a request to arrive',
  ),

  connectionTimeoutMs: setting(
    'CONNECTION_TIMEOUT_MS',
    milliseconds,
    90_000,
    'silence after which a connection in use is cut: its client does not read, say',
  ),

  maxUnsentBytes: setting(
    'MAX_UNSENT_BYTES',
    bytes,
    100_000_000,
    'unread bytes of answers to all clients; past it, connections that have read nothing for longest are cut',
  ),

  maxPictures: setting('MAX_PICTURES', amount, 12, 'pictures in a mutation'),
  maxUploadBytes: setting('MAX_UPLOAD_BYTES', bytes, 40_000_000, 'all files of a request together'),
  uploadTimeoutMs: setting('UPLOAD_TIMEOUT_MS', milliseconds, 60_000, 'deadline of an operation with files'),

  connectTimeoutMs: setting('CONNECT_TIMEOUT_MS', milliseconds, 2_000, 'time to connect to upstream'),
  headersTimeoutMs: setting('HEADERS_TIMEOUT_MS', milliseconds, 5_000, 'time for the headers of an upstream answer'),
  bodyTimeoutMs: setting('BODY_TIMEOUT_MS', milliseconds, 5_000, 'longest silence in the body of an upstream answer'),
  callTimeoutMs: setting('CALL_TIMEOUT_MS', milliseconds, 10_000, 'deadline of an upstream call, all attempts together; waiting for a connection does not count'),
  maxJsonBytes: setting('MAX_JSON_BYTES', bytes, 4_000_000, 'largest JSON answer of upstream, inflated'),
  maxAtomBytes: setting('MAX_ATOM_BYTES', bytes, 2_000_000, 'largest Atom answer of upstream, inflated'),
  readAttempts: setting('READ_ATTEMPTS', whole(1, 10), 3, 'attempts of a read; writes have one'),
  maxConnections: setting('MAX_CONNECTIONS', whole(1, 10_000), 64, 'connections to an upstream that is quick'),
  maxBusyConnections: setting(
    'MAX_BUSY_CONNECTIONS',
    whole(1, 10_000),
    256,
    'connections to an upstream that is slow, or while calls wait',
  ),
  breakerFailures: setting(
    'BREAKER_FAILURES',
    whole(1, 1_000),
    5,
    'connection faults and timeouts of an upstream in a row, until it is left alone',
  ),
  breakerPauseMs: setting('BREAKER_PAUSE_MS', milliseconds, 1_000, 'how long; doubled each time it is found still down'),
  maxBreakerPauseMs: setting('MAX_BREAKER_PAUSE_MS', milliseconds, 15_000, 'longest time it is left alone'),
  retryAfterSeconds: setting('RETRY_AFTER_SECONDS', whole(1, 3_600), 5, 'pause of a group of endpoints (books, films, notes, events) after a 429 without Retry-After'),
  maxRetryAfterSeconds: setting('MAX_RETRY_AFTER_SECONDS', whole(1, 3_600), 60, 'longest pause after a 429'),

  shutdownMs: setting('SHUTDOWN_MS', milliseconds, 8_000, 'what running operations get to end after SIGTERM'),
};

export type SettingName = keyof typeof settings;

type Values = { [Name in SettingName]: (typeof settings)[Name] extends Setting<infer T> ? T : never };

/** All settings, checked and frozen. */
export type Config = Readonly<
  Values & {
    /** NODE_ENV=production. */
    production: boolean;
    /** What the manifest holds; empty without one. */
    trustedDocuments: TrustedDocuments;
    /** No other upstream is named, so the origin runs beside the facade. */
    ownOrigin: boolean;
  }
>;

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
  const values = checked(spelled, production, problems, ({ env: variable, must }) => `${variable} must be ${must}`);
  const [baseUrl, eventBaseUrl] = [spelled('baseUrl'), spelled('eventBaseUrl')];
  if (baseUrl && !eventBaseUrl) problems.push('EVENT_BASE_URL must be set too, because BASE_URL is');
  if (eventBaseUrl && !baseUrl) problems.push('BASE_URL must be set too, because EVENT_BASE_URL is');
  if (values.maxBusyConnections < values.maxConnections && problems.length === 0) {
    problems.push('MAX_BUSY_CONNECTIONS must not be less than MAX_CONNECTIONS');
  }
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
] satisfies SettingName[]);

/** The settings that are options of `createFacade`. */
export function options(): [SettingName, Setting<unknown>][] {
  return entries().filter(([name]) => !NOT_EMBEDDED.has(name));
}

/** Reads the options of a facade inside another program: checked as the environment is, of which nothing is read. */
export function readOptions(given: Readonly<Record<string, unknown>>): Config {
  const problems = Object.keys(given)
    .filter((name) => name !== 'production' && !options().some(([known]) => known === name))
    .map((name) => `${name} is not an option`);
  const { production = false } = given;
  if (typeof production !== 'boolean') problems.push('production must be true or false');
  for (const name of ['baseUrl', 'eventBaseUrl'] as const) if (!given[name]) problems.push(`${name} must be set`);
  const spelled = (name: SettingName) =>
    NOT_EMBEDDED.has(name) || given[name] === undefined ? undefined : (settings[name].spell(given[name]) ?? UNREADABLE);
  const values = checked(spelled, production === true, problems, (setting, name) => {
    return `${name} must be ${setting.optionMust ?? setting.must}`;
  });
  if (values.maxBusyConnections < values.maxConnections && problems.length === 0) {
    problems.push('maxBusyConnections must not be less than maxConnections');
  }
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
  problem: (setting: Setting<unknown>, name: SettingName) => string,
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
    if (value === undefined) problems.push(problem(setting, name));
    else values[name] = value;
  }
  return values as Values;
}

/** Reads the manifest; what is wrong with it is told in the name by which it was given. */
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

/** `MAX_DEPTH` -> `--max-depth`. */
export function flagOf(name: SettingName): string {
  return `--${settings[name].env.toLowerCase().replaceAll('_', '-')}`;
}

/** The table of all settings, as `--help` and the README show it. */
export function settingsTable(): string {
  const rows = entries().map(([, { env, byDefault, description, shown, must }]) => [
    env,
    shown ?? String(byDefault(false)),
    `${description} (${must})`,
  ]);
  return columns([['variable', 'default', 'what it is (what it must be)'], ...rows]);
}

export function entries() {
  return Object.entries(settings) as [SettingName, Setting<unknown>][];
}

function columns(rows: string[][]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const [first, second] = [width(0), width(1)];
  return rows.map(([a = '', b = '', c = '']) => `  ${a.padEnd(first)}  ${b.padEnd(second)}  ${c}`).join('\n');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}
