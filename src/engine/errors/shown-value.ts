/** Shortens texts of clients in error messages. */
import { firstCharacters, hasMoreThan } from '../../lib/text/characters.ts';

/** Most characters of a value that are shown. */
const SHOWN_MAX = 100;

export const shortText = (text: string, most: number): string =>
  hasMoreThan(text, most) ? `${firstCharacters(text, most)}…` : text;

export const shownText = (text: string): string => shortText(text, SHOWN_MAX);
