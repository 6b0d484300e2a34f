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
  addReadHeaders(exchange, headers);
  sendBody(exchange, status, exchange.headers, body);
}

/** A route whose body is always the same: clients may store it, and ask whether it has changed. */
export function createStaticRoute(headers: Readonly<Record<string, string>>, text: () => string) {
  const prepared = lazily(() => {
    const body = Buffer.from(text());
    return { body, etag: etagOf(body) };
  });
  return (exchange: Exchange): void => {
    const { body, etag } = prepared();
    addReadHeaders(exchange, { ...headers, 'cache-control': 'no-cache', etag });
    if (isNotModified(exchange.request.headers['if-none-match'], etag)) sendNotModified(exchange);
    else sendBody(exchange, 200, exchange.headers, body, true);
  };
}

function addReadHeaders({ request, compression, headers }: Exchange, more: Readonly<Record<string, string>>): void {
  onlyRead(request);
  const vary = [more.vary, compression && 'Accept-Encoding'].filter(Boolean).join(', ');
  headers.push(...Object.entries({ ...more, ...(vary && { vary }) }).flat());
}

/** Throws an HttpError for a method other than GET and HEAD. */
export function onlyRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET.', { allow: 'GET, HEAD' });
  }
}
