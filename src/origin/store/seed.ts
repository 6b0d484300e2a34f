import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.ts';
import { type BookFacts, seedBooks } from './seed/book.ts';
import { type EventFacts, seedEvents } from './seed/event.ts';
import { type CelebrityFacts, type FilmFacts, seedFilms } from './seed/film.ts';
import { seedNotes } from './seed/note.ts';
import { type CityFacts, seedPeople } from './seed/people.ts';

/** Fills an empty database from the facts in `demoDir`, all of it in one transaction; tells whether it did. */
export function fillOnce(db: Database, demoDir: string): boolean {
  return db.transaction(() => {
    const { query } = db;
    const filled = db.first(query.selectFrom('meta').select('value').where('key', '=', 'filled'));
    if (filled) return false;
    const facts = <T>(name: string) => JSON.parse(readFileSync(join(demoDir, `${name}.json`), 'utf8')) as T;
    const { cities, events } = facts<{ cities: CityFacts[]; events: EventFacts[] }>('events');
    const people = seedPeople(db, cities);
    seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
    seedNotes(db, people);
    const { films } = facts<{ films: FilmFacts[] }>('films');
    const { celebrities } = facts<{ celebrities: CelebrityFacts[] }>('celebrities');
    seedFilms(db, films, celebrities, people, cities);
    seedEvents(db, events, cities, people);
    db.run(query.insertInto('meta').values({ key: 'filled', value: 'demo' }));
    return true;
  });
}
