import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Lifetime } from '../upstream/lifetime.ts';
import { refuseUnacceptable } from './accept.ts';
import type { Found, PersistedDocuments } from './persisted.ts';
import { addHelp } from './help.ts';
import type { Caller, Pipeline } from './pipeline.ts';
import type { Prepared } from './prepare.ts';

/** What the server hands to Yoga with a request. */
export interface Passage {
  caller: Caller;
  /** Of the request: it ends when the client leaves, or when its time is over. */
  lifetime: Lifetime;
  /** Made ready at the other door already. */
  prepared?: Prepared;
  /** The document that is named in place of a text, looked up already. */
  found?: Found;
}

interface Parts {
  schema: GraphQLSchema;
  pipeline: Pipeline;
  persisted: PersistedDocuments;
  /** The GraphiQL page; none where it is switched off. */
  page: (() => Promise<string>) | undefined;
  log: Logger;
}

export type YogaDoor = (request: IncomingMessage, response: ServerResponse, passage: Passage) => Promise<unknown>;

/** The door for GraphiQL, GET and everything unusual. Its hooks call the pipeline; nothing else of ours lives in here. */
export function createYogaDoor({ schema, pipeline, persisted, page, log }: Parts): YogaDoor {
  const silent = () => undefined;
  const yoga = createYoga<Passage>({
    schema,
    plugins: [findingDocuments(persisted), throughPipeline(pipeline)],
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
  return async (request, response, passage) => {
    const { accept } = request.headers;
    const isPage = page !== undefined && request.method === 'GET' && accept?.includes('text/html');
    if (!isPage) refuseUnacceptable(accept);
    await yoga.handle(request, response, passage);
  };
}

/** Puts the text in the place of what names it. */
function findingDocuments(persisted: PersistedDocuments): Plugin<object, Passage> {
  return {
    onParams({ params, request, context, setParams }) {
      const { documentId, ...asked } = params as typeof params & { documentId?: unknown };
      const found = context.found ?? persisted.find({ ...asked, documentId: documentId ?? documentIdIn(request) });
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

type Hooked = Passage & { params: { operationName?: string | null } };

function throughPipeline(pipeline: Pipeline): Plugin<Hooked, Passage> {
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
      else for (const { errors } of [result].flat()) addHelp(errors);
    },
  };
}

async function* withHelp<Piece extends ExecutionResult>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    addHelp(piece.errors);
    const { incremental } = piece as { incremental?: readonly { errors?: readonly GraphQLError[] }[] };
    for (const { errors } of incremental ?? []) addHelp(errors);
    yield piece;
  }
}

function bug(error: unknown, log: Logger): GraphQLError {
  log.error({ err: error }, 'a request failed');
  return new GraphQLError('Something went wrong.', { extensions: { code: 'INTERNAL_SERVER_ERROR' } });
}
