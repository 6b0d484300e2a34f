/**
 * Responds by graphql-yoga: GET, incremental delivery and everything else that the fast path does not take. The hooks call the
 * pipeline and decide nothing themselves.
 */
import { Readable } from 'node:stream';
import { GraphQLError, OperationTypeNode } from 'graphql';
import { type FetchAPI, type GraphQLParams, type Plugin, createYoga } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Exchange } from '../http/exchange.ts';
import { addHelpLinks } from '../http/response/http-error.ts';
import { etagOf, isNotModified } from '../http/response/static-response.ts';
import { sendBody, sendNotModified, sendStream } from '../http/response/send.ts';
import type { Pipeline, RouteParts } from './pipeline.ts';
import { statusOf } from './fast-path.ts';
import { multipartOf } from './multipart.ts';
import type { GraphqlRequest } from './request.ts';
import type { Result } from './run-operation.ts';

const MULTIPART = 'multipart/mixed';
const STREAMED = /^(?:multipart\/mixed|text\/event-stream)\b/;
/** Headers that are set where the response is sent. Yoga's `Content-Encoding: none` is no encoding that a client knows. */
const CONNECTION_HEADERS = new Set(['connection', 'transfer-encoding', 'content-length', 'content-encoding']);

/**
 * Yoga gets a minimal Request and returns a Response, which is sent here. Its own Node adapter would build a URL from the Host header,
 * send the stack of an exception, and wait forever for a client that has disconnected.
 */
export function createYogaHandler(parts: RouteParts) {
  const yoga = createYogaServer(parts);
  const { Request } = yoga.fetchAPI;

  return async (exchange: Exchange, graphqlRequest: GraphqlRequest): Promise<void> => {
    const { request, response } = exchange;
    const { json, incremental } = graphqlRequest.accepted;
    // The types that were negotiated, of which Yoga takes the one for a whole response or the one for parts.
    const accept = [json, incremental?.media].filter(Boolean).join();
    // HEAD and QUERY are answered as GET is; nothing may depend on host and path, which the client chooses. The parameters are read.
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const minimal = new Request('http://localhost/graphql', { method, headers: { accept } });
    const answer = await yoga.fetch(minimal, graphqlRequest);
    if (!exchange.isOpen) return discard(answer.body);
    exchange.setHeaders();
    answer.headers.forEach((value, name) => {
      // Headers set before, such as cache-control, take precedence.
      if (!CONNECTION_HEADERS.has(name.toLowerCase()) && !response.hasHeader(name)) response.setHeader(name, value);
    });
    response.statusCode = answer.status;
    const contentType = answer.headers.get('content-type') ?? '';
    if (answer.body && STREAMED.test(contentType)) {
      if (incremental?.spec) response.setHeader('content-type', `${contentType}; ${incremental.spec}`);
      response.setHeader('x-accel-buffering', 'no'); // nginx would keep short parts until the last one
      return sendStream(exchange, answer.body);
    }
    const body = Buffer.from(await answer.text());
    if (answer.status === 200 && isNotModifiedSince(exchange, body)) return sendNotModified(exchange);
    sendBody(exchange, answer.status, [], body);
  };
}

/** Ends a response that the client does not wait for. Yoga begins the parts of a body when it is read, and ends only what it has begun. */
async function discard(body: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = body?.getReader();
  try {
    await reader?.read();
    await reader?.cancel();
  } catch {
    // The operation's errors are counted, and nobody waits for those of the stream.
  }
}

/** Gives a response that may be kept an ETag; that of a response for one token alone depends on the token. */
function isNotModifiedSince({ request: { headers }, response }: Exchange, body: Buffer): boolean {
  const cacheControl = String(response.getHeader('cache-control') ?? 'no-store');
  if (cacheControl === 'no-store') return false;
  const etag = etagOf(body, cacheControl.startsWith('private') ? headers.authorization : undefined);
  response.setHeader('etag', etag);
  return isNotModified(headers['if-none-match'], etag);
}

function createYogaServer({ pipeline, log }: RouteParts) {
  const silent = () => undefined;
  return createYoga<GraphqlRequest>({
    plugins: [throughPipeline(pipeline)],
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    extraParamNames: ['documentId', 'onError'],
    multipart: false, // uploads.ts has read the form
    cors: false, // the server sets these headers
    maxRequestBodySize: false, // the body was read within its limits
    parserAndValidationCache: false, // the pipeline parses and validates
    maskedErrors: {
      // The pipeline masks the errors of operations. Anything else that is not a GraphQLError is a bug.
      maskError: (error) => (error instanceof GraphQLError ? error : maskBug(error, log)),
    },
    logging: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** What Yoga does by itself otherwise: reading the body, parsing, validating and executing. */
function throughPipeline(pipeline: Pipeline): Plugin<GraphqlRequest, GraphqlRequest> {
  return {
    onRequestParse({ serverContext: { params }, setRequestParser }) {
      // Yoga's own parsers would read them from the request.
      setRequestParser(() => params as GraphQLParams);
    },
    /** Replaces the id of a document by its text, and what runs it. Before that, Yoga checks the parameters. */
    onParams({ params, context, setParams, setParamsHandler }) {
      const { lookup, operation, cancellation } = context;
      if (lookup) {
        if ('error' in lookup) throw lookup.error;
        setParams({ ...params, query: lookup.text });
        context.prepared = lookup.prepared;
      }
      setParamsHandler(({ request, params: { query, operationName, variables } }) => {
        const prepared = context.prepared ?? pipeline.prepare(query!, operationName ?? undefined);
        const type = prepared.ready?.operation.operation;
        if (request.method === 'GET' && type === OperationTypeNode.MUTATION) throw mutationByGet();
        return pipeline.answer(prepared, variables, operation, cancellation);
      });
    },
    // Yoga's own errors pass here too.
    onResultProcess(processing) {
      const { result } = processing;
      const { json, incremental } = processing.serverContext.accepted;
      const isWhole = !(Symbol.asyncIterator in result);
      if (isWhole) for (const { errors } of [result].flat()) addHelpLinks(errors);
      // Yoga's own boundary is a hyphen.
      if (incremental?.media === MULTIPART && !(isWhole && json))
        processing.setResultProcessor((_, api) => multipartResponse(result as Result, api), MULTIPART);
    },
  };
}

/** A client that accepts nothing else gets a whole response as the only part. */
function multipartResponse(result: Result, { Response }: FetchAPI): Response {
  const isWhole = !(Symbol.asyncIterator in result);
  const { type, body } = multipartOf(isWhole ? Readable.from([result]) : result);
  const status = isWhole ? statusOf(result.errors, result.data === undefined, MULTIPART) : 200;
  return new Response(body, { status, headers: { 'content-type': type } });
}

const mutationByGet = (): GraphQLError => {
  const http = { status: 405, headers: { Allow: 'POST' } };
  const extensions = { code: 'BAD_REQUEST', http };
  return new GraphQLError('Can only perform a mutation operation from a POST request.', { extensions });
};

function maskBug(error: unknown, log: Logger): GraphQLError {
  log.error({ err: error }, 'a request failed');
  return new GraphQLError('Something went wrong.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } });
}
