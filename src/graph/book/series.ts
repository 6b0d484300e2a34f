import { type SeriesRecord, bookEndpoints, bookWithin } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { textOrNull } from '../../engine/values/decode.ts';
import { Node, referenceOf, identity, queryReference } from '../../engine/fields/node.ts';
import { Book } from './book.ts';

export const Series = builder.objectRef<SeriesRecord>('Series').implement({
  description: 'A series of books by one publisher.',
  interfaces: [Node],
  isReference: true,
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Series'),
    title: t.reads('title', textOrNull, 'The title of the series. Only a book of the series provides it.', {
      nullIf: 'the series was requested by its id',
    }),
    books: t.connection({
      type: Book,
      description: 'The books of the series, from `GET /v2/book/series/{id}/books`.',
      nullIf: 'there is no such series',
      endpoint: bookEndpoints.seriesBooks,
      from: ['id'],
      representation: bookWithin,
    }),
  }),
});

builder.objectField(Book, 'series', (t) =>
  t.record(Series, { member: 'series' }, 'The series of the book. A quarter of all books has none.'),
);

queryReference(
  Series,
  'A series by id. Makes no call and does not check that the series exists; only `books` makes a call.',
  'Global or bare id.',
);
