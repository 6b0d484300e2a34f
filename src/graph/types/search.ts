import { hasMoreThan } from '../../lib/text/characters.ts';
import { badInput } from '../../engine/errors/to-client-error.ts';

/** Longest search text, in characters. */
export const SEARCH_TEXT_MAX = 1000;

/** The input of a search by text or tag. Throws if neither is given. */
export function searchInput(given: { query?: string | null; tag?: string | null }) {
  const [q, tag] = [searchText('query', given.query), searchText('tag', given.tag)];
  if (!q && !tag) throw badInput('Give at least one of `query` and `tag`.', { argument: 'query' });
  return { q, tag };
}

/** A search text without the white space around it; undefined if it is blank. Throws if it is too long for the service. */
export function searchText(argument: string, given: string | null | undefined): string | undefined {
  const text = given?.trim();
  if (!text) return undefined;
  if (hasMoreThan(text, SEARCH_TEXT_MAX)) {
    throw badInput(`\`${argument}\` must have at most ${SEARCH_TEXT_MAX} characters.`, {
      argument,
      limit: SEARCH_TEXT_MAX,
    });
  }
  return text;
}
