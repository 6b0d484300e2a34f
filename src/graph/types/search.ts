import { hasMoreThan } from '../../lib/characters.ts';
import { badInput } from '../errors/to-client-error.ts';

/** Longest search text, in characters. */
export const SEARCH_TEXT_MAX = 1000;

/** A search text without the space around it; undefined when it is blank, refused when it is too long for the service. */
export function searchText(argument: string, given: string | null | undefined): string | undefined {
  const wanted = given?.trim();
  if (!wanted) return undefined;
  if (hasMoreThan(wanted, SEARCH_TEXT_MAX)) {
    throw badInput(`\`${argument}\` must have at most ${SEARCH_TEXT_MAX} characters.`, {
      argument,
      limit: SEARCH_TEXT_MAX,
    });
  }
  return wanted;
}
