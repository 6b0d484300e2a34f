/**
 * The door for plain questions: JSON in, JSON out, straight to the pipeline. Whatever is unusual goes to Yoga, which asks the same
 * pipeline; nothing is decided here that is not decided there.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** Answers the question; false where it is one for the other door. */
export type Door = (
  question: Question,
  request: IncomingMessage,
  response: ServerResponse,
  passage: Passage,
) => Promise<boolean>;

export function createDoor(pipeline: Pipeline): Door {
  return async ({ query, operationName, variables, ...others }, { headers }, response, passage) => {
    const media = medias.get(headers.accept);
    const isPlain =
      media !== undefined &&
      Object.keys(others).length === 0 &&
      isOptional(operationName, 'string') &&
      isOptional(variables, 'object') &&
      !Array.isArray(variables);
    if (!isPlain) return false;
    const prepared = pipeline.prepare(query, (operationName as string | null | undefined) ?? undefined);
    // A document that is wrong, or whose answer may come in pieces.
    if (prepared.errors || /@(?:defer|stream)\b/.test(query)) {
      passage.prepared = prepared;
      return false;
    }

    const { caller, signal } = passage;
    const result = await pipeline.answer(
      prepared,
      (variables as Record<string, unknown> | null | undefined) ?? undefined,
      caller,
      signal,
    );
    if (Symbol.asyncIterator in result) throw new Error('an answer in pieces at the plain door');
    const body = JSON.stringify(result.errors ? { ...result, errors: result.errors.map(withoutHttp) } : result);
    response.writeHead(statusOf(result.errors, result.data === undefined, media), {
      'content-type': `${media}; charset=utf-8`,
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
    return true;
  };
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
