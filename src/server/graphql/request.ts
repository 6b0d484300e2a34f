/** GraphQL requests over HTTP and their parameters, read and checked once: nothing is written into a request afterwards. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import type { OnError } from '../../engine/context.ts';
import type { Variables } from '../../engine/plan/document.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { bearerOf } from '../../upstream/auth/request-context.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Sender } from '../../upstream/auth/request-context.ts';
import type { ReturnableSlot } from '../http/connections/admission.ts';
import type { Exchange } from '../http/exchange.ts';
import { type AcceptedTypes, type IncrementalType, type JsonType, checkAcceptable } from '../http/request/accept.ts';
import { type BodyReader, checkPercentEncoding, parsedJson } from '../http/request/body.ts';
import { clientAddress } from '../http/request/client-address.ts';
import { essenceOf } from '../http/request/headers.ts';
import type { UploadMemory } from '../http/request/upload-memory.ts';
import { type Upload, type UploadScope, readUpload } from '../http/request/uploads.ts';
import { HttpError } from '../http/response/http-error.ts';
import { NOT_EXECUTABLE } from '../../engine/errors/codes.ts';

export const METHODS = 'GET, HEAD, POST, QUERY, OPTIONS';

/** Who sent an operation, its variables, and what its response must be like. */
export interface OperationRequest extends Readonly<Omit<Sender, 'span' | 'writes'>> {
  readonly variables: Variables | undefined;
  /** The headers of the HTTP request. */
  readonly headers?: IncomingHttpHeaders;
  /** The x-explain header, by `explainHeader`. */
  readonly explain: string | undefined;
  /** The parameter `onError`. */
  readonly onError?: OnError | undefined;
  /** The preferred type of a response in parts; undefined if it is sent whole. */
  readonly incremental?: IncrementalType | undefined;
  /** Two requests with one key are one write. Undefined for a request without a key. */
  readonly idempotencyKey?: unknown;
  /** The slot of a mutation, which it may leave while it waits for another one. */
  readonly slot?: ReturnableSlot | undefined;
  /** The files of the request are used until the returned function is called, even if their client leaves. */
  readonly keepFiles?: (() => () => void) | undefined;
  /** Cancelled when the client leaves, or at the deadline of the operation. */
  readonly cancellation: CancellationToken;
}

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

/** One request of the route /graphql. */
export interface GraphqlRequest extends OperationRequest {
  readonly params: GraphqlParams;
  readonly accepted: AcceptedTypes;
  /** It may be a mutation: a page of another site can have a browser send a GET. */
  readonly mayWrite: boolean;
}

/** A POST with a JSON body, whose client accepts a JSON response: the writer of JSON responds, and may repeat a stored response. */
export interface JsonRequest {
  readonly body: string;
  readonly media: JsonType;
}

/** A request up to its body, which is not parsed yet. */
export interface Received {
  readonly exchange: Exchange;
  readonly accepted: AcceptedTypes;
  readonly contentType: string;
  readonly body: string | undefined;
  readonly upload: Upload | undefined;
  readonly explain: string | undefined;
  /** The client asks for new data. */
  readonly isReload: boolean;
  /** Undefined for what Yoga responds to. */
  readonly json: JsonRequest | undefined;
  /** Whether everybody would get the same response: then it may be stored, and a stored one be sent. */
  readonly isForEverybody: boolean;
  /** By performance.now(). */
  readonly readAt: number;
}

type ReaderSettings = UploadScope['config'] & Pick<Config, 'trustedProxies' | 'explain'>;

const UNTRUSTED =
  'X-Forwarded-For is not used, because TRUSTED_PROXIES does not name who sent it: all its clients share the limit of one address';

/** Both functions throw an HttpError for a request that is not run. */
export function createRequestReader(
  config: ReaderSettings,
  bodies: BodyReader,
  memory: UploadMemory,
  upstream: Pick<UpstreamClient, 'senderOf'>,
  log: Logger,
) {
  const addressOf = clientAddress(config.trustedProxies, (address) => log.warn({ address }, UNTRUSTED));
  const uploads = { config, bodies, memory };
  /** The credential of a token that upstream has accepted. */
  const acceptedSender = (authorization: string | undefined): string | undefined => {
    const token = bearerOf(authorization);
    const sender = token === null ? undefined : upstream.senderOf(token);
    return sender?.accepted ? sender.id : undefined;
  };

  return {
    /** Reads the body. */
    async receive(exchange: Exchange, accepted: AcceptedTypes): Promise<Received> {
      const { request } = exchange;
      const { method, headers } = request;
      const contentType = essenceOf(headers['content-type']);
      const isJson = JSON_TYPES.has(contentType);
      if (method !== 'POST') checkMethod(method);
      else if (!isJson) checkCsrf(request);
      const isUpload = method === 'POST' && contentType === 'multipart/form-data';
      const upload = isUpload ? await readUpload(exchange, uploads, acceptedSender(headers.authorization)) : undefined;
      const hasBody = (method === 'POST' && !isUpload) || method === 'QUERY';
      const body = hasBody ? await bodies.read(exchange) : undefined;
      const explain = explainHeader(request, config.explain || isOfProgram(request));
      const isReload = headers['cache-control'] !== undefined && asksForReload(headers);
      return {
        exchange,
        accepted,
        contentType,
        body,
        upload,
        explain,
        isReload,
        json: isJson && method === 'POST' && accepted.json ? { body: body!, media: accepted.json } : undefined,
        isForEverybody: headers.authorization === undefined && explain === undefined && !isReload,
        readAt: performance.now(),
      };
    },

    /** Parses and checks the parameters. */
    parse({ exchange, accepted, contentType, body, upload, explain, isReload }: Received): GraphqlRequest {
      const { request, requestId, lifetime } = exchange;
      const params = upload
        ? checkParams(upload.operations)
        : body === undefined
          ? readQueryString(request)
          : readParams(body, contentType);
      const onError = onErrorOf(params);
      checkAcceptable(accepted);
      return {
        authorization: request.headers.authorization,
        address: addressOf(request),
        requestId,
        headers: request.headers,
        idempotencyKey: request.headers['idempotency-key'],
        variables: params.variables,
        explain,
        isReload,
        onError,
        incremental: accepted.incremental,
        keepFiles: upload?.memory.keep,
        cancellation: lifetime,
        params,
        accepted,
        mayWrite: request.method === 'POST',
      };
    },
  };
}

/** Browsers ask before they send a QUERY of another site, so it needs no header against CSRF. */
function checkMethod(method: string | undefined): void {
  if (method !== 'GET' && method !== 'HEAD' && method !== 'QUERY')
    throw new HttpError('METHOD_NOT_ALLOWED', 'Use GET or POST.', { headers: { allow: METHODS } });
}

/** Whether the client asks for new data. `fetch` adds the same directive to a request with If-None-Match, so that is none. */
const asksForReload = (headers: IncomingHttpHeaders): boolean =>
  headers['if-none-match'] === undefined && /(?:^|[\s,])no-cache(?:$|[\s,])/i.test(headers['cache-control'] ?? '');

const JSON_TYPES = new Set(['application/json', 'application/graphql+json']);

/** Pages of other sites cannot set these without a preflight request. */
const CSRF_HEADERS = ['x-graphql-csrf', 'apollo-require-preflight'];

/** Rejects a POST without JSON that a page of another site could send without a preflight request. */
function checkCsrf({ headers }: IncomingMessage): void {
  if (CSRF_HEADERS.some((name) => headers[name] !== undefined)) return;
  throw new HttpError(
    'CSRF_HEADER_REQUIRED',
    `Send application/json, or add the header ${CSRF_HEADERS.join(' or ')} with any value.`,
  );
}

/** An embedding program runs the operation, and may explain it in production too. */
const isOfProgram = ({ socket }: IncomingMessage): boolean => 'mayExplain' in socket && socket.mayExplain === true;

/**
 * The header x-explain: `plan` or `trace`. Other values are rejected: with a typing error, an operation would run that was to be planned
 * only. Where EXPLAIN is off, `off` stands for every value with which a client may expect that nothing is run.
 */
function explainHeader({ headers }: IncomingMessage, isOn: boolean): string | undefined {
  const explain = headers['x-explain'];
  if (!isOn) return explain === undefined || explain === 'trace' ? undefined : 'off';
  if (explain === undefined || explain === 'plan' || explain === 'trace') return explain;
  throw new HttpError('BAD_EXPLAIN', 'The header x-explain must be "plan" or "trace".');
}

/** Reads the parameters from a body: JSON, a form, or a document alone. */
function readParams(text: string, type: string): GraphqlParams {
  if (JSON_TYPES.has(type)) return checkParams(parsedJson(text, 'The body'));
  if (type === 'application/graphql') return checkParams({ query: text });
  if (type === 'application/x-www-form-urlencoded') return checkParams(formParams(text));
  throw new HttpError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
}

/** Reads the parameters of a GET. */
function readQueryString({ url = '' }: IncomingMessage): GraphqlParams {
  const at = url.indexOf('?');
  return paramsOf(at < 0 ? {} : formParams(url.slice(at + 1)));
}

const paramsOf = (given: Partial<GivenParams>): GraphqlParams => ({
  query: given.query,
  operationName: given.operationName || undefined, // clients send an empty name for none
  variables: given.variables == null ? undefined : asMap('variables', given.variables),
  extensions: given.extensions == null ? undefined : asMap('extensions', given.extensions),
  documentId: given.documentId,
  onError: given.onError,
});

/** Before the shape of the maps is checked. */
interface GivenParams extends Omit<GraphqlParams, 'variables' | 'extensions'> {
  variables: unknown;
  extensions: unknown;
}

function asMap(name: string, value: unknown): Record<string, unknown> {
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
function checkParams(value: unknown): GraphqlParams {
  if (Array.isArray(value)) throw new HttpError('BATCHING_OFF', 'The body is a list of operations.');
  const isObject = typeof value === 'object' && value !== null;
  if (!isObject || !(('query' in value && typeof value.query === 'string') || hasDocumentId(value)))
    throw malformedRequest('The body must be an object with a string "query".');
  if ('operationName' in value && value.operationName != null && typeof value.operationName !== 'string')
    throw malformedRequest('"operationName" must be a string.');
  return paramsOf(value);
}

/** A request that was read and lacks what it must have. */
export const malformedRequest = (message: string): HttpError => new HttpError('BAD_REQUEST', message);

const ON_ERROR = ['PROPAGATE', 'NULL', 'HALT'] as const;

/** The parameter `onError`, checked. */
function onErrorOf({ onError: given }: GraphqlParams): OnError | undefined {
  if (given == null) return undefined;
  const onError = ON_ERROR.find((each) => each === given);
  if (!onError) throw malformedRequest(`"onError" must be one of ${ON_ERROR.join(', ')}.`);
  return onError;
}

/** The id itself is checked later, by `createDocuments`. */
const hasDocumentId = (value: object): boolean =>
  !('query' in value && value.query !== null) && ('documentId' in value || 'extensions' in value);
