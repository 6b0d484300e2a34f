/** The table of all settings. It drives the environment, the flags of the command, `--help` and the options of `createFacade`. */
import {
  type Kind,
  addressRanges,
  amount,
  bytes,
  catalogAddress,
  certificateFile,
  clientAddressList,
  clientVersionList,
  headerList,
  httpAddress,
  keyFile,
  matching,
  milliseconds,
  onOff,
  oneOf,
  origins,
  path,
  port,
  proxyAddress,
  redisAddress,
  secret,
  whole,
} from './kinds.ts';
import { CHARACTERS_A_TOKEN, type Derived, type Fixed, fixed } from './fixed.ts';
import type { TrustedDocuments } from './documents/trusted-documents.ts';

export interface Setting<T> extends Kind<T> {
  env: string;
  byDefault: (production: boolean) => T;
  description: string;
  /** The text in the column of defaults, if the value itself would not be clear. */
  shown?: string;
  /** The heading that it stands under in docs and in `--help`. */
  group?: string;
  /** It concerns the port or the origin, which a facade inside another program does not have. */
  isStandalone?: boolean;
  /** Other programs read the variable too, and accept it in small letters. */
  isConventional?: boolean;
}

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

/** Variables that other programs have too: in small letters first, as in those. */
const conventional = <T>(row: Setting<T>): Setting<T> => ({ ...row, isConventional: true });

const standalone = <T>(row: Setting<T>): Setting<T> => ({ ...row, isStandalone: true });

/** Rows under one heading. */
function inGroup<Rows extends { [Name in keyof Rows]: { group?: string } }>(group: string, rows: Rows): Rows {
  for (const name in rows) rows[name].group = group;
  return rows;
}

const outsideProduction = (production: boolean) => !production;
const OUTSIDE_PRODUCTION = 'on; off in production';

/** Pages that are being developed on this machine. */
const LOCAL_ORIGINS: readonly string[] = ['http://localhost:*', 'http://127.0.0.1:*'];

// A table is read down its columns.
// prettier-ignore
export const settings = {
  ...inGroup('The ten that matter first', {
    port: standalone(setting('PORT', port, 4000, 'port of the facade')),
    host: standalone(setting(
      'HOST',
      matching('a host name or address', /^[\w.:-]+$/),
      '127.0.0.1',
      'address that the facade listens on, and an origin that is started alone',
    )),
    baseUrl: optional('BASE_URL', catalogAddress, 'upstream `catalog`, for books, notes and films: /v2/… is appended', 'the origin'),
    eventBaseUrl: optional('EVENT_BASE_URL', httpAddress, 'upstream `events`: /event/…, /events, /people/… are appended', 'the origin'),
    accessToken: optional(
      'ACCESS_TOKEN',
      secret(matching('a bearer token: visible ASCII characters, no spaces', /^[\x21-\x7e]{1,2000}$/)),
      "the facade's own token, for requests without one",
      'none; demo-app beside the origin',
    ),
    filmTier: optional('FILM_TIER', oneOf('basic', 'advance', 'premium'), "film tier of the facade's own token", 'unknown; advance beside the origin'),
    redisUrl: optional('REDIS_URL', redisAddress, 'Redis in which replicas share cached records and the rate limit; also redis+cluster:// and redis+sentinel://', 'none: in memory'),
    corsOrigins: setting(
      'CORS_ORIGINS',
      origins,
      (production) => (production ? [] : LOCAL_ORIGINS),
      'origins of other pages that may send requests',
      `${LOCAL_ORIGINS.join(',')}; none in production`,
    ),
    trustedProxies: setting(
      'TRUSTED_PROXIES',
      addressRanges,
      [],
      'proxies whose X-Forwarded-For is used as the client address; each address has a limited share of the calls with ACCESS_TOKEN',
      'none: the address of the connection',
    ),
    drainMs: standalone(setting('DRAIN_MS', whole(0, 600_000), 0, 'time after SIGTERM in which requests are still served and /ready is 503, so that load balancers stop sending them')),
  }),
  ...inGroup('The origin and its demo', {
    dataDir: standalone(setting('DATA_DIR', path, '.catalog', 'folder with the database and pictures of the origin')),
    originPort: standalone(setting('ORIGIN_PORT', port, 4001, 'port of the origin')),
    demo: standalone(setting('DEMO', onOff, outsideProduction, 'the demo: without BASE_URL the facade starts an origin; if off, it does not start without a service', OUTSIDE_PRODUCTION)),
    publicUrl: standalone(optional('PUBLIC_URL', httpAddress, 'base URL of links and pictures in records of the origin', 'the Host of each request')),
  }),
  ...inGroup('What clients see', {
    graphiql: setting('GRAPHIQL', onOff, outsideProduction, 'GraphiQL at /graphql', OUTSIDE_PRODUCTION),
    introspection: setting('INTROSPECTION', onOff, outsideProduction, 'introspection of the schema', OUTSIDE_PRODUCTION),
    explain: setting('EXPLAIN', onOff, outsideProduction, 'the x-explain header', OUTSIDE_PRODUCTION),
    compression: setting('COMPRESSION', onOff, true, 'compresses responses with br or gzip, as the client accepts; turn it off if a proxy compresses', 'on'),
    helpUrl: optional('HELP_URL', httpAddress, 'page to which `extensions.help` of errors links, such as https://api.example/docs/errors', '/docs/errors at the origin of MCP_URL; without it, outside production and TRUSTED_PROXIES, at HOST and PORT of the server if that is loopback; else relative to the address of the request'),
    httpStatuses: setting('HTTP_STATUSES', oneOf('2025', '2026'), '2026', 'edition of GraphQL over HTTP whose statuses responses in application/graphql-response+json have'),
    serviceName: setting(
      'SERVICE_NAME',
      matching('a text of one line', /^[^\0\r\n]{1,200}$/),
      'the catalog service',
      'name of the service, the label of films, ratings and reviews (`Attribution.label`)',
    ),
  }),
  ...inGroup('Persisted operations', {
    persistedOperations: optional('PERSISTED_OPERATIONS', path, 'manifest of trusted documents, which clients send by hash'),
    persistedOnly: setting('PERSISTED_ONLY', onOff, false, 'rejects every document that is not in the manifest', 'off'),
    automaticPersistedQueries: setting('AUTOMATIC_PERSISTED_QUERIES', onOff, true, 'clients may store documents by hash; ignored with PERSISTED_ONLY', 'on'),
  }),
  ...inGroup('Logs and traces', {
    logLevel: setting('LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', 'lowest level that is logged'),
    slowOperationMs: setting('SLOW_OPERATION_MS', whole(0, 600_000), 3_000, 'operations that take longer are logged; 0 logs none'),
    requestLog: setting('REQUEST_LOG', oneOf('off', 'sampled', 'all'), 'off', 'one log line an operation, of level info: of each, or of one in 100'),
    otelExporterOtlpEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT', httpAddress, 'collector of OpenTelemetry spans: /v1/traces is appended, OTLP in JSON', 'none: no spans'),
    otelExporterOtlpHeaders: optional('OTEL_EXPORTER_OTLP_HEADERS', secret(headerList), 'headers for the collector, for example an API key'),
    otelServiceName: setting(
      'OTEL_SERVICE_NAME',
      matching('a name of visible characters', /^[\x20-\x7e]{1,100}$/),
      'catalog-graphql',
      'name of the facade in its spans',
    ),
  }),
  ...inGroup('Secrets in files', {
    accessTokenFile: optional('ACCESS_TOKEN_FILE', path, 'file with the ACCESS_TOKEN, read again when it changes'),
    redisUrlFile: optional('REDIS_URL_FILE', path, 'file with the REDIS_URL'),
    idempotencyRedisUrlFile: optional('IDEMPOTENCY_REDIS_URL_FILE', path, 'file with the IDEMPOTENCY_REDIS_URL'),
  }),
  ...inGroup('The way to upstream', {
    httpsProxy: conventional(optional('HTTPS_PROXY', proxyAddress, 'proxy through which upstreams at https:// are called; one at http:// is called directly, because a proxy would read the tokens')),
    httpProxy: conventional(optional('HTTP_PROXY', proxyAddress, 'the same, if HTTPS_PROXY is not set')),
    noProxy: conventional(optional(
      'NO_PROXY',
      matching('a comma-separated list of hosts', /^[\x20-\x7e]*$/),
      'hosts that are called without the proxy: names with their subdomains and addresses, each with :port or without, or *',
    )),
    baseUrlCa: optional('BASE_URL_CA', certificateFile, 'certificates that sign that of BASE_URL', 'those of Node'),
    baseUrlCert: optional('BASE_URL_CERT', certificateFile, 'client certificate for BASE_URL'),
    baseUrlKey: optional('BASE_URL_KEY', keyFile, 'key of that certificate'),
    eventBaseUrlCa: optional('EVENT_BASE_URL_CA', certificateFile, 'certificates that sign that of EVENT_BASE_URL', 'those of Node'),
    eventBaseUrlCert: optional('EVENT_BASE_URL_CERT', certificateFile, 'client certificate for EVENT_BASE_URL'),
    eventBaseUrlKey: optional('EVENT_BASE_URL_KEY', keyFile, 'key of that certificate'),
  }),
  ...inGroup('Usage', {
    usage: setting('USAGE', onOff, false, 'counts operations by client, for /usage', 'off'),
    usageToken: optional(
      'USAGE_TOKEN',
      secret(matching('a bearer token of 16 or more visible ASCII characters, no spaces', /^[\x21-\x7e]{16,2000}$/)),
      'token that /usage needs; without one there is no /usage in production',
    ),
  }),
  ...inGroup('Old clients', {
    minClients: setting('MIN_CLIENTS', clientVersionList, [], 'oldest versions of apps, by the name that they send; requests of older ones are rejected with CLIENT_TOO_OLD', 'all are served'),
    clientUpdateUrls: setting('CLIENT_UPDATE_URLS', clientAddressList, [], 'where the new versions of these apps are, sent with CLIENT_TOO_OLD', 'no address is sent'),
  }),
  ...inGroup('Agents', {
    mcp: setting('MCP', onOff, false, 'Model Context Protocol at /mcp: tools for agents', 'off'),
    mcpOperations: optional(
      'MCP_OPERATIONS',
      path,
      'folder of GraphQL files, or manifest of trusted documents, whose operations are the tools',
      'the pages of GraphiQL',
    ),
    mcpWrites: setting('MCP_WRITES', onOff, false, 'mutations are tools too', 'off'),
    mcpFree: setting('MCP_FREE', onOff, false, 'the tools query and schema, by which agents run documents of their own', 'off'),
    mcpUrl: optional(
      'MCP_URL',
      httpAddress,
      'public URL of /mcp, whose host the Host header of requests may have',
      'none: HOST, localhost and IP addresses',
    ),
    mcpAuthorizationServer: optional('MCP_AUTHORIZATION_SERVER', httpAddress, 'issuer of the tokens, in the OAuth metadata of /mcp'),
  }),
  ...inGroup('Limits of a document', {
    maxDocumentCharacters: setting('MAX_DOCUMENT_CHARACTERS', amount, 20_000, `longest document, in characters; it may have a token for each ${CHARACTERS_A_TOKEN}`),
    maxDepth: setting('MAX_DEPTH', whole(1, 500), 14, 'nesting of fields; introspection is not counted'),
  }),
  ...inGroup('Limits of an operation', {
    maxUpstreamCalls: setting('MAX_UPSTREAM_CALLS', amount, 250, 'upstream calls of an operation: a query that is likely to make more is rejected, and any other stops there'),
    maxResponseBytes: setting('MAX_RESPONSE_BYTES', bytes, 5_000_000, 'approximate size of a response, in bytes'),
    operationTimeoutMs: setting('OPERATION_TIMEOUT_MS', milliseconds, 15_000, 'deadline of an operation'),
    maxUploadBytes: setting('MAX_UPLOAD_BYTES', bytes, 40_000_000, 'size of all files of a request together'),
    maxHeldUploadBytes: setting(
      'MAX_HELD_UPLOAD_BYTES',
      bytes,
      80_000_000,
      'size of the requests with files that a process holds in memory; one caller, or all tokens that the service has not accepted yet, may use a quarter, or one request',
    ),
  }),
  ...inGroup('Load and connections of clients', {
    maxRunningOperations: setting('MAX_RUNNING_OPERATIONS', amount, 256, 'operations running at once'),
    shutdownMs: setting('SHUTDOWN_MS', milliseconds, 8_000, 'time for running operations to finish after SIGTERM'),
  }),
  ...inGroup('Calls to upstream and the cache', {
    upstreamCache: setting('UPSTREAM_CACHE', oneOf('relaxed', 'strict'), 'relaxed', "whether headers of upstream that forbid caching are obeyed: relaxed takes no-cache, private, must-revalidate and times of 0 for defaults of its framework; strict obeys all"),
    redisCa: optional('REDIS_CA', certificateFile, 'certificates that sign that of Redis', 'those of Node'),
    redisCert: optional('REDIS_CERT', certificateFile, 'client certificate for Redis'),
    redisKey: optional('REDIS_KEY', keyFile, 'key of that certificate'),
    recordTtlSeconds: optional('RECORD_TTL_SECONDS', whole(0, 31_536_000), 'time to live of all cached records; 0 turns the cache off', 'depends on the type'),
    callTimeoutMs: setting('CALL_TIMEOUT_MS', milliseconds, 10_000, 'deadline of an upstream call, all attempts together, half of which is for the headers of a response; waiting for a connection and pauses between attempts do not count'),
    idempotencyTtlSeconds: setting('IDEMPOTENCY_TTL_SECONDS', whole(0, 31 * 86_400), 86_400, 'how long the response to a mutation with an Idempotency-Key is kept; 0 ignores the header'),
    idempotencyRedisUrl: optional('IDEMPOTENCY_REDIS_URL', redisAddress, 'Redis in which idempotency keys are kept; one that evicts nothing and writes to disk', 'REDIS_URL'),
    upstreamSettleMs: setting('UPSTREAM_SETTLE_MS', milliseconds, 30_000, 'how long the service may go on with a write whose connection is gone: only after that a write with a key that is not there is sent again'),
    maxConnections: setting('MAX_CONNECTIONS', whole(1, 10_000), 256, 'connections to an upstream'),
    retryAfterSeconds: setting('RETRY_AFTER_SECONDS', whole(1, fixed.maxRetryAfterSeconds), 5, `pause of a group of endpoints (books, films, notes, events) after a 429 without Retry-After; doubled, up to ${fixed.maxRetryAfterSeconds}, each time the service refuses again after a pause`),
  }),
};

export type SettingName = keyof typeof settings;

/** The values of all settings. */
export type Given = { [Name in SettingName]: (typeof settings)[Name] extends Setting<infer T> ? T : never };

export type Values = Fixed & Derived & Given;

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

/** `MAX_DEPTH` -> `--max-depth`. */
export function flagOf(name: SettingName): string {
  return `--${settings[name].env.toLowerCase().replaceAll('_', '-')}`;
}

export function entries(): [SettingName, Setting<unknown>][] {
  return Object.entries(settings) as [SettingName, Setting<unknown>][];
}
