/**
 * The door for plain questions: JSON in, JSON out, straight to the pipeline. Whatever is unusual goes to Yoga, which asks the same
 * pipeline; nothing is decided here that is not decided there.
 */
import type { GraphQLError } from 'graphql';
import type { GraphqlParams, TextParams } from '../http/request-body.ts';
import type { CachePolicy } from '../../upstream/cache/cache-policy.ts';
import type { Span } from '../../upstream/trace-context.ts';
import { type ResponseCache, isCacheable } from './response-cache.ts';
import type { Exchange } from '../http/exchange.ts';
import { addHelpLinks } from '../http/help.ts';
import type { OperationRequest, Pipeline } from './answer.ts';
import { sendBody } from '../http/send.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import type { GraphqlRequest } from './request.ts';

const medias = new Map([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
  // Apollo Client
  ['application/graphql-response+json,application/json;q=0.9', 'application/graphql-response+json'],
  // urql
  [
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    'application/graphql-response+json',
  ],
]);

const contentTypes = new Map([...medias.values()].map((media) => [media, `${media}; charset=utf-8`]));

/** A request whose body is JSON, and where its answer goes. */
export interface JsonRequest {
  body: string;
  accept: string | undefined;
  exchange: Exchange;
}

/** Whose answer it is. */
type Who = Pick<OperationRequest, 'authorization' | 'explain'>;

export interface FastPath {
  /** Answers with what was answered before, where that stands; false where it does not. */
  answerFromCache: (asked: JsonRequest, who: Who, spanOf: () => Span | undefined) => boolean;
  /** Answers the question; false where it is one for the other door. */
  answer: (question: TextParams, asked: JsonRequest, passage: GraphqlRequest) => Promise<boolean>;
}

export function createFastPath(pipeline: Pipeline, answers: ResponseCache, epoch: () => number | null): FastPath {
  return {
    answerFromCache({ body, accept, exchange }, who, spanOf) {
      const media = medias.get(accept);
      if (media === undefined || !isAnybody(who)) return false;
      const startedAt = performance.now();
      const answer = answers.get(media, body);
      if (!answer) return false;
      send(exchange, 200, media, answer);
      pipeline.countCacheHit(startedAt, spanOf);
      return true;
    },
    async answer(question, { body, accept, exchange }, passage) {
      const media = medias.get(accept);
      if (media === undefined || !isPlain(question)) return false;
      const { query, operationName, variables } = question;
      const prepared = pipeline.prepare(query, operationName ?? undefined);
      // A document that is wrong, or whose answer may come in pieces.
      if (prepared.errors || prepared.isDeliveredIncrementally) {
        passage.prepared = prepared;
        return false;
      }
      const { caller, lifetime } = passage;
      let freshness: CachePolicy | undefined;
      if (isAnybody(caller)) caller.onCacheable = (told) => (freshness = told);
      const begun = epoch();
      const result = await pipeline.answer(prepared, variables ?? undefined, caller, lifetime);
      if (Symbol.asyncIterator in result) throw new Error('an answer in pieces at the plain door');
      if (!exchange.isOpen) return true;
      addHelpLinks(result.errors);
      const shown = result.errors ? { ...result, errors: result.errors.map(withoutHttp) } : result;
      const text = JSON.stringify(shown);
      const answer = text.length > SHORT ? Buffer.from(text) : text;
      const status = statusOf(result.errors, result.data === undefined, media);
      send(exchange, status, media, answer);
      if (freshness && isCacheable(freshness)) answers.put(media, body, apart(answer), freshness, begun);
      return true;
    },
  };
}

/** Characters of an answer that goes out in one piece with its headers; what is longer would be copied once more for that. */
const SHORT = 5_000;

/** In memory of its own: the Buffer of a short text is a piece of something larger, which it would keep. */
const apart = (answer: Buffer | string): Buffer =>
  typeof answer === 'string' ? Buffer.from(new TextEncoder().encode(answer).buffer) : answer;

/** Nobody's own answer, and not one about how it came to be. */
const isAnybody = ({ authorization, explain }: Who): boolean => authorization === undefined && explain === undefined;

function send(exchange: Exchange, status: number, media: string, answer: Buffer | string): void {
  const { headers, response } = exchange;
  headers.push('content-type', contentTypes.get(media)!, 'content-length', String(Buffer.byteLength(answer)));
  response.writeHead(status, headers);
  sendBody(exchange, answer);
}

interface PlainQuestion extends TextParams {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}
const plainMembers = ['query', 'operationName', 'variables', 'extensions'];

/** Nothing but a document, its operation and its variables, each of the kind that it must be. */
function isPlain(question: TextParams): question is PlainQuestion {
  for (const name in question) if (!plainMembers.includes(name)) return false;
  const { operationName, variables, extensions } = question;
  return (
    isOptional(operationName, 'string') &&
    isOptional(variables, 'object') &&
    !Array.isArray(variables) &&
    isIgnored(extensions)
  );
}

const isOptional = (value: unknown, type: 'string' | 'object'): boolean =>
  value === undefined || value === null || typeof value === type;

/** Clients name themselves there; what else may stand there is none of this door's. */
const isIgnored = (extensions: unknown): boolean =>
  extensions === undefined ||
  (typeof extensions === 'object' &&
    extensions !== null &&
    !Array.isArray(extensions) &&
    Object.keys(extensions).every((name) => name === 'clientLibrary'));

/** As Yoga decides it: a request that could not be run has the status that its errors name, and 200 for a client of plain JSON. */
function statusOf(errors: readonly GraphQLError[] | undefined, isRefused: boolean, media: string): number {
  if (!isRefused) return 200;
  const named = (errors ?? []).map(({ extensions }) => extensions.http);
  const statuses = named.map((http) => (media === 'application/json' && http?.spec ? 0 : (http?.status ?? 0)));
  return Math.max(0, ...statuses) || 200;
}

function withoutHttp(error: GraphQLError): object {
  const { extensions, ...shown } = error.toJSON();
  const { http: _, ...told } = extensions ?? {};
  return Object.keys(told).length ? { ...shown, extensions: told } : shown;
}

/**
 * The question as the plain door takes it, with its text in the place of what names it. Undefined where it is one for the other door,
 * which is handed what was found: a refusal is told there in the form that the client takes.
 */
export function resolveParams(
  asked: GraphqlParams,
  persisted: PersistedDocuments,
  passage: GraphqlRequest,
): TextParams | undefined {
  const found = persisted.lookup(asked);
  if (!found) return isQuestion(asked) ? asked : undefined;
  passage.found = found;
  const { documentId: _, extensions, ...others } = asked;
  if ('refusal' in found || found.prepared?.errors || !isNameAlone(extensions)) return undefined;
  return { ...others, query: found.text };
}

const isQuestion = (asked: GraphqlParams): asked is TextParams => typeof asked.query === 'string';

/** Extensions that say nothing but the name. */
const isNameAlone = (extensions: unknown): boolean =>
  extensions === undefined ||
  extensions === null ||
  (typeof extensions === 'object' &&
    Object.keys(extensions).every((key) => key === 'persistedQuery' || key === 'clientLibrary'));
