/** How large an answer may be. It is counted while it is made, so that one that is too large is not made to its end. */
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { ClientCode } from './codes.ts';

export interface AnswerLimits {
  /** Fields of all objects. */
  maxValues: number;
  /** As JSON, about. */
  maxAnswerBytes: number;
}

/** What an answer may still hold; less than none where it is too large. */
export interface AnswerRoom {
  values: number;
  bytes: number;
}

export const noAnswerLimits: AnswerLimits = { maxValues: Infinity, maxAnswerBytes: Infinity };

export const roomFor = ({ maxValues, maxAnswerBytes }: AnswerLimits): AnswerRoom => ({
  values: maxValues,
  bytes: maxAnswerBytes,
});

export const isFull = ({ values, bytes }: AnswerRoom): boolean => values < 0 || bytes < 0;

/** Below this many characters a text counts as one byte each, because to measure it would take longer than to send it. */
const SHORT = 100;
/** Quotes or brackets, and a comma. */
export const PUNCTUATION_BYTES = 3;
/** An error with its path, message and code; it takes longer to make than as much text. */
export const ERROR_BYTES = 1_000;

export const bytesOf = (text: string): number =>
  PUNCTUATION_BYTES + (text.length < SHORT ? text.length : Buffer.byteLength(text));

/** Why an answer is not given, where it is too large. */
export function answerRefusal({ values }: AnswerRoom, { maxValues, maxAnswerBytes }: AnswerLimits): GraphQLError {
  return values < 0
    ? refusal('TOO_MANY_VALUES', `The answer has more than ${maxValues} values.`, maxValues)
    : refusal('ANSWER_TOO_LARGE', `The answer has more than ${maxAnswerBytes} bytes.`, maxAnswerBytes);
}

const refusal = (code: ClientCode, message: string, limit: number): GraphQLError =>
  new GraphQLError(message, { extensions: { code, limit } });

/** The result of another executor, unless it is too large. */
export function limited(result: ExecutionResult, limits: AnswerLimits | undefined): ExecutionResult {
  if (!limits) return result;
  const room = roomFor(limits);
  measure(result.data, room);
  room.bytes -= ERROR_BYTES * (result.errors?.length ?? 0);
  return isFull(room) ? { errors: [answerRefusal(room, limits)], data: null } : result;
}

/** Takes the room that a value needs. */
export function measure(value: unknown, room: AnswerRoom): void {
  if (isFull(room)) return;
  if (typeof value === 'string') room.bytes -= bytesOf(value);
  else if (Array.isArray(value)) for (const item of value) measure(item, room);
  else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      room.values--;
      room.bytes -= key.length + PUNCTUATION_BYTES;
      measure((value as Record<string, unknown>)[key], room);
    }
  } else room.bytes -= PUNCTUATION_BYTES;
}
