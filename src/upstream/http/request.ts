/** Requests: of an endpoint, and as sent over HTTP. */
import type { Readable } from 'node:stream';
import { writers } from '../../atom/media.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import type { Service, UpstreamErrorDetails } from '../errors.ts';
import { type FilePart, multipartForm } from './multipart.ts';

/** The request of an endpoint with an input. */
export interface ApiRequest {
  readonly endpoint: Endpoint;
  readonly input: object;
  /** The members of the response that are requested, sorted; undefined for all. */
  readonly members: readonly string[] | undefined;
  /** Path and query as sent; equal requests have equal texts. */
  readonly wirePath: string;
}

/** The same as sent over HTTP. */
export interface HttpRequest {
  service: Service;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, appended to the base URL of the service. */
  path: string;
  /** Names and values alternate. */
  headers: string[];
  body?: string | Readable | undefined;
  maxBytes: number;
  /** The request line that clients may see. */
  requestLine: string;
  /** The operation of the call: operations take turns for connections. */
  owner?: object | undefined;
  /** Called right before the first byte; nothing is sent if it returns false. */
  mayBegin?: (() => boolean) | undefined;
  /** Called before each retry; it is not made if this resolves to false. */
  chargeRetry?: () => Promise<boolean>;
  /** Why it must not be sent any more; asked if it had to wait for a connection. */
  refusal?: () => Error | undefined;
}

/** The Atom service has no parameter for members: it sends all. */
export function createApiRequest(endpoint: Endpoint, input: object, requested?: readonly string[]): ApiRequest {
  const members = endpoint.service === 'catalog' ? requested : undefined;
  return { endpoint, input, members, wirePath: pathOf(endpoint, input, members) };
}

/** Fills in the path. The other values of a read's input and the members become the query, sorted by name. */
function pathOf({ params, between, method }: Endpoint, input: object, members?: readonly string[]): string {
  const values = input as Record<string, unknown>;
  let filled = between[0]!;
  for (let at = 0; at < params.length; at++) filled += encoded(values[params[at]!]) + between[at + 1]!;
  if (method !== 'GET') return filled;
  const names: string[] = [];
  for (const name in values) if (values[name] != null && !params.includes(name)) insert(names, name);
  if (members) insert(names, FIELDS);
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    const value = name === FIELDS && members ? members.join(',') : values[name];
    filled += `${at === 0 ? '?' : '&'}${name}=${encoded(value)}`;
  }
  return filled;
}

const FIELDS = 'fields';

/** Inserts into a short sorted list; cheaper than sorting, which copies it. */
export function insert(names: string[], name: string): void {
  let at = names.length;
  for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!;
  names[at] = name;
}

/** Lone surrogates are replaced, because `encodeURIComponent` throws on them. */
function encoded(value: unknown): string {
  const text = String(value);
  if (/^[\w.~,-]*$/.test(text)) return text;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%2C', ',');
}

/** Method and path: upstream names requests like this in its errors. */
export function requestLine({ endpoint: { method }, wirePath }: ApiRequest): string {
  const query = wirePath.indexOf('?');
  return `${method} ${query < 0 ? wirePath : wirePath.slice(0, query)}`;
}

/** What errors of the request tell clients. */
export const detailsOf = (request: ApiRequest): UpstreamErrorDetails => ({
  service: request.endpoint.service,
  request: requestLine(request),
});

export interface RequestBody {
  body?: string | Readable;
  contentType?: string;
  /** Why a form was cut before its end. */
  failure?: () => unknown;
}

export const noBody: RequestBody = Object.freeze({});

export function requestBody({ endpoint, input }: ApiRequest, files: AsyncIterable<FilePart> | undefined): RequestBody {
  const { body: media, params } = endpoint;
  if (media === 'empty') return noBody;
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(input as Record<string, string | null | undefined>))
    if (!params.includes(name) && value !== undefined && value !== null) values[name] = value;
  if (files) return multipartForm(values, files);
  if (media === 'json') {
    if (Object.keys(values).length === 0) return noBody;
    return { body: new URLSearchParams(values).toString(), contentType: 'application/x-www-form-urlencoded' };
  }
  return { body: writers[media](values as never), contentType: 'application/atom+xml; charset=utf-8' };
}
