/** What is read of the headers of any request, and what the answers to it carry for that. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

export const VARY = 'Authorization, Accept, x-explain';

/** Node silently drops headers past its own limit, so that limit is set higher than this one. */
export const MAX_HEADERS = 500;

/** Host and port as RFC 3986 defines them. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;
let lastHost = '';

/** Refuses a missing or malformed Host, and so many headers that Node may have dropped some, such as Authorization. */
export function checkHeaders({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new HttpError(431, 'HEADERS_TOO_LARGE', `A request has at most ${MAX_HEADERS} headers.`);
  }
  if (host === undefined) {
    if (httpVersion === '1.0') return;
    throw new HttpError(400, 'BAD_REQUEST', 'The header Host is missing.');
  }
  if (host === lastHost) return;
  if (!HOST.test(host)) throw new HttpError(400, 'BAD_REQUEST', 'The header Host is malformed.');
  lastHost = host;
}

/** Names the origins that were listed and no other; credentials travel in a header, so cookies are never asked for. */
export function addCorsHeaders(request: IncomingMessage, standing: string[], origins: readonly string[]): void {
  if (origins.length === 0) return;
  const { origin } = request.headers;
  if (!origin || !origins.includes(origin)) return;
  standing.push('access-control-allow-origin', origin, 'access-control-expose-headers', 'x-request-id, retry-after');
  if (request.method !== 'OPTIONS') return;
  standing.push(
    'access-control-allow-methods',
    'GET, POST',
    'access-control-allow-headers',
    'authorization, content-type, x-explain, x-request-id, x-graphql-csrf, apollo-require-preflight',
    'access-control-max-age',
    '86400',
  );
}

/** The caller's own where it is a plain one, else one of ours: it is in the answer, in the log and in what the service is asked. */
export function requestIdOf(request: IncomingMessage): string {
  const given = firstValue(request.headers['x-request-id']);
  return given && /^[A-Za-z0-9_.-]{1,64}$/.test(given) ? given : nextRequestId();
}

/** As a UUID is written: the process is told apart by chance, its requests by their number. */
const ofThisProcess = randomUUID().slice(0, 24);
let requestsNumbered = 0;
const nextRequestId = (): string => ofThisProcess + (++requestsNumbered).toString(16).padStart(12, '0');

/** Of a header that was sent more than once, the first. */
export function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
