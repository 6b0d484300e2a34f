import { type BookPage, type SeriesRecord, bookEndpoints, bookWithin } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, asObjects, asText, text } from '../../engine/values/decode.ts';
import { Node, idLike, identity, queryReference, referenceOf } from '../../engine/fields/node.ts';
import { Book } from './book.ts';

const seriesMembers = ['title'] as const;

export const Series = builder.objectRef<SeriesRecord>('Series').implement({
  description: 'A series of books by one publisher.',
  interfaces: [Node],
  isReference: true,
  // No operation reads a series; a book of it names it.
  record: {
    endpoint: bookEndpoints.seriesBooks,
    input: (id) => ({ id, count: 1, fields: 'series' }),
    members: seriesMembers,
    read: (page: BookPage, id) => ({ ...seriesIn(page, { id }), id }),
  },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Series'),
    title: t.reads(
      'title',
      text,
      'The title of the series; empty if no book of it names it. Costs one call unless a book in the response provides it.',
    ),
    books: t.connection({
      type: Book,
      description: 'The books of the series.',
      nullIf: 'there is no such series',
      endpoint: bookEndpoints.seriesBooks,
      from: ['id'],
      representation: bookWithin,
      provides: { members: seriesMembers, carriedBy: 'series', read: seriesIn },
    }),
  }),
});

builder.objectField(Book, 'series', (t) =>
  t.record(Series, { member: 'series' }, 'The series of the book. A quarter of all books has none.', {
    representation: { members: ['id', 'title'] },
  }),
);

queryReference(Series, 'A series by id. Makes no call of its own except for `title`.', idLike('1163'));

/** The series as its first book that names it has it; null if none does. */
function seriesIn({ books }: BookPage, { id }: Pick<SeriesRecord, 'id'>): Partial<SeriesRecord> | null {
  const named = asObjects(books).find(({ series }) => asText(asObject(series).id) === id);
  return named ? { title: asText(named.series!.title) } : null;
}
