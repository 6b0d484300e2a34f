/** Responses of routes that only read: GET and HEAD. */
import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { sendBody } from './send.ts';

/** Sends a body that must not be cached. Throws an HttpError for other methods; so does `sendRead`. */
export function sendJson(exchange: Exchange, status: number, value: object): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  sendRead(exchange, status, headers, JSON.stringify(value));
}

/** Sends a body, or only its headers to a HEAD. */
export function sendRead(
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  const { request, response } = exchange;
  onlyRead(request);
  exchange.setHeaders();
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  sendBody(exchange, request.method === 'HEAD' ? undefined : body);
}

function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}
