import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config/settings.ts';
import type { ClientCode } from '../../graph/errors/codes.ts';
import { helpLink } from './help.ts';

/** A request that never becomes an operation: told in the shape of a GraphQL answer, with an HTTP status. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ClientCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'RequestRefusal';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A body that is thrown away sooner than its connection. */
const DUMPED_MAX = 65_536;

export function httpErrorBody(code: ClientCode, message: string, requestId?: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, requestId, help: helpLink(code) } }] });
}

/** `lingerMs`: how long who is still sending may go on. */
export function sendHttpError(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: HttpError,
  lingerMs: number,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = httpErrorBody(refusal.code, refusal.message, String(response.getHeader('x-request-id') ?? ''));
  // What is left of the body is of no use, so the connection is not used again; but who is asked to wait should not have to
  // connect anew.
  const { 'content-length': length = 0, 'transfer-encoding': inChunks } = request.headers;
  const isDumped = refusal.status === 503 && Number(length) <= DUMPED_MAX;
  const isCutOff = !request.complete && (Number(length) > 0 || inChunks !== undefined) && !isDumped;
  if (isCutOff) {
    response.removeHeader('keep-alive');
    response.setHeader('connection', 'close');
  }
  response.writeHead(refusal.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...refusal.headers,
  });
  if (!isCutOff) return void response.end(body);
  response.write(body);
  request.unpipe();
  discardBody(request, lingerMs, () => response.end());
}

/**
 * What still comes of a request is thrown away, for a while: who has not done sending does not read, and closing the connection would take
 * the answer from them. `over` is called, and may be more than once, when they have done, are gone, or have had their time.
 */
export function discardBody(request: IncomingMessage, withinMs: number, over: () => void): void {
  const timer = setTimeout(over, withinMs);
  const end = () => {
    clearTimeout(timer);
    over();
  };
  request.once('end', end);
  request.once('close', end);
  request.resume();
}

type Told = [status: string, code: ClientCode, message: string];

/** What never became a request: headers too large, too slow, or no HTTP at all. */
export function sendParseError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { maxHeaderBytes, requestHeadersTimeoutMs }: Pick<Config, 'maxHeaderBytes' | 'requestHeadersTimeoutMs'>,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, code, message]: Told =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'HEADERS_TOO_LARGE', `Headers have at most ${maxHeaderBytes} bytes.`]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'REQUEST_TIMEOUT', `Headers arrive within ${requestHeadersTimeoutMs} ms.`]
        : ['400 Bad Request', 'BAD_REQUEST', 'This is not an HTTP request.'];
  const body = httpErrorBody(code, message);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
