import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { hasMoreThan } from '../../lib/text/characters.ts';

/** The terms of a search text; a match contains every one of them. NUL ends a text for SQLite. */
export const termsOf = (text: string): string[] =>
  text.replaceAll('\0', ' ').trim().split(/\s+/u).filter(Boolean).slice(0, 16);

/** A string of the query language of full-text tables. */
export const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * Whether the row of a full-text table with this row id contains every term. Its index has no terms of fewer than three characters, which
 * are searched with LIKE.
 */
export function containsTerms(index: 'events_fts' | 'subjects_fts', rowid: string, text: string): RawBuilder<SqlBool> {
  const terms = termsOf(text);
  if (terms.length === 0) return sql`true`;
  const long = terms.filter((term) => hasMoreThan(term, 2));
  const conditions = terms
    .filter((term) => !long.includes(term))
    .map((term) => sql`words like ${`%${term.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`);
  if (long.length > 0) conditions.push(sql`${sql.ref(index)} match ${long.map(quoted).join(' AND ')}`);
  return sql`${sql.ref(rowid)} in (select rowid from ${sql.table(index)} where ${sql.join(conditions, sql` and `)})`;
}
