/** The route /graphql: reads a request, admits its operation, and answers by the fast path or by Yoga. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import { lazily } from '../../lib/promises.ts';
import { newSpan, parseTraceParent } from '../../upstream/trace-context.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { Admission } from '../http/admission.ts';
import { createResponseCache } from './response-cache.ts';
import {
  type BodyReader,
  explainHeader,
  isJson,
  isMultipart,
  readParams,
  checkQueryString,
  checkCsrf,
} from '../http/request-body.ts';
import { cacheControl } from './cache-control.ts';
import { clientAddress } from '../http/client-address.ts';
import { type JsonRequest, createFastPath, resolveParams } from './fast-path.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Panel, type Tab, graphiqlPage, graphiqlPolicy } from '../http/graphiql.ts';
import { VARY, addCorsHeaders, firstValue } from '../http/headers.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createPersistedDocuments } from './persisted-documents.ts';
import type { Pipeline } from './answer.ts';
import { HttpError } from '../http/http-error.ts';
import type { Telemetry } from '../observability/tracing.ts';
import { type Upload, readUpload } from '../http/uploads.ts';
import type { GraphqlRequest } from './request.ts';

export interface GraphqlRouteParts {
  schema: GraphQLSchema;
  config: Config;
  upstream: Pick<UpstreamClient, 'epoch'>;
  pipeline: Pipeline;
  bodies: BodyReader;
  admission: Admission;
  log: Logger;
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  /** The pages GraphiQL opens with. */
  tabs: readonly Tab[] | undefined;
  /** Shows the calls of an operation in GraphiQL. */
  panel: Panel | undefined;
  /** Called when an operation lost its slot because it did not end after its deadline. */
  onOverdue: (exchange: Exchange) => void;
}

/** Returns the handler of the route. It rejects with a RequestRefusal for a request that is not run. */
export function createGraphqlRoute(parts: GraphqlRouteParts): (exchange: Exchange) => Promise<void> {
  const { schema, config, upstream, pipeline, bodies, admission, log, metrics, telemetry } = parts;
  const persisted = createPersistedDocuments(config, pipeline, metrics);
  const door = createFastPath(pipeline, createResponseCache(upstream.epoch), upstream.epoch);
  const addressOf = clientAddress(config.trustedProxies);
  const vary = config.corsOrigins.length > 0 ? `${VARY}, Origin` : VARY;
  // Loaded with the first request that needs them: they are large, and many servers never do.
  const page = lazyPage(parts);
  const pagePolicy = page && lazily(async () => graphiqlPolicy(await page()));
  const unusual = lazily(async () => {
    const { createYogaHandler } = await import('./yoga.ts');
    return createYogaHandler({ schema, pipeline, persisted, page, log });
  });

  return async (exchange) => {
    const { request, response, requestId, lifetime } = exchange;
    const { headers } = request;
    exchange.headers.push('vary', vary);
    if (headers.origin) addCorsHeaders(request, exchange.headers, config.corsOrigins);
    if (request.method === 'OPTIONS') {
      exchange.setHeaders();
      return void response.writeHead(204, { allow: 'GET, POST, OPTIONS' }).end();
    }
    const onCacheable = cacheControl(request, response);
    const upload = uploadOf(exchange);
    const uploading = upload && (await upload); // no await without an upload: most requests have none
    const body = request.method === 'POST' && !uploading ? await bodies.read(request) : undefined;
    const spanOf = () => spanOfRequest(request);
    const who = { authorization: headers.authorization, explain: config.explain ? explainHeader(request) : undefined };
    const plain: JsonRequest | undefined =
      body !== undefined && isJson(request) ? { body, accept: headers.accept, exchange } : undefined;
    if (plain && door.answerFromCache(plain, who, spanOf)) return;
    const question = body === undefined ? uploading?.params : readParams(body, request);
    const arrival = uploading?.arrival;
    const caller = {
      authorization: who.authorization,
      explain: who.explain,
      address: addressOf(request),
      requestId,
      accept: headers.accept,
      span: spanOf(),
      arrival,
      onCacheable,
    };
    const passage: GraphqlRequest = { caller, lifetime, question };
    const entered = admission.enter({ lifetime, arrival, onOverdue: () => parts.onOverdue(exchange) });
    const slot = entered instanceof Promise ? await entered : entered;
    exchange.onClose(slot.release);
    try {
      const whole = question && plain ? resolveParams(question, persisted, passage) : undefined;
      if (whole && plain && (await door.answer(whole, plain, passage))) return;
      exchange.setHeaders();
      if (pagePolicy && headers.accept?.includes('text/html')) {
        response.setHeader('content-security-policy', await pagePolicy());
      }
      const yoga = await unusual();
      await yoga(exchange, passage);
    } finally {
      slot.release(); // before the client has read the response: a client that does not read must not keep a slot
    }
  };

  /** Checks the method and its preconditions, and begins to read a multipart POST. */
  function uploadOf(exchange: Exchange): Promise<Upload> | undefined {
    const { request } = exchange;
    if (request.method === 'POST') {
      checkCsrf(request);
      return isMultipart(request) ? readUpload(exchange, config) : undefined;
    }
    if (request.method !== 'GET') {
      throw new HttpError(405, 'METHOD_NOT_ALLOWED', 'Use GET or POST.', { allow: 'GET, POST, OPTIONS' });
    }
    checkQueryString(request);
    return undefined;
  }

  // Begin a trace only if spans are exported: otherwise the service would record it for nobody.
  function spanOfRequest({ headers }: IncomingMessage) {
    return (
      parseTraceParent(firstValue(headers.traceparent), firstValue(headers.tracestate)) ??
      (telemetry ? newSpan() : undefined)
    );
  }
}

function lazyPage({ config, tabs = [], panel }: GraphqlRouteParts): (() => Promise<string>) | undefined {
  if (!config.graphiql) return undefined;
  const demoToken = config.ownOrigin && config.demoTokens ? 'demo-alice' : undefined;
  return lazily(() => graphiqlPage(tabs, demoToken, config.explain ? panel : undefined));
}
