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
import { KEPT, LAST, UNUSED_MS, watchConnections } from './connections.ts';
import { VARY, admitOrigin, one, requestIdOf } from './headers.ts';
import { createHealth } from './health.ts';
import { createLine } from './line.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { createPersisted, plainQuestion } from './persisted.ts';
import { createPipeline } from './pipeline.ts';
import { HELP_PATH, errorsPage, errorsPolicy } from './help.ts';
import { refuseConnection, RequestRefusal, sendRefusal } from './refusal.ts';
import type { Telemetry } from './telemetry.ts';
import { readUpload } from './uploads.ts';
import { watchServices } from './watch.ts';
import type { Passage } from './yoga.ts';
import { type Lifetime, createLifetime, end } from '../upstream/lifetime.ts';
import { createQueue, join, leave, membersOf } from '../upstream/queue.ts';
import { newSpan, spanFrom } from '../upstream/span.ts';
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

/** Opens the port. Whoever calls `close` gets a facade that ends what it began. */
export async function openServer(config: Config, parts: ServerParts): Promise<Facade> {
  const { server, shutDown } = createGraphServer(config, parts);
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
  return { url: `http://${shownHost(config.host)}:${port}`, port, close: () => (ended ??= shutDown()) };
}

/** All of the server but its port. */
export function createGraphServer(
  config: Config,
  parts: ServerParts,
): { server: Server; shutDown: () => Promise<void> } {
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
  const health = createHealth(config);
  const running = createQueue<Lifetime>();
  const admission = createAdmission(config);
  const line = createLine(admission.room);
  let closing = false;
  const requests = metrics.counter('catalog_requests_total', 'HTTP requests by path and status.');
  const usualRequests = requests.of({ path: '/graphql', status: '200' });
  metrics.gauge('catalog_requests_running', 'HTTP requests being answered.', () => running.size);
  metrics.gauge('catalog_operations_running', 'Operations under way.', admission.running);
  metrics.gauge('catalog_operations_waiting', 'Operations that wait to run.', admission.waiting);
  metrics.gauge('catalog_connections_waiting', 'Connections that are read when it is their turn.', line.size);
  watchServices(metrics, upstream);
  const overloads = metrics.counter('catalog_overloads_total', 'Requests refused because there were too many.');

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, passing: Passing) => unknown> = {
    '/graphql': graphql,
    '/health': (request, response, passing) => json(request, response, passing, 200, { status: 'ok' }),
    '/ready': async (request, response, passing) => {
      if (closing) return json(request, response, passing, 503, { status: 'shutting down' });
      const { ready, upstreams } = await health.check();
      const status = ready ? 'ready' : 'unreachable';
      return json(request, response, passing, ready ? 200 : 503, { status, upstreams });
    },
    '/metrics': (request, response, passing) => {
      onlyRead(request);
      stand(response, passing);
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : metrics.text());
    },
    [HELP_PATH]: (request, response, passing) => {
      onlyRead(request);
      stand(response, passing);
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': errorsPolicy });
      response.end(request.method === 'HEAD' ? undefined : errorsPage);
    },
  };

  const vary = config.corsOrigins.length > 0 ? `${VARY}, Origin` : VARY;

  async function graphql(request: IncomingMessage, response: ServerResponse, passing: Passing): Promise<void> {
    const { headers } = request;
    const { requestId, lifetime, standing } = passing;
    standing.push('vary', vary);
    if (headers.origin) admitOrigin(request, standing, config.corsOrigins);
    if (request.method === 'OPTIONS') {
      stand(response, passing);
      return void response.writeHead(204, { allow: 'GET, POST, OPTIONS' }).end();
    }
    const onReusable = cacheControl(request, response);
    let arrival: Promise<void> | undefined;
    let question: RawQuestion | undefined;
    let body: string | undefined;
    if (request.method === 'POST') {
      refuseForgery(request);
      const uploading = isMultipart(request) ? await readUpload(request, response, config) : undefined;
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
      if (isJson(request)) plain = { body, accept: headers.accept, response, standing };
      if (plain && door.again(plain, who, spanOf)) return;
      question = questionIn(body, request);
    }
    const caller = {
      authorization: who.authorization,
      explain: who.explain,
      address: request.socket.remoteAddress ?? '',
      requestId,
      accept: headers.accept,
      span: spanOf(),
      arrival,
      onReusable,
    };
    const passage: Passage = { caller, lifetime };
    const waiting = admission.enter(lifetime);
    if (waiting) await waiting;
    try {
      const whole = question && plain ? plainQuestion(question, persisted, passage) : undefined;
      if (whole && plain && (await door.ask(whole, plain, passage))) return;
      stand(response, passing);
      if (question) {
        // Whoever reads on takes the body from here: the stream is spent, or is for the files alone.
        Object.assign(request, { body: question });
        // The question is JSON now, whatever it came as.
        headers['content-type'] = 'application/json';
      }
      if (pagePolicy && headers.accept?.includes('text/html')) {
        response.setHeader('content-security-policy', await pagePolicy());
      }
      const yoga = await unusual();
      await yoga(request, response, passage);
    } finally {
      admission.leave(); // not when the client has read it all: who does not read must not keep others out
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = connections.of(request.socket);
    const { isSurplus } = connection;
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
        overloads.add();
        return refuseQuickly(response, standing);
      }
    }
    const started = performance.now();
    const requestId = requestIdOf(request);
    const url = request.url ?? '/';
    const path = url === '/graphql' ? url : url.split('?', 1)[0]!;
    const lifetime = createLifetime();
    const keeping = closing || !response.shouldKeepAlive ? LAST : KEPT;
    const standing = ['x-request-id', requestId, 'x-content-type-options', 'nosniff', keeping[0], keeping[1]];
    const place = join(running, lifetime);
    connection.underWay++;
    response.on('close', () => {
      leave(running, place);
      connection.underWay--;
      // Who was answered comes after those who were not.
      if (line.size() > 0 && path === '/graphql' && request.complete && !closing) line.join(request.socket);
      if (!response.writableFinished) end(lifetime, new Error('The client has left.'));
      const { statusCode: status } = response;
      if (status === 200 && path === '/graphql') usualRequests.add();
      else requests.add({ path: Object.hasOwn(routes, path) ? path : 'other', status: String(status) });
      if (!log.isLevelEnabled('debug')) return;
      const ms = Math.round(performance.now() - started);
      log.debug({ requestId, method: request.method, path, status, ms }, 'request');
    });
    const passing: Passing = { requestId, lifetime, standing };
    try {
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (!route) throw new RequestRefusal(404, 'NOT_FOUND', 'There is nothing here; the graph is at /graphql.');
      await route(request, response, passing);
    } catch (error) {
      if (!(error instanceof RequestRefusal)) log.error({ err: error, requestId }, 'a request failed');
      if (!response.headersSent) stand(response, passing);
      sendRefusal(
        request,
        response,
        error instanceof RequestRefusal
          ? error
          : new RequestRefusal(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong.'),
        config.requestBodyTimeoutMs,
      );
    }
  }

  const server = createServer(
    {
      maxHeaderSize: config.maxHeaderBytes,
      headersTimeout: config.requestHeadersTimeoutMs,
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
  const connections = watchConnections(server, { ...config, unusedMs: UNUSED_MS });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket, config));

  async function shutDown(): Promise<void> {
    closing = true;
    if (line.size() > 0) {
      line.end();
      // What came over these connections is read in the next turn: closing them before would cut it off unheard.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    // A connection that was busy just now becomes idle, and `close` does not look again.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    if (!(await within(config.shutdownMs, closed))) {
      for (const lifetime of membersOf(running)) end(lifetime, new Error('The server is shutting down.'));
      await within(CONNECTION_END_MS, closed);
      server.closeAllConnections();
      await closed;
    }
    clearInterval(sweep);
  }

  return { server, shutDown };
}

/** For errors of a stream whose end is noticed by its `close`: without a listener they would end the process. */
const ignore = (): void => undefined;

/** Made when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

interface Passing {
  requestId: string;
  lifetime: Lifetime;
  /** Headers that the answer carries, whatever it is: names and values in turn. */
  standing: string[];
}

function stand(response: ServerResponse, { standing }: Passing): void {
  for (let at = 0; at < standing.length; at += 2) response.setHeader(standing[at]!, standing[at + 1]!);
}

function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RequestRefusal(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}

function json(
  request: IncomingMessage,
  response: ServerResponse,
  passing: Passing,
  status: number,
  value: object,
): void {
  onlyRead(request);
  stand(response, passing);
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
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
