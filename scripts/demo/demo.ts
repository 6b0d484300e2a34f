/** Writes the demo data of the origin, `demo/*.json`, from the facts beside this file; with `--check`, only checks whether it is up to date. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '../../src/origin/store/database/database.ts';
import { tableNames } from '../../src/origin/store/database/schema.ts';
import type { BookFacts } from './book-facts.ts';
import { seedBooks } from './book.ts';
import { type EventFacts, seedEvents } from './event.ts';
import { type CelebrityFacts, type FilmFacts, seedFilms } from './film.ts';
import { seedNotes } from './note.ts';
import { type CityFacts, seedPeople } from './people.ts';

// This file runs from dist, one step below the package.
const root = fileURLToPath(new URL('..', import.meta.url));
const facts = <T>(name: string) => JSON.parse(readFileSync(`${root}scripts/demo/facts/${name}.json`, 'utf8')) as T;

const check = process.argv.includes('--check');
const directory = mkdtempSync(join(tmpdir(), 'demo-'));
const db = openDatabase(directory);
try {
  for (const [name, text] of Object.entries(db.transaction(() => texts(db)))) {
    const file = `demo/${name}.json`;
    if (read(file) === text) continue;
    if (check) {
      console.error(`${file} is out of date: run "npm run demo".`);
      process.exitCode = 1;
    } else {
      writeFileSync(root + file, text);
      console.log(`${file} written`);
    }
  }
} finally {
  db.close();
  rmSync(directory, { recursive: true });
}

/** The text of each file: the rows that were added for it. */
function texts(db: Database): Record<string, string> {
  const print = printer(db);
  const { cities, events } = facts<{ cities: CityFacts[]; events: EventFacts[] }>('events');
  const people = seedPeople(db, cities);
  const files: Record<string, string> = { people: print() };
  seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
  files.books = print();
  seedNotes(db, people);
  files.notes = print();
  const { films } = facts<{ films: FilmFacts[] }>('films');
  const { celebrities } = facts<{ celebrities: CelebrityFacts[] }>('celebrities');
  seedFilms(db, films, celebrities, people, cities);
  files.films = print();
  seedEvents(db, events, cities, people);
  files.events = print();
  return files;
}

/** Prints the rows that are new since it was called last, one a line, each table after those that it refers to. */
function printer({ raw }: Database) {
  const printed = new Set<string>();
  const linesOf = (table: string) => {
    const rows = raw.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
    const values = rows.map(({ rank: _, ...row }) => (table === 'events' ? upcoming(row) : row)); // the index of books sets the rank
    const lines = values.map((row) => JSON.stringify(Object.values(row).map(readable)));
    const added = lines.filter((line) => !printed.has(table + line));
    for (const line of added) printed.add(table + line);
    return added.length > 0 ? [JSON.stringify(Object.keys(values[0]!)), ...added] : [];
  };
  return () => {
    const tables = tableNames.flatMap((table) => {
      const lines = linesOf(table);
      return lines.length > 0 ? [`${JSON.stringify(table)}: [\n${lines.join(',\n')}\n]`] : [];
    });
    return `{\n${tables.join(',\n')}\n}\n`;
  };
}

/** Lists of texts are stored as JSON. */
function readable(value: unknown): unknown {
  return typeof value === 'string' && /^\[(?:"[^]*")?\]$/.test(value) ? JSON.parse(value) : value;
}

/** Only the year 1970 is relative to the day on which a database is filled. */
function upcoming({ starts_ms, ends_ms: _, ...row }: Record<string, unknown>) {
  return { ...row, is_upcoming: Number(String(row.starts).startsWith('1970')) };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(root + file, 'utf8');
  } catch {
    return undefined;
  }
}
