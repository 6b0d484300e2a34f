import { type BookRecord, bookEndpoints, bookMembers } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import {
  asInt,
  asObject,
  asText,
  asUrl,
  decoder,
  text,
  textOrNull,
  texts,
  urlOrNull,
} from '../../engine/values/decode.ts';
import { badInput } from '../../engine/errors/to-client-error.ts';
import { Image, imageOrNull } from '../types/image.ts';
import { Node, referenceOf, identity, queryById } from '../../engine/fields/node.ts';
import { RatingOfBook, type RatingShape, averageOf, scaleOf } from '../types/rating.ts';
import { SEARCH_TEXT_MAX, searchInput } from '../types/search.ts';
import { WebPage } from '../types/web-page.ts';
import { isbnOf } from './isbn.ts';

const Ebook = builder.objectRef<Pick<BookRecord, 'ebook_url' | 'ebook_price'>>('Ebook').implement({
  description: 'The electronic edition of a book.',
  fields: (t) => ({
    url: t.reads('ebook_url', urlOrNull, 'The page of the shop.'),
    price: t.reads(
      'ebook_price',
      textOrNull,
      'The price as the service writes it; usually in yuan without a unit: `6.00`.',
    ),
  }),
});

export const Book = builder.objectRef<BookRecord>('Book').implement({
  description: 'A book in the catalog. Magazines are not books here.',
  interfaces: [Node, WebPage],
  record: { endpoint: bookEndpoints.byId, input: (id) => ({ id }), members: bookMembers },
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'Book'),
    isbn10: t.reads('isbn10', textOrNull, 'The ISBN-10: ten digits, the last may be X.'),
    isbn13: t.reads('isbn13', textOrNull, 'The ISBN-13: thirteen digits.'),
    title: t.reads('title', text, 'The printed title, without the subtitle.'),
    subtitle: t.reads('subtitle', textOrNull, 'The subtitle. Half of all books have none.'),
    originalTitle: t.reads('origin_title', textOrNull, 'The title in the original language.', {
      nullIf: 'it does not differ',
    }),
    alternativeTitle: t.reads('alt_title', textOrNull, 'Another title; often the same as the original title.'),
    authors: t.reads('author', texts, 'The authors in printed order. A name may begin with the country in brackets.'),
    translators: t.reads('translator', texts, 'The translators in printed order; empty for books without one.'),
    publisher: t.reads('publisher', textOrNull, 'The publishing house.'),
    publishedOn: t.reads(
      'pubdate',
      textOrNull,
      'The date of publication in the format of the service: not padded, often only a month or a year (`2010-9`, `2009年11月`, `1976`).',
    ),
    binding: t.reads('binding', textOrNull, 'The binding, in Chinese: `平装`.'),
    price: t.reads('price', textOrNull, 'The printed price, with or without a unit: `39.50元`, `CNY 39.50`, `39.50`.'),
    pages: t.reads('pages', textOrNull, 'The number of pages as the service writes it: `320` or `320页`.'),
    cover: t.computed({
      type: Image,
      nullable: true,
      nullIf: 'the service has none',
      description: 'The cover.',
      needs: ['images', 'image'],
      resolve: ({ images, image: url }) => {
        const sizes = asObject(images);
        return imageOrNull.decode({ ...sizes, medium: asUrl(sizes.medium) ?? asText(url) });
      },
    }),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the book.'),
    rating: t.reads('rating', decoder(RatingOfBook, ratingOf, { nullIf: false }), 'The rating by all readers.'),
    summary: t.reads('summary', textOrNull, 'The content of the book in brief, one paragraph a line.'),
    authorIntro: t.reads('author_intro', textOrNull, 'About the author, one paragraph a line.'),
    tableOfContents: t.reads(
      'catalog',
      decoder('String', linesOf, { list: true }),
      'The table of contents: one item for each line, without blank lines.',
    ),
    ebook: t.computed({
      type: Ebook,
      nullable: true,
      description: 'The electronic edition.',
      nullIf: 'there is none',
      needs: ['ebook_url', 'ebook_price'],
      resolve: ({ ebook_url, ebook_price }) =>
        asUrl(ebook_url) || asText(ebook_price).trim() ? { ebook_url, ebook_price } : null,
    }),
  }),
});

queryById(Book, bookEndpoints.byId, 'A book by id.', '6082808');

builder.queryFields((t) => ({
  bookByIsbn: t.call({
    type: Book,
    description: 'A book by its ISBN.',
    args: {
      isbn: t.arg.string({
        required: true,
        description: 'Ten or thirteen digits with a valid check digit; hyphens and spaces are allowed.',
      }),
    },
    endpoint: bookEndpoints.byIsbn,
    input: (_, { isbn }) => {
      const digits = isbnOf(isbn);
      if (!digits)
        throw badInput('This is not an ISBN, which has 10 or 13 digits with a valid check digit.', {
          argument: 'isbn',
        });
      return { isbn: digits };
    },
  }),
  searchBooks: t.connection({
    type: Book,
    description:
      'Books whose text or tag matches, in the order of the service. Give at least one of `query` and `tag`.',
    args: {
      query: t.arg.string({ description: `Words to search for, at most ${SEARCH_TEXT_MAX} characters (code points).` }),
      tag: t.arg.string({
        description: `A tag that readers have used, at most ${SEARCH_TEXT_MAX} characters (code points).`,
      }),
    },
    endpoint: bookEndpoints.search,
    input: (_, args) => searchInput(args),
  }),
}));

/** The average of a book is a text, "0.0" without ratings. */
function ratingOf(rating: unknown): RatingShape {
  const { average, numRaters, max, min } = asObject(rating as BookRecord['rating']);
  const ratersCount = asInt(numRaters);
  return { average: ratersCount === 0 ? null : averageOf(average), ...scaleOf({ max, min }), ratersCount };
}

function linesOf(lines: unknown): string[] {
  return asText(lines)
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
