/** The HTTP server: accepts connections and requests, rejects those for which there is no room, and gives the others to their routes. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../../../config/settings.ts';
import { cancel } from '../../../lib/cancellation.ts';
import type { Metrics, Counts } from '../../observability/metrics.ts';
import type { Admission } from './admission.ts';
import { type EndSettings, type HeaderSettings, endConnection, parseErrorOf } from './broken-connection.ts';
import { Compression } from '../response/compression.ts';
import { CLOSE, type Connection, type ConnectionSettings, type Connections, trackConnections } from './connections.ts';
import { Exchange } from '../exchange.ts';
import { MAX_HEADERS, addCorsHeaders, checkHeaders, requestIdOf } from '../request/headers.ts';
import {
  type ErrorFormat,
  HttpError,
  httpErrorBody,
  notFound,
  notStored,
  overloaded,
  sendHttpError,
} from '../response/http-error.ts';
import type { StatusOf } from '../response/status.ts';
import { acceptedTypes } from '../request/accept.ts';
import { UnreadBytes } from './unread-bytes.ts';

/** Responds to a request; throws or rejects with an HttpError to reject it. */
export type RouteHandler = (exchange: Exchange) => unknown;

export interface HttpRoute {
  readonly handler: RouteHandler;
  /** It is answered even without room for operations. */
  readonly isProbe?: boolean;
  /** The format of its errors, and of those below its path. */
  readonly errorFormat?: ErrorFormat;
  /** Its clients end addresses with a slash too. Proxies hide routes for operators by their exact paths. */
  readonly mayEndInSlash?: boolean;
}

type HttpSettings = ConnectionSettings &
  EndSettings &
  HeaderSettings &
  Pick<Config, 'maxUnsentBytes' | 'compression' | 'httpStatuses'>;

interface ParseError extends NodeJS.ErrnoException {
  /** The bytes in which it was found. */
  rawPacket?: Buffer;
}

interface HttpServerParts {
  config: HttpSettings;
  statusOf: StatusOf;
  log: Logger;
  metrics: Metrics;
  admission: Admission;
}

/** How long the connection of a rejected request is not read: its client may retry at once, and many would take the time of operations. */
const REJECTED_PAUSE_MS = 50;

/** One for all, because there are many under overload. */
const OVERLOADED = overloaded();

const ALLOWED_ORIGIN = 'access-control-allow-origin';

export class HttpServer {
  readonly server: Server;
  readonly connections: Connections;
  readonly unsent: UnreadBytes;
  /** Undefined if it is off. */
  readonly compression: Compression | undefined;
  /** Set at shutdown: `/ready` says so. */
  isDraining = false;
  /** Each connection closes after its current request. */
  isClosing = false;

  /** By path. */
  private routes: ReadonlyMap<string, HttpRoute> = new Map();
  private readonly parts: HttpServerParts;
  private readonly successes: Counts;

  constructor(parts: HttpServerParts) {
    const { config, metrics } = parts;
    this.parts = parts;
    this.compression = config.compression ? new Compression() : undefined;
    this.successes = metrics.counts(metrics.requests.labels({ path: '/graphql', status: '200' }));
    this.server = createServer(
      {
        maxHeaderSize: config.maxHeaderBytes,
        headersTimeout: config.requestHeadersTimeoutMs,
        requireHostHeader: false, // `checkHeaders` rejects a missing Host with a code
        requestTimeout: 0, // bodies have deadlines of their own: an upload may take longer than a query
        connectionsCheckingInterval: Math.min(1_000, config.requestHeadersTimeoutMs),
      },
      (request, response) => this.onRequest(request, response),
    );
    this.server.maxHeadersCount = MAX_HEADERS + 1;
    this.server.on('clientError', (error: ParseError, socket: Socket) => this.onParseError(error, socket));
    this.unsent = new UnreadBytes(config, () => metrics.unreadConnections.inc());
    this.connections = trackConnections(this.server, config, this.unsent);
  }

  /** Routes by their paths. */
  serve(routes: Readonly<Record<string, HttpRoute>>): void {
    this.routes = new Map(Object.entries(routes));
  }

  private onParseError({ code, rawPacket }: ParseError, socket: Socket): void {
    const connection = this.connections.open.get(socket);
    if (!connection || code === 'ECONNRESET') socket.destroy();
    else if (!connection.isBroken) {
      const { config } = this.parts;
      endConnection(socket, connection, parseErrorOf(code, rawPacket, config), rawPacket, config);
    } else if (socket.writable) socket.pause(); // further bytes wait; after the response they are discarded
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', ignore);
    response.on('error', ignore);
    const connection = this.connections.open.get(request.socket);
    if (!connection) return void response.destroy();
    connection.inTurn(() => {
      if (connection.isBroken && !request.complete) return connection.next();
      response.on('close', () => {
        connection.exchange?.close();
        connection.next();
      });
      this.handle(connection, request, response).catch((error: unknown) => {
        this.parts.log.error({ err: error }, 'a request failed, and no error could be sent');
        response.destroy();
      });
    });
  }

  private async handle(connection: Connection, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = this.pathOf(request);
    const route = this.routes.get(path);
    const hasRoom = !connection.isOverLimit && this.parts.admission.freeSlots() > 0;
    if (!hasRoom && !route?.isProbe) return this.rejectOverload(connection, request, response);
    const exchange = this.startExchange(connection, request, response, path);
    try {
      checkHeaders(request);
      if (route) await route.handler(exchange);
      else this.sendNotFound(exchange);
    } catch (error) {
      this.sendError(exchange, error);
    }
  }

  private rejectOverload({ isOverLimit }: Connection, request: IncomingMessage, response: ServerResponse): void {
    const { config, metrics } = this.parts;
    const headers: string[] = [];
    addCorsHeaders(request, headers, config.corsOrigins);
    if (isOverLimit || this.isClosing || !response.shouldKeepAlive) headers.push(...CLOSE);
    // Not before the request is closed: reading its body would resume the socket.
    else request.once('close', () => pause(request.socket, REJECTED_PAUSE_MS));
    metrics.overloads.inc();
    const body = httpErrorBody(OVERLOADED, config, this.errorFormatOf(request));
    headers.push('content-type', 'application/json; charset=utf-8', ...Object.entries(OVERLOADED.headers).flat());
    headers.push(...Object.entries(notStored(request)).flat(), 'content-length', String(Buffer.byteLength(body)));
    response.writeHead(OVERLOADED.status, headers).end(body);
  }

  private startExchange(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Exchange {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const headers = ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
    if (this.isClosing || connection.isOverLimit || !response.shouldKeepAlive) headers.push(...CLOSE);
    const exchange = new Exchange(request, response, this.unsent, requestId, headers, this.compression);
    connection.exchange = exchange;
    exchange.onClose(() => {
      connection.exchange = undefined;
      this.endExchange(exchange, path, startedAt);
    });
    return exchange;
  }

  private endExchange({ request, response, requestId, lifetime }: Exchange, path: string, startedAt: number): void {
    if (!response.writableFinished) cancel(lifetime, new Error('The client disconnected.'));
    const { statusCode: status } = response;
    const ms = performance.now() - startedAt;
    const { metrics, log } = this.parts;
    if (status === 200 && path === '/graphql') this.successes.inc();
    else metrics.requests.inc({ path: this.routes.has(path) ? path : 'other', status: String(status) });
    if (log.isLevelEnabled('debug'))
      log.debug({ requestId, method: request.method, path, status, ms: Math.round(ms) }, 'request');
  }

  /** A preflight is allowed at any path: pages could not read the 404 of the request otherwise. */
  private sendNotFound({ request, response, headers }: Exchange): void {
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
      throw notFound();
    addCorsHeaders(request, headers, this.parts.config.corsOrigins);
    if (!headers.includes(ALLOWED_ORIGIN)) throw notFound();
    response.writeHead(204, [...headers, 'vary', 'Origin']).end();
  }

  /** Responds with an HttpError. Any other error is logged, and the client gets a masked 500. */
  private sendError(exchange: Exchange, error: unknown): void {
    const { log, config } = this.parts;
    const isHttpError = error instanceof HttpError;
    if (!isHttpError) log.error({ err: error, requestId: exchange.requestId }, 'a request failed');
    // Routes that many pages use have added them before.
    if (!exchange.headers.includes(ALLOWED_ORIGIN)) {
      addCorsHeaders(exchange.request, exchange.headers, config.corsOrigins);
      if (config.corsOrigins.length > 0 && !exchange.headers.includes('vary')) exchange.headers.push('vary', 'Origin');
    }
    const sent = isHttpError ? error : new HttpError('INTERNAL_SERVER_ERROR', 'Something went wrong.');
    const format = this.errorFormatOf(exchange.request);
    const media = this.errorMediaOf(exchange.request, sent);
    sendHttpError(exchange, sent, { format, media, statusOf: this.parts.statusOf }, config);
  }

  /** Since 2026 a request that is at fault has an error in the type that its client prefers, by which it knows it from those of proxies. */
  private errorMediaOf(request: IncomingMessage, { status }: HttpError): string {
    const isGraphql = this.parts.config.httpStatuses === '2026' && status < 500 && this.pathOf(request) === '/graphql';
    return (isGraphql && acceptedTypes(request.headers.accept).json) || 'application/json';
  }

  private errorFormatOf(request: IncomingMessage): ErrorFormat {
    const [, first] = this.pathOf(request).split('/', 2);
    return this.routes.get(`/${first}`)?.errorFormat ?? 'graphql';
  }

  /** The path of the route: without the query, the scheme and host of the absolute form, and a slash at the end of some. */
  private pathOf({ url = '/' }: IncomingMessage): string {
    if (url === '/graphql') return url;
    const path = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] || '/';
    const withoutSlash = path.replace(/\/$/, '');
    return this.routes.get(withoutSlash)?.mayEndInSlash ? withoutSlash : path;
  }
}

function pause(socket: Socket, ms: number): void {
  socket.pause();
  setTimeout(() => socket.resume(), ms).unref();
}

/** For stream errors that are handled at `close`: without a listener they would end the process. */
const ignore = (): void => undefined;
