import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopesOf } from '../access.ts';
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
    const books = seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
    seedNotes(db, people, books);
    db.run(query.insertInto('meta').values({ key: 'filled', value: 'demo' }));
    return true;
  });
}

/** The fixed tokens that the README prints: everybody knows them, so they are there only when asked for. */
export function setDemoTokens(db: Database, wanted: boolean) {
  const { query } = db;
  db.transaction(() => {
    db.run(query.deleteFrom('tokens').where('demo', '=', 1));
    const filled = db.first(query.selectFrom('meta').select('value').where('key', '=', 'filled'));
    if (!wanted || filled?.value !== 'demo') return;
    for (const [token, uid, tier] of [
      ['demo-alice', 'alice', 'advance'],
      ['demo-bob', 'bob', 'basic'],
      ['demo-carol', 'carol', 'premium'],
      ['demo-app', null, 'advance'],
    ] as const) {
      const person = uid && db.first(query.selectFrom('people').select('id').where('uid', '=', uid));
      const scopes = scopesOf(tier, uid !== null).join(' ');
      db.run(query.insertInto('tokens').values({ token, person_id: person?.id ?? null, tier, scopes, demo: 1 }));
    }
  });
}
