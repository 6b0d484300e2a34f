import {
  type BookPage,
  type BookRecord,
  type BookSearch,
  COUNT_DEFAULT,
  START_DEFAULT,
  TAGS_MAX,
  type TagPage,
} from '../../api/book.ts';
import type { Window } from '../../api/endpoint.ts';
import type { StoredCollection } from '../store/collection.ts';
import type { Stores } from '../store/stores.ts';
import { givenRating } from './opinion.ts';
import { personNamed } from './person.ts';
import { Rejection } from './rejection.ts';

export function bookById(stores: Stores, reader: string | null, id: string): BookRecord {
  return forReader(stores, reader, [existing(stores.books.byId(id))])[0]!;
}

export function bookByIsbn(stores: Stores, reader: string | null, isbn: string): BookRecord {
  return forReader(stores, reader, [existing(stores.books.byIsbn(isbn.replaceAll('-', '').toUpperCase()))])[0]!;
}

export function searchBooks(stores: Stores, reader: string | null, search: BookSearch): BookPage {
  const { q, tag, start = START_DEFAULT, count = COUNT_DEFAULT } = search;
  const text = q?.trim() || undefined;
  const name = tag?.trim() || undefined;
  if (text === undefined && name === undefined) throw new Rejection(1002);
  const { total, items } = stores.books.search(text, name, { start, count });
  return { start, count, total, books: forReader(stores, reader, items) };
}

/** Not specified: the default number of tags; here the maximum. */
export function tagsOfBook({ books }: Stores, id: string, { start = 0, count = TAGS_MAX }: Window): TagPage {
  if (!books.has(id)) throw new Rejection(6000);
  const tags = books.tags(id);
  return { start, count, total: tags.length, tags: tags.slice(start, start + count) };
}

/** Not specified: whether tags of private collections count; only for their owner. */
export function tagsOfPerson(
  { people, collections }: Stores,
  reader: string | null,
  name: string,
  window: Window,
): TagPage {
  const { start = 0, count = COUNT_DEFAULT } = window;
  const person = personNamed(people, name);
  const tags = collections.tagsOf(person.id, person.id === reader);
  return { start, count, total: tags.length, tags: tags.slice(start, start + count) };
}

export function booksOfSeries({ books }: Stores, id: string, { start = 0, count = COUNT_DEFAULT }: Window): BookPage {
  if (!books.hasSeries(id)) throw new Rejection(6014);
  const { total, items } = books.ofSeries(id, { start, count });
  return { start, count, total, books: items };
}

function existing(book: BookRecord | undefined): BookRecord {
  if (!book) throw new Rejection(6000);
  return book;
}

/** The books, each with the reader's own collection if there is one. */
function forReader({ collections }: Stores, reader: string | null, books: BookRecord[]): BookRecord[] {
  if (reader === null) return books;
  const own = collections.ofBooks(
    reader,
    books.map((book) => book.id),
  );
  return books.map((book) => {
    const collection = own.get(book.id);
    return collection ? { ...book, current_user_collection: shortForm(collection) } : book;
  });
}

const shortForm = ({ id, status, rating, updated, person_id, book_id }: StoredCollection) => ({
  status,
  ...givenRating(rating),
  updated,
  user_id: person_id,
  book_id,
  id,
});
