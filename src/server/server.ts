import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { createBodyReader } from './http/request-body.ts';
import type { Panel, Tab } from './http/graphiql.ts';
import { createAdmission, sendOverloaded } from './http/admission.ts';
import { type Connection, KEEP_ALIVE, CLOSE, IDLE_MS, trackConnections } from './http/connections.ts';
import { Exchange } from './http/exchange.ts';
import { MAX_HEADERS, addCorsHeaders, checkHeaders, requestIdOf } from './http/headers.ts';
import { createGraphqlRoute } from './graphql/route.ts';
import { createHealth } from './http/health.ts';
import { createPausedSockets } from './http/paused-sockets.ts';
import { type Metrics, createMetrics } from './observability/metrics.ts';
import { createPipeline } from './graphql/answer.ts';
import { HELP_PATH, errorsPage, errorsPolicy } from './http/help.ts';
import { sendJson, sendRead } from './http/read-only.ts';
import { sendParseError, HttpError, sendHttpError } from './http/http-error.ts';
import type { ServerState } from './http/state.ts';
import { operationNames } from './observability/operations.ts';
import { type Tracing, createTracing } from './observability/tracing.ts';
import { createUnsentBytes } from './http/unsent.ts';
import { registerUpstreamGauges } from './observability/watch.ts';
import { cancel } from '../lib/cancellation.ts';
import { lazily } from '../lib/promises.ts';
import { createQueue, append, unlink, itemsOf } from '../lib/queue.ts';
import type { UpstreamClient } from '../upstream/client.ts';

export interface Facade {
  url: string;
  port: number;
  /** What is in progress now; all zero when idle. */
  state(): ServerState;
  close(): Promise<void>;
}

export interface ServerParts {
  schema: GraphQLSchema;
  /** How the service is asked; the pipeline alone knows it. */
  upstream: UpstreamClient;
  log: Logger;
  /** The pages GraphiQL opens with. */
  tabs?: readonly Tab[];
  /** What shows the calls of an operation there. */
  panel?: Panel;
  metrics?: Metrics;
  tracing?: Tracing | undefined;
  /** Everything is run by graphql-js: for comparison. */
  useReferenceExecutor?: boolean;
  /** Where the package lies, for the tools of agents. */
  packageDir?: string;
}

/** For what was ended to be told; what is left of ten seconds is for closing pools and the database. */
const CONNECTION_END_MS = 1_000;
/** The OAuth metadata of /mcp, by RFC 9728. */
const MCP_METADATA = '/.well-known/oauth-protected-resource';
/** How often a server that shuts down closes the connections that nothing goes on over. */
const SWEEP_MS = 50;

/** Opens the port. Whoever calls `close` gets a facade that ends what it began. */
export async function openServer(config: Config, parts: ServerParts): Promise<Facade> {
  const { server, state, shutDown, ready } = createGraphServer(config, parts);
  await ready();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Beyond this the system lets a client's connection wait for seconds before it tries again.
    server.listen({ port: config.port, host: config.host, backlog: 4_096 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  let ended: Promise<void> | undefined;
  return { url: `http://${shownHost(config.host)}:${port}`, port, state, close: () => (ended ??= shutDown()) };
}

/** All of the server but its port. */
export function createGraphServer(
  config: Config,
  parts: ServerParts,
): { server: Server; state: () => ServerState; shutDown: () => Promise<void>; ready: () => Promise<unknown> } {
  const { schema, upstream, log, tabs, panel, metrics = createMetrics(), useReferenceExecutor } = parts;
  const { tracing = createTracing(config, log) } = parts;
  const names = operationNames([...config.trustedDocuments.values(), ...(tabs ?? []).map(({ query }) => query)]);
  const shared = { schema, config, upstream, log, metrics, tracing };
  const pipeline = createPipeline({ ...shared, operationNames: names, useReferenceExecutor });
  const bodies = createBodyReader(config);
  const health = createHealth(config);
  const running = createQueue<Exchange>();
  const admission = createAdmission(config);
  const line = createPausedSockets(admission.freePlaces);
  const unsent = createUnsentBytes(config, () => metrics.unreadConnections.inc());
  const graphql = createGraphqlRoute({
    ...{ ...shared, pipeline, bodies, admission, tabs, panel },
    onOverdue: abandon,
  });
  // Loaded only where it is on.
  const mcp = lazily(async () => {
    const { createMcpRoutes } = await import('./mcp/route.ts');
    const { packageDir } = parts;
    return createMcpRoutes({ ...shared, pipeline, bodies, admission, packageDir, onOverdue: abandon });
  });
  let closing = false;
  const usualRequests = metrics.requests.labels({ path: '/graphql', status: '200' });
  metrics.gauge('catalog_requests_running', 'HTTP requests being answered.', () => running.size);
  metrics.gauge('catalog_operations_running', 'Operations under way.', admission.running);
  metrics.gauge('catalog_operations_waiting', 'Operations that wait to run.', admission.waiting);
  metrics.gauge('catalog_connections_waiting', 'Connections that are read when it is their turn.', line.size);
  metrics.gauge('catalog_unsent_bytes', 'Bytes of answers that clients have yet to read.', unsent.bytes);
  registerUpstreamGauges(metrics, upstream);

  const metadata = async (exchange: Exchange) => (await mcp()).metadata(exchange);
  const routes: Record<string, (exchange: Exchange) => unknown> = {
    '/graphql': graphql,
    '/health': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    '/ready': async (exchange) => {
      if (closing) return sendJson(exchange, 503, { status: 'shutting down' });
      // Balancers should send requests to another replica.
      if (admission.isStuck()) return sendJson(exchange, 503, { status: 'overloaded' });
      const { ready, upstreams } = await health.check();
      const status = ready ? 'ready' : 'unreachable';
      return sendJson(exchange, ready ? 200 : 503, { status, upstreams });
    },
    '/metrics': async (exchange) => {
      const headers = { 'content-type': metrics.contentType, 'cache-control': 'no-store' };
      sendRead(exchange, 200, headers, await metrics.text());
    },
    [HELP_PATH]: (exchange) => {
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': errorsPolicy };
      sendRead(exchange, 200, headers, errorsPage);
    },
    ...(config.mcp && { '/mcp': async (exchange: Exchange) => (await mcp()).answer(exchange) }),
    ...(config.mcp &&
      config.mcpAuthorizationServer !== undefined && { [MCP_METADATA]: metadata, [`${MCP_METADATA}/mcp`]: metadata }),
  };

  /** Ends an operation that still held its slot some time after its deadline, and answers in its place. */
  function abandon(exchange: Exchange): void {
    log.error({ requestId: exchange.requestId }, 'an operation did not end after its deadline and was abandoned');
    cancel(exchange.lifetime, new Error('The operation did not end.'));
    fail(exchange, new HttpError(500, 'INTERNAL_SERVER_ERROR', 'The operation did not end in time.'));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = connections.get(request.socket);
    if (!connection) return void response.destroy();
    const { isOverLimit, exchanges } = connection;
    // Requests whose bodies arrived in this turn have not entered yet.
    if (isOverLimit || admission.freePlaces() <= bodies.completed()) {
      const isProbe = request.url === '/health' || request.url === '/ready' || request.url === '/metrics';
      if (!isProbe) {
        const standing: string[] = [];
        addCorsHeaders(request, standing, config.corsOrigins);
        if (isOverLimit || closing || !response.shouldKeepAlive) standing.push(...CLOSE);
        else {
          standing.push(...KEEP_ALIVE);
          request.once('close', () => line.pause(request.socket)); // reading its body would end the pause
        }
        metrics.overloads.inc();
        return sendOverloaded(response, standing);
      }
    }
    const started = performance.now();
    const requestId = requestIdOf(request);
    const url = request.url ?? '/';
    const path = url === '/graphql' ? url : url.split('?', 1)[0]!;
    const keeping = closing || !response.shouldKeepAlive ? CLOSE : KEEP_ALIVE;
    const standing = ['x-request-id', requestId, 'x-content-type-options', 'nosniff', keeping[0], keeping[1]];
    const exchange = new Exchange(request, response, connection.backlog, requestId, standing);
    const place = append(running, exchange);
    const placeThere = append(exchanges, exchange);
    response.on('close', () => exchange.close());
    exchange.onClose(() => {
      unlink(running, place);
      unlink(exchanges, placeThere);
      // Who was answered comes after those who were not.
      if (line.size() > 0 && path === '/graphql' && request.complete && !closing) line.pause(request.socket);
      if (!response.writableFinished) cancel(exchange.lifetime, new Error('The client has left.'));
      const { statusCode: status } = response;
      if (status === 200 && path === '/graphql') usualRequests.inc();
      else metrics.requests.inc({ path: Object.hasOwn(routes, path) ? path : 'other', status: String(status) });
      if (!log.isLevelEnabled('debug')) return;
      const ms = Math.round(performance.now() - started);
      log.debug({ requestId, method: request.method, path, status, ms }, 'request');
    });
    try {
      checkHeaders(request);
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (!route) throw new HttpError(404, 'NOT_FOUND', 'There is nothing here; the graph is at /graphql.');
      await route(exchange);
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Answers with the refusal. Any other error is logged and answered with a masked 500. */
  function fail(exchange: Exchange, error: unknown): void {
    const { request, response, requestId } = exchange;
    const isRefusal = error instanceof HttpError;
    if (!isRefusal) log.error({ err: error, requestId }, 'a request failed');
    if (exchange.isClosed || response.writableEnded) return;
    if (!response.headersSent) exchange.setHeaders();
    const refusal = isRefusal ? error : new HttpError(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong.');
    sendHttpError(request, response, refusal, config.requestBodyTimeoutMs);
  }

  const server = createServer(
    {
      maxHeaderSize: config.maxHeaderBytes,
      headersTimeout: config.requestHeadersTimeoutMs,
      requireHostHeader: false, // `refuseBrokenHeaders` refuses it with a code
      requestTimeout: 0, // bodies have clocks of their own: an upload may take longer than a question
      connectionsCheckingInterval: Math.min(1_000, config.requestHeadersTimeoutMs),
    },
    (request, response) => {
      request.on('error', ignore);
      response.on('error', ignore);
      handle(request, response).catch((error: unknown) => {
        log.error({ err: error }, 'a request failed, and its answer too');
        response.destroy();
      });
    },
  );
  server.maxHeadersCount = MAX_HEADERS + 1;
  const connections = trackConnections(server, { ...config, idleMs: IDLE_MS }, unsent);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (isOpenTo(connections.get(socket))) sendParseError(error, socket, config);
    else socket.destroy();
  });

  async function shutDown(): Promise<void> {
    closing = true;
    if (line.size() > 0) {
      line.resumeAll();
      // What came over these connections is read in the next turn: closing them before would cut it off unheard.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // A connection that was busy just now becomes idle, and `close` does not look again. A request may still be on its way over a new one.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      connections.closeUnused();
    }, SWEEP_MS);
    if (!(await within(config.shutdownMs, closed))) {
      for (const { lifetime } of itemsOf(running)) cancel(lifetime, new Error('The server is shutting down.'));
      await within(CONNECTION_END_MS, closed);
      server.closeAllConnections();
      await closed;
    }
    clearInterval(sweep);
  }

  const state = (): ServerState => {
    const { catalog, event } = upstream.state();
    return {
      connections: connections.size(),
      connectionsWaiting: line.size(),
      requestsRunning: running.size,
      operationsRunning: admission.running(),
      operationsWaiting: admission.waiting(),
      deadlines: admission.timers() + bodies.reading() + pipeline.running() + catalog.deadlines + event.deadlines,
      callsRunning: catalog.running + event.running,
      callsWaiting: catalog.waiting + event.waiting,
      unsentBytes: unsent.bytes(),
      unreadConnections: unsent.connections(),
      sharedReads: upstream.sharedReads(),
    };
  };

  // What is wrong with the tools is told at the start.
  return { server, state, shutDown, ready: async () => config.mcp && mcp() };
}

/**
 * Whether an error may be written to the connection: nothing is being answered there, or only the request whose body is malformed.
 * Otherwise the bytes would become part of another response.
 */
function isOpenTo(connection: Connection | undefined): boolean {
  if (!connection) return false;
  const { first, last } = connection.exchanges;
  return first === last && (!first || (!first.item.request.complete && first.item.isOpen));
}

/** For stream errors that are handled at `close`: without a listener they would end the process. */
const ignore = (): void => undefined;

async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
