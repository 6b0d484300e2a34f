import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { isMultipart, readQuestion, refuseForgery } from './body.ts';
import type { Question } from './body.ts';
import { graphiqlPage, graphiqlPolicy } from './graphiql.ts';
import type { Tab } from './graphiql.ts';
import { createDoor } from './door.ts';
import { createAdmission, refuseQuickly } from './admission.ts';
import { createHealth } from './health.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { createPipeline } from './pipeline.ts';
import { refusalBody, RequestRefusal, sendRefusal } from './refusal.ts';
import type { Telemetry } from './telemetry.ts';
import { readUpload } from './uploads.ts';
import { watchServices } from './watch.ts';
import { createYogaDoor } from './yoga.ts';
import type { Passage } from './yoga.ts';
import { spanFrom } from '../upstream/span.ts';
import type { UpstreamSource } from '../upstream/upstream.ts';

export interface Facade {
  url: string;
  port: number;
  close(): Promise<void>;
}

export interface ServerParts {
  schema: GraphQLSchema;
  /** How the service is asked; the pipeline alone knows it. */
  upstream: UpstreamSource;
  log: Logger;
  /** The pages GraphiQL opens with. */
  tabs?: readonly Tab[];
  metrics?: Metrics;
  /** Where spans go; nowhere unless it is named. */
  telemetry?: Telemetry | undefined;
}

/** What is left of ten seconds for closing pools and the database. */
const CONNECTION_END_MS = 500;

/** Opens the port. Whoever calls `close` gets a facade that ends what it began. */
export async function openServer(config: Config, parts: ServerParts): Promise<Facade> {
  const { schema, upstream, log, tabs = [], metrics = createMetrics(), telemetry } = parts;
  const pipeline = createPipeline({ schema, config, upstream, log, metrics, telemetry });
  const demoToken = config.ownOrigin && config.demoTokens ? 'demo-alice' : undefined;
  const page = config.graphiql ? graphiqlPage(tabs, demoToken) : undefined;
  const door = createDoor(pipeline);
  const yoga = createYogaDoor({ schema, pipeline, page, log });
  const health = createHealth(config);
  const running = new Set<AbortController>();
  const admission = createAdmission(config);
  let closing = false;
  const requests = metrics.counter('catalog_requests_total', 'HTTP requests by path and status.');
  metrics.gauge('catalog_requests_running', 'HTTP requests being answered.', () => running.size);
  metrics.gauge('catalog_operations_running', 'Operations under way.', admission.running);
  metrics.gauge('catalog_operations_waiting', 'Operations that wait to run.', admission.waiting);
  watchServices(metrics, upstream);
  const overloads = metrics.counter('catalog_overloads_total', 'Requests refused because there were too many.');
  /** Connections past the number that can be served soon: a request waits on its connection until those of all others were read. */
  const surplus = new WeakSet<Socket>();

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, passage: Passing) => unknown> = {
    '/graphql': graphql,
    '/health': (request, response) => json(request, response, 200, { status: 'ok' }),
    '/ready': async (request, response) => {
      if (closing) return json(request, response, 503, { status: 'shutting down' });
      const { ready, upstreams } = await health.check();
      return json(request, response, ready ? 200 : 503, { status: ready ? 'ready' : 'unreachable', upstreams });
    },
    '/metrics': (request, response) => {
      onlyRead(request);
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : metrics.text());
    },
  };

  async function graphql(request: IncomingMessage, response: ServerResponse, { requestId, signal }: Passing) {
    admitOrigin(request, response, config.corsOrigins);
    response.setHeader('vary', config.corsOrigins.length > 0 ? `${VARY}, Origin` : VARY);
    if (request.method === 'OPTIONS') return void response.writeHead(204, { allow: 'GET, POST, OPTIONS' }).end();
    let arrival: Promise<void> | undefined;
    let question: Question | undefined;
    if (request.method === 'POST') {
      refuseForgery(request);
      const uploading = isMultipart(request) ? await readUpload(request, response, config) : undefined;
      arrival = uploading?.arrival;
      question = uploading?.question ?? (await readQuestion(request, config));
      // Whoever reads on takes the body from here: the stream is spent, or is for the files alone.
      Object.assign(request, { body: question });
      // The question is JSON now, whatever it came as.
      request.headers['content-type'] = 'application/json';
    } else if (request.method !== 'GET') {
      throw new RequestRefusal(405, 'METHOD_NOT_ALLOWED', 'Use GET or POST.', { allow: 'GET, POST, OPTIONS' });
    }
    if (page && request.headers.accept?.includes('text/html')) {
      response.setHeader('content-security-policy', graphiqlPolicy);
    }
    const caller = {
      authorization: request.headers.authorization,
      explain: config.explain ? one(request.headers['x-explain']) : undefined,
      address: request.socket.remoteAddress ?? '',
      requestId,
      span: spanFrom(one(request.headers.traceparent), one(request.headers.tracestate)),
      arrival,
    };
    const passage: Passage = { caller, signal };
    const leave = await admission.enter(signal);
    try {
      if (question && !arrival && (await door(question, request, response, passage))) return;
      await yoga(request, response, passage);
    } finally {
      leave(); // not when the client has read it all: who does not read must not keep others out
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (admission.isFull() || surplus.has(request.socket)) {
      const isProbe = request.url === '/health' || request.url === '/ready' || request.url === '/metrics';
      if (!isProbe) {
        admitOrigin(request, response, config.corsOrigins);
        if (surplus.has(request.socket)) response.setHeader('connection', 'close');
        overloads.add();
        return refuseQuickly(response);
      }
    }
    const started = performance.now();
    const controller = new AbortController();
    const requestId = requestIdOf(request);
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.setHeader('x-request-id', requestId);
    response.setHeader('x-content-type-options', 'nosniff');
    if (closing) response.setHeader('connection', 'close');
    running.add(controller);
    response.once('close', () => {
      running.delete(controller);
      if (!response.writableFinished) controller.abort();
      const status = response.statusCode;
      requests.add({ path: path in routes ? path : 'other', status: String(status) });
      const ms = Math.round(performance.now() - started);
      log.debug({ requestId, method: request.method, path, status, ms }, 'request');
    });
    try {
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (!route) throw new RequestRefusal(404, 'NOT_FOUND', 'There is nothing here; the graph is at /graphql.');
      await route(request, response, { requestId, signal: controller.signal });
    } catch (error) {
      if (!(error instanceof RequestRefusal)) log.error({ err: error, requestId }, 'a request failed');
      sendRefusal(
        request,
        response,
        error instanceof RequestRefusal
          ? error
          : new RequestRefusal(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong.'),
      );
    }
  }

  const server = createServer(
    {
      maxHeaderSize: config.maxHeaderBytes,
      headersTimeout: config.requestHeadersTimeoutMs,
      requestTimeout: 0, // bodies have clocks of their own: an upload may take longer than a question
      connectionsCheckingInterval: Math.min(1_000, config.requestHeadersTimeoutMs),
      keepAliveTimeout: 65_000, // longer than the balancers in front, which must be the ones to hang up
    },
    (request, response) => void handle(request, response),
  );
  server.timeout = config.connectionTimeoutMs;
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    if (++connections > config.maxClientConnections) surplus.add(socket);
    socket.once('close', () => connections--);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Beyond this the system lets a client's connection wait for seconds before it tries again.
    server.listen({ port: config.port, host: config.host, backlog: 4_096 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;

  async function end(): Promise<void> {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // A connection that was busy just now becomes idle, and `close` does not look again.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    if (!(await within(config.shutdownMs, closed))) {
      for (const controller of running) controller.abort();
      await within(CONNECTION_END_MS, closed);
      server.closeAllConnections();
      await closed;
    }
    clearInterval(sweep);
  }

  let ended: Promise<void> | undefined;
  return { url: `http://${shownHost(config.host)}:${port}`, port, close: () => (ended ??= end()) };
}

interface Passing {
  requestId: string;
  signal: AbortSignal;
}

const VARY = 'Authorization, Accept, x-explain';

/** Names the origins that were listed and no other; credentials travel in a header, so cookies are never asked for. */
function admitOrigin(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (!origin || !origins.includes(origin)) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'x-request-id, retry-after');
  if (request.method !== 'OPTIONS') return;
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader(
    'access-control-allow-headers',
    'authorization, content-type, x-explain, x-request-id, x-graphql-csrf, apollo-require-preflight',
  );
  response.setHeader('access-control-max-age', '86400');
}

function requestIdOf(request: IncomingMessage): string {
  const given = one(request.headers['x-request-id']);
  return given && /^[A-Za-z0-9_.-]{1,64}$/.test(given) ? given : randomUUID();
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RequestRefusal(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}

function json(request: IncomingMessage, response: ServerResponse, status: number, value: object): void {
  onlyRead(request);
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** What never became a request: headers too large, too slow, or no HTTP at all. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, code, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'HEADERS_TOO_LARGE', 'The headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'REQUEST_TIMEOUT', 'The headers took too long.']
        : ['400 Bad Request', 'BAD_REQUEST', 'This is not an HTTP request.'];
  const body = refusalBody(code, message);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
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
