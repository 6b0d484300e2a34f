/** Requests as sent over HTTP. */
import type { Readable } from 'node:stream';
import { type ApiRequest, requestLine } from '../../api/api-request.ts';
import type { DocumentFormat } from '../../api/service-descriptor.ts';
import type { Service, UpstreamErrorDetails } from '../errors.ts';
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

export function requestBody(
  documents: DocumentFormat | undefined,
  { endpoint, input }: ApiRequest,
  files: AsyncIterable<FilePart> | undefined,
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
