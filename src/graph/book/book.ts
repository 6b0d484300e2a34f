import { type BookRecord, type BookSearch, bookEndpoints, bookMembers } from '../../api/book.ts';
import { builder } from '../engine/builder.ts';
import { asInt, asObject, asText, asUrl, text, textOrNull, texts, urlOrNull } from '../types/decode.ts';
import { badInput } from '../errors/to-client-error.ts';
import { sourceIdOf } from '../types/global-id.ts';
import { Image, imageOf } from '../types/image.ts';
import { Node, referenceOf, identity } from '../types/node.ts';
import { Rating, type RatingShape, averageOf, scaleOf } from '../types/rating.ts';
import { SEARCH_TEXT_MAX, searchText } from '../types/search.ts';
import { isbnOf } from './isbn.ts';

const Ebook = builder.objectRef<Pick<BookRecord, 'ebook_url' | 'ebook_price'>>('Ebook').implement({
  description: 'The electronic edition of a book.',
  fields: (t) => ({
    url: t.reads('ebook_url', urlOrNull, 'The page where it is sold.'),
    price: t.reads('ebook_price', textOrNull, 'As written, usually in yuan without a unit: `6.00`.'),
  }),
});

export const Book = builder.objectRef<BookRecord>('Book').implement({
  description: 'A book in the catalog. Magazines are not books here.',
  interfaces: [Node],
  record: { endpoint: bookEndpoints.byId, input: (id) => ({ id }), members: bookMembers },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Book'),
    isbn10: t.reads('isbn10', textOrNull, 'Ten digits, the last may be X. Null where the book has none.'),
    isbn13: t.reads('isbn13', textOrNull, 'Thirteen digits. Null where the book has none.'),
    title: t.reads('title', text, 'As printed, without the subtitle.'),
    subtitle: t.reads('subtitle', textOrNull, 'Null where there is none, as for half of all books.'),
    originalTitle: t.reads(
      'origin_title',
      textOrNull,
      'The title in its first language, `origin_title` upstream. Null where it does not differ.',
    ),
    alternativeTitle: t.reads(
      'alt_title',
      textOrNull,
      'Another title, `alt_title` upstream; often the original one again.',
    ),
    authors: t.reads('author', texts, 'As printed, in its order; the country may stand before a name in brackets.'),
    translators: t.reads('translator', texts, 'As printed, in its order; empty where nobody translated.'),
    publisher: t.reads('publisher', textOrNull, 'The publishing house.'),
    publishedOn: t.reads(
      'pubdate',
      textOrNull,
      '`pubdate` upstream, as written: not padded, often a month or a year alone (`2010-9`, `2009年11月`, `1976`).',
    ),
    binding: t.reads('binding', textOrNull, 'How it is bound, in words: `平装`.'),
    price: t.reads('price', textOrNull, 'As printed, with or without a unit: `39.50元`, `CNY 39.50`, `39.50`.'),
    pages: t.reads('pages', textOrNull, 'How many pages, as written: `320` or `320页`.'),
    cover: t.field({
      type: Image,
      description: 'The cover; `image` upstream stands in for a medium size that is missing.',
      needs: ['images', 'image'],
      resolve: ({ images, image }) => {
        const cover = imageOf(images);
        return { ...cover, medium: asUrl(cover.medium) ?? asText(image) };
      },
    }),
    webUrl: t.reads('alt', urlOrNull, 'Its page, `alt` upstream.'),
    apiUrl: t.reads('url', urlOrNull, 'Its address in the JSON interface, `url` upstream.'),
    rating: t.field({
      type: Rating,
      description: 'What all readers together say.',
      needs: ['rating'],
      resolve: ({ rating }) => ratingOf(rating),
    }),
    summary: t.reads('summary', textOrNull, 'What it is about; paragraphs are lines.'),
    authorIntro: t.reads('author_intro', textOrNull, 'Who wrote it; paragraphs are lines.'),
    tableOfContents: t.field({
      type: ['String'],
      description: '`catalog` upstream, one item a line; blank lines are left out.',
      needs: ['catalog'],
      resolve: ({ catalog }) => linesOf(asText(catalog)),
    }),
    ebook: t.field({
      type: Ebook,
      nullable: true,
      description: 'The electronic edition; null where there is none.',
      needs: ['ebook_url', 'ebook_price'],
      resolve: ({ ebook_url, ebook_price }) =>
        asUrl(ebook_url) || asText(ebook_price).trim() ? { ebook_url, ebook_price } : null,
    }),
  }),
});

builder.queryField('book', (t) =>
  t.call({
    type: Book,
    description: 'A book by id, from `GET /v2/book/{id}`; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Global or bare id.' }) },
    endpoint: bookEndpoints.byId,
    input: (_, { id }) => ({ id: sourceIdOf('Book', id) }),
    resolve: (book) => book,
  }),
);

builder.queryField('bookByIsbn', (t) =>
  t.call({
    type: Book,
    description: 'A book by its ISBN, from `GET /v2/book/isbn/{isbn}`; null when there is none.',
    args: {
      isbn: t.arg.string({
        required: true,
        description: 'Ten or thirteen digits; hyphens and spaces are allowed, the check digit must be right.',
      }),
    },
    endpoint: bookEndpoints.byIsbn,
    input: (_, { isbn }) => {
      const digits = isbnOf(isbn);
      if (!digits)
        throw badInput('That is not an ISBN: 10 or 13 digits with a right check digit.', { argument: 'isbn' });
      return { isbn: digits };
    },
    resolve: (book) => book,
  }),
);

builder.queryField('searchBooks', (t) =>
  t.connection({
    type: Book,
    pageSize: 20,
    description:
      'Books whose text or tag matches, in the order of the service, from `GET /v2/book/search`. Give at least one of `query` and `tag`.',
    args: {
      query: t.arg.string({ description: `Words to look for, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
      tag: t.arg.string({
        description: `A tag that readers gave, at most ${SEARCH_TEXT_MAX} characters (code points).`,
      }),
    },
    endpoint: bookEndpoints.search,
    input: (_, args): BookSearch => {
      const q = searchText('query', args.query);
      const tag = searchText('tag', args.tag);
      if (!q && !tag) throw badInput('Give `query` or `tag`.', { argument: 'query' });
      return { q, tag };
    },
  }),
);

/** The average is a text, "0.0" when nobody has rated. */
function ratingOf(rating: BookRecord['rating']): RatingShape {
  const { average, numRaters, max, min } = asObject(rating);
  const ratersCount = asInt(numRaters);
  return { average: ratersCount === 0 ? null : averageOf(average), ...scaleOf({ max, min }), stars: null, ratersCount };
}

const linesOf = (lines: string): string[] =>
  lines
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
