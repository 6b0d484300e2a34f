import { type BookRecord, type SeriesRecord, bookEndpoints, bookMembers, bookWithin } from '../../contract/book.ts';
import { builder } from '../builder.ts';
import { asObjects, asText, text, textOrNull, texts, urlOrNull } from '../decode.ts';
import { sourceIdOf } from '../ids.ts';
import { Node, identity } from '../node.ts';

export const Book = builder.objectRef<BookRecord>('Book').implement({
  description: 'A book in the catalog. Magazines are not books here.',
  interfaces: [Node],
  record: { ask: bookEndpoints.byId, input: (id) => ({ id }), members: bookMembers },
  node: (id) => ({ id }),
  fields: (t) => ({
    ...identity(t, 'Book'),
    title: t.reads('title', text, 'As printed.'),
    originalTitle: t.reads('origin_title', textOrNull, 'The title in its first language, where it differs.'),
    authors: t.reads('author', texts, 'As printed, with the country in brackets where the service has it.'),
    webUrl: t.reads('alt', urlOrNull, 'The page of the book.'),
  }),
});

const Tag = builder.objectRef<{ count: number; name: string }>('Tag').implement({
  description: 'A tag.',
  fields: (t) => ({
    name: t.string({ description: 'x', needs: ['name'], resolve: (x) => x.name }),
  }),
});

builder.queryField('book', (t) =>
  t.ask({
    type: Book,
    description: 'The book with this id; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'The id of the book.' }) },
    ask: bookEndpoints.byId,
    input: (_, { id }) => ({ id: sourceIdOf('Book', id) }),
    resolve: (book) => book,
  }),
);
builder.queryField('searchBooks', (t) =>
  t.pages({
    of: Book,
    first: 20,
    description: 'Books whose text or tag matches.',
    args: { query: t.arg.string({ description: 'q' }), tag: t.arg.string({ description: 'q' }) },
    ask: bookEndpoints.search,
    input: (_, { query, tag }) => ({ q: query ?? undefined, tag: tag ?? undefined }),
    form: bookWithin,
  }),
);
builder.objectField(Book, 'related', (t) =>
  t.pages({
    of: Book,
    first: 20,
    description: 'Books whose text or tag matches.',
    ask: bookEndpoints.seriesBooks,
    from: ['id', 'series'],
    input: ({ id, series }) => ({ id: series?.id ?? id }),
    form: bookWithin,
    hand: { name: 'tags', upTo: 8, form: { names: 'all' } },
  }),
);
export { asObjects, asText, Tag };
export type { SeriesRecord };
