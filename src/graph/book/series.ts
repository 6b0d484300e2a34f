import { type SeriesRecord, bookEndpoints, bookWithin } from '../../api/book.ts';
import { builder } from '../engine/builder.ts';
import { asObject, textOrNull } from '../types/decode.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { Node, recordOrReference, referenceOf, identity } from '../types/node.ts';
import { Book } from './book.ts';

export const Series = builder.objectRef<SeriesRecord>('Series').implement({
  description: 'Books that a publisher brings out together.',
  interfaces: [Node],
  isReference: true,
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Series'),
    title: t.reads('title', textOrNull, 'Told by the books of the series; null where it was reached by its id alone.'),
    books: t.connection({
      type: Book,
      pageSize: 20,
      description: 'The books of the series, from `GET /v2/book/series/{id}/books`; null when there is no such series.',
      endpoint: bookEndpoints.seriesBooks,
      from: ['id'],
      input: ({ id }) => ({ id }),
      representation: bookWithin,
    }),
  }),
});

builder.objectField(Book, 'series', (t) =>
  t.field({
    type: Series,
    nullable: true,
    description: 'The series it is part of; null for the quarter of all books that are in none.',
    needs: ['series'],
    resolve: ({ series }) => recordOrReference(series, asObject(series).id),
  }),
);

builder.queryField('series', (t) =>
  t.field({
    type: Series,
    nullable: true,
    description: 'A series by id. Costs no call until its books are read, so whether there is one is not looked up.',
    args: { id: t.arg.id({ required: true, description: 'Global or bare id.' }) },
    resolve: (_, { id }) => ({ id: sourceIdOf('Series', id) }),
  }),
);
