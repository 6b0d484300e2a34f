/** Limits the size of a response. It is counted while the response is built, so that one that is too large is not built completely. */
import { GraphQLError } from 'graphql';
import type { ResponseLimits } from '../context.ts';
import type { ClientCode } from '../errors/codes.ts';

/** What may still be added to a response; negative if it is too large. */
export interface ResponseRoom {
  values: number;
  bytes: number;
  readonly limits: ResponseLimits;
}

const noLimits: ResponseLimits = { maxValues: Infinity, maxAnswerBytes: Infinity };

export const roomFor = (limits: ResponseLimits = noLimits): ResponseRoom => ({
  values: limits.maxValues,
  bytes: limits.maxAnswerBytes,
  limits,
});

export const isFull = ({ values, bytes }: ResponseRoom): boolean => values < 0 || bytes < 0;

/** Shorter texts count one byte per character: measuring them would take longer than sending them. */
const SHORT = 100;
/** Quotes or brackets, and a comma. */
export const PUNCTUATION_BYTES = 3;
/** An error with its path, message and code. More than its text, because it takes longer to build. */
export const ERROR_BYTES = 1_000;

/** Characters that JSON writes as six bytes. Line breaks and quotes take two, which need not be counted. */
const ESCAPED = /[\0-\x07\v\x0e-\x1f]/;

export const bytesOf = (text: string): number =>
  PUNCTUATION_BYTES +
  (text.length < SHORT ? text.length : Buffer.byteLength(ESCAPED.test(text) ? JSON.stringify(text) : text));

/** The error for a response that is too large: TOO_MANY_VALUES or ANSWER_TOO_LARGE. */
export function responseTooLarge({ values, limits }: ResponseRoom): GraphQLError {
  const isTooMany = values < 0;
  const code: ClientCode = isTooMany ? 'TOO_MANY_VALUES' : 'ANSWER_TOO_LARGE';
  const limit = isTooMany ? limits.maxValues : limits.maxAnswerBytes;
  const message = `The response has more than ${limit} ${isTooMany ? 'values' : 'bytes'}.`;
  return new GraphQLError(message, { extensions: { code, limit } });
}
