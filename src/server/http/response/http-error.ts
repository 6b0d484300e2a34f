import type { IncomingMessage } from 'node:http';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Config } from '../../../config/settings.ts';
import { isLoopback } from '../../../config/start-warnings.ts';
import { type Advice, type ClientCode, notesOn } from '../../../engine/errors/codes.ts';
import { withoutStack } from '../../../upstream/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { StatusOf } from './status.ts';

interface HttpErrorOptions {
  status?: number | undefined;
  headers?: Readonly<Record<string, string>>;
  isExact?: boolean;
  /** What clients get in `extensions` beside the code. */
  extensions?: Readonly<Record<string, unknown>>;
}

/** An error of a request that does not become an operation. It is sent in the protocol of its route, with an HTTP status. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;
  /** The status is that of a specification of its own, in every media type. */
  readonly isExact: boolean;
  readonly more: Readonly<Record<string, unknown>>;

  /** `status`: where it is not the one that the table of codes has. */
  constructor(
    code: ClientCode,
    message: string,
    { status, headers = {}, isExact = false, extensions = {} }: HttpErrorOptions = {},
  ) {
    super(message);
    this.name = 'HttpError';
    this.status = status ?? notesOn(code)?.status?.graphql ?? 500;
    this.code = code;
    this.headers = headers;
    this.isExact = isExact;
    this.more = extensions;
  }

  /** What clients need that see the body alone. */
  get extensions(): GraphQLErrorExtensions {
    const { 'retry-after': seconds } = this.headers;
    return { code: this.code, ...this.more, ...(seconds && { retryAfter: Number(seconds) }) };
  }
}

/** Nobody reads the response. */
export const clientLeft = (): HttpError => new HttpError('CLIENT_LEFT', 'The client disconnected.');

export const overloaded = (message = 'The server is overloaded.'): HttpError =>
  new HttpError('OVERLOADED', message, { headers: { 'retry-after': '1' } });

export const notFound = (): HttpError => new HttpError('NOT_FOUND', 'There is nothing here: the graph is at /graphql.');

/** The page of the error codes. */
export const HELP_PATH = '/docs/errors';

export type HelpSettings = Pick<Config, 'helpUrl'>;

type OwnAddress = Pick<Config, 'helpUrl' | 'mcpUrl' | 'production' | 'trustedProxies' | 'host' | 'port'>;

/** The address of the page, if settings tell it. Loopback is the address of clients too, unless a proxy is in front. */
export function helpUrlOf({ helpUrl, mcpUrl, production, trustedProxies, host, port }: OwnAddress): string | undefined {
  if (helpUrl !== undefined) return helpUrl;
  if (mcpUrl !== undefined) return new URL(HELP_PATH, mcpUrl).href;
  const isLocal = !production && trustedProxies.length === 0 && isLoopback(host) && port !== 0;
  return isLocal ? `http://${host.includes(':') ? `[${host}]` : host}:${port}${HELP_PATH}` : undefined;
}

/**
 * What every error says of what to do; undefined for a code that the table does not have. The address is never that of the header Host:
 * stored responses are sent to other clients, and a proxy may hide the scheme.
 */
export function advised(
  code: unknown,
  { helpUrl = HELP_PATH }: HelpSettings,
): { advice: Advice; help: string } | undefined {
  if (typeof code !== 'string') return undefined;
  const notes = notesOn(code);
  return notes && { advice: notes.advice, help: `${helpUrl}#${code}` };
}

/** The errors as they are sent. They are copies, because prepared and stored errors are shared by facades with other settings. */
export const withHelp = (errors: readonly GraphQLError[], settings: HelpSettings): readonly GraphQLError[] =>
  errors.map((error) => {
    const { message, nodes, source, positions, path, originalError, extensions } = error;
    const more = advised(extensions.code, settings);
    if (!more) return error;
    const options = { nodes, source, positions, path, originalError, extensions: { ...extensions, ...more } };
    return withoutStack(() => new GraphQLError(message, options));
  });

/** The rest of a body up to this length is discarded to keep the connection. */
const DISCARDED_MAX = 65_536;

/** The format of errors that the clients of a route read. */
export type ErrorFormat = 'graphql' | 'json-rpc';

/** The code of JSON-RPC for errors of the server. Ours is in `data`. */
const SERVER_ERROR = -32_000;

export function httpErrorBody(
  error: HttpError,
  settings: HelpSettings,
  format: ErrorFormat,
  requestId?: string,
): string {
  const { code, message } = error;
  const details = { code, requestId, ...error.more, ...advised(code, settings) };
  if (format === 'graphql') return JSON.stringify({ errors: [{ message, extensions: details }] });
  const data = { ...details, ...error.extensions };
  return JSON.stringify({ jsonrpc: '2.0', error: { code: SERVER_ERROR, message, data }, id: null });
}

/** No cache may store an error. A response to a POST is not stored without such a header. */
export const notStored = ({ method }: Pick<IncomingMessage, 'method'>): Record<string, string> =>
  method === 'POST' ? {} : { 'cache-control': 'no-store' };

/** Sends the error in a media type. A client that is still sending its body may go on for `requestBodyTimeoutMs`. */
export function sendHttpError(
  exchange: Exchange,
  error: HttpError,
  { format, media, statusOf }: { format: ErrorFormat; media: string; statusOf: StatusOf },
  settings: Pick<Config, 'helpUrl' | 'requestBodyTimeoutMs'>,
): void {
  const { request, response, requestId } = exchange;
  if (exchange.isClosed || response.writableEnded) return;
  if (response.headersSent || response.destroyed) return void response.destroy();
  exchange.setHeaders();
  const body = httpErrorBody(error, settings, format, requestId);
  // The connection is closed if the rest of the body is still to come. After a 503 a short rest is read instead, so that the client can
  // retry on the same connection.
  const { 'content-length': length = 0, 'transfer-encoding': transferEncoding } = request.headers;
  const isDiscarded = error.status === 503 && Number(length) <= DISCARDED_MAX;
  const isClosed = !request.complete && (Number(length) > 0 || transferEncoding !== undefined) && !isDiscarded;
  if (isClosed) response.setHeader('connection', 'close');
  const { code, status, isExact } = error;
  const sent = isExact ? status : statusOf({ errors: [{ extensions: { code, http: { status } } }] }, media);
  response.writeHead(sent, {
    'content-type': `${media}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    ...notStored(request),
    ...error.headers,
  });
  if (!isClosed) return void response.end(body);
  response.write(body);
  // The rest is read and discarded. Many clients read only after they have sent everything; if the connection were closed before, they
  // would lose the response.
  const end = () => response.end();
  const timer = setTimeout(end, settings.requestBodyTimeoutMs);
  request.once('end', end).once('close', () => {
    clearTimeout(timer);
    end();
  });
  request.resume();
}
