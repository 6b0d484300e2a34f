/** Writes the demo data of the origin, `demo/*.json`, from the facts beside this file; with `--check`, only checks whether it is up to date. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '../../src/origin/store/database/database.ts';
import type { BookFacts } from './book-facts.ts';
import { seedBooks } from './book.ts';
import { type EventFacts, seedEvents } from './event.ts';
import { type CelebrityFacts, type FilmFacts, seedFilms } from './film.ts';
import { seedNotes } from './note.ts';
import { type CityFacts, seedPeople } from './people.ts';

// This file runs from dist, one step below the package.
const root = fileURLToPath(new URL('..', import.meta.url));
const facts = <T>(name: string) => JSON.parse(readFileSync(`${root}scripts/demo/facts/${name}.json`, 'utf8')) as T;

/** The tables of each file, each after those that it refers to. */
const TABLES = {
  people: ['people', 'friendships'],
  books: ['series', 'books', 'book_tags', 'collections', 'collection_tags', 'annotations', 'annotation_photos'],
  notes: ['notes', 'note_photos', 'note_likes', 'note_comments'],
  films: [
    ...['cities', 'subjects', 'subject_tags', 'celebrities', 'credits', 'works', 'charts'],
    ...['film_photos', 'film_reviews', 'film_comments'],
  ],
  events: ['people', 'events', 'attendances'],
} as const;

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

function texts(db: Database): Record<keyof typeof TABLES, string> {
  const print = printer(db);
  const { cities, events } = facts<{ cities: CityFacts[]; events: EventFacts[] }>('events');
  const people = seedPeople(db, cities);
  const peopleText = print('people');
  seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
  const booksText = print('books');
  seedNotes(db, people);
  const notesText = print('notes');
  const { films } = facts<{ films: FilmFacts[] }>('films');
  const { celebrities } = facts<{ celebrities: CelebrityFacts[] }>('celebrities');
  seedFilms(db, films, celebrities, people, cities);
  const filmsText = print('films');
  seedEvents(db, events, cities, people);
  return { people: peopleText, books: booksText, notes: notesText, films: filmsText, events: print('events') };
}

/** Prints the new rows of a file's tables, one a line. */
function printer({ raw }: Database) {
  const printed = new Set<string>();
  const linesOf = (table: string) => {
    const rows = raw.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
    const values = rows.map(({ rank: _, ...row }) => (table === 'events' ? upcoming(row) : row)); // the index of books sets the rank
    const lines = values.map((row) => JSON.stringify(Object.values(row).map(readable)));
    const added = lines.filter((line) => !printed.has(table + line));
    for (const line of added) printed.add(table + line);
    return [JSON.stringify(Object.keys(values[0] ?? {})), ...added];
  };
  return (file: keyof typeof TABLES) => {
    const tables = TABLES[file].map((table) => `${JSON.stringify(table)}: [\n${linesOf(table).join(',\n')}\n]`);
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
