/**
 * The types of `import { createFacade } from 'catalog-graphql'`. `npm run codegen` writes the options between the marks from the settings.
 */

import type { FormattedExecutionResult, GraphQLSchema } from 'graphql';
import type { Extend, Service } from './extend.js';
import type { OperationPrice as WholePrice } from './price.js';

/**
 * The graph for a program with an HTTP server of its own. Throws a ConfigError that names every wrong setting; functions, `services` and
 * `extend` are checked once the settings are right.
 */
export function createFacade(options: FacadeOptions): EmbeddedFacade;

/**
 * A plugin for a Yoga or Envelop server of the program, which gets its schema from it. Parsing, validation and execution are those of the
 * facade; everything around them is the server's. Upload scalars, `@defer` and `@stream` need no plugin of their own.
 */
export function catalogPlugin(facade: EmbeddedFacade, options?: CatalogPluginOptions): object;

export interface CatalogPluginOptions {
  /**
   * The bearer token for the service, of the context of an operation; undefined for none. Default: that of the header Authorization. A server
   * with tokens of its own gives this function, or its tokens would be sent to the service.
   */
  token?:
    ((context: Readonly<Record<string, unknown>>) => string | undefined | Promise<string | undefined>) | undefined;
  /** The client's address, as that of `fetch`. */
  address?: ((context: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
}

export interface EmbeddedFacade {
  /**
   * Responds to a request by its path, like the facade with a port: /graphql, /health, /ready, /metrics and others.
   * `address` is the client's: one address gets at most half of the calls that the facade's own token may make.
   * Rejects if the signal of the request is aborted, with its reason, if its body was already read, or if the facade is closed. A server of
   * node:http that does not catch that ends when a client leaves.
   */
  fetch(this: void, request: Request, from?: { address?: string | undefined } | null): Promise<Response>;
  /** The schema, for tools that read it. Only `execute` and `fetch` run operations: its resolvers need the plan of one. */
  readonly schema: GraphQLSchema;
  /**
   * Sends one operation to `fetch`. The result is what the body of the response has. Rejects only if the signal is aborted, with its reason,
   * or if the facade is closed; everything else is in `errors`.
   */
  execute(this: void, operation: FacadeOperation & { incremental?: undefined }): Promise<FormattedExecutionResult>;
  /** The parts, if the document has `@defer` or `@stream`; else the whole result. A program that stops reading them calls `return()`, as `for await` does. */
  execute(this: void, operation: FacadeOperation): Promise<FormattedExecutionResult | AsyncIterable<ResultPart>>;
  /**
   * What an operation costs, also fields of `extend` and calls of `services`, as `price` of `catalog-graphql/price` says it of the catalog
   * alone. It calls nothing. With `variables` (also `{}`), for these; without, for all that it may be sent with.
   */
  price(
    this: void,
    document: string,
    variables?: Readonly<Record<string, unknown>>,
    operationName?: string,
  ): WholePrice;
  /** The paths to be routed to `fetch` so that every link works: /graphql, the files of GraphiQL, /docs/errors. Probes and metrics are not among them. */
  readonly paths: readonly string[];
  /** Waits for running requests, for at most `shutdownMs`, and closes all connections. Later requests are rejected. */
  close(this: void): Promise<void>;
}

/** One operation of the program, as the body and the headers of an HTTP request have it. */
export interface FacadeOperation {
  /** The document; absent if `documentId` names it. */
  query?: string | undefined;
  documentId?: string | undefined;
  operationName?: string | undefined;
  /** A Blob or File is read as an `Upload`. */
  variables?: Readonly<Record<string, unknown>> | undefined;
  extensions?: Readonly<Record<string, unknown>> | undefined;
  onError?: 'PROPAGATE' | 'NULL' | 'HALT' | undefined;
  /** The caller's own bearer token. Without it the facade's own token reads what is public. */
  token?: string | undefined;
  /** The client's address, as that of `fetch`. */
  address?: string | undefined;
  /** Ends the operation and its upstream calls. */
  signal?: AbortSignal | undefined;
  /** The format of the parts of `@defer` and `@stream`. Default: none, the result is whole. */
  incremental?: 'v0.2' | '20220824' | undefined;
  /** The calls that it would make, or those that it made, in `extensions.upstream`; whatever the option `explain` is. */
  explain?: 'plan' | 'trace' | undefined;
  /** Two mutations with one key are one write. */
  idempotencyKey?: string | undefined;
  /** Others of the request, such as `x-request-id`, `cache-control`, `traceparent` or the client's name and version, in lower case. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** One part of a result: the format is that of incremental delivery over HTTP. */
export interface ResultPart extends FormattedExecutionResult {
  readonly hasNext: boolean;
}

/** Functions of the program that the facade calls. Each is used only if it is given. */
export interface FacadeHooks {
  /**
   * Whether the caller may run the operation: true, or a refusal, whose text is the reason that the caller gets with the code
   * OPERATION_FORBIDDEN. It is asked of every operation, of agents and of `execute` too, before anything is answered from a cache; whole
   * responses are then neither stored nor cached on the way. One that throws, or does not answer until the deadline of the operation, refuses.
   */
  authorize?: ((operation: AskedOperation) => boolean | string | Promise<boolean | string>) | undefined;
  /** Called with each operation that has ended. Nobody waits for it; what it throws is logged. */
  onOperation?: ((operation: EndedOperation) => unknown) | undefined;
  /**
   * More headers for the calls of a service, such as the key of a gateway. They cannot depend on the caller, whose answers others share, and
   * cannot be those that the facade sets. Called for each call; one that throws fails it.
   */
  headersTo?: ((service: 'catalog' | 'events' | (string & {})) => Readonly<Record<string, string>>) | undefined;
}

/** An operation that is to be run. */
export interface AskedOperation {
  readonly name: string | undefined;
  readonly type: 'query' | 'mutation';
  /** Its fields, as coordinates: `Query.book`, `Subject.title`. Those of an interface stand as those of each type too. */
  readonly fields: readonly string[];
  /** Its calls of the service, likely and at most; undefined if it will be rejected for its variables or its price. */
  readonly price: OperationPrice | undefined;
  /** The headers of the request, in lower case; `authorization` is not verified: it may be any text. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly address: string;
}

export interface OperationPrice {
  readonly likely: number;
  readonly most: number;
}

/** An operation that has ended. */
export interface EndedOperation {
  readonly requestId: string;
  readonly name: string | undefined;
  /** Undefined if the document cannot be run. */
  readonly type: 'query' | 'mutation' | undefined;
  /** Its calls, as `x-explain: trace` shows them. */
  readonly calls: readonly object[];
  /** Undefined if nothing was run. */
  readonly price: OperationPrice | undefined;
  /** A stored response was sent. */
  readonly isStored: boolean;
  /** How long it took. */
  readonly ms: number;
  /** The codes of its errors. */
  readonly errors: readonly string[];
}

/** The settings, without those of the port and of the origin. NODE_ENV is the only variable that is read, and only if `production` is absent. */
export interface FacadeOptions extends FacadeHooks {
  // <options>
  /** Upstream `catalog`, for books, notes and films: /v2/… is appended (an http:// or https:// address without user, query or fragment). */
  baseUrl: string;
  /** Upstream `events`: /event/…, /events, /people/… are appended (an http:// or https:// address without user, query or fragment). */
  eventBaseUrl: string;
  /** The facade's own token, for requests without one (a bearer token: visible ASCII characters, no spaces). Default: none. */
  accessToken?: string | undefined;
  /** Film tier of the facade's own token (one of basic, advance, premium). Default: unknown. */
  filmTier?: 'basic' | 'advance' | 'premium' | undefined;
  /** Redis in which replicas share cached records and the rate limit; also redis+cluster:// and redis+sentinel:// (a redis:// or rediss:// address). Default: none: in memory. */
  redisUrl?: string | undefined;
  /** Origins of other pages that may send requests (a list of origins, each like https://shop.example or capacitor://localhost, or http://localhost:* for any port (no path, no other *)). Default: http://localhost:*,http://127.0.0.1:*; none in production. */
  corsOrigins?: readonly string[] | undefined;
  /** Proxies whose X-Forwarded-For is used as the client address; each address has a limited share of the calls with ACCESS_TOKEN (a list of addresses and ranges, each like 10.0.0.1, 10.0.0.0/8 or fd00::/8). Default: none: the address of the connection. */
  trustedProxies?: readonly string[] | undefined;
  /** GraphiQL at /graphql (true or false). Default: true; false in production. */
  graphiql?: boolean | undefined;
  /** Introspection of the schema (true or false). Default: true; false in production. */
  introspection?: boolean | undefined;
  /** The x-explain header (true or false). Default: true; false in production. */
  explain?: boolean | undefined;
  /** Compresses responses with br or gzip, as the client accepts; turn it off if a proxy compresses (true or false). Default: on. */
  compression?: boolean | undefined;
  /** Page to which `extensions.help` of errors links, such as https://api.example/docs/errors (an http:// or https:// address without user, query or fragment). Default: /docs/errors at the origin of MCP_URL; without it, outside production and TRUSTED_PROXIES, at HOST and PORT of the server if that is loopback; else relative to the address of the request. */
  helpUrl?: string | undefined;
  /** Edition of GraphQL over HTTP whose statuses responses in application/graphql-response+json have (one of 2025, 2026). Default: 2026. */
  httpStatuses?: '2025' | '2026' | undefined;
  /** Name of the service, the label of films, ratings and reviews (`Attribution.label`) (a text of one line). Default: the catalog service. */
  serviceName?: string | undefined;
  /** Manifest of trusted documents, which clients send by hash (a path). Default: none. */
  persistedOperations?: string | undefined;
  /** Rejects every document that is not in the manifest (true or false). Default: off. */
  persistedOnly?: boolean | undefined;
  /** Clients may store documents by hash; ignored with PERSISTED_ONLY (true or false). Default: on. */
  automaticPersistedQueries?: boolean | undefined;
  /** Lowest level that is logged (one of trace, debug, info, warn, error, fatal, silent). Default: info. */
  logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' | undefined;
  /** Operations that take longer are logged; 0 logs none (a whole number from 0 to 600000). Default: 3000. */
  slowOperationMs?: number | undefined;
  /** One log line an operation, of level info: of each, or of one in 100 (one of off, sampled, all). Default: off. */
  requestLog?: 'off' | 'sampled' | 'all' | undefined;
  /** Collector of OpenTelemetry spans: /v1/traces is appended, OTLP in JSON (an http:// or https:// address without user, query or fragment). Default: none: no spans. */
  otelExporterOtlpEndpoint?: string | undefined;
  /** Headers for the collector, for example an API key (an object of header names and values). Default: none. */
  otelExporterOtlpHeaders?: Readonly<Record<string, string>> | undefined;
  /** Name of the facade in its spans (a name of visible characters). Default: catalog-graphql. */
  otelServiceName?: string | undefined;
  /** File with the ACCESS_TOKEN, read again when it changes (a path). Default: none. */
  accessTokenFile?: string | undefined;
  /** File with the REDIS_URL (a path). Default: none. */
  redisUrlFile?: string | undefined;
  /** File with the IDEMPOTENCY_REDIS_URL (a path). Default: none. */
  idempotencyRedisUrlFile?: string | undefined;
  /** Proxy through which upstreams at https:// are called; one at http:// is called directly, because a proxy would read the tokens (an http:// or https:// address of a proxy, like http://user:password@proxy.example:3128). Default: none. */
  httpsProxy?: string | undefined;
  /** The same, if HTTPS_PROXY is not set (an http:// or https:// address of a proxy, like http://user:password@proxy.example:3128). Default: none. */
  httpProxy?: string | undefined;
  /** Hosts that are called without the proxy: names with their subdomains and addresses, each with :port or without, or * (a comma-separated list of hosts). Default: none. */
  noProxy?: string | undefined;
  /** Certificates that sign that of BASE_URL (a file of certificates in PEM). Default: those of Node. */
  baseUrlCa?: string | undefined;
  /** Client certificate for BASE_URL (a file of certificates in PEM). Default: none. */
  baseUrlCert?: string | undefined;
  /** Key of that certificate (a file with a private key in PEM, without a passphrase). Default: none. */
  baseUrlKey?: string | undefined;
  /** Certificates that sign that of EVENT_BASE_URL (a file of certificates in PEM). Default: those of Node. */
  eventBaseUrlCa?: string | undefined;
  /** Client certificate for EVENT_BASE_URL (a file of certificates in PEM). Default: none. */
  eventBaseUrlCert?: string | undefined;
  /** Key of that certificate (a file with a private key in PEM, without a passphrase). Default: none. */
  eventBaseUrlKey?: string | undefined;
  /** Counts operations by client, for /usage (true or false). Default: off. */
  usage?: boolean | undefined;
  /** Token that /usage needs; without one there is no /usage in production (a bearer token of 16 or more visible ASCII characters, no spaces). Default: none. */
  usageToken?: string | undefined;
  /** Oldest versions of apps, by the name that they send; requests of older ones are rejected with CLIENT_TOO_OLD (a list of names and oldest versions of clients, each like ios:5.2). Default: all are served. */
  minClients?: readonly string[] | undefined;
  /** Where the new versions of these apps are, sent with CLIENT_TOO_OLD (a list of names and addresses, each like ios=https://apps.example/catalog). Default: no address is sent. */
  clientUpdateUrls?: readonly string[] | undefined;
  /** Model Context Protocol at /mcp: tools for agents (true or false). Default: off. */
  mcp?: boolean | undefined;
  /** Folder of GraphQL files, or manifest of trusted documents, whose operations are the tools (a path). Default: the pages of GraphiQL. */
  mcpOperations?: string | undefined;
  /** Mutations are tools too (true or false). Default: off. */
  mcpWrites?: boolean | undefined;
  /** The tools query and schema, by which agents run documents of their own (true or false). Default: off. */
  mcpFree?: boolean | undefined;
  /** Public URL of /mcp, whose host the Host header of requests may have (an http:// or https:// address without user, query or fragment). Default: none: HOST, localhost and IP addresses. */
  mcpUrl?: string | undefined;
  /** Issuer of the tokens, in the OAuth metadata of /mcp (an http:// or https:// address without user, query or fragment). Default: none. */
  mcpAuthorizationServer?: string | undefined;
  /** Longest document, in characters; it may have a token for each 5 (a whole number from 1 to 1000000). Default: 20000. */
  maxDocumentCharacters?: number | undefined;
  /** Nesting of fields; introspection is not counted (a whole number from 1 to 500). Default: 14. */
  maxDepth?: number | undefined;
  /** Upstream calls of an operation: a query that is likely to make more is rejected, and any other stops there (a whole number from 1 to 1000000). Default: 250. */
  maxUpstreamCalls?: number | undefined;
  /** Approximate size of a response, in bytes (a whole number from 1 to 1000000000). Default: 5000000. */
  maxResponseBytes?: number | undefined;
  /** Deadline of an operation (a whole number from 1 to 600000). Default: 15000. */
  operationTimeoutMs?: number | undefined;
  /** Size of all files of a request together (a whole number from 1 to 1000000000). Default: 40000000. */
  maxUploadBytes?: number | undefined;
  /** Size of the requests with files that a process holds in memory; one caller, or all tokens that the service has not accepted yet, may use a quarter, or one request (a whole number from 1 to 1000000000). Default: 80000000. */
  maxHeldUploadBytes?: number | undefined;
  /** Operations running at once (a whole number from 1 to 1000000). Default: 256. */
  maxRunningOperations?: number | undefined;
  /** Time for running operations to finish after SIGTERM (a whole number from 1 to 600000). Default: 8000. */
  shutdownMs?: number | undefined;
  /** Whether headers of upstream that forbid caching are obeyed: relaxed takes no-cache, private, must-revalidate and times of 0 for defaults of its framework; strict obeys all (one of relaxed, strict). Default: relaxed. */
  upstreamCache?: 'relaxed' | 'strict' | undefined;
  /** Certificates that sign that of Redis (a file of certificates in PEM). Default: those of Node. */
  redisCa?: string | undefined;
  /** Client certificate for Redis (a file of certificates in PEM). Default: none. */
  redisCert?: string | undefined;
  /** Key of that certificate (a file with a private key in PEM, without a passphrase). Default: none. */
  redisKey?: string | undefined;
  /** Time to live of all cached records; 0 turns the cache off (a whole number from 0 to 31536000). Default: depends on the type. */
  recordTtlSeconds?: number | undefined;
  /** Deadline of an upstream call, all attempts together, half of which is for the headers of a response; waiting for a connection and pauses between attempts do not count (a whole number from 1 to 600000). Default: 10000. */
  callTimeoutMs?: number | undefined;
  /** How long the response to a mutation with an Idempotency-Key is kept; 0 ignores the header (a whole number from 0 to 2678400). Default: 86400. */
  idempotencyTtlSeconds?: number | undefined;
  /** Redis in which idempotency keys are kept; one that evicts nothing and writes to disk (a redis:// or rediss:// address). Default: REDIS_URL. */
  idempotencyRedisUrl?: string | undefined;
  /** How long the service may go on with a write whose connection is gone: only after that a write with a key that is not there is sent again (a whole number from 1 to 600000). Default: 30000. */
  upstreamSettleMs?: number | undefined;
  /** Connections to an upstream (a whole number from 1 to 10000). Default: 256. */
  maxConnections?: number | undefined;
  /** Pause of a group of endpoints (books, films, notes, events) after a 429 without Retry-After; doubled, up to 60, each time the service refuses again after a pause (a whole number from 1 to 60). Default: 5. */
  retryAfterSeconds?: number | undefined;
  // </options>
  /** Off by default: GraphiQL, introspection, suggestions and the x-explain header. Default: whether NODE_ENV is production. */
  production?: boolean | undefined;
  /** Adds types and fields to the graph: see docs/extend.md. All facades of a process that have it must have the same function. */
  extend?: Extend | undefined;
  /** Services that fields of `extend` call beside the catalog. */
  services?: readonly Service[] | undefined;
  /** Called with each log line: JSON and a newline. Default: the lines go to stderr. */
  onLog?: ((line: string) => void) | undefined;
}

/** Some options are wrong: the message has a line for each, and `problems` the same lines. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
}
