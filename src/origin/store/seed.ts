import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.ts';
import { type BookFacts, seedBooks } from './seed/book.ts';
import { seedNotes } from './seed/note.ts';
import { type CityFacts, seedPeople } from './seed/people.ts';

/** Fills an empty database from the facts in `demoDir`, all of it in one transaction; tells whether it did. */
export function fillOnce(db: Database, demoDir: string): boolean {
  return db.transaction(() => {
    const { query } = db;
    const filled = db.first(query.selectFrom('meta').select('value').where('key', '=', 'filled'));
    if (filled) return false;
    const facts = <T>(name: string) => JSON.parse(readFileSync(join(demoDir, `${name}.json`), 'utf8')) as T;
    const { cities } = facts<{ cities: CityFacts[] }>('events');
    const people = seedPeople(db, cities);
    seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
    seedNotes(db, people);
    db.run(query.insertInto('meta').values({ key: 'filled', value: 'demo' }));
    return true;
  });
}
