import { createAnnotationStore } from './annotation.ts';
import { createBookStore } from './book.ts';
import { createCityStore } from './city.ts';
import { createCollectionStore } from './collection.ts';
import type { Database } from './database.ts';
import { createEventStore } from './event.ts';
import { createFilmStore } from './film.ts';
import { createNoteStore } from './note.ts';
import { createPeopleStore } from './people.ts';
import type { PictureStore } from './pictures.ts';
import { createReviewStore } from './review.ts';

export type Stores = ReturnType<typeof createStores>;

/** All stores, for the rules. */
export function createStores(db: Database, pictures: PictureStore) {
  return {
    people: createPeopleStore(db),
    books: createBookStore(db),
    collections: createCollectionStore(db),
    annotations: createAnnotationStore(db),
    reviews: createReviewStore(db),
    notes: createNoteStore(db),
    films: createFilmStore(db),
    events: createEventStore(db),
    cities: createCityStore(db),
    pictures,
    /** Runs the work of a rule atomically. */
    transaction: db.transaction,
  };
}
