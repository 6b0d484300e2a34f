import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import {
  createBodyReader,
  explainIn,
  isJson,
  isMultipart,
  questionIn,
  refuseBrokenParameters,
  refuseForgery,
} from './body.ts';
import type { RawQuestion } from './body.ts';
import { graphiqlPage, graphiqlPolicy } from './graphiql.ts';
import type { Panel, Tab } from './graphiql.ts';
import { createAnswers } from './answers.ts';
import { type Asked, createDoor } from './door.ts';
import { createAdmission, refuseQuickly } from './admission.ts';
import { cacheControl } from './cachecontrol.ts';
import { clientAddress } from './clientaddress.ts';
import { type Connection, KEPT, LAST, UNUSED_MS, watchConnections } from './connections.ts';
import { Exchange } from './exchange.ts';
import { MAX_HEADERS, VARY, admitOrigin, one, refuseBrokenHeaders, requestIdOf } from './headers.ts';
import { createHealth } from './health.ts';
import { createLine } from './line.ts';
import { type Metrics, createMetrics } from './metrics.ts';
import { createPersisted, plainQuestion } from './persisted.ts';
import { createPipeline } from './pipeline.ts';
import { HELP_PATH, errorsPage, errorsPolicy } from './help.ts';
import { refuseConnection, RequestRefusal, sendRefusal } from './refusal.ts';
import { sendBody } from './send.ts';
import type { ServerState } from './state.ts';
import type { Telemetry } from './telemetry.ts';
import { createUnsentBytes } from './unsent.ts';
import { readUpload } from './uploads.ts';
import { watchServices } from './watch.ts';
import type { Passage } from './yoga.ts';
import { end } from '../upstream/lifetime.ts';
import { createQueue, join, leave, membersOf } from '../upstream/queue.ts';
import { newSpan, spanFrom } from '../upstream/span.ts';
import type { UpstreamSource } from '../upstream/upstream.ts';

export interface Facade {
  url: string;
  port: number;
  /** What is under way now; all zero when nobody asks. */
  state(): ServerState;
  close(): Promise<void>;
}

export interface ServerParts {
  schema: GraphQLSchema;
  /** How the service is asked; the pipeline alone knows it. */
  upstream: UpstreamSource;
  log: Logger;
  /** The pages GraphiQL opens with. */
  tabs?: readonly Tab[];
  /** What shows the calls of an operation there. */
  panel?: Panel;
  metrics?: Metrics;
  /** Where spans go; nowhere unless it is named. */
  telemetry?: Telemetry | undefined;
  /** Everything is run by graphql-js: for comparison. */
  byReference?: boolean;
}

/** For what was ended to be told; what is left of ten seconds is for closing pools and the database. */
const CONNECTION_END_MS = 1_000;
/** How often a server that shuts down closes the connections that nothing goes on over. */
const SWEEP_MS = 50;

/** Opens the port. Whoever calls `close` gets a facade that ends what it began. */
export async function openServer(config: Config, parts: ServerParts): Promise<Facade> {
  const { server, state, shutDown } = createGraphServer(config, parts);
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
): { server: Server; state: () => ServerState; shutDown: () => Promise<void> } {
  const { schema, upstream, log, tabs = [], panel, metrics = createMetrics(), telemetry, byReference } = parts;
  const pipeline = createPipeline({ schema, config, upstream, log, metrics, telemetry, byReference });
  const demoToken = config.ownOrigin && config.demoTokens ? 'demo-alice' : undefined;
  const persisted = createPersisted(config, pipeline, metrics);
  const door = createDoor(pipeline, createAnswers(upstream.epoch), upstream.epoch);
  // Large, and many a server is never asked for them: they come with the first request that wants them.
  const page = config.graphiql
    ? lazily(() => graphiqlPage(tabs, demoToken, config.explain ? panel : undefined))
    : undefined;
  const pagePolicy = page && lazily(async () => graphiqlPolicy(await page()));
  const unusual = lazily(async () => {
    const { createYogaDoor } = await import('./yoga.ts');
    return createYogaDoor({ schema, pipeline, persisted, page, log });
  });
  const bodies = createBodyReader(config);
  const addressOf = clientAddress(config.trustedProxies);
  const health = createHealth(config);
  const running = createQueue<Exchange>();
  const admission = createAdmission(config);
  const line = createLine(admission.room);
  const unsent = createUnsentBytes(config, () => metrics.unreadConnections.inc());
  let closing = false;
  const usualRequests = metrics.requests.labels({ path: '/graphql', status: '200' });
  metrics.gauge('catalog_requests_running', 'HTTP requests being answered.', () => running.size);
  metrics.gauge('catalog_operations_running', 'Operations under way.', admission.running);
  metrics.gauge('catalog_operations_waiting', 'Operations that wait to run.', admission.waiting);
  metrics.gauge('catalog_connections_waiting', 'Connections that are read when it is their turn.', line.size);
  metrics.gauge('catalog_unsent_bytes', 'Bytes of answers that clients have yet to read.', unsent.bytes);
  watchServices(metrics, upstream);

  const routes: Record<string, (exchange: Exchange) => unknown> = {
    '/graphql': graphql,
    '/health': (exchange) => json(exchange, 200, { status: 'ok' }),
    '/ready': async (exchange) => {
      if (closing) return json(exchange, 503, { status: 'shutting down' });
      // It would be refused, and others may have room.
      if (admission.isStuck()) return json(exchange, 503, { status: 'overloaded' });
      const { ready, upstreams } = await health.check();
      const status = ready ? 'ready' : 'unreachable';
      return json(exchange, ready ? 200 : 503, { status, upstreams });
    },
    '/metrics': async (exchange) => {
      const headers = { 'content-type': metrics.contentType, 'cache-control': 'no-store' };
      read(exchange, 200, headers, await metrics.text());
    },
    [HELP_PATH]: (exchange) => {
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': errorsPolicy };
      read(exchange, 200, headers, errorsPage);
    },
  };

  const vary = config.corsOrigins.length > 0 ? `${VARY}, Origin` : VARY;

  async function graphql(exchange: Exchange): Promise<void> {
    const { request, response, requestId, lifetime } = exchange;
    const { headers } = request;
    exchange.headers.push('vary', vary);
    if (headers.origin) admitOrigin(request, exchange.headers, config.corsOrigins);
    if (request.method === 'OPTIONS') {
      exchange.setHeaders();
      return void response.writeHead(204, { allow: 'GET, POST, OPTIONS' }).end();
    }
    const onReusable = cacheControl(request, response);
    let arrival: Promise<void> | undefined;
    let question: RawQuestion | undefined;
    let body: string | undefined;
    if (request.method === 'POST') {
      refuseForgery(request);
      const uploading = isMultipart(request) ? await readUpload(exchange, config) : undefined;
      arrival = uploading?.arrival;
      question = uploading?.question;
      if (!uploading) body = await bodies.read(request);
    } else if (request.method === 'GET') refuseBrokenParameters(request);
    else {
      throw new RequestRefusal(405, 'METHOD_NOT_ALLOWED', 'Use GET or POST.', { allow: 'GET, POST, OPTIONS' });
    }
    // A trace that nobody collects is not begun: it would only have the service record it.
    const spanOf = () =>
      spanFrom(one(headers.traceparent), one(headers.tracestate)) ?? (telemetry ? newSpan() : undefined);
    const who = { authorization: headers.authorization, explain: config.explain ? explainIn(request) : undefined };
    let plain: Asked | undefined;
    if (body !== undefined) {
      if (isJson(request)) plain = { body, accept: headers.accept, exchange };
      if (plain && door.again(plain, who, spanOf)) return;
      question = questionIn(body, request);
    }
    const caller = {
      authorization: who.authorization,
      explain: who.explain,
      address: addressOf(request),
      requestId,
      accept: headers.accept,
      span: spanOf(),
      arrival,
      onReusable,
    };
    const passage: Passage = { caller, lifetime, question };
    const entered = admission.enter({ lifetime, arrival, onOverdue: () => abandon(exchange) });
    const slot = entered instanceof Promise ? await entered : entered;
    exchange.onClose(slot.release);
    try {
      const whole = question && plain ? plainQuestion(question, persisted, passage) : undefined;
      if (whole && plain && (await door.ask(whole, plain, passage))) return;
      exchange.setHeaders();
      if (pagePolicy && headers.accept?.includes('text/html')) {
        response.setHeader('content-security-policy', await pagePolicy());
      }
      const yoga = await unusual();
      await yoga(exchange, passage);
    } finally {
      slot.release(); // not when the client has read it all: who does not read must not keep others out
    }
  }

  /** Answers for an operation that did not end in time, whatever became of it. */
  function abandon(exchange: Exchange): void {
    log.error({ requestId: exchange.requestId }, 'an operation did not end after its deadline, and was given up');
    end(exchange.lifetime, new Error('The operation did not end.'));
    fail(exchange, new RequestRefusal(500, 'INTERNAL_SERVER_ERROR', 'The operation did not end in time.'));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = connections.of(request.socket);
    if (!connection) return void response.destroy();
    const { isSurplus, exchanges } = connection;
    // Those whose bodies have come in this turn are not counted there yet.
    if (isSurplus || admission.room() <= bodies.whole()) {
      const isProbe = request.url === '/health' || request.url === '/ready' || request.url === '/metrics';
      if (!isProbe) {
        const standing: string[] = [];
        admitOrigin(request, standing, config.corsOrigins);
        if (isSurplus || closing || !response.shouldKeepAlive) standing.push(...LAST);
        else {
          standing.push(...KEPT);
          request.once('close', () => line.join(request.socket)); // reading its body would end the pause
        }
        metrics.overloads.inc();
        return refuseQuickly(response, standing);
      }
    }
    const started = performance.now();
    const requestId = requestIdOf(request);
    const url = request.url ?? '/';
    const path = url === '/graphql' ? url : url.split('?', 1)[0]!;
    const keeping = closing || !response.shouldKeepAlive ? LAST : KEPT;
    const standing = ['x-request-id', requestId, 'x-content-type-options', 'nosniff', keeping[0], keeping[1]];
    const exchange = new Exchange(request, response, connection, requestId, standing);
    const place = join(running, exchange);
    const placeThere = join(exchanges, exchange);
    response.on('close', () => exchange.close());
    exchange.onClose(() => {
      leave(running, place);
      leave(exchanges, placeThere);
      // Who was answered comes after those who were not.
      if (line.size() > 0 && path === '/graphql' && request.complete && !closing) line.join(request.socket);
      if (!response.writableFinished) end(exchange.lifetime, new Error('The client has left.'));
      const { statusCode: status } = response;
      if (status === 200 && path === '/graphql') usualRequests.inc();
      else metrics.requests.inc({ path: Object.hasOwn(routes, path) ? path : 'other', status: String(status) });
      if (!log.isLevelEnabled('debug')) return;
      const ms = Math.round(performance.now() - started);
      log.debug({ requestId, method: request.method, path, status, ms }, 'request');
    });
    try {
      refuseBrokenHeaders(request);
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (!route) throw new RequestRefusal(404, 'NOT_FOUND', 'There is nothing here; the graph is at /graphql.');
      await route(exchange);
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** Answers with the refusal; with a 500 of ours, and a line in the log, where it is none. */
  function fail(exchange: Exchange, error: unknown): void {
    const { request, response, requestId } = exchange;
    const isRefusal = error instanceof RequestRefusal;
    if (!isRefusal) log.error({ err: error, requestId }, 'a request failed');
    if (exchange.isClosed || response.writableEnded) return;
    if (!response.headersSent) exchange.setHeaders();
    const refusal = isRefusal ? error : new RequestRefusal(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong.');
    sendRefusal(request, response, refusal, config.requestBodyTimeoutMs);
  }

  const server = createServer(
    {
      maxHeaderSize: config.maxHeaderBytes,
      headersTimeout: config.requestHeadersTimeoutMs,
      requireHostHeader: false, // the refusal of that is ours, with a code
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
  const connections = watchConnections(server, { ...config, unusedMs: UNUSED_MS }, unsent);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (isOpenTo(connections.of(socket))) refuseConnection(error, socket, config);
    else socket.destroy();
  });

  async function shutDown(): Promise<void> {
    closing = true;
    if (line.size() > 0) {
      line.end();
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
      for (const { lifetime } of membersOf(running)) end(lifetime, new Error('The server is shutting down.'));
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

  return { server, state, shutDown };
}

/**
 * Whether bytes that are written to the connection now are no part of another answer: nothing is being answered there, or only the
 * request whose body is at fault.
 */
function isOpenTo(connection: Connection | undefined): boolean {
  if (!connection) return false;
  const { first, last } = connection.exchanges;
  return first === last && (!first || (!first.who.request.complete && first.who.isOpen));
}

/** For errors of a stream whose end is noticed by its `close`: without a listener they would end the process. */
const ignore = (): void => undefined;

/** Made when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RequestRefusal(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}

function json(exchange: Exchange, status: number, value: object): void {
  read(
    exchange,
    status,
    { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    JSON.stringify(value),
  );
}

/** Answers a request that only reads. */
function read(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  const { request, response } = exchange;
  onlyRead(request);
  exchange.setHeaders();
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  sendBody(exchange, request.method === 'HEAD' ? undefined : body);
}

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
