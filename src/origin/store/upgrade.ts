import type BetterSqlite from 'better-sqlite3';
import { createBookIndex } from './book-index.ts';
import { ddl } from './schema.ts';

/** Creates missing tables and migrates those of older versions. */
export function upgrade(raw: BetterSqlite.Database): void {
  const isUnranked = has(raw, 'books') && !has(raw, 'books', 'rank');
  if (isUnranked)
    raw.exec('ALTER TABLE books ADD COLUMN rank INTEGER; DROP TABLE books_fts; DROP INDEX book_tags_by_name;');
  if (has(raw, 'people', 'avatar')) raw.exec(drawnPictures);
  raw.exec(ddl);
  if (isUnranked) {
    const index = createBookIndex({ raw });
    for (const id of raw.prepare<[], string>('SELECT id FROM books').pluck().all()) index(id);
  }
}

/** Whether the table exists, and the column in it. */
function has(raw: BetterSqlite.Database, table: string, column?: string): boolean {
  const columns = raw.pragma(`table_info(${table})`) as { name: string }[];
  return column === undefined ? columns.length > 0 : columns.some(({ name }) => name === column);
}

/** Older demo data had picture URLs that led nowhere; the service draws these pictures now. */
const drawnPictures = `
ALTER TABLE people DROP COLUMN avatar;
ALTER TABLE people DROP COLUMN large_avatar;
ALTER TABLE people ADD COLUMN homepage TEXT NOT NULL DEFAULT '';
UPDATE note_photos SET picture = 'note/large/' || note_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
UPDATE annotation_photos SET picture = 'annotation/large/' || annotation_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
`;
