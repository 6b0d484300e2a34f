/** Headers that every request may have, and the headers of responses that depend on them. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Config } from '../../../config/settings.ts';
import { remembering } from '../../../lib/remember.ts';
import { CLIENT_HEADERS } from './client.ts';
import { HttpError } from '../response/http-error.ts';

/** The request headers on which responses of the graph depend. */
export const varyOf = ({ compression, corsOrigins }: Pick<Config, 'compression' | 'corsOrigins'>): string =>
  ['Authorization', 'Accept', 'x-explain', compression && 'Accept-Encoding', corsOrigins.length > 0 && 'Origin']
    .filter(Boolean)
    .join(', ');

/** Node silently drops headers past its own limit, so that limit is set higher than this one. */
export const MAX_HEADERS = 500;

/** Host and port as RFC 3986 defines them. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Node keeps the first; a proxy in front may have used another. */
function hasSecondHost(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** Rejects a missing, malformed or second Host, and so many headers that Node may have dropped some, such as Authorization. */
export function checkHeaders({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new HttpError('HEADERS_TOO_LARGE', `A request must have at most ${MAX_HEADERS} headers.`);
  }
  if (hasSecondHost(rawHeaders))
    throw new HttpError('BAD_REQUEST', 'A request must have one header Host.', { status: 400 });
  if (host === undefined) {
    if (httpVersion === '1.0') return;
    throw new HttpError('BAD_REQUEST', 'The header Host is missing.', { status: 400 });
  }
  if (!HOST.test(host)) throw new HttpError('BAD_REQUEST', 'The header Host is malformed.', { status: 400 });
}

/** In the last lines: the headers with which client libraries name themselves and their operations. */
const REQUEST_HEADERS = [
  'authorization, cache-control, content-type, idempotency-key, if-none-match, traceparent, tracestate',
  'x-explain, x-request-id, x-graphql-csrf, apollo-require-preflight',
  ...CLIENT_HEADERS,
  'x-apollo-operation-name, x-apollo-operation-id, x-apollo-operation-type',
].join(', ');

const EXPOSED_HEADERS =
  'age, cache-status, catalog-cost, date, etag, idempotency-replayed, ratelimit, ratelimit-policy, retry-after, server-timing, x-request-id';

/** Whether CORS_ORIGINS lists the origin, with its port or with any. */
export const isListedOrigin = (origin: string, origins: readonly string[]): boolean =>
  origins.includes(origin) || origins.includes(`${origin.replace(/:\d+$/, '')}:*`);

/** The headers that let a page of a listed origin read the response. Credentials are sent in the header Authorization, never as cookies. */
export const corsHeaders = (origin: string | undefined, origins: readonly string[]): string[] =>
  origin !== undefined && origins.length > 0 && isListedOrigin(origin, origins)
    ? ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED_HEADERS]
    : [];

/** Adds the headers for an allowed origin, and to a preflight what the page may send. */
export function addCorsHeaders(
  { method, headers: asked }: IncomingMessage,
  headers: string[],
  origins: readonly string[],
): void {
  const allowed = corsHeaders(asked.origin, origins);
  headers.push(...allowed);
  if (allowed.length === 0 || method !== 'OPTIONS') return;
  headers.push('access-control-allow-methods', 'GET, HEAD, POST, QUERY', 'access-control-max-age', '86400');
  headers.push('access-control-allow-headers', headersAllowed(REQUEST_HEADERS, asked));
}

/** These headers, and what the page asks for: libraries of tracing add headers of their own, and the origin is trusted. */
export function headersAllowed(
  known: string,
  { 'access-control-request-headers': given }: IncomingHttpHeaders,
): string {
  return given && NAMES.test(given) ? `${known}, ${given}` : known;
}

/** Names of headers in a list. */
const NAMES = /^[\w!#$%&'*+.^`|~, \t-]+$/;

/** The client's id of the request if it is well formed, else a new one. It is in the response, in the log and in upstream calls. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const { 'x-request-id': given } = request.headers;
  if (typeof given === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(given)) return given;
  return processPart + (++lastNumber).toString(16).padStart(12, '0');
}

/** Ids have the format of a UUID: a random part for the process, and the number of the request. */
const processPart = randomUUID().slice(0, 24);
let lastNumber = 0;

/** The media type of a Content-Type header, in lower case and without parameters. */
export const essenceOf = remembering((contentType = ''): string => contentType.split(';', 1)[0]!.trim().toLowerCase());
