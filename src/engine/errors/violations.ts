/** The rules for input that are checked before a call. All violations are reported together. */
import { GraphQLError } from 'graphql';
import { charactersIn, hasMoreThan } from '../../lib/text/characters.ts';
import { isPlainObject } from '../../lib/objects.ts';
import type { ClientCode } from './codes.ts';
import { shownText } from './shown-value.ts';

/** Characters of a text are counted up to this number: a text may have a million, and larger numbers tell its author no more. */
const COUNTED_MAX = 10_000;
const counted = ({ actual }: Limits) => (actual === COUNTED_MAX ? `${actual} or more` : actual);

/** The messages, with the limit that was broken. */
const texts = {
  ANNOTATION_TOO_SHORT: ({ limit, actual }) =>
    `An annotation must have more than ${limit! - 1} characters; this one has ${actual}.`,
  BAD_USER_INPUT: 'This value is not valid here.',
  CHAPTER_TOO_LONG: (over) =>
    `The name of a chapter may have at most ${over.limit} characters; this one has ${counted(over)}.`,
  COMMENT_TOO_LONG: (over) => `A comment may have at most ${over.limit} characters; this one has ${counted(over)}.`,
  EVENT_TIMES: 'An event must not end before it begins.',
  INVALID_PAGE_NUMBER: 'A page must be a positive number of at most six digits.',
  INVALID_PICTURE_NUMBER: 'The number of a picture must be positive and have at most six digits.',
  INVALID_TAG: 'A tag must be one word without spaces.',
  INVALID_TEXT: 'The text contains a character that XML does not allow.',
  MISSING_ARGUMENT: 'This is required.',
  PAGE_OR_CHAPTER: 'Give a page or a chapter, not both.',
  PICTURE_NUMBER_USED: 'The number of a picture must be unique.',
  PICTURE_TOO_LARGE: ({ limit }) => `A picture must have fewer than ${limit! + 1} bytes.`,
  PICTURE_TYPE: 'A picture must be a JPEG, PNG, GIF or WebP file.',
  PRESENT_VALUE_UNKNOWN: 'What is there now cannot be told for certain, so it is not kept.',
  RATING_OUT_OF_RANGE: 'A rating must be from 1 to 5.',
  REVIEW_TOO_SHORT: ({ limit, actual }) =>
    `A review must have more than ${limit! - 1} characters; this one has ${actual}.`,
  TOO_MANY_TAGS: ({ limit, actual }) => `At most ${limit} tags are allowed; there are ${actual}.`,
  TOO_MANY_PICTURES: ({ limit, actual }) => `At most ${limit} pictures are allowed; there are ${actual}.`,
} satisfies Partial<Record<ClientCode, string | ((violation: Limits) => string)>>;
type ViolationCode = keyof typeof texts;

/** One rule that an input breaks. */
export interface Violation extends Limits {
  /** The path of the field, starting with `input`. */
  path: readonly (string | number)[];
  code: ViolationCode;
}

interface Limits {
  limit?: number;
  actual?: number | string;
  /** By default the text of the code. */
  message?: string;
}

/** Most violations in one error. */
const VIOLATIONS_MAX = 100;

/** Throws one error for all violations, with the code of the first. */
export function requireValid(violations: readonly (Violation | undefined)[]): void {
  const first = violations.find(Boolean);
  if (!first) return;
  const { code, path } = first;
  const broken = violations.filter((each) => each !== undefined);
  throw new GraphQLError(`${path.join('.')}: ${messageOf(first)}`, {
    extensions: { code, violations: broken.slice(0, VIOLATIONS_MAX).map(shown) },
  });
}

function messageOf(violation: Violation): string {
  const text: string | ((violation: Limits) => string) = violation.message ?? texts[violation.code];
  return typeof text === 'string' ? text : text(violation);
}

/** A violation as clients see it. */
function shown(violation: Violation): Violation {
  const { actual } = violation;
  const short = typeof actual === 'string' ? { actual: shownText(actual) } : {};
  return { ...violation, ...short, message: messageOf(violation) };
}

/** Where a value is in the input: a field, or a path. */
type Field = string | readonly (string | number)[];

/** The violation if the input is invalid. */
export const invalidIf = (
  isInvalid: boolean,
  field: Field,
  code: ViolationCode,
  limits: Limits = {},
): Violation | undefined => (isInvalid ? { path: ['input', field].flat(), code, ...limits } : undefined);

/** A text that must not be missing or blank. */
export const required = (field: string, text: string | null | undefined): Violation | undefined =>
  invalidIf(!text?.trim(), field, 'MISSING_ARGUMENT', { message: 'This is required and must not be empty.' });

/** Each text in an input that has U+0000, which the service rejects without a name. Files are no texts. */
export function withNul(value: unknown, path: readonly (string | number)[] = ['input']): Violation[] {
  if (typeof value === 'string')
    return value.includes('\0')
      ? [{ path, code: 'INVALID_TEXT', message: 'The text contains the character U+0000, which is not allowed.' }]
      : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => withNul(item, [...path, index]));
  const isInput = isPlainObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object);
  return isInput ? Object.entries(value).flatMap(([field, item]) => withNul(item, [...path, field])) : [];
}

/** A text with at most this many characters. */
export const maxLength = (field: string, text: string | null | undefined, limit: number, code: ViolationCode) =>
  invalidIf(hasMoreThan(text ?? '', limit), field, code, { limit, actual: charactersIn(text ?? '', COUNTED_MAX) });

/** A text with more characters than this, if it is given; `limit` is the fewest that it may have. */
export const longerThan = (
  field: string,
  text: string | null | undefined,
  than: number,
  code: ViolationCode,
): Violation | undefined =>
  text == null
    ? undefined
    : invalidIf(!hasMoreThan(text, than), field, code, { limit: than + 1, actual: charactersIn(text, than) });

/** An integer in a range, if it is given; `limit` is the end of the range that it exceeds. */
export function inRange(
  field: Field,
  value: number | null | undefined,
  [least, most]: readonly [number, number],
  code: ViolationCode,
): Violation | undefined {
  if (value == null) return undefined;
  const limit = value < least ? least : most;
  return invalidIf(value < least || value > most, field, code, { limit, actual: value });
}

/** An id that can be decoded. */
export function validId(field: string, decode: () => string): Violation | undefined {
  try {
    decode();
    return undefined;
  } catch (error) {
    if (error instanceof GraphQLError)
      return { path: ['input', field], code: 'BAD_USER_INPUT', message: error.message };
    throw error;
  }
}
