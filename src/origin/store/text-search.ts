import { hasMoreThan } from '../../lib/characters.ts';

/**
 * Splits a search text into terms for a table with the trigram tokenizer. Terms of fewer than three characters are not in its
 * index and are searched with LIKE. A match contains every term.
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

/** A pattern for `LIKE ? ESCAPE '\'`. */
const containing = (term: string) => `%${term.replace(/[\\%_]/g, '\\$&')}%`;
