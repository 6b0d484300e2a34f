/**
 * The door for plain questions: JSON in, JSON out, straight to the pipeline. Whatever is unusual goes to Yoga, which asks the same
 * pipeline; nothing is decided here that is not decided there.
 */
import type { ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { Question } from './body.ts';
import type { Pipeline } from './pipeline.ts';
import type { Passage } from './yoga.ts';

const medias = new Map([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
]);

/** Answers the question; false where it is one for the other door. `standing`: headers that go with any answer, names and values in turn. */
export type Door = (
  question: Question,
  accept: string | undefined,
  response: ServerResponse,
  standing: readonly string[],
  passage: Passage,
) => Promise<boolean>;

export function createDoor(pipeline: Pipeline): Door {
  return async (question, accept, response, standing, passage) => {
    const media = medias.get(accept);
    if (media === undefined || !isPlain(question)) return false;
    const { query, operationName, variables } = question;
    const prepared = pipeline.prepare(query, operationName ?? undefined);
    // A document that is wrong, or whose answer may come in pieces.
    if (prepared.errors || prepared.comesInPieces) {
      passage.prepared = prepared;
      return false;
    }
    const result = await pipeline.answer(prepared, variables ?? undefined, passage.caller, passage.lifetime);
    if (Symbol.asyncIterator in result) throw new Error('an answer in pieces at the plain door');
    const body = JSON.stringify(result.errors ? { ...result, errors: result.errors.map(withoutHttp) } : result);
    response.writeHead(statusOf(result.errors, result.data === undefined, media), [
      ...standing,
      'content-type',
      `${media}; charset=utf-8`,
      'content-length',
      String(Buffer.byteLength(body)),
    ]);
    response.end(body);
    return true;
  };
}

interface PlainQuestion extends Question {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}
const plainMembers = ['query', 'operationName', 'variables'];

/** Nothing but a document, its operation and its variables, each of the kind that it must be. */
function isPlain(question: Question): question is PlainQuestion {
  for (const name in question) if (!plainMembers.includes(name)) return false;
  const { operationName, variables } = question;
  return isOptional(operationName, 'string') && isOptional(variables, 'object') && !Array.isArray(variables);
}

const isOptional = (value: unknown, type: 'string' | 'object'): boolean =>
  value === undefined || value === null || typeof value === type;

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
