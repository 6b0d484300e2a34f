/** The parameters of a GraphQL request: read from a body, a form or a query string, and checked. */
import type { IncomingMessage } from 'node:http';
import type { OnError } from '../../graph/context.ts';
import { checkPercentEncoding, parsedJson } from '../http/request/body.ts';
import { HttpError } from '../http/response/http-error.ts';
import { NOT_EXECUTABLE } from '../http/response/status.ts';

/** The parameters of a request. Only their basic shape has been checked. Members of other names are ignored, as clients may send any. */
export interface GraphqlParams {
  /** Absent if the document is requested by its id. */
  query: string | null | undefined;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | undefined;
  extensions: Record<string, unknown> | undefined;
  documentId: unknown;
  onError: unknown;
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
  return paramsOf(at < 0 ? {} : formParams(url.slice(at + 1)));
}

const paramsOf = (given: Partial<GivenParams>): GraphqlParams => ({
  query: given.query,
  operationName: given.operationName || undefined, // clients send an empty name for none
  variables: mapOrNone('variables', given.variables),
  extensions: mapOrNone('extensions', given.extensions),
  documentId: given.documentId,
  onError: given.onError,
});

/** Before the shape of the maps is checked. */
interface GivenParams extends Omit<GraphqlParams, 'variables' | 'extensions'> {
  variables: unknown;
  extensions: unknown;
}

function mapOrNone(name: string, value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw malformedRequest(`"${name}" must be an object.`);
  return value as Record<string, unknown>;
}

function formParams(text: string): Record<string, unknown> & { query?: string; operationName?: string } {
  checkPercentEncoding(text);
  // A form sends each of its fields, an empty one too.
  const filled = [...new URLSearchParams(text)].filter(([, value]) => value !== '');
  const { variables, extensions, ...rest } = Object.fromEntries(filled);
  return {
    ...rest,
    ...(variables && { variables: parsedJson(variables, 'variables', NOT_EXECUTABLE) }),
    ...(extensions && { extensions: parsedJson(extensions, 'extensions', NOT_EXECUTABLE) }),
  };
}

/** Checks that the value is one request with a document or its id. */
export function checkParams(value: unknown): GraphqlParams {
  if (Array.isArray(value))
    throw new HttpError(NOT_EXECUTABLE, 'BATCHING_OFF', 'Send one operation in each request, not a list.');
  if (typeof value !== 'object' || value === null || !(hasText(value) || hasDocumentId(value))) {
    throw malformedRequest('The body must be an object with a string "query".');
  }
  if ('operationName' in value && value.operationName != null && typeof value.operationName !== 'string')
    throw malformedRequest('"operationName" must be a string.');
  return paramsOf(value);
}

/** A request that was read and lacks what it must have. */
export const malformedRequest = (message: string): HttpError => new HttpError(NOT_EXECUTABLE, 'BAD_REQUEST', message);

const ON_ERROR = ['PROPAGATE', 'NULL', 'HALT'] as const;

/** The parameter `onError`, checked. */
export function onErrorOf({ onError: given }: GraphqlParams): OnError | undefined {
  if (given === undefined || given === null) return undefined;
  const onError = ON_ERROR.find((each) => each === given);
  if (!onError) throw malformedRequest(`"onError" must be one of ${ON_ERROR.join(', ')}.`);
  return onError;
}

const hasText = (value: object): boolean => 'query' in value && typeof value.query === 'string';

/** The id itself is checked later, by `createDocuments`. */
const hasDocumentId = (value: object): boolean =>
  !('query' in value && value.query !== null) && ('documentId' in value || 'extensions' in value);
