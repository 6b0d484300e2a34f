/** Requests as sent over HTTP. */
import type { Readable } from 'node:stream';
import type { ApiRequest } from '../../api/api-request.ts';
import type { DocumentFormat } from '../../api/service-descriptor.ts';
import type { Service } from '../errors.ts';
import { type FilePart, multipartForm } from './multipart.ts';

/** The HTTP request of an upstream call. */
export interface HttpRequest {
  service: Service;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, appended to the base URL of the service. */
  path: string;
  /** Names and values alternate. */
  headers: string[];
  body?: string | Readable | undefined;
  maxBytes: number;
  /** The operation of the call: operations take turns for connections. */
  owner?: object | undefined;
  /** Called right before the first byte; nothing is sent if it returns false. */
  mayBegin?: (() => boolean) | undefined;
  /** Called before each retry; it is not made if this resolves to false. */
  chargeRetry?: () => Promise<boolean>;
  /** Why it must not be sent any more; asked if it had to wait for a connection. */
  refusal?: () => Error | undefined;
}

export interface RequestBody {
  body?: string | Readable;
  contentType?: string;
}

export const noBody: RequestBody = Object.freeze({});

export function requestBody(
  documents: DocumentFormat | undefined,
  { endpoint, input }: ApiRequest,
  files: readonly FilePart[] | undefined,
): RequestBody {
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
  const { writers, contentType } = documents!;
  return { body: writers[media](values as never), contentType: `${contentType}; charset=utf-8` };
}

/** Headers that the embedding program adds to the calls of a service. They are the same for every caller, because answers are shared. */
export type HeadersTo = (service: Service) => Readonly<Record<string, string>>;

/** Appends headers to those of a call; names and values alternate. */
export type AddHeaders = (service: Service, headers: string[]) => void;

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Those of the facade, of the connection, and those that change what an answer is. */
const OWN = new Set(
  (
    'accept accept-encoding authorization connection content-encoding content-length content-type cookie expect host if-match ' +
    'if-modified-since if-none-match if-range if-unmodified-since keep-alive proxy-authorization proxy-connection range te traceparent ' +
    'tracestate trailer transfer-encoding upgrade user-agent x-request-id'
  ).split(' '),
);

/** Throws for headers that must not be sent: the call fails, and the log has the sentence. */
export const addedHeaders =
  (headersTo: HeadersTo): AddHeaders =>
  (service, headers) => {
    const added: unknown = headersTo(service);
    // Headers and Map have no members: what is in them would not be sent.
    if (typeof added !== 'object' || added === null || 'then' in added || Symbol.iterator in added)
      throw new TypeError(`headersTo("${service}") must return an object with headers as members, and no promise.`);
    for (const [name, value] of Object.entries(added)) {
      if (OWN.has(name.toLowerCase()))
        throw new TypeError(`headersTo("${service}") must not set ${name.toLowerCase()}.`);
      if (!NAME.test(name) || typeof value !== 'string' || !VALUE.test(value))
        throw new TypeError(`headersTo("${service}") returned a header that cannot be sent: ${JSON.stringify(name)}.`);
      headers.push(name.toLowerCase(), value);
    }
  };
