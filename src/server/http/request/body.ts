import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../../config/settings.ts';
import type { OnError } from '../../../graph/context.ts';
import { createBatch } from '../../../lib/batch.ts';
import { createDeadlineQueue } from '../../../lib/deadlines.ts';
import { isPercentEncodedUtf8 } from '../../../lib/unicode.ts';
import type { Exchange } from '../exchange.ts';
import { HttpError } from '../response/http-error.ts';

/** The parameters of a request. Only their basic shape has been checked. Members of other names are ignored, as clients may send any. */
export interface GraphqlParams {
  /** Absent if the document is requested by its id. */
  query: string | null | undefined;
  operationName: string | null | undefined;
  variables: unknown;
  extensions: unknown;
  documentId: unknown;
  onError: unknown;
}

/** Parameters with the text of the document. */
export interface TextParams extends GraphqlParams {
  query: string;
}

const JSON_TYPES = new Set(['application/json', 'application/graphql+json']);

/** Pages of other sites cannot set these without a preflight request. */
const CSRF_HEADERS = ['x-graphql-csrf', 'apollo-require-preflight'];

/** Rejects a request that a page of another site could send without a preflight request. */
export function checkCsrf({ headers }: IncomingMessage, type: string): void {
  if (isJsonType(type) || CSRF_HEADERS.some((name) => headers[name] !== undefined)) return;
  throw new HttpError(
    415,
    'CSRF_HEADER_REQUIRED',
    `Send application/json, or add the header ${CSRF_HEADERS.join(' or ')} with any value.`,
  );
}

/**
 * The header x-explain: `plan` or `trace`. Other values are rejected: with a typing error, an operation would run that was to be planned
 * only. Where EXPLAIN is off, `off` stands for every value with which a client may expect that nothing is run.
 */
export function explainHeader({ headers }: IncomingMessage, isOn: boolean): string | undefined {
  const explain = headers['x-explain'];
  if (!isOn) return explain === undefined || explain === 'trace' ? undefined : 'off';
  if (explain === undefined || explain === 'plan' || explain === 'trace') return explain;
  throw new HttpError(400, 'BAD_EXPLAIN', 'The header x-explain must be "plan" or "trace".');
}

/** A completed body, and the promise for its text. */
interface CompletedBody {
  chunks: Buffer[];
  resolve: (text: string) => void;
  reject: (reason: unknown) => void;
}

export type BodyReader = ReturnType<typeof createBodyReader>;

/** Reads whole bodies within their limits of size and time. */
export function createBodyReader({ maxBodyBytes, requestBodyTimeoutMs }: Config) {
  const deadlines = createDeadlineQueue(requestBodyTimeoutMs);
  const completed = createBatch<CompletedBody>(({ chunks, resolve, reject }) => {
    try {
      resolve(decodeStrictUtf8(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    } catch (error) {
      reject(error);
    }
  });
  const tooLarge = () => new HttpError(413, 'BODY_TOO_LARGE', `The body must have at most ${maxBodyBytes} bytes.`);
  const tooSlow = () =>
    new HttpError(408, 'REQUEST_TIMEOUT', `The body must arrive within ${requestBodyTimeoutMs} ms.`);

  return {
    read,
    /** Completed bodies that are decoded at the end of this turn of the event loop. */
    completed: completed.size,
    /** Bodies that are still arriving. */
    reading: deadlines.size,
  };

  function read(exchange: Exchange): Promise<string> {
    const { request } = exchange;
    const { 'content-encoding': encoding, 'content-length': length } = request.headers;
    if (encoding && encoding !== 'identity') {
      throw new HttpError(415, 'UNSUPPORTED_ENCODING', 'Send the body without Content-Encoding.');
    }
    if (Number(length) > maxBodyBytes) throw tooLarge();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const fail = (error: HttpError) => {
        deadlines.stop(deadline);
        exchange.setReceived(0);
        request.off('data', onData);
        request.off('end', onEnd);
        request.pause();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBodyBytes) fail(tooLarge());
        else if (chunks.push(chunk) > 1) exchange.setReceived(size); // most bodies are one chunk
      };
      const onEnd = () => {
        deadlines.stop(deadline);
        exchange.setReceived(0);
        completed.add({ chunks, resolve, reject });
      };
      const deadline = deadlines.start({ onDeadline: () => fail(tooSlow()) });
      request.on('data', onData);
      request.on('end', onEnd);
      request.on('error', () => fail(new HttpError(400, 'BAD_REQUEST', 'The body ended early.')));
    });
  }
}

export const isJsonType = (type: string): boolean => JSON_TYPES.has(type);

/** Reads the parameters from a body: JSON, a form, or a document alone. */
export function readParams(text: string, type: string): GraphqlParams {
  if (JSON_TYPES.has(type)) return checkParams(parsedJson(text, 'The body'));
  if (type === 'application/graphql') return checkParams({ query: text });
  if (type === 'application/x-www-form-urlencoded') return checkParams(formParams(text));
  throw new HttpError(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
}

/** Reads the parameters of a GET. */
export function readQueryString({ url = '' }: IncomingMessage): GraphqlParams {
  const at = url.indexOf('?');
  const params = paramsOf(at < 0 ? {} : formParams(url.slice(at + 1)));
  return { ...params, query: params.query || undefined };
}

const paramsOf = (given: Partial<GraphqlParams>): GraphqlParams => ({
  query: given.query,
  operationName: given.operationName || undefined, // clients send an empty name for none
  variables: given.variables,
  extensions: given.extensions,
  documentId: given.documentId,
  onError: given.onError,
});

function formParams(text: string): Record<string, unknown> & { query?: string; operationName?: string } {
  checkPercentEncoding(text);
  const { variables, extensions, ...rest } = Object.fromEntries(new URLSearchParams(text));
  return {
    ...rest,
    ...(variables && { variables: parsedJson(variables, 'variables') }),
    ...(extensions && { extensions: parsedJson(extensions, 'extensions') }),
  };
}

/** Checks that the value is one request with a document or its id. */
export function checkParams(value: unknown): GraphqlParams {
  if (Array.isArray(value)) throw new HttpError(400, 'BATCHING_OFF', 'Send one operation in each request, not a list.');
  if (typeof value !== 'object' || value === null || !(hasText(value) || hasDocumentId(value))) {
    throw new HttpError(400, 'BAD_REQUEST', 'The body must be an object with a string "query".');
  }
  if ('operationName' in value && value.operationName != null && typeof value.operationName !== 'string')
    throw new HttpError(400, 'BAD_REQUEST', '"operationName" must be a string.');
  return paramsOf(value);
}

const ON_ERROR = ['PROPAGATE', 'NULL', 'HALT'] as const;

/** The parameter `onError`, checked. */
export function onErrorOf({ onError: given }: GraphqlParams): OnError | undefined {
  if (given === undefined || given === null) return undefined;
  const onError = ON_ERROR.find((each) => each === given);
  if (!onError) throw new HttpError(400, 'BAD_REQUEST', `"onError" must be one of ${ON_ERROR.join(', ')}.`);
  return onError;
}

const hasText = (value: object): boolean => 'query' in value && typeof value.query === 'string';

/** The id itself is checked later, by `createPersistedDocuments`. */
const hasDocumentId = (value: object): boolean =>
  !('query' in value && value.query !== null) && ('documentId' in value || 'extensions' in value);

/** Throws an HttpError for text that is no JSON, or has a lone surrogate. */
export function parsedJson(text: string, what: string): unknown {
  checkSurrogates(text);
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    throw new HttpError(400, 'BAD_REQUEST', `${what} must be JSON.`);
  }
}

/**
 * Decodes UTF-8. This and the functions below reject text that cannot be passed on unchanged: decoders replace invalid UTF-8, and encoders
 * lone surrogates, by U+FFFD; a mutation would store the replacement without an error.
 */
function decodeStrictUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidText('The body is not UTF-8.');
  return withoutByteOrderMark(bytes.toString());
}

/** PowerShell and .NET write one. RFC 8259 lets readers ignore it. */
const withoutByteOrderMark = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);

/** Rejects a query string or form whose percent-encoded bytes are not UTF-8. */
export function checkPercentEncoding(text: string): void {
  if (!isPercentEncodedUtf8(text)) throw invalidText('The percent-encoded bytes are not UTF-8.');
}

/** Rejects JSON with a lone surrogate. It has been decoded from UTF-8, so only an escape can contain one. */
export function checkSurrogates(json: string): void {
  if (!/\\ud[89a-f]/i.test(json)) return;
  for (const [, half] of json.matchAll(escapes)) if (half) throw invalidText('A text has a lone surrogate.');
}

/** An escaped surrogate pair, a lone surrogate (captured), or any other escape. */
const escapes = /\\u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|(\\u[dD][89a-fA-F][\dA-Fa-f]{2})|\\./gs;

export const invalidText = (message: string): HttpError => new HttpError(400, 'INVALID_TEXT', message);
