import { hasMoreThan } from '../../lib/characters.ts';

/**
 * A search text, taken apart for a table of the trigram tokenizer, which has no index for fewer than three characters:
 * such terms are looked for with LIKE. Every term must be found.
 */
export function searchTerms(text: string): { match: string | null; like: string[] } {
  const terms = text.trim().split(/\s+/u).filter(Boolean).slice(0, 16);
  const long = terms.filter((term) => hasMoreThan(term, 2));
  const short = terms.filter((term) => !hasMoreThan(term, 2));
  return {
    match: long.length > 0 ? long.map((term) => `"${term.replaceAll('"', '""')}"`).join(' AND ') : null,
    like: short.map(containing),
  };
}

/** For `LIKE ? ESCAPE '\'`. */
export const containing = (term: string) => `%${term.replace(/[\\%_]/g, '\\$&')}%`;
