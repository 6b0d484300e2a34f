import { resolve } from 'node:path';
import { createBookIndex } from '../book-index.ts';
import { ddl } from './schema.ts';
import type { SqliteDatabase } from './sqlite.ts';
import { UserError } from '../../../lib/user-error.ts';

/** The next number with every change of the tables. Files of before it had one have 0. */
export const DATABASE_VERSION = 1;

/** Refuses the file of a newer release: this one would write rows that the newer one does not expect. */
export function checkVersion(raw: SqliteDatabase, dataDir: string): void {
  const { user_version: found } = raw.prepare('PRAGMA user_version').get() as { user_version: number };
  if (found > DATABASE_VERSION)
    throw new UserError(
      `The database in ${resolve(dataDir)} is of a newer release: its version is ${found}, and this release knows ` +
        `${DATABASE_VERSION} at most. Start the newer release again, or restore a backup from before it (docs/operations.md).`,
    );
}

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
  raw.exec(`PRAGMA user_version = ${DATABASE_VERSION}`);
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
