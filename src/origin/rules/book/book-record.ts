import { type BookRecord, RECORD_TAGS } from '../../../api/book.ts';
import { address } from '../../address.ts';
import { drawnImages } from '../../store/drawn-pictures.ts';
import type { Stored } from '../../store/database/schema.ts';
import type { Call } from '../call.ts';
import { columns } from '../members.ts';
import { found } from '../rejection.ts';

/** The minimum of ratings for an average. */
const RATERS_MIN = 10;

export const existingBook = ({ db }: Call, id: string): Stored<'books'> => found(db.find('books', { id }), 6000);

/** The book that a row refers to; a foreign key guarantees that there is one. */
export const bookOfRow = (call: Call, { book_id }: { book_id: string }): BookRecord =>
  bookRecord(call, existingBook(call, book_id));

export function bookRecord({ db }: Call, row: Stored<'books'>): BookRecord {
  const images = drawnImages('book', row.id);
  const average = row.raters < RATERS_MIN ? '0.0' : (row.rating_sum / row.raters).toFixed(1);
  const tags = db.rows('book_tags', { book_id: row.id }, RECORD_TAGS);
  return {
    ...columns(row, 'id', 'isbn10', 'isbn13', 'title', 'origin_title', 'alt_title', 'subtitle'),
    url: address(`/v2/book/${row.id}`),
    alt: `https://book.catalog.example/subject/${row.id}/`,
    image: images.medium,
    images,
    author: JSON.parse(row.author) as string[],
    translator: JSON.parse(row.translator) as string[],
    ...columns(row, 'publisher', 'pubdate'),
    rating: { max: 10, min: 0, numRaters: row.raters, average },
    tags: tags.map(({ name, count }) => ({ count, name, title: name })),
    ...columns(row, 'binding', 'price'),
    ...(row.series_id !== null && { series: db.find('series', { id: row.series_id })! }),
    ...columns(row, 'pages', 'author_intro', 'summary', 'catalog'),
    ...(row.ebook_url !== null && { ebook_url: row.ebook_url, ebook_price: row.ebook_price ?? '' }),
  };
}
