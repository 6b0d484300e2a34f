import { type BookRecord, TAGS_MAX, type TagPage, type TagRecord, type bookEndpoints } from '../../api/book.ts';
import type { StoredCollection } from '../store/collection.ts';
import { type Slice, pageIn } from '../store/database.ts';
import { type Call, type Rules, sliceOf } from './call.ts';
import { givenRating } from './opinion.ts';
import { personNamed } from './person.ts';
import { Rejection, found } from './rejection.ts';

export const bookRules = {
  byId: (call, { id }) => forReader(call, [found(call.books.byId(id), 6000)])[0]!,

  byIsbn(call, { isbn }) {
    const book = found(call.books.byIsbn(isbn.replaceAll('-', '').toUpperCase()), 6000);
    return forReader(call, [book])[0]!;
  },

  search(call, { q, tag, ...window }) {
    const text = q?.trim() || undefined;
    const name = tag?.trim() || undefined;
    if (text === undefined && name === undefined) throw new Rejection(1002);
    const { items, ...page } = call.books.search(text, name, sliceOf(window));
    return { ...page, books: forReader(call, items) };
  },

  /** Not specified: the default number of tags; here the maximum. */
  tags({ books }, { id, ...window }) {
    if (!books.has(id)) throw new Rejection(6000);
    return tagPage(books.tags(id), sliceOf(window, TAGS_MAX));
  },

  userTags: (call, { name, ...window }) => tagsOfPerson(call, name, sliceOf(window)),
  userTagsOld: (call, { id, ...window }) => tagsOfPerson(call, id, sliceOf(window)),

  seriesBooks({ books }, { id, ...window }) {
    if (!books.hasSeries(id)) throw new Rejection(6014);
    const { items, ...page } = books.ofSeries(id, sliceOf(window));
    return { ...page, books: items };
  },
} satisfies Partial<Rules<typeof bookEndpoints>>;

/** Not specified: whether tags of private collections count; only for their owner. */
function tagsOfPerson(call: Call, name: string, slice: Slice): TagPage {
  const person = personNamed(call, name);
  return tagPage(call.collections.tagsOf(person.id, person.id === call.reader), slice);
}

function tagPage(all: readonly TagRecord[], slice: Slice): TagPage {
  const { items, ...page } = pageIn(all, slice);
  return { ...page, tags: items };
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
