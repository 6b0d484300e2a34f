import { GraphQLError } from 'graphql';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { checkAcceptable } from '../http/accept.ts';
import type { Exchange } from '../http/exchange.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import type { GraphqlRequest } from './request.ts';
import { addHelpLinks } from '../http/help.ts';
import type { Pipeline } from './answer.ts';
import { sendBody, sendStream } from '../http/send.ts';

interface Parts {
  schema: GraphQLSchema;
  pipeline: Pipeline;
  persisted: PersistedDocuments;
  /** The GraphiQL page; none where it is switched off. */
  page: (() => Promise<string>) | undefined;
  log: Logger;
}

export type YogaHandler = (exchange: Exchange, passage: GraphqlRequest) => Promise<void>;

const STREAMED = /^(?:multipart\/mixed|text\/event-stream)\b/;
/** Headers of the connection, which the server sets itself. */
const OF_THE_CONNECTION = new Set(['connection', 'transfer-encoding']);

/**
 * The door for GraphiQL, GET and everything unusual. Its hooks call the pipeline; nothing else of ours lives in here.
 *
 * Yoga gets a minimal Request and returns a Response, which is sent here. Its own Node adapter would build a URL from the Host header,
 * answer an exception with its stack, and wait forever for a client that has left.
 */
export function createYogaHandler({ schema, pipeline, persisted, page, log }: Parts): YogaHandler {
  const silent = () => undefined;
  const yoga = createYoga<GraphqlRequest>({
    schema,
    plugins: [readingQuestion, findingDocuments(persisted), throughPipeline(pipeline)],
    graphqlEndpoint: '/graphql',
    graphiql: page !== undefined,
    renderGraphiQL: () => page?.() ?? '',
    landingPage: false,
    batching: false,
    multipart: false, // one thing reads an upload, and it is not this
    cors: false, // the server answers for both doors
    maxRequestBodySize: false, // the body was read, within its limits, before it came here
    parserAndValidationCache: false, // the pipeline keeps what it prepared
    maskedErrors: {
      // The pipeline has masked what came out of an operation; what else is no GraphQL error is a bug.
      maskError: (error) => (error instanceof GraphQLError ? error : bug(error, log)),
    },
    logging: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const { Request } = yoga.fetchAPI;
  let pageBytes: Promise<Buffer> | undefined;
  return async (exchange, passage) => {
    const { request, response } = exchange;
    const { method = 'GET', url = '', headers } = request;
    const { accept } = headers;
    const mayBePage = page !== undefined && method === 'GET' && accept?.includes('text/html');
    if (!mayBePage) checkAcceptable(accept);
    // The server has matched the path. Nothing here may depend on the Host header, which the client chooses.
    const asked = new Request(`http://localhost${url}`, { method, ...(accept && { headers: { accept } }) });
    const answer = await yoga.fetch(asked, passage);
    if (!exchange.isOpen) return void answer.body?.cancel().catch(() => undefined);
    answer.headers.forEach((value, name) => {
      // Headers set before, such as cache-control, take precedence.
      if (!OF_THE_CONNECTION.has(name.toLowerCase()) && !response.hasHeader(name)) response.setHeader(name, value);
    });
    response.statusCode = answer.status;
    if (answer.body && STREAMED.test(answer.headers.get('content-type') ?? '')) await sendStream(exchange, answer.body);
    else {
      // The page is megabytes and always the same: all requests share one copy of its bytes.
      const isPage = mayBePage && answer.headers.get('content-type')?.startsWith('text/html');
      const body = isPage
        ? await (pageBytes ??= page().then((text) => Buffer.from(text)))
        : Buffer.from(await answer.text());
      response.setHeader('content-length', body.length);
      sendBody(exchange, body);
    }
  };
}

/** Passes the parsed body to Yoga, whose own parsers would read it from the request. */
const readingQuestion: Plugin<object, GraphqlRequest> = {
  onRequestParse({ serverContext, setRequestParser }) {
    const { question } = serverContext;
    if (question) setRequestParser(() => question as GraphQLParams);
  },
};

/** Puts the text in the place of what names it. */
function findingDocuments(persisted: PersistedDocuments): Plugin<object, GraphqlRequest> {
  return {
    onParams({ params, request, context, setParams }) {
      const { documentId, ...asked } = params as typeof params & { documentId?: unknown };
      const found = context.found ?? persisted.lookup({ ...asked, documentId: documentId ?? documentIdIn(request) });
      if (!found) return;
      if ('refusal' in found) throw found.refusal;
      if (found.prepared) context.prepared = found.prepared;
      setParams({ ...asked, query: found.text });
    },
  };
}

function documentIdIn({ method, url }: Request): string | undefined {
  const at = method === 'GET' ? url.indexOf('?') : -1;
  return at < 0 ? undefined : (new URLSearchParams(url.slice(at)).get('documentId') ?? undefined);
}

type Hooked = GraphqlRequest & { params: { operationName?: string | null } };

function throughPipeline(pipeline: Pipeline): Plugin<Hooked, GraphqlRequest> {
  return {
    onParse({ context, params, extendContext, setParseFn }) {
      setParseFn(() => {
        const prepared =
          context.prepared ?? pipeline.prepare(String(params.source), context.params.operationName ?? undefined);
        extendContext({ prepared });
        if (!prepared.document) throw prepared.errors?.[0] ?? new GraphQLError('This is not a document.');
        return prepared.document;
      });
    },
    onValidate({ context, setResult }) {
      setResult(context.prepared?.errors ?? []);
    },
    onExecute({ args, setExecuteFn }) {
      const { prepared, caller, lifetime } = args.contextValue;
      if (!prepared) return;
      const variables = args.variableValues as Readonly<Record<string, unknown>> | undefined;
      setExecuteFn(() => pipeline.answer(prepared, variables, caller, lifetime));
    },
    // Yoga's own refusals pass here too.
    onResultProcess(payload) {
      const { result } = payload;
      if (Symbol.asyncIterator in result) payload.setResult(withHelp(result));
      else for (const { errors } of [result].flat()) addHelpLinks(errors);
    },
  };
}

async function* withHelp<Piece extends ExecutionResult>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    addHelpLinks(piece.errors);
    const { incremental } = piece as { incremental?: readonly { errors?: readonly GraphQLError[] }[] };
    for (const { errors } of incremental ?? []) addHelpLinks(errors);
    yield piece;
  }
}

function bug(error: unknown, log: Logger): GraphQLError {
  log.error({ err: error }, 'a request failed');
  return new GraphQLError('Something went wrong.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } });
}
