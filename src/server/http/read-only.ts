/** Responses of routes that only read: GET and HEAD. */
import type { IncomingMessage } from 'node:http';
import { lazily } from '../../lib/promises.ts';
import { etagOf, isNotModified } from './etag.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { sendBody, sendNotModified } from './send.ts';

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
  onlyRead(exchange.request);
  if (exchange.compression) exchange.headers.push('vary', 'Accept-Encoding');
  exchange.headers.push(...Object.entries(headers).flat());
  sendBody(exchange, status, exchange.headers, body);
}

/** Sends a body that is kept, unless the client has it: `headers` have its ETag. */
export function sendKept(exchange: Exchange, headers: Readonly<Record<string, string>>, body: Buffer): void {
  onlyRead(exchange.request);
  if (exchange.compression) exchange.headers.push('vary', 'Accept-Encoding');
  exchange.headers.push(...Object.entries(headers).flat());
  if (isNotModified(exchange.request.headers['if-none-match'], headers.etag!)) sendNotModified(exchange);
  else sendBody(exchange, 200, exchange.headers, body, true);
}

/** A route whose body is always the same: clients may keep it, and ask whether it has changed. */
export function createStaticRoute(headers: Readonly<Record<string, string>>, text: () => string) {
  const prepared = lazily(() => {
    const body = Buffer.from(text());
    return { body, headers: { ...headers, 'cache-control': 'no-cache', etag: etagOf(body) } };
  });
  return (exchange: Exchange): void => {
    const { body, headers } = prepared();
    sendKept(exchange, headers, body);
  };
}

/** Throws an HttpError for a method other than GET and HEAD. */
export function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}
