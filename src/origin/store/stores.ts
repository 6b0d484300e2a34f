import { createAnnotationStore } from './annotation.ts';
import { BookStore } from './book.ts';
import { createCityStore } from './city.ts';
import { CollectionStore } from './collection.ts';
import type { Database } from './database.ts';
import { EventStore } from './event.ts';
import { FilmStore } from './film.ts';
import { NoteStore } from './note.ts';
import { createPeopleStore } from './people.ts';
import type { PictureStore } from './pictures.ts';
import { createReviewStore } from './review.ts';

export type Stores = ReturnType<typeof createStores>;

/** All stores, for the rules. */
export function createStores(db: Database, pictures: PictureStore) {
  return {
    people: createPeopleStore(db),
    books: new BookStore(db),
    collections: new CollectionStore(db),
    annotations: createAnnotationStore(db),
    reviews: createReviewStore(db),
    notes: new NoteStore(db),
    films: new FilmStore(db),
    events: new EventStore(db),
    cities: createCityStore(db),
    pictures,
    /** Runs the work of a rule atomically. */
    transaction: db.transaction,
  };
}
