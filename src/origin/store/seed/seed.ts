import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBookIndex } from '../book-index.ts';
import { zonedTimestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';

type Row = Record<string, unknown>;
/** The rows of some tables, each table after those that it refers to. The first row of a table has the names of the columns. */
type DemoFile = Record<string, [columns: string[], ...rows: unknown[][]]>;

/** The files of the demo data, in the order in which they are loaded. */
const FILES = ['people', 'books', 'notes', 'films', 'events'];
const DAY_MS = 86_400_000;

/** Fills an empty database with the data in `demoDir`, in one transaction. Returns whether it was empty. */
export function fillOnce(db: Database, demoDir: string): boolean {
  return db.transaction(() => {
    if (db.find('meta', { key: 'filled' })) return false;
    for (const name of FILES) {
      const tables = JSON.parse(readFileSync(join(demoDir, `${name}.json`), 'utf8')) as DemoFile;
      for (const [table, list] of Object.entries(tables)) add(db, table, rowsOf(table, list));
    }
    indexTexts(db);
    db.insert('meta', { key: 'filled', value: 'demo' });
    return true;
  });
}

function rowsOf(table: string, [columns, ...lists]: DemoFile[string]): readonly Row[] {
  const rows = lists.map((values) => Object.fromEntries(columns.map((column, k) => [column, values[k]])));
  return table === 'events' ? rows.map(withTimes) : rows;
}

function add({ raw }: Database, table: string, rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const places = columns.map(() => '?').join(', ');
  const insert = raw.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
  for (const row of rows)
    insert.all(...Object.values(row).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)));
}

/** The times of an upcoming event are relative to the day on which the database is filled: day 0 is 1970-01-01. */
function withTimes({ is_upcoming, starts, ends, ...row }: Row): Row {
  const day = is_upcoming ? Math.floor(Date.now() / DAY_MS) * DAY_MS : 0;
  const [starts_ms, ends_ms] = [Date.parse(String(starts)) + day, Date.parse(String(ends)) + day];
  return { ...row, starts: zonedTimestamp(starts_ms), ends: zonedTimestamp(ends_ms), starts_ms, ends_ms };
}

/** The texts that searches match. Those of events are written by a trigger. */
function indexTexts(db: Database) {
  const index = createBookIndex(db);
  for (const { id } of db.rows('books', {})) index(id);
  db.raw.exec(`
    INSERT INTO subjects_fts (rowid, words)
    SELECT no, concat_ws(char(10), title, original_title,
      (SELECT group_concat(value, char(10)) FROM json_each(aka)),
      (SELECT group_concat(name, char(10) ORDER BY job = 'writers', job = 'casts', position) FROM credits WHERE subject_id = id))
    FROM subjects ORDER BY no`);
}
