import { AnnotationStore } from './annotation.ts';
import { BookStore } from './book.ts';
import { CityStore } from './city.ts';
import { CollectionStore } from './collection.ts';
import type { Database } from './database.ts';
import { EventStore } from './event.ts';
import { FilmStore } from './film.ts';
import { NoteStore } from './note.ts';
import { PeopleStore } from './people.ts';
import type { PictureStore } from './pictures.ts';
import { ReviewStore } from './review.ts';

export type Stores = ReturnType<typeof createStores>;

/** All stores, for the rules. */
export function createStores(db: Database, pictures: PictureStore) {
  return {
    people: new PeopleStore(db),
    books: new BookStore(db),
    collections: new CollectionStore(db),
    annotations: new AnnotationStore(db),
    reviews: new ReviewStore(db),
    notes: new NoteStore(db),
    films: new FilmStore(db),
    events: new EventStore(db),
    cities: new CityStore(db),
    pictures,
    /** Runs the queries of a call as a whole or not at all. */
    transaction: <T>(work: () => T): T => db.transaction(work),
  };
}
