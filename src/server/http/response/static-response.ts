/** Responses of routes that only read: GET and HEAD. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { lazily } from '../../../lib/promises.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError } from './http-error.ts';
import { sendBody, sendNotModified } from './send.ts';

/** ETags are weak, because all encodings of a response share one. Responses for one token alone have tags of their own. */
export const etagOf = (body: Buffer | string, token = ''): string =>
  `W/"${createHash('sha256').update(`${token.length} ${token}`).update(body).digest('base64url').slice(0, 22)}"`;

/** Whether If-None-Match has the tag: the copy of the client is current. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  const tags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || tags.includes(opaque);
}

/** Sends a body that must not be cached. Throws an HttpError for other methods. */
export function sendRead(exchange: Exchange, status: number, type: string, body: string): void {
  addReadHeaders(exchange, { 'content-type': type, 'cache-control': 'no-store' });
  sendBody(exchange, status, exchange.headers, body);
}

export const sendJson = (exchange: Exchange, status: number, value: object): void =>
  sendRead(exchange, status, 'application/json; charset=utf-8', JSON.stringify(value));

/** A route whose body is always the same: clients may store it, and ask whether it has changed. */
export function createStaticRoute(
  type: string,
  content: () => string | Buffer,
  headers?: Readonly<Record<string, string>>,
) {
  const prepared = lazily(() => {
    const made = content();
    const body = typeof made === 'string' ? Buffer.from(made) : made;
    return { body, etag: etagOf(body) };
  });
  return (exchange: Exchange): void => {
    const { body, etag } = prepared();
    addReadHeaders(exchange, { 'content-type': type, ...headers, 'cache-control': 'no-cache', etag });
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
    throw new HttpError('METHOD_NOT_ALLOWED', 'Use GET.', { headers: { allow: 'GET, HEAD' } });
  }
}
