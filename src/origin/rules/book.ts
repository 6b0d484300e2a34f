import {
  type BookPage,
  type BookRecord,
  type BookSearch,
  TAGS_MAX,
  type TagPage,
  type TagRecord,
} from '../../api/book.ts';
import type { Window } from '../../api/endpoint.ts';
import type { StoredCollection } from '../store/collection.ts';
import { type Slice, pageIn } from '../store/database.ts';
import { type Call, type Of, sliceOf } from './call.ts';
import { givenRating } from './opinion.ts';
import { personNamed } from './person.ts';
import { Rejection, found } from './rejection.ts';

export function bookById(call: Call, { id }: Of): BookRecord {
  return forReader(call, [found(call.books.byId(id), 6000)])[0]!;
}

export function bookByIsbn(call: Call, { isbn }: { isbn: string }): BookRecord {
  const book = found(call.books.byIsbn(isbn.replaceAll('-', '').toUpperCase()), 6000);
  return forReader(call, [book])[0]!;
}

export function searchBooks(call: Call, { q, tag, ...window }: BookSearch): BookPage {
  const text = q?.trim() || undefined;
  const name = tag?.trim() || undefined;
  if (text === undefined && name === undefined) throw new Rejection(1002);
  const { items, ...page } = call.books.search(text, name, sliceOf(window));
  return { ...page, books: forReader(call, items) };
}

/** Not specified: the default number of tags; here the maximum. */
export function tagsOfBook({ books }: Call, { id, ...window }: Of & Window): TagPage {
  if (!books.has(id)) throw new Rejection(6000);
  return tagPage(books.tags(id), sliceOf(window, TAGS_MAX));
}

/** Not specified: whether tags of private collections count; only for their owner. */
export function tagsOfPerson(call: Call, { name, ...window }: { name: string } & Window): TagPage {
  const person = personNamed(call, name);
  return tagPage(call.collections.tagsOf(person.id, person.id === call.reader), sliceOf(window));
}

function tagPage(all: readonly TagRecord[], slice: Slice): TagPage {
  const { items, ...page } = pageIn(all, slice);
  return { ...page, tags: items };
}

export function booksOfSeries({ books }: Call, { id, ...window }: Of & Window): BookPage {
  if (!books.hasSeries(id)) throw new Rejection(6014);
  const { items, ...page } = books.ofSeries(id, sliceOf(window));
  return { ...page, books: items };
}

/** The books, each with the reader's own collection if there is one. */
function forReader({ collections, reader }: Call, books: BookRecord[]): BookRecord[] {
  if (reader === null) return books;
  const ids = books.map((book) => book.id);
  const own = collections.ofBooks(reader, ids);
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
