import { BookStore } from './book.ts';
import { CollectionStore } from './collection.ts';
import type { Database } from './database/database.ts';
import { EventStore } from './event.ts';
import { FilmStore } from './film.ts';
import type { PictureStore } from './pictures.ts';

export type Stores = ReturnType<typeof createStores>;

/** For the rules: `db` reads and writes rows, the stores have the queries and writes that span tables. */
export const createStores = (db: Database, pictures: PictureStore) => ({
  db,
  books: new BookStore(db),
  collections: new CollectionStore(db),
  films: new FilmStore(db),
  events: new EventStore(db),
  pictures,
});
