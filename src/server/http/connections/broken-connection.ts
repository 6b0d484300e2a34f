/** Ends connections on which no further request can be read. What was complete is answered before. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../../config/settings.ts';
import type { Connection } from './connections.ts';
import { corsHeaders } from '../request/headers.ts';
import { type HelpSettings, HttpError, httpErrorBody } from '../response/http-error.ts';

export type HeaderSettings = Pick<Config, 'maxHeaderBytes' | 'requestHeadersTimeoutMs'>;

/** What the end of a connection needs. */
export type EndSettings = HelpSettings & Pick<Config, 'corsOrigins' | 'requestBodyTimeoutMs'>;

/** The error of bytes that Node could not parse as a request: headers that are too large or too slow, or no HTTP. */
export function parseErrorOf(code: string | undefined, bytes: Buffer | undefined, config: HeaderSettings): HttpError {
  const { maxHeaderBytes, requestHeadersTimeoutMs } = config;
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The URL and the headers must have at most ${maxHeaderBytes} bytes.`;
    return new HttpError('HEADERS_TOO_LARGE', message, { status: isLongLine(bytes, maxHeaderBytes) ? 414 : undefined });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpError('REQUEST_TIMEOUT', `The headers must arrive within ${requestHeadersTimeoutMs} ms.`);
  return new HttpError('BAD_REQUEST', 'This is not an HTTP request.', { status: 400 });
}

/** Whether the bytes begin with a request line that alone is too long. */
const isLongLine = (bytes: Buffer | undefined, max: number): boolean =>
  /^[A-Z]+ [^\r\n]*$/.test(bytes?.toString('latin1', 0, max) ?? '');

/** The origin in headers that Node did not parse to their end. */
const originIn = (bytes: Buffer | undefined): string | undefined =>
  /\r\norigin:([^\r\n]+)\r\n/i.exec(bytes?.toString('latin1') ?? '')?.[1]?.trim();

/**
 * Sends the error after the responses to all complete requests, and closes the connection. It is read meanwhile: bytes that are unread at
 * its end would make the system drop what the client has not received yet. `bytes`: those in which the error was found.
 */
export function endConnection(
  socket: Duplex,
  connection: Connection,
  error: HttpError,
  bytes: Buffer | undefined,
  config: EndSettings,
): void {
  connection.isBroken = true;
  socket.pause();
  const end = () => {
    if (!socket.writable) return;
    // The response to a request that is malformed after its beginning has begun: no other may follow it.
    if (connection.exchange && !connection.exchange.isOpen) return void connection.exchange.response.end();
    const body = httpErrorBody(error, config, 'graphql');
    const headers = [
      ...['content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body))],
      ...['connection', 'close', 'x-content-type-options', 'nosniff', ...Object.entries(error.headers).flat()],
      ...corsHeaders(originIn(bytes), config.corsOrigins), // without them a browser shows a page no error
    ];
    let head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
    socket.end(`${head}\r\n${body}`);
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), config.requestBodyTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  };
  if (connection.exchange?.request.complete === false) end();
  else connection.inTurn(end);
}
