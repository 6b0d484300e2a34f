import type BetterSqlite from 'better-sqlite3';
import { createBookIndex } from './book-index.ts';
import { ddl } from './schema.ts';

/** Makes what is not there, and changes what an older version made differently. */
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

/** Whether there is such a table, and such a column in it. */
function has(raw: BetterSqlite.Database, table: string, column?: string): boolean {
  const columns = raw.pragma(`table_info(${table})`) as { name: string }[];
  return column === undefined ? columns.length > 0 : columns.some(({ name }) => name === column);
}

/** Pictures of the demo had addresses where nothing is; the service draws them now. */
const drawnPictures = `
ALTER TABLE people DROP COLUMN avatar;
ALTER TABLE people DROP COLUMN large_avatar;
ALTER TABLE people ADD COLUMN homepage TEXT NOT NULL DEFAULT '';
UPDATE note_photos SET picture = 'note/large/' || note_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
UPDATE annotation_photos SET picture = 'annotation/large/' || annotation_id || '-' || number || '.svg' WHERE picture LIKE 'https://%';
`;
