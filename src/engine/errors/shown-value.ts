/** Shortens values of clients in error messages. */
import { inspect } from 'graphql/jsutils/inspect.js';
import { firstCharacters, hasMoreThan } from '../../lib/text/characters.ts';

/** Most characters of a value that are shown. */
const SHOWN_MAX = 100;
/** A long quoted name, which a client chose. */
const longName = new RegExp(`"([^"]{${SHOWN_MAX}})[^"]+"`, 'gu');
/** Most characters of a message that contains values. */
const MESSAGE_MAX = 500;
/** graphql-js prints two levels of a value; at the third it prints only `[Array]` or `[Object]`. */
const DEPTH_MAX = 3;
const MEMBERS_MAX = 12;

export const shortText = (text: string, most: number): string =>
  hasMoreThan(text, most) ? `${firstCharacters(text, most)}…` : text;

export const shownText = (text: string): string => shortText(text, SHOWN_MAX);

/** A value as graphql-js prints it, cut to `SHOWN_MAX` characters. */
export const shownValue = (value: unknown): string => shownText(inspect(pruned(value, DEPTH_MAX)));

/** Shortens a message of graphql-js, which may contain the whole value. */
export function shownMessage(message: string, value: unknown): string {
  if (!hasMoreThan(message, SHOWN_MAX)) return message;
  const whole = typeof value === 'string' ? value : inspect(value);
  const short = typeof value === 'string' ? shownText(value) : shownValue(value);
  const shown = whole.length > SHOWN_MAX ? message.split(whole).join(short) : message;
  return shortText(shown.replace(longName, '"$1…"'), MESSAGE_MAX);
}

/** The beginning of a value, so that graphql-js need not print all of it before it is cut. */
function pruned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return Array.isArray(value) ? [] : {};
  // Keep the length: graphql-js prints ten items and the number of the others.
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
