import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { catalogService } from '../api/service.ts';
import type { Config } from '../config/settings.ts';
import { showsSchema } from '../config/trusted-documents.ts';
import { printMarkedSchema } from '../engine/null-conditions.ts';
import { schema } from '../graph/schema.ts';
import { lazily } from '../lib/promises.ts';
import { packageDir } from '../package.ts';
import { type UpstreamClient, createUpstream } from '../upstream/client.ts';
import { createPipeline } from './graphql/pipeline.ts';
import { checkManifest } from '../engine/documents/check-manifest.ts';
import type { McpRoutes } from './mcp/route.ts';
import { type Trusted, createTrusted, operationNames } from './graphql/documents/trusted.ts';
import { type ManifestStates, followManifests } from './manifests.ts';
import type { OperationWatchers } from './graphql/ended-operation.ts';
import { createJsonWriter } from './graphql/json-response.ts';
import { createDocuments } from './graphql/documents/persisted-documents.ts';
import { statusesOf } from './http/response/status.ts';
import { createRequestReader } from './graphql/request.ts';
import { createGraphqlRoute } from './graphql/route.ts';
import { Admission } from './http/connections/admission.ts';
import type { Exchange } from './http/exchange.ts';
import { type Tab, createGraphiqlPage, readTabs } from './http/pages/graphiql.ts';
import { type CheckHealth, type UpstreamHealth, createHealth } from './http/pages/health.ts';
import { createDocsRoutes } from './http/pages/docs.ts';
import { createErrorDocsPage } from './http/pages/error-docs-page.ts';
import { HELP_PATH, helpUrlOf } from './http/response/http-error.ts';
import { HttpServer, type RouteHandler } from './http/connections/http-server.ts';
import { createStaticRoute, sendJson, sendRead } from './http/response/static-response.ts';
import { createBodyReader } from './http/request/body.ts';
import { UploadMemory } from './http/request/upload-memory.ts';
import { shutDown } from './http/connections/shutdown.ts';
import { type ServerState, serverState } from './http/connections/state.ts';
import { lazyKeyedRunner } from './idempotency/lazy-runner.ts';
import type { SwapEntries } from './idempotency/store/swap.ts';
import { followSecrets } from './secrets.ts';
import { createWelcomeRoute } from './http/pages/welcome.ts';
import { type Metrics, createMetrics } from './observability/metrics.ts';
import { createOperationMetrics } from './observability/operations.ts';
import { createRequestLog } from './observability/request-log.ts';
import { createSlowLog } from './observability/slow-log.ts';
import { type Tracing, createTracing, operationSpans } from './observability/tracing.ts';
import {
  logForbiddenCaching,
  logOutages,
  observePauses,
  observeCalls,
  observeInterface,
  registerServerGauges,
  registerUpstreamGauges,
} from './observability/watch.ts';
import type { UsageReport } from './usage/report.ts';
import { createUsageRoutes } from './usage/route.ts';
import { type Usage, createUsage } from './usage/usage.ts';

export interface Facade {
  url: string;
  port: number;
  /** What is in progress now. All numbers are zero when idle. */
  state(): ServerState;
  /** Whether the upstreams can be reached. */
  checkUpstreams(): Promise<UpstreamHealth>;
  /** Why it accepts no work; undefined if it does. */
  trouble(): string | undefined;
  /** Reads the manifests again. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerParts {
  schema: GraphQLSchema;
  upstream: UpstreamClient;
  log: Logger;
  /** The pages GraphiQL opens with. */
  tabs?: readonly Tab[];
  /** The folder with the files of GraphiQL; without it there is none. */
  graphiql?: string;
  metrics?: Metrics;
  tracing?: Tracing | undefined;
  /** The folder of the page at /; without it there is none. */
  welcome?: string;
  /** The folder of the pages at /docs; without it there is only that of the errors. */
  docs?: string;
  /** Whether another worker accepts requests; undefined if there are no workers. */
  othersAcceptWork?: () => Promise<boolean>;
  /** Of a worker: where the keys of all workers are, if they share no Redis. */
  swapKeys?: SwapEntries;
  /** Counts who reads what; undefined where USAGE is off. */
  usage?: Usage | undefined;
  /** What all workers counted; undefined if there are no workers. */
  usageReport?: () => Promise<UsageReport>;
}

const SDL_TYPE = 'application/graphql; charset=utf-8';
/** The OAuth metadata of /mcp, by RFC 9728. */
const MCP_METADATA = '/.well-known/oauth-protected-resource';

/** What the command and an embedding program make a server of. The addresses of the upstream must be set. */
export function createParts(config: Config, log: Logger) {
  const metrics = createMetrics();
  const usage = config.usage ? createUsage(schema, config.usageClients, metrics) : undefined;
  const observe = observeCalls(metrics, log);
  const upstream = createUpstream(
    catalogService,
    { ...config, baseUrl: config.baseUrl!, eventBaseUrl: config.eventBaseUrl! },
    {
      observe: usage ? (call) => (observe(call), usage.observe(call)) : observe,
      inspect: config.checkResponses ? observeInterface(metrics, log) : undefined,
      onOutage: logOutages(log),
      onPause: observePauses(metrics, log),
      onCachingForbidden: logForbiddenCaching(log),
      onRedisRestored: () => log.debug('redis closed an idle connection, which is restored'),
      onLostInvalidations: (count) =>
        log.error({ count }, 'invalidations were not written to Redis: replicas may serve old records'),
    },
  );
  const tracing = createTracing(config, log);
  return {
    schema,
    upstream,
    /** A sentence if the Redis cannot be used as it is set. */
    checkRedis: async () =>
      upstream.redisFor && upstream.checkRedis((await import('./idempotency/store/redis-entries.ts')).keyScripts),
    /** A sentence if idempotency keys are used, and their Redis may forget them. */
    keysWarning: async () => (config.idempotencyTtlSeconds > 0 ? upstream.keysWarning() : undefined),
    log,
    metrics,
    usage,
    tracing,
    secrets: followSecrets(config, upstream, tracing, log),
    tabs: readTabs(join(packageDir, 'operations')),
    graphiql: join(packageDir, 'dist/graphiql'),
  };
}

/** Opens the port. `close` finishes running requests first. */
export async function openServer(config: Config, parts: ServerParts): Promise<Facade> {
  const { server, shutDown, ready, ...seen } = createGraphServer({ ...config, helpUrl: helpUrlOf(config) }, parts);
  await ready();
  // If the backlog is full, the system makes a client wait for seconds before it tries again.
  server.listen({ port: config.port, host: config.host, backlog: 4_096 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://${shownHost(config.host)}:${port}`, port, ...seen, close: lazily(shutDown) };
}

/** Everything but the port. */
export function createGraphServer(config: Config, parts: ServerParts) {
  const { schema, upstream, log, tabs = [], metrics = createMetrics(), usage } = parts;
  const { tracing = createTracing(config, log) } = parts;
  const trusted = createTrusted(config.trustedDocuments);
  const isKnownName = knownNames(tabs, trusted, usage);
  const epoch = epochOf(upstream, trusted);
  checkManifest(schema, config, log);
  const watchers = operationWatchers(config, { ...parts, metrics, tracing }, trusted, isKnownName);
  const shared = { schema, config, upstream, log };
  const { prepare, run, endStored } = createPipeline({ ...shared, watchers, epoch });
  const bodies = createBodyReader(config);
  const uploads = new UploadMemory(config.maxHeldUploadBytes, upstream.service.uploadBytesBelow);
  const admission = new Admission(config, (exchange) => http.abandon(exchange));
  const http: HttpServer = new HttpServer({ config, log, metrics, admission, bodies });
  const keyed = lazyKeyedRunner(config, upstream, run, parts.swapKeys);
  const routeParts = { ...shared, prepare, run: keyed.run, bodies, admission };
  // Loaded only if it is on.
  const mcp = lazily(async () => (await import('./mcp/route.ts')).createMcpRoutes(routeParts));
  const checkUpstreams = createHealth(config, upstream);
  const hasGraphiql = config.graphiql && parts.graphiql !== undefined;
  const graphiql = hasGraphiql ? createGraphiqlPage(config, parts.graphiql!, tabs, schema) : undefined;
  const docs =
    parts.docs !== undefined && !config.production ? createDocsRoutes(parts.docs, graphiql !== undefined) : undefined;
  const statusOf = statusesOf(config.httpStatuses);
  // What happens to a GraphQL request, in this order.
  const graphql = createGraphqlRoute(config, {
    page: graphiql?.page,
    reader: createRequestReader(config, bodies, uploads),
    json: createJsonWriter({ epoch, confirmEpoch: upstream.confirmEpoch, statusOf }),
    admission,
    documents: createDocuments(config, { prepare }, metrics, upstream.documents, trusted),
    run: keyed.run,
    endStored,
    yoga: lazily(async () => (await import('./graphql/yoga.ts')).createYogaWriter(log, statusOf)),
  });
  const reloadTools = async () => (await mcp()).reload();
  const manifests = followManifests({ schema, config, log, metrics, trusted, reloadTools });
  const trouble = () => (http.isDraining ? 'shutting down' : admission.isStuck() ? 'overloaded' : undefined);
  const routes: Record<string, RouteHandler> = {
    ...(parts.welcome !== undefined &&
      !config.production && {
        '/': createWelcomeRoute(config, {
          folder: parts.welcome,
          hasDocs: docs !== undefined,
          hasGraphiql: graphiql !== undefined,
        }),
      }),
    ...graphiql?.files,
    '/graphql': graphql,
    '/health': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    '/ready': createReadyRoute(checkUpstreams, trouble, manifests.states, parts.othersAcceptWork),
    '/metrics': async (exchange) => sendRead(exchange, 200, metrics.contentType, await metrics.text()),
    ...(docs ?? { [HELP_PATH]: createErrorDocsPage() }),
    ...(showsSchema(config) && {
      '/graphql/schema.graphql': createStaticRoute(SDL_TYPE, () => printMarkedSchema(schema)),
    }),
    ...(usage && createUsageRoutes(config, parts.usageReport ?? usage.report)),
    ...(config.mcp && mcpRoutes(config, mcp)),
  };
  http.routes = new Map(Object.entries(routes));

  const state = () => serverState({ http, admission, bodies, uploads, upstream });
  registerServerGauges(metrics, state);
  registerUpstreamGauges(metrics, upstream, checkUpstreams);
  return {
    server: http.server,
    state,
    checkUpstreams,
    trouble,
    shutDown: () => (manifests.close(), keyed.whileShuttingDown(shutDown(http, config))),
    /** Reads the manifests again, now; they are also read when their files change. */
    reload: manifests.reload,
    /** Ends the watch of the manifests, of a server that has no port to close. */
    closeManifests: () => manifests.close(),
    /** For clients; the others are for the operator, or for the host's own pages. */
    paths: Object.keys(routes).filter((path) => !['/', '/health', '/ready', '/metrics', '/usage'].includes(path)),
    /** Errors of the tools of agents are reported at the start. */
    ready: async (): Promise<unknown> => config.mcp && mcp(),
  };
}

function operationWatchers(
  config: Config,
  { metrics, tracing, usage, log }: ServerParts & { metrics: Metrics; tracing: Tracing },
  trusted: Trusted,
  isKnownName: (name: string) => boolean,
): OperationWatchers {
  const { onEnd: count, onInvalidDocument } = createOperationMetrics(metrics, isKnownName);
  const { startSpan, onEnd: endSpan } = operationSpans(tracing, trusted.idOf);
  const [logSlow, logAll] = [createSlowLog(log, config.slowOperationMs), createRequestLog(log, config.requestLog)];
  const onEnd = [logSlow, count, endSpan, usage?.onEnd, logAll].filter((watch) => watch !== undefined);
  return { startSpan, onInvalidDocument, onEnd };
}

/** Whether an operation is of a page of GraphiQL or of the trusted documents: then it may be counted by its name. */
function knownNames(tabs: readonly Tab[], trusted: Trusted, usage: Usage | undefined): (name: string) => boolean {
  const ofPages = operationNames(tabs.map(({ query }) => query));
  const isKnown = (name: string) => ofPages.has(name) || trusted.hasName(name);
  usage?.know(isKnown);
  return isKnown;
}

/** A response that was stored before the trusted documents were replaced may be that of an older one. */
const epochOf = (upstream: UpstreamClient, trusted: Trusted) => (): number | null => {
  const invalidations = upstream.epoch();
  return invalidations === null ? null : invalidations + trusted.replaced();
};

function mcpRoutes(config: Config, mcp: () => Promise<McpRoutes>): Record<string, RouteHandler> {
  const metadata: RouteHandler = async (exchange) => (await mcp()).metadata(exchange);
  return {
    '/mcp': async (exchange) => (await mcp()).answer(exchange),
    ...(config.mcpAuthorizationServer !== undefined && {
      [MCP_METADATA]: metadata,
      [`${MCP_METADATA}/mcp`]: metadata,
    }),
  };
}

/**
 * `/ready`: whether load balancers should send requests to this replica; its workers are one replica. All replicas have the same upstreams, so an unreachable one is
 * only reported: without replicas, not even cached records would be served.
 */
function createReadyRoute(
  checkUpstreams: CheckHealth,
  trouble: () => string | undefined,
  manifestStates: () => ManifestStates,
  othersAcceptWork?: () => Promise<boolean>,
): RouteHandler {
  return async (exchange: Exchange): Promise<void> => {
    const own = trouble();
    if (own !== undefined && !(await othersAcceptWork?.())) return sendJson(exchange, 503, { status: own });
    const manifests = manifestStates();
    const upstreams = await checkUpstreams();
    sendJson(exchange, 200, { status: 'ready', upstreams, ...(Object.keys(manifests).length > 0 && { manifests }) });
  };
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
