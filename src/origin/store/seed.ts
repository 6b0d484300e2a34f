import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.ts';
import type { BookFacts } from './seed/book-facts.ts';
import { seedBooks } from './seed/book.ts';
import { type EventFacts, seedEvents } from './seed/event.ts';
import { type CelebrityFacts, type FilmFacts, seedFilms } from './seed/film.ts';
import { seedNotes } from './seed/note.ts';
import { type CityFacts, seedPeople } from './seed/people.ts';

const STEPS = 5;

/** Called after each step of filling the database. */
export type OnStep = (done: number, all: number, what: string) => void;

/** Fills an empty database with the data in `demoDir`, in one transaction; returns whether it did. */
export function fillOnce(db: Database, demoDir: string, onStep: OnStep = () => undefined): boolean {
  return db.transaction(() => {
    if (db.find('meta', { key: 'filled' })) return false;
    let done = 0;
    const step = (what: string) => onStep(++done, STEPS, `filling with the demo catalog: ${what} added`);
    const facts = <T>(name: string) => JSON.parse(readFileSync(join(demoDir, `${name}.json`), 'utf8')) as T;
    const { cities, events } = facts<{ cities: CityFacts[]; events: EventFacts[] }>('events');
    const people = seedPeople(db, cities);
    step('people');
    seedBooks(db, facts<{ books: BookFacts[] }>('books').books, people);
    step('books');
    seedNotes(db, people);
    step('notes');
    const { films } = facts<{ films: FilmFacts[] }>('films');
    const { celebrities } = facts<{ celebrities: CelebrityFacts[] }>('celebrities');
    seedFilms(db, films, celebrities, people, cities);
    step('films');
    seedEvents(db, events, cities, people);
    step('events');
    db.insert('meta', { key: 'filled', value: 'demo' });
    return true;
  });
}
