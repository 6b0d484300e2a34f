/** The rules of the interface that are checked before a call: what an input breaks, all of it at once. */
import { GraphQLError } from 'graphql';
import { charactersIn, hasMoreThan } from '../../lib/characters.ts';
import type { ClientCode } from './codes.ts';
import { badInput } from './to-client-error.ts';
import { shownText } from './shown-value.ts';

/** Characters of a text are counted up to this number. */
const COUNTED_MAX = 10_000;
const counted = ({ actual }: Limits) => (actual === COUNTED_MAX ? `${actual} or more` : actual);

/** What a person reads: the limit that was broken stands in it. */
const texts = {
  ANNOTATION_TOO_SHORT: ({ limit, actual }) => `An annotation has more than ${limit} characters, this one ${actual}.`,
  BAD_USER_INPUT: 'That is no value for this.',
  CHAPTER_TOO_LONG: (over) => `The name of a chapter has at most ${over.limit} characters, this one ${counted(over)}.`,
  COMMENT_TOO_LONG: (over) => `A comment has at most ${over.limit} characters, this one ${counted(over)}.`,
  EVENT_TIMES: 'An event does not end before it begins.',
  INVALID_PAGE_NUMBER: 'A page is a positive number of at most six digits.',
  INVALID_PICTURE_NUMBER: 'A picture has a positive number of at most six digits.',
  INVALID_TAG: 'A tag is one word: tags are parted by spaces.',
  INVALID_TEXT: 'The text holds a character that cannot be written in XML.',
  MISSING_ARGUMENT: 'This is needed, and not empty.',
  PAGE_OR_CHAPTER: 'Give a page or a chapter, not both.',
  PICTURE_NUMBER_USED: 'The number of a picture is used once.',
  PICTURE_TOO_LARGE: ({ limit }) => `A picture has fewer than ${limit} bytes.`,
  PICTURE_TYPE: 'A picture is a JPEG, PNG, GIF or WebP by its first bytes.',
  RATING_OUT_OF_RANGE: 'A rating is from 1 to 5.',
  REVIEW_TOO_SHORT: ({ limit, actual }) => `A review has more than ${limit} characters, this one ${actual}.`,
  TOO_MANY_TAGS: ({ limit, actual }) => `At most ${limit} tags, here ${actual}.`,
  TOO_MANY_PICTURES: ({ limit, actual }) => `At most ${limit} pictures, here ${actual}.`,
} satisfies Partial<Record<ClientCode, string | ((violation: Limits) => string)>>;
export type ViolationCode = keyof typeof texts;

/** One rule that an input breaks. */
export interface Violation extends Limits {
  /** Of the field, from `input` on. */
  path: readonly (string | number)[];
  code: ViolationCode;
}

interface Limits {
  limit?: number;
  actual?: number | string;
}

/** Most violations in one error. */
const VIOLATIONS_MAX = 100;

/** The error that tells of them all; its code is that of the first. */
export function violationError(violations: readonly [Violation, ...Violation[]]): GraphQLError {
  const [first] = violations;
  const { code, path } = first;
  const text = texts[code];
  return new GraphQLError(`${path.join('.')}: ${typeof text === 'string' ? text : text(first)}`, {
    extensions: { code, violations: violations.slice(0, VIOLATIONS_MAX).map(shown) },
  });
}

const shown = (violation: Violation): Violation =>
  typeof violation.actual === 'string' ? { ...violation, actual: shownText(violation.actual) } : violation;

/** What breaks no rule is no violation: `rule(broken && …)`. */
export const invalidIf = (isBroken: boolean, violation: Violation): Violation[] => (isBroken ? [violation] : []);

/** A text that must be there. */
export const required = (field: string, text: string | null | undefined): Violation[] =>
  invalidIf(!text?.trim(), { path: ['input', field], code: 'MISSING_ARGUMENT' });

/** A text that has at most this many characters. */
export function maxLength(
  field: string,
  text: string | null | undefined,
  limit: number,
  code: ViolationCode,
): Violation[] {
  if (!text || !hasMoreThan(text, limit)) return [];
  return [{ path: ['input', field], code, limit, actual: charactersIn(text, COUNTED_MAX) }];
}

/** A text that has more characters than this. */
export function longerThan(field: string, text: string, limit: number, code: ViolationCode): Violation[] {
  if (hasMoreThan(text, limit)) return [];
  return [{ path: ['input', field], code, limit, actual: charactersIn(text, limit) }];
}

/** A whole number between the two, where it is given; `limit` is the end that it is beyond. */
export function inRange(
  field: string,
  value: number | null | undefined,
  [least, most]: readonly [number, number],
  code: ViolationCode,
): Violation[] {
  if (value == null || (value >= least && value <= most)) return [];
  return [{ path: ['input', field], code, limit: value < least ? least : most, actual: value }];
}

/** An id that the decoder takes. */
export function validId(field: string, decode: () => string): Violation[] {
  try {
    decode();
    return [];
  } catch (error) {
    if (error instanceof GraphQLError) return [{ path: ['input', field], code: 'BAD_USER_INPUT' }];
    throw error;
  }
}

/** A file that did not come as it should have. */
export const badUpload = (): GraphQLError =>
  badInput('The file is not in the request, or broke off.', { code: 'BAD_UPLOAD' });
