/** Shortens values of clients in error messages. */
import { inspect } from 'graphql/jsutils/inspect.js';
import { firstCharacters, hasMoreThan } from '../../lib/text/characters.ts';

/** Most characters of a value that are shown. */
const SHOWN_MAX = 100;
/** A long quoted name, which a client chose. */
const longName = new RegExp(`"([^"]{${SHOWN_MAX}})[^"]+"`, 'gu');
/** Most characters of a message that contains values. */
const MESSAGE_MAX = 500;

export const shortText = (text: string, most: number): string =>
  hasMoreThan(text, most) ? `${firstCharacters(text, most)}…` : text;

export const shownText = (text: string): string => shortText(text, SHOWN_MAX);

/** A value as graphql-js prints it, cut to `SHOWN_MAX` characters. */
export const shownValue = (value: unknown): string => shownText(inspect(value));

/** Shortens a message of graphql-js, which may contain the whole value. */
export function shownMessage(message: string, value: unknown): string {
  if (!hasMoreThan(message, SHOWN_MAX)) return message;
  const whole = typeof value === 'string' ? value : inspect(value);
  const short = typeof value === 'string' ? shownText(value) : shownValue(value);
  const shown = whole.length > SHOWN_MAX ? message.split(whole).join(short) : message;
  return shortText(shown.replace(longName, '"$1…"'), MESSAGE_MAX);
}
