import { type BookRecord, TAGS_MAX, type TagPage, type TagRecord, type bookEndpoints } from '../../../api/book.ts';
import { type Slice, pageIn } from '../../store/database/database.ts';
import type { Stored } from '../../store/database/schema.ts';
import { bookRecord, existingBook } from './book-record.ts';
import { type Call, type Rules, sliceOf } from '../call.ts';
import { givenRating } from '../opinion.ts';
import { personNamed } from '../person.ts';
import { Rejection, found } from '../rejection.ts';

export const bookRules = {
  byId: (call, { id }) => forReader(call, existingBook(call, id)),

  byIsbn(call, { isbn }) {
    const text = isbn.replaceAll('-', '').toUpperCase();
    return forReader(
      call,
      found(call.db.find('books', text.length === 13 ? { isbn13: text } : { isbn10: text }), 6000),
    );
  },

  search(call, { q, tag, ...window }) {
    const text = q?.trim() || undefined;
    const name = tag?.trim() || undefined;
    if (text === undefined && name === undefined) throw new Rejection(1002);
    const { items, ...page } = call.books.search(text, name, sliceOf(window));
    return { ...page, books: items.map((row) => forReader(call, row)) };
  },

  /** Not specified: the default number of tags; here the maximum. */
  tags(call, { id, ...window }) {
    const tags = call.db.rows('book_tags', { book_id: existingBook(call, id).id }, TAGS_MAX);
    const records = tags.map(({ count, name }) => ({ count, title: name }));
    return tagPage(records, sliceOf(window, TAGS_MAX));
  },

  userTags: (call, { name, ...window }) => tagsOfPerson(call, name, sliceOf(window)),
  userTagsOld: (call, { id, ...window }) => tagsOfPerson(call, id, sliceOf(window)),

  seriesBooks(call, { id, ...window }) {
    const series = found(call.db.find('series', { id }), 6014);
    const { items, ...page } = call.db.list('books', { series_id: series.id }, sliceOf(window));
    return { ...page, books: items.map((row) => bookRecord(call, row)) };
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

/** The book, with the reader's own collection if there is one. */
function forReader(call: Call, row: Stored<'books'>): BookRecord {
  const { db, reader } = call;
  const own = reader === null ? undefined : db.find('collections', { person_id: reader, book_id: row.id });
  return { ...bookRecord(call, row), ...(own && { current_user_collection: shortForm(own) }) };
}

const shortForm = ({ id, status, rating, updated, person_id, book_id }: Stored<'collections'>) => ({
  status,
  ...givenRating(rating),
  updated,
  user_id: person_id,
  book_id,
  id,
});
