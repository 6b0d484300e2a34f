/** The route /graphql: reads a request, admits its operation, and responds by the fast path or by Yoga. */
import type { IncomingMessage } from 'node:http';
import { essenceOf } from '../../lib/media-types.ts';
import { lazily } from '../../lib/promises.ts';
import { type AcceptedTypes, acceptedTypes, checkAcceptable } from '../http/request/accept.ts';
import { clientAddress } from '../http/request/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { addCorsHeaders, varyOf } from '../http/request/headers.ts';
import { HttpError } from '../http/response/http-error.ts';
import { checkCsrf, checkParams, explainHeader, isJsonType, onErrorOf, readParams, readQueryString } from './params.ts';
import { type Upload, readUpload } from '../http/request/uploads.ts';
import { parentContext } from '../observability/tracing.ts';
import type { RouteParts } from './pipeline.ts';
import { createFastPath, resolveParams } from './fast-path.ts';
import { createPersistedDocuments } from './persisted-documents.ts';
import type { GraphqlRequest, OperationRequest } from './request.ts';
import { createResponseCache } from './response-cache.ts';
import { cacheControl, timingHeaders } from './response-headers.ts';

const METHODS = 'GET, HEAD, POST, QUERY, OPTIONS';

/** Returns the handler of the route. It rejects with an HttpError for a request that is not run. Browsers get the page, GraphiQL. */
export function createGraphqlRoute(
  parts: RouteParts,
  page: ((exchange: Exchange) => void) | undefined,
): (exchange: Exchange) => Promise<void> {
  const { config, upstream, pipeline, bodies, admission, metrics } = parts;
  const persisted = createPersistedDocuments(config, pipeline, metrics, parts.upstream.documents);
  const isTimed = config.serverTiming ?? config.explain;
  const fastPath = createFastPath(pipeline, createResponseCache(upstream.epoch), upstream.epoch, isTimed);
  const addressOf = clientAddress(config.trustedProxies);
  const vary = varyOf(config);
  // It is large, and many servers never need it, so the first request that does loads it.
  const yoga = lazily(async () => (await import('./yoga.ts')).createYogaHandler(parts));

  return async (exchange) => {
    const { request, response, requestId, lifetime: cancellation } = exchange;
    const { method, headers } = request;
    const accepted = acceptedTypes(headers.accept);
    if (page && (method === 'GET' || method === 'HEAD') && isForPage(accepted, request)) {
      return isAtSlash(request) ? redirectToGraphql(exchange) : page(exchange);
    }
    exchange.headers.push('vary', vary);
    if (headers.origin) addCorsHeaders(request, exchange.headers, config.corsOrigins);
    if (method === 'OPTIONS') {
      exchange.setHeaders();
      return void response.writeHead(204, { allow: METHODS, 'accept-query': 'application/json' }).end();
    }
    const type = essenceOf(headers['content-type']);
    const uploading = readUploadOf(exchange, type);
    const upload = uploading && (await uploading); // no await without an upload: most requests have none
    const hasBody = (method === 'POST' && !upload) || method === 'QUERY';
    const body = hasBody ? await bodies.read(exchange) : undefined;
    const operation: OperationRequest = {
      authorization: headers.authorization,
      explain: explainHeader(request, config.explain),
      address: addressOf(request),
      requestId,
      incremental: accepted.incremental,
      parentSpan: parts.tracing && parentContext(headers),
      onComplete: isTimed ? timingHeaders(exchange) : undefined,
      onAge: (seconds) => exchange.headers.push('age', String(seconds)),
      onCacheable: method === 'POST' ? undefined : cacheControl(response),
    };
    const json =
      body !== undefined && method === 'POST' && isJsonType(type) && accepted.json
        ? { body, media: accepted.json, exchange }
        : undefined;
    if (json && fastPath.answerFromCache(json, operation)) return;
    const params = readParamsOf(exchange, type, upload, body);
    operation.onError = onErrorOf(params);
    checkAcceptable(accepted);
    const graphqlRequest: GraphqlRequest = { operation, accepted, cancellation, params };
    const entered = admission.enter({ exchange, lifetime: cancellation, uploadEnd: upload?.end });
    const slot = entered instanceof Promise ? await entered : entered;
    exchange.onClose(slot.release);
    try {
      const elsewhere = persisted.findElsewhere(params);
      if (elsewhere) await elsewhere; // no await otherwise: most requests have a text
      const resolved = resolveParams(persisted, graphqlRequest);
      if (resolved && json && (await fastPath.answer(resolved, json, graphqlRequest))) return;
      const answerByYoga = await yoga();
      await answerByYoga(exchange, graphqlRequest);
    } finally {
      slot.release(); // before the client has read the response: a client that does not read must not keep a slot
    }
  };

  /** Checks the method and its preconditions, and begins to read a multipart POST. */
  function readUploadOf(exchange: Exchange, type: string): Promise<Upload> | undefined {
    const { request } = exchange;
    if (request.method === 'POST') {
      checkCsrf(request, type);
      return type === 'multipart/form-data' ? readUpload(exchange, config) : undefined;
    }
    // Browsers ask before they send a QUERY of another site, so it needs no header against CSRF.
    if (request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'QUERY') {
      throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET or POST.', { allow: METHODS });
    }
    return undefined;
  }
}

function readParamsOf({ request }: Exchange, type: string, upload: Upload | undefined, body: string | undefined) {
  if (upload) return checkParams(upload.operations);
  return body === undefined ? readQueryString(request) : readParams(body, type);
}

/** Whether to show GraphiQL. A URL with a document is a link to GraphiQL in a browser, and a query in any other client. */
const isForPage = ({ prefersPage, isBrowser }: AcceptedTypes, { url }: IncomingMessage): boolean =>
  prefersPage && (isBrowser || !url?.includes('?'));

const isAtSlash = ({ url = '' }: IncomingMessage): boolean => /\/graphql\/(?:\?|$)/.test(url);

/** The addresses in the page are relative to /graphql. */
function redirectToGraphql({ request: { url = '' }, response }: Exchange): void {
  const at = url.indexOf('?');
  response.writeHead(308, { location: `../graphql${at < 0 ? '' : url.slice(at)}`, 'content-length': '0' }).end();
}
