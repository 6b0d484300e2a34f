/** HTTP responses and their decoded bodies. With status 200 the body may be another record, an error, or anything else. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Repeat } from '../../api/endpoint.ts';
import type { DocumentFormat, ErrorTable } from '../../api/service-descriptor.ts';
import { listIn } from '../../lib/objects.ts';
import { charsetSources, decodeStrictly } from '../../lib/text/charset.ts';
import { parseJson } from '../../lib/text/json.ts';
import { type Cacheability, cachingHeaders } from '../cache/caching-header.ts';
import { UpstreamFailure, detailsOf } from '../errors.ts';
import type { ApiRequest } from '../../api/api-request.ts';
import { cutToWindow, naturalIn } from './list-window.ts';

export interface HttpResponse {
  status: number;
  headers: ResponseHeaders;
  /** The body, without a byte order mark. */
  text: string;
  /** The text has characters that stand for broken ones. */
  isMended: boolean;
  /** The size of the decompressed body. */
  bytes: number;
  attempts: number;
  /** Seconds until the service takes the request again; undefined if it does not say. */
  retryAfter?: number | undefined;
}

/** The response headers that are read. */
const readHeaders = [...cachingHeaders, 'content-encoding', 'content-type', 'retry-after'] as const;
/** The headers by the length of their names: most that a service sends have another. */
const headersOfLength: (typeof readHeaders)[number][][] = [];
for (const name of readHeaders) (headersOfLength[name.length] ??= []).push(name);
/** The values of a repeated header are joined by commas. */
export type ResponseHeaders = Partial<Record<(typeof readHeaders)[number], string>>;

/** The headers that are read, of names and values in turn. */
export function headersOf(raw: readonly Buffer[]): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!;
    for (const known of headersOfLength[name.length] ?? []) {
      if (name.toString('latin1').toLowerCase() !== known) continue;
      const value = raw[at + 1]!.toString('latin1');
      headers[known] = headers[known] === undefined ? value : `${headers[known]}, ${value}`;
    }
  }
  return headers;
}

/** A decoded response. Calls may share it: never write into it. */
export interface ApiResponse {
  /** null if what was requested is absent. */
  value: unknown;
  bytes: number;
  status: number;
  /** Whether and how long upstream lets it be reused. */
  reuse: Cacheability;
}

/** A decoded response as it came, for whoever holds it against the interface. Nothing may write into it. */
export interface InspectedResponse {
  request: ApiRequest;
  value: unknown;
}

/** An error body of the service under a success status. */
export class ReportedError {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

/** The response cannot be read. */
export class InvalidResponse extends Error {}

const gunzipBody = promisify(gunzip);

/** The body without gzip. `identity` beside it means nothing. */
export function inflate(body: Buffer, encoding: string, maxBytes: number): Buffer | Promise<Buffer> {
  const codings = encoding.toLowerCase().split(',');
  const [coding, more] = codings.map((each) => each.trim()).filter((each) => each !== 'identity' && each !== '');
  if (coding === undefined) return body;
  if (more !== undefined || (coding !== 'gzip' && coding !== 'x-gzip'))
    throw new InvalidResponse(`an encoding of ${encoding.slice(0, 20)}`);
  if (body.length === 0) return body;
  return gunzipBody(body, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw new InvalidResponse('gzip that is broken or too large', { cause: error });
  });
}

/** The body as text, without a byte order mark; throws if it is not of the charset that it declares. */
export function decodeBody(body: Buffer, contentType?: string): Pick<HttpResponse, 'text' | 'isMended'> {
  const tried: string[] = [];
  for (const charsetOf of charsetSources) {
    const charset = charsetOf(body, contentType);
    if (charset === undefined) continue;
    const text = decodeStrictly(body, charset);
    if (text !== undefined) return { text, isMended: false };
    tried.push(charset);
  }
  const declared = tried.slice(0, -1);
  if (declared.some((charset) => charset !== 'utf-8'))
    throw new InvalidResponse(`a body that is not ${declared.join(' or ').slice(0, 60)}`);
  return { text: mendedText(body), isMended: true };
}

/** A sender that cuts texts by bytes breaks some characters. Bytes in another encoding are rejected: most of their characters are broken. */
function mendedText(body: Buffer): string {
  const text = new TextDecoder().decode(body);
  const whole = text.match(/[^\u0000-\u007f\ufffd]/gu)?.length ?? 0;
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  if (broken > whole + 1) throw new InvalidResponse('a body that is not UTF-8');
  return text;
}

/** The decoded response, or the ReportedError sent instead; throws UpstreamFailure (UPSTREAM_INVALID_RESPONSE) for anything else. */
export function decodeResponse(
  documents: DocumentFormat | undefined,
  request: ApiRequest,
  text: string,
  status: number,
  eventBaseUrl?: string,
): unknown {
  const { media, key, list } = request.endpoint;
  let value: unknown;
  let cause: unknown;
  try {
    if (media === 'empty' || (list === undefined && key.length === 0)) {
      // Any body is a success, even none, except an error body and a web page, such as the login page of a proxy.
      value = jsonIn(text);
      if (errorBodyCode(value) === undefined && !isWebPage(text)) return value;
    } else {
      const read = (document: string) =>
        media === 'json'
          ? readJson(request, document)
          : documents!.readers[media](document, eventBaseUrl && eventBaseUrl + request.wirePath);
      value = readTolerantly(media === 'json' ? withoutControls : documents!.readable, text, read);
      if (isExpected(request, value)) return list === undefined ? value : cutToWindow(request, value);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    cause = error;
  }
  // The event service reports its errors in JSON, not Atom.
  const code = errorBodyCode(media === 'json' ? value : jsonIn(text));
  if (code !== undefined) return new ReportedError(code);
  const unread = media === 'json' ? 'not JSON' : 'not Atom';
  const reason = cause === undefined ? (missingIn(request, value) ?? 'not what was requested') : unread;
  const details = { ...detailsOf(request), status, reason };
  throw new UpstreamFailure('UPSTREAM_INVALID_RESPONSE', details, reason, { cause });
}

/** How far into a page its HTML begins: an XML declaration or comments may precede it. */
const HTML_WITHIN = 1_000;

function isWebPage(text: string): boolean {
  const start = text.trimStart().slice(0, HTML_WITHIN);
  return start.startsWith('<') && /<(?:!doctype\s+html|html)\b/i.test(start);
}

/** Senders write control characters that JSON and XML forbid; the rest of such a body is read. */
function readTolerantly(readableOf: (text: string) => string, text: string, read: (text: string) => unknown): unknown {
  try {
    return read(text);
  } catch (error) {
    const readable = readableOf(text);
    if (readable === text) throw error;
    return read(readable);
  }
}

const withoutControls = (text: string): string => text.replace(/[\u0000-\u001f]/g, ' ');

/** Maximal nesting of arrays and objects in a response; known responses nest 6 deep. */
const NESTING_MAX = 64;

function readJson({ endpoint: { list }, input }: ApiRequest, text: string): unknown {
  const value = parseJson(text, NESTING_MAX);
  if (list === undefined || typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  const { start = 0 } = input as { start?: number };
  record[list] =
    listIn(record[list]) ?? (isNothing(record[list]) && naturalIn(record.total) <= start ? [] : record[list]);
  return value;
}

/** Some services send null for an empty list, or `{}`, or nothing. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The parsed JSON; undefined if the text is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for the list, or for the record with the requested key. */
function isExpected({ endpoint, input, members }: ApiRequest, value: unknown): value is Record<string, unknown> {
  const { key, list, repeats } = endpoint;
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  if (list !== undefined) return Array.isArray(record[list]);
  const params = input as Record<string, unknown>;
  if (!hasKey(record, key) && (isRequested(key, members) || errorBodyCode(value))) return false;
  for (const each of repeats) if (!isRepeated(each, record, params)) return false;
  return true;
}

/** Says which member a response lacks that would show what it is: of another service, its endpoint may name a wrong one. */
function missingIn({ endpoint: { key, list } }: ApiRequest, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (list !== undefined) return `the response has no list \`${list}\`; see \`list\``;
  if (hasKey(value as Record<string, unknown>, key)) return undefined;
  return `the response has no member ${key.map((member) => `\`${member}\``).join(' or ')}; see \`key\``;
}

function hasKey(record: Record<string, unknown>, key: readonly string[]): boolean {
  for (const member of key) if (idOf(record[member]) !== '') return true;
  return false;
}

/** False if `fields` leaves the key out. */
const isRequested = (key: readonly string[], members: readonly string[] | undefined): boolean =>
  !members || key.some((member) => members.includes(member));

function isRepeated({ member, param, as }: Repeat, record: Record<string, unknown>, params: Record<string, unknown>) {
  const requested = params[param];
  const received = record[member];
  if (requested === received || requested === undefined || received === undefined || received === null) return true;
  if (idOf(received) === idOf(requested)) return true;
  // A person requested by uid is returned with a numeric id. Two different numbers are two people.
  return as === 'person' && idOf(received) !== '' && !(naturalIn(requested) >= 0 && naturalIn(received) >= 0);
}

/** The id as text; '' for anything but a string or a number. */
const idOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** The code of an error body of the service; undefined for anything else. */
function errorBodyCode(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, msg } = value as { code?: unknown; msg?: unknown };
  return typeof msg === 'string' ? codeFrom(code) : undefined;
}

const codeFrom = (code: unknown): number | undefined => {
  if (typeof code === 'number') return code;
  return typeof code === 'string' && /^\d{1,9}$/.test(code) ? Number(code) : undefined;
};

/** The service's code in the body of a response with an error status; undefined without one. Gateways send codes of their own. */
export function errorCodeIn(text: string, errors: ErrorTable): number | undefined {
  const { code, msg, request } = (jsonIn(text) ?? {}) as { code?: unknown; msg?: unknown; request?: unknown };
  const number = codeFrom(code);
  const isKnown = number !== undefined && number in errors;
  return isKnown || (typeof msg === 'string' && typeof request === 'string') ? number : undefined;
}
