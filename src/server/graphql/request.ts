/** GraphQL requests over HTTP, read once: nothing is written into a request afterwards. */
import type { IncomingMessage } from 'node:http';
import type { Context } from '@opentelemetry/api';
import type { Config } from '../../config/settings.ts';
import type { OnError } from '../../graph/context.ts';
import type { Variables } from '../../graph/plan/document.ts';
import type { CancellationToken } from '../../lib/cancellation.ts';
import { essenceOf } from '../../lib/media-types.ts';
import type { Sender } from '../../upstream/auth/request-context.ts';
import type { Exchange } from '../http/exchange.ts';
import { type AcceptedTypes, type IncrementalType, type JsonType, checkAcceptable } from '../http/request/accept.ts';
import type { BodyReader } from '../http/request/body.ts';
import { clientAddress } from '../http/request/client-address.ts';
import { type Upload, readUpload } from '../http/request/uploads.ts';
import { HttpError } from '../http/response/http-error.ts';
import { parentContext } from '../observability/tracing.ts';
import {
  type GraphqlParams,
  checkCsrf,
  checkParams,
  explainHeader,
  isJsonType,
  onErrorOf,
  readParams,
  readQueryString,
} from './params.ts';

export const METHODS = 'GET, HEAD, POST, QUERY, OPTIONS';

/** Who sent an operation, its variables, and what its response must be like. */
export interface OperationRequest extends Readonly<Omit<Sender, 'span'>> {
  readonly variables: Variables | undefined;
  /** The x-explain header, by `explainHeader`. */
  readonly explain: string | undefined;
  /** The parameter `onError`. */
  readonly onError?: OnError | undefined;
  /** The preferred type of a response in parts; undefined if it is sent whole. */
  readonly incremental?: IncrementalType | undefined;
  /** The parent of the operation's span. */
  readonly parentSpan?: Context | undefined;
  /** Cancelled when the client leaves, or at the deadline of the operation. */
  readonly cancellation: CancellationToken;
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
  readonly parentSpan: Context | undefined;
  /** Undefined for what Yoga responds to. */
  readonly json: JsonRequest | undefined;
  /** By performance.now(). */
  readonly readAt: number;
}

/** Both functions throw an HttpError for a request that is not run. */
export function createRequestReader(config: Config, bodies: BodyReader, isTraced: boolean) {
  const addressOf = clientAddress(config.trustedProxies);

  return {
    /** Reads the body, of an upload only its beginning. */
    async receive(exchange: Exchange, accepted: AcceptedTypes): Promise<Received> {
      const { request } = exchange;
      const { method, headers } = request;
      const contentType = essenceOf(headers['content-type']);
      checkMethod(request, contentType);
      const isUpload = method === 'POST' && contentType === 'multipart/form-data';
      const upload = isUpload ? await readUpload(exchange, config) : undefined;
      const hasBody = (method === 'POST' && !isUpload) || method === 'QUERY';
      const body = hasBody ? await bodies.read(exchange) : undefined;
      const isJson = body !== undefined && method === 'POST' && isJsonType(contentType);
      return {
        exchange,
        accepted,
        contentType,
        body,
        upload,
        explain: explainHeader(request, config.explain),
        parentSpan: isTraced ? parentContext(headers) : undefined,
        json: isJson && accepted.json ? { body, media: accepted.json } : undefined,
        readAt: performance.now(),
      };
    },

    /** Parses and checks the parameters. */
    parse({ exchange, accepted, contentType, body, upload, explain, parentSpan }: Received): GraphqlRequest {
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
        variables: params.variables,
        explain,
        onError,
        incremental: accepted.incremental,
        parentSpan,
        cancellation: lifetime,
        params,
        accepted,
        mayWrite: request.method === 'POST',
      };
    },
  };
}

/** Whether everybody would get the same response: then it may be stored, and a stored one be sent. */
export const isForEverybody = ({ exchange, explain }: Received): boolean =>
  exchange.request.headers.authorization === undefined && explain === undefined;

/** Checks the method and its preconditions. */
function checkMethod(request: IncomingMessage, contentType: string): void {
  const { method } = request;
  if (method === 'POST') return checkCsrf(request, contentType);
  // Browsers ask before they send a QUERY of another site, so it needs no header against CSRF.
  if (method !== 'GET' && method !== 'HEAD' && method !== 'QUERY')
    throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET or POST.', { allow: METHODS });
}
