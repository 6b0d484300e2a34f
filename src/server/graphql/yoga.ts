/**
 * Writes outcomes by graphql-yoga: responses to GET and uploads, incremental delivery, and everything else that is not JSON for JSON.
 */
import { Readable } from 'node:stream';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { type FetchAPI, type Plugin, createYoga } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Exchange } from '../http/exchange.ts';
import { etagOf, isNotModified } from '../http/response/static-response.ts';
import { sendBody, sendNotModified, sendStream } from '../http/response/send.ts';
import type { StatusOf } from '../http/response/status.ts';
import { multipartOf } from './multipart.ts';
import { type OperationEngine, operationPlugin } from './operation-plugin.ts';
import type { GraphqlRequest } from './request.ts';
import type { ResultParts } from './incremental-delivery.ts';
import { type Outcome, type WholeOutcome, errorHeaders, isWhole, resultText } from './outcome.ts';

/** `request` is the name of Yoga's own. */
interface WriterContext {
  received: GraphqlRequest;
  outcome: Outcome;
}

/** Instead of the text, which may be known by its id alone. */
const READ_BEFORE = '{ __typename }';
const MULTIPART = 'multipart/mixed';
const STREAMED = /^(?:multipart\/mixed|text\/event-stream)\b/;
/** Headers that are set by the route or where the response is sent. Yoga's `Content-Encoding: none` is no encoding that a client knows. */
const OWN_HEADERS = new Set(['cache-control', 'connection', 'content-encoding', 'content-length', 'transfer-encoding']);

/**
 * Yoga gets a minimal Request and returns a Response, which is sent here. Its own Node adapter would build a URL from the Host header,
 * send the stack of an exception, and wait forever for a client that has disconnected.
 */
export function createYogaWriter(schema: GraphQLSchema, log: Logger, statusOf: StatusOf) {
  const yoga = createYogaServer(schema, log, statusOf);
  const { Request } = yoga.fetchAPI;

  return async (exchange: Exchange, graphqlRequest: GraphqlRequest, outcome: Outcome): Promise<void> => {
    const { request, response } = exchange;
    const { json, incremental } = graphqlRequest.accepted;
    // The types that were negotiated, of which Yoga takes the one for a whole response or the one for parts.
    const accept = [json, incremental?.media].filter(Boolean).join();
    // HEAD and QUERY are answered as GET is; nothing may depend on host and path, which the client chooses. The parameters are read.
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const minimal = new Request('http://localhost/graphql', { method, headers: { accept } });
    const answer = await yoga.fetch(minimal, { received: graphqlRequest, outcome });
    if (!exchange.isOpen) return discard(answer.body);
    exchange.setHeaders();
    answer.headers.forEach((value, name) => {
      // Headers set before take precedence.
      if (!OWN_HEADERS.has(name.toLowerCase()) && !response.hasHeader(name)) response.setHeader(name, value);
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

function createYogaServer(schema: GraphQLSchema, log: Logger, statusOf: StatusOf) {
  const silent = () => undefined;
  return createYoga<WriterContext>({
    plugins: [operationPlugin(engineOf(schema)), withResult(statusOf)],
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
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

/** The operation was run before, because its slot, its key and its headers are of the request. */
const engineOf = (schema: GraphQLSchema): OperationEngine<WriterContext> => ({
  schema,
  parse(_, { outcome: { document, result } }) {
    if (document) return document.document;
    throw new AggregateError((result as ExecutionResult).errors!);
  },
  validate: () => [],
  execute: ({ contextValue: { outcome } }) => outcome.result,
});

/** The body was read before, and JSON and parts are written as everywhere else. */
const withResult = (statusOf: StatusOf): Plugin<WriterContext, WriterContext> => ({
  onRequestParse: ({ setRequestParser }) => setRequestParser(() => ({ query: READ_BEFORE })),
  onResultProcess(process) {
    const { received, outcome } = process.serverContext;
    const { json, incremental } = received.accepted;
    if (json && isWhole(outcome))
      process.setResultProcessor((_, api) => jsonResponse(outcome, json, statusOf, api), json);
    // Yoga's own boundary is a hyphen.
    else if (incremental?.media === MULTIPART)
      process.setResultProcessor((_, api) => multipartResponse(outcome, statusOf, api), MULTIPART);
  },
});

function jsonResponse({ result }: WholeOutcome, media: string, statusOf: StatusOf, { Response }: FetchAPI): Response {
  const headers = new Headers({ 'content-type': `${media}; charset=utf-8` });
  const given = errorHeaders(result);
  for (let at = 0; at < given.length; at += 2) headers.append(given[at]!, given[at + 1]!);
  return new Response(resultText(result), { status: statusOf(result, media), headers });
}

/** A client that accepts nothing else gets a whole response as the only part. */
function multipartResponse(outcome: Outcome, statusOf: StatusOf, { Response }: FetchAPI): Response {
  const parts = isWhole(outcome) ? Readable.from([outcome.result]) : (outcome.result as ResultParts);
  const { type, body } = multipartOf(parts);
  const status = isWhole(outcome) ? statusOf(outcome.result, MULTIPART) : 200;
  return new Response(body, { status, headers: { 'content-type': type } });
}

function maskBug(error: unknown, log: Logger): GraphQLError {
  log.error({ err: error }, 'a request failed');
  return new GraphQLError('Something went wrong.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } });
}
