/** What goes on the wire and what comes from it: paths and bodies out, answers, codes and headers in. */
import type { Readable } from 'node:stream';
import { AtomError, readers, writers } from '../../atom/media.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import type { CachingHeaders, Cacheability } from '../cache/caching-header.ts';
import { dropExcess, withoutExcess } from './excess.ts';
import { errorBodyCode, isExpected } from './expected.ts';
import { type FilePart, multipartForm } from './multipart.ts';
import { NESTING_MAX, parseJson } from '../../lib/parse-json.ts';
import { decodeUtf8 } from './response-body.ts';
import { type Service, UpstreamFailure } from '../errors.ts';

/** One request as it goes on the wire, and who is told what came of it. */
export interface HttpRequest {
  service: Service;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, to be put behind the service's base. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body?: string | Readable | undefined;
  maxBytes: number;
  /** The request line a client may see. */
  requestLine: string;
  payer?: Payer | undefined;
  /** The operation of the call: operations take turns for connections. */
  owner?: object | undefined;
  /** Told once: what was answered, or by UpstreamFailure why nothing was. */
  answered: (answer: HttpResponse) => void;
  unanswered: (fault: unknown) => void;
}

/** Who pays for a request. */
export interface Payer {
  /** Asked before each attempt after the first; false: there is no more. */
  payAgain: () => Promise<boolean>;
}

export interface HttpResponse {
  status: number;
  headers: ResponseHeaders;
  /** Inflated; UTF-8 for certain, without a byte order mark. */
  body: Buffer;
  attempts: number;
}

/** Of the headers of an answer, those that somebody reads; one that is sent twice is one list. */
export interface ResponseHeaders extends CachingHeaders {
  'content-encoding'?: string;
  'retry-after'?: string;
}

/** An answer as it came, decoded: null where what was asked for is absent. May be shared: never written into. */
export interface ApiResponse {
  value: unknown;
  bytes: number;
  status: number;
  /** Whether and how long upstream lets it be used again. */
  reuse: Cacheability;
}

/**
 * Who a call is made for: told once what came of it, and never throws, for others may be told in the same breath. A promise of each
 * would cost more than what it tells.
 */
export interface ResponseHandler {
  onResponse: (answer: ApiResponse) => void;
  onError: (reason: unknown) => void;
}

/** One request of an endpoint, written out. */
export interface ApiRequest {
  readonly endpoint: Endpoint;
  readonly input: object;
  /** Path and query as they go on the wire: equal asks are equal texts. */
  readonly wirePath: string;
  /** Limits which reads in flight may be shared; see `epochOfRecord`. */
  readonly epoch?: string | null;
}

export const createApiRequest = (endpoint: Endpoint, input: object): ApiRequest => ({
  endpoint,
  input,
  wirePath: pathOf(endpoint, input),
});

/** Member by member: V8 gives each object made by a spread a hidden class of its own. */
export const withEpoch = ({ endpoint, input, wirePath }: ApiRequest, epoch: string | null): ApiRequest => ({
  endpoint,
  input,
  wirePath,
  epoch,
});

/** The path with its segments filled in, and the query; what does not go into the path of a read goes into the query, sorted. */
function pathOf({ params, between, method }: Endpoint, input: object): string {
  const values = input as Record<string, unknown>;
  let filled = between[0]!;
  for (let at = 0; at < params.length; at++) filled += encoded(values[params[at]!]) + between[at + 1]!;
  if (method !== 'GET') return filled;
  const names: string[] = [];
  for (const name in values) if (values[name] != null && !params.includes(name)) insert(names, name);
  for (let at = 0; at < names.length; at++)
    filled += `${at === 0 ? '?' : '&'}${names[at]}=${encoded(values[names[at]!])}`;
  return filled;
}

/** Keeps a short list in order: sorting one makes copies of it. */
export function insert(names: string[], name: string): void {
  let at = names.length;
  for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!;
  names[at] = name;
}

/** Half a character cannot be written in UTF-8, and would throw. */
function encoded(value: unknown): string {
  const text = String(value);
  if (/^[\w.~,-]*$/.test(text)) return text;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%2C', ',');
}

/** The request line: what upstream names it by in its own errors. */
export function requestLine({ endpoint: { method }, wirePath }: ApiRequest): string {
  const query = wirePath.indexOf('?');
  return `${method} ${query < 0 ? wirePath : wirePath.slice(0, query)}`;
}

export interface RequestBody {
  body?: string | Readable;
  contentType?: string;
  /** Why a form was cut before its end. */
  cause?: () => unknown;
}

export function requestBody({ endpoint, input }: ApiRequest, files: AsyncIterable<FilePart> | undefined): RequestBody {
  const { body: media, params, method } = endpoint;
  if (method === 'GET' || media === 'empty') return {};
  const values = Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !params.includes(name) && value !== undefined && value !== null),
  );
  if (files) return multipartForm(values, files);
  if (media === 'json') {
    if (Object.keys(values).length === 0) return {};
    return {
      body: new URLSearchParams(values).toString(),
      contentType: 'application/x-www-form-urlencoded',
    };
  }
  return { body: writers[media](values as never), contentType: 'application/atom+xml; charset=utf-8' };
}

/** An error body of the service under a success status. */
export class ErrorBody {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

/** The decoded response, or the ErrorBody sent instead; throws UpstreamFailure (UPSTREAM_INVALID_RESPONSE) for anything else. */
export function decodeResponse(asked: ApiRequest, body: Buffer, status: number): unknown {
  const { media, service } = asked.endpoint;
  let value: unknown;
  let cause: unknown;
  try {
    value = parsed(asked, body);
    if (isExpected(asked, value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof AtomError)) throw error;
    cause = error;
  }
  // The event service reports its errors in JSON, not Atom.
  const code = errorBodyCode(media === 'json' ? value : jsonIn(body));
  if (code !== undefined) return new ErrorBody(code);
  const reason = cause === undefined ? 'not what was asked for' : media === 'json' ? 'not JSON' : 'not Atom';
  const word = { service, status, request: requestLine(asked) };
  throw new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', word, reason, { cause });
}

function parsed(asked: ApiRequest, body: Buffer): unknown {
  const { media } = asked.endpoint;
  if (media === 'empty') return jsonIn(body);
  if (media !== 'json') return readers[media](body);
  const value = parseJson(decodeUtf8(withoutExcess(asked, body)), NESTING_MAX);
  if (typeof value === 'object' && value !== null) dropExcess(asked, value as Record<string, unknown>);
  return value;
}

/** The parsed JSON; undefined if the body is not JSON. */
function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(decodeUtf8(body));
  } catch {
    return undefined;
  }
}

/** The code in the body of a response with an error status; undefined without one. */
export function errorCodeIn(body: Buffer): number | undefined {
  const { code } = (jsonIn(body) ?? {}) as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

/** Seconds, or a date as HTTP writes it. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - Date.now()) / 1000));
}
