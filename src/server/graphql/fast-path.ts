/**
 * The fast path: a JSON body in, a JSON response out, without Yoga. Anything else goes to Yoga, which calls the same pipeline; the two
 * decide everything alike.
 */
import type { GraphQLError } from 'graphql';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { JsonType } from '../http/request/accept.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError, addHelpLinks } from '../http/response/http-error.ts';
import type { TextParams } from './params.ts';
import { sendBody } from '../http/response/send.ts';
import type { Pipeline } from './pipeline.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { resultText } from './mask.ts';
import type { GraphqlRequest, OperationRequest } from './request.ts';
import { type ResponseCache, isCacheable } from './response-cache.ts';

/** A request with a JSON body, whose client accepts a JSON response. */
interface JsonRequest {
  body: string;
  media: JsonType;
  exchange: Exchange;
}

/** A response of at most this many characters is sent in one chunk with its headers; for a longer one that would cost a copy. */
const SHORT = 5_000;

/** `isTimed`: a response from the cache says so in Server-Timing. */
export function createFastPath(pipeline: Pipeline, cache: ResponseCache, epoch: () => number | null, isTimed = false) {
  return {
    /** Sends a cached response; returns false if there is none. */
    answerFromCache({ body, media, exchange }: JsonRequest, operation: OperationRequest): boolean {
      if (!isAnonymous(operation)) return false;
      const startedAt = performance.now();
      const cached = cache.get(media, body);
      if (!cached) return false;
      if (isTimed) exchange.headers.push('server-timing', 'cache;desc="response"');
      send(exchange, 200, media, cached.response, true);
      pipeline.countCacheHit(operation, cached.operationName, startedAt);
      return true;
    },

    /** Responds to the request; returns false if it is one for Yoga. */
    async answer(
      params: TextParams,
      { body, media, exchange }: JsonRequest,
      request: GraphqlRequest,
    ): Promise<boolean> {
      if (!isPlain(params)) return false;
      const prepared = pipeline.prepare(params.query, params.operationName ?? undefined);
      if (prepared.ready?.incrementalSelections.length) {
        request.prepared = prepared;
        return false;
      }
      const { operation, cancellation } = request;
      let policy: CachePolicy | undefined;
      if (isAnonymous(operation)) operation.onCacheable = (given) => (policy = given);
      const epochAtStart = epoch();
      const result = await pipeline.answer(prepared, params.variables ?? undefined, operation, cancellation);
      if (Symbol.asyncIterator in result) throw new Error('The fast path does not deliver incrementally.');
      if (!exchange.isOpen) return true;
      addHelpLinks(result.errors);
      const text = resultText(result);
      const response = text.length > SHORT ? Buffer.from(text) : text;
      send(exchange, statusOf(result.errors, result.data === undefined, media), media, response, false);
      if (policy && isCacheable(policy)) {
        cache.put(media, body, unpooled(response), policy, epochAtStart, prepared.ready?.operation.name?.value);
      }
      return true;
    },
  };
}

/**
 * The parameters with the text of the document, which the request may name by its id; undefined if Yoga must respond. Yoga gets the result
 * of the lookup, because it sends errors in the format that the client accepts. Throws an HttpError if there is neither a text nor an id.
 */
export function resolveParams(persisted: PersistedDocuments, request: GraphqlRequest): TextParams | undefined {
  const { params } = request;
  const lookup = persisted.lookup(params);
  if (!lookup) {
    if (typeof params.query === 'string') return params as TextParams;
    throw new HttpError(400, 'BAD_REQUEST', 'The request has no document: send a string "query".');
  }
  request.lookup = lookup;
  return 'error' in lookup || lookup.prepared?.errors ? undefined : { ...params, query: lookup.text };
}

/** A copy with memory of its own: a small Buffer is a slice of a larger pool, which it would keep alive. */
const unpooled = (response: Buffer | string): Buffer =>
  typeof response === 'string' ? Buffer.from(new TextEncoder().encode(response).buffer) : response;

const isAnonymous = ({ authorization, explain }: OperationRequest): boolean =>
  authorization === undefined && explain === undefined;

function send(exchange: Exchange, status: number, media: JsonType, body: Buffer | string, isKept: boolean): void {
  exchange.headers.push('content-type', `${media}; charset=utf-8`);
  sendBody(exchange, status, exchange.headers, body, isKept);
}

/** Whether variables and extensions are objects, if there are any. Yoga rejects others. */
const isPlain = (params: TextParams): params is TextParams & { variables?: Record<string, unknown> | null } =>
  isObjectOrNone(params.variables) && isObjectOrNone(params.extensions);

const isObjectOrNone = (value: unknown): boolean =>
  value == null || (typeof value === 'object' && !Array.isArray(value));

/** As Yoga decides it: an operation that was not run has the status of its errors, and 200 for a client of application/json. */
export function statusOf(errors: readonly GraphQLError[] | undefined, wasNotRun: boolean, media: string): number {
  if (!wasNotRun) return 200;
  const statuses = (errors ?? []).map(({ extensions: { http } }) =>
    media === 'application/json' && http?.spec ? 0 : (http?.status ?? 0),
  );
  return Math.max(0, ...statuses) || 200;
}
