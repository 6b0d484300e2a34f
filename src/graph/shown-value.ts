/** What an error shows of a value that a client sent: enough to know it by, whatever its size. */
import { inspect } from 'graphql/jsutils/inspect.js';
import { firstCharacters, hasMoreThan } from '../contract/characters.ts';

/** Characters of a value that are shown. */
export const SHOWN_MAX = 100;
/** A name that a client chose, in quotes. */
const longName = new RegExp(`"([^"]{${SHOWN_MAX}})[^"]+"`, 'gu');
/** Characters of a message that holds values. */
const MESSAGE_MAX = 500;
/** As deep as graphql-js shows a value, and one more, which it names by its kind. */
const DEPTH_MAX = 3;
const MEMBERS_MAX = 12;

const cut = (text: string, most: number): string =>
  hasMoreThan(text, most) ? `${firstCharacters(text, most)}…` : text;

export const shownText = (text: string): string => cut(text, SHOWN_MAX);

/** A value as graphql-js writes it, cut. */
export const shownValue = (value: unknown): string => shownText(inspect(pruned(value, DEPTH_MAX)));

/** A message of graphql-js about a value, in which the value may stand as a whole. */
export function shownMessage(message: string, value: unknown): string {
  if (!hasMoreThan(message, SHOWN_MAX)) return message;
  const whole = typeof value === 'string' ? value : inspect(value);
  const short = typeof value === 'string' ? shownText(value) : shownValue(value);
  const shown = whole.length > SHOWN_MAX ? message.split(whole).join(short) : message;
  return cut(shown.replace(longName, '"$1…"'), MESSAGE_MAX);
}

/** The beginning of a value, so that what is cut off is not written out first. */
function pruned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return Array.isArray(value) ? [] : {};
  // graphql-js shows ten items and counts the others: the length has to stay.
  if (Array.isArray(value))
    return Object.assign(
      new Array(value.length),
      value.slice(0, MEMBERS_MAX).map((item) => pruned(item, depth - 1)),
    );
  const members: [string, unknown][] = [];
  for (const name in value) {
    if (members.length === MEMBERS_MAX) break;
    members.push([shownText(name), pruned((value as Record<string, unknown>)[name], depth - 1)]);
  }
  return Object.fromEntries(members);
}
