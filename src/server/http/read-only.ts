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
  body: Buffer | string,
): void {
  onlyRead(exchange.request);
  if (exchange.compression) exchange.headers.push('vary', 'Accept-Encoding');
  exchange.headers.push(...Object.entries(headers).flat());
  // A Buffer is one that the route sends again.
  sendBody(exchange, status, exchange.headers, body, typeof body !== 'string');
}

/** Throws an HttpError for a method other than GET and HEAD. */
export function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}
