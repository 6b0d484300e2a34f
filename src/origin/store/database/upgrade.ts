import { createBookIndex } from '../book-index.ts';
import { ddl } from './schema.ts';
import type { SqliteDatabase } from './sqlite.ts';

/** Creates missing tables and migrates those of older versions. */
export function upgrade(raw: SqliteDatabase): void {
  const isUnranked = has(raw, 'books') && !has(raw, 'books', 'rank');
  if (isUnranked)
    raw.exec('ALTER TABLE books ADD COLUMN rank INTEGER; DROP TABLE books_fts; DROP INDEX book_tags_by_name;');
  if (has(raw, 'people', 'avatar')) raw.exec(drawnPictures);
  raw.exec(ddl);
  if (isUnranked) {
    const index = createBookIndex({ raw });
    for (const { id } of raw.prepare('SELECT id FROM books').all() as { id: string }[]) index(id);
  }
}

/** Whether the table exists, and the column in it. */
function has(raw: SqliteDatabase, table: string, column?: string): boolean {
  const columns = raw.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[];
  return column === undefined ? columns.length > 0 : columns.some(({ name }) => name === column);
}

/** Older demo data had invalid picture URLs; the service draws these pictures now. */
const drawnPictures = `
ALTER TABLE people DROP COLUMN avatar;
ALTER TABLE people DROP COLUMN large_avatar;
ALTER TABLE people ADD COLUMN homepage TEXT NOT NULL DEFAULT '';
UPDATE note_photos SET picture = 'note/large/' || note_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
UPDATE annotation_photos SET picture = 'annotation/large/' || annotation_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
`;
