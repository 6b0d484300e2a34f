import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBookIndex } from '../book-index.ts';
import { zonedTimestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { prepareWrite } from '../database/sqlite.ts';
import { DATABASE_VERSION } from '../database/upgrade.ts';

type Row = Record<string, unknown>;
/** The rows of some tables, each table after those that it refers to. The first row of a table has the names of the columns. */
type DemoFile = Record<string, [columns: string[], ...rows: unknown[][]]>;

/** The files of the demo data, in the order in which they are loaded. */
const FILES = ['people', 'books', 'notes', 'films', 'events'];
const DAY_MS = 86_400_000;

/**
 * Fills an empty database with the data in `demoDir`, and one that an older version of the tables has filled with that of the tables which
 * have no row yet, in one transaction. Returns whether it was empty.
 */
export function fillOnce(db: Database, demoDir: string): boolean {
  return db.transaction(() => {
    const isFilled = db.find('meta', { key: 'filled' }) !== undefined;
    const version = Number(db.find('meta', { key: VERSION })?.value ?? 1);
    if (isFilled && version >= DATABASE_VERSION) return false;
    FILES.forEach((name) => {
      const tables = JSON.parse(readFileSync(join(demoDir, `${name}.json`), 'utf8')) as DemoFile;
      const [add, open] = isFilled ? [addWherePossible, isEmpty] : [addAll, () => true];
      const lists = Object.entries(tables).filter(([table]) => open(db, table));
      for (const [table, list] of lists) add(db, table, rowsOf(table, list));
    });
    if (!isFilled) {
      indexTexts(db);
      db.insert('meta', { key: 'filled', value: 'demo' });
    }
    db.remove('meta', { key: VERSION });
    db.insert('meta', { key: VERSION, value: String(DATABASE_VERSION) });
    return !isFilled;
  });
}

/** The version of the tables that were filled last; absent: the first. */
const VERSION = 'filled_version';

const isEmpty = ({ raw }: Database, table: string): boolean =>
  raw.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined;

function rowsOf(table: string, [columns, ...lists]: DemoFile[string]): readonly Row[] {
  const rows = lists.map((values) => Object.fromEntries(columns.map((column, k) => [column, values[k]])));
  return table === 'events' ? rows.map(withTimes) : rows;
}

function adderOf({ raw }: Database, table: string, [first = {}]: readonly Row[]): (row: Row) => void {
  const columns = Object.keys(first);
  const places = columns.map(() => '?').join(', ');
  const insert = prepareWrite(raw, `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
  return (row) =>
    void insert.run(...Object.values(row).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)));
}

function addAll(db: Database, table: string, rows: readonly Row[]): void {
  rows.forEach(adderOf(db, table, rows));
}

/** Without the rows that refer to what was deleted since the database was filled. */
function addWherePossible(db: Database, table: string, rows: readonly Row[]): void {
  const add = adderOf(db, table, rows);
  for (const row of rows)
    try {
      add(row);
    } catch (error) {
      if (!/FOREIGN KEY/.test((error as Error).message)) throw error;
    }
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
