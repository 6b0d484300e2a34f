import { type Selectable, sql } from 'kysely';
import { type BookRecord, RECORD_TAGS, TAGS_MAX, type TagRecord } from '../../contract/book.ts';
import type { Database } from './database.ts';
import type { BookRow } from './schema.ts';
import { containing, searchTerms } from './text-search.ts';

/** Fewer ratings than this make no average. */
const RATERS_MIN = 10;

export interface Found<T> {
  total: number;
  items: T[];
}
export interface Slice {
  start: number;
  count: number;
}

type StoredBook = Selectable<BookRow> & { series_title: string | null };

export type BookStore = ReturnType<typeof createBookStore>;

export function createBookStore(db: Database) {
  const { query } = db;
  const books = () =>
    query
      .selectFrom('books')
      .leftJoin('series', 'series.id', 'books.series_id')
      .selectAll('books')
      .select('series.title as series_title');

  function records(rows: readonly StoredBook[]): BookRecord[] {
    const tags = topTags(rows.map((row) => row.id));
    return rows.map((row) => bookRecord(row, tags.get(row.id) ?? []));
  }

  function topTags(ids: readonly string[]) {
    const tags = new Map<string, { name: string; count: number }[]>();
    if (ids.length === 0) return tags;
    const rows = query
      .selectFrom('book_tags')
      .selectAll()
      .where('book_id', 'in', ids)
      .orderBy('count', 'desc')
      .orderBy('name');
    for (const { book_id, name, count } of db.all(rows)) {
      const known = tags.get(book_id);
      if (!known) tags.set(book_id, [{ name, count }]);
      else if (known.length < RECORD_TAGS) known.push({ name, count });
    }
    return tags;
  }

  return {
    has: (id: string) => db.first(query.selectFrom('books').select('id').where('id', '=', id)) !== undefined,

    byId: (id: string): BookRecord | undefined => records(db.all(books().where('books.id', '=', id)))[0],

    byIds(ids: readonly string[]): Map<string, BookRecord> {
      if (ids.length === 0) return new Map();
      const rows = db.all(books().where('books.id', 'in', [...new Set(ids)]));
      return new Map(records(rows).map((book) => [book.id, book]));
    },

    byIsbn(isbn: string): BookRecord | undefined {
      const column = isbn.length === 13 ? 'books.isbn13' : 'books.isbn10';
      return records(db.all(books().where(column, '=', isbn).limit(1)))[0];
    },

    /** Every term of `text` occurs somewhere in the title, the people, the publisher, the numbers or the tags; `tag` is whole. */
    search(text: string | undefined, tag: string | undefined, { start, count }: Slice): Found<BookRecord> {
      let found = books();
      if (text !== undefined) {
        const { match, like } = searchTerms(text);
        if (match)
          found = found.where(sql<boolean>`books.no in (select rowid from books_fts where books_fts match ${match})`);
        for (const term of like) {
          found = found.where(
            sql<boolean>`books.no in (select rowid from books_fts where title like ${term} escape '\\' or author like ${term} escape '\\'
              or publisher like ${term} escape '\\' or isbn like ${term} escape '\\' or tags like ${term} escape '\\')`,
          );
        }
      }
      if (tag !== undefined) {
        found = found.where((book) =>
          book('books.id', 'in', book.selectFrom('book_tags').select('book_id').where('name', '=', tag)),
        );
      }
      const total = db.first(found.clearSelect().select((book) => book.fn.countAll<number>().as('total')))?.total ?? 0;
      const nearness =
        text === undefined
          ? sql`(select -count from book_tags where book_tags.book_id = books.id and book_tags.name = ${tag ?? ''})`
          : sql`case when books.title = ${text.trim()} then 0 when books.title like ${containing(text.trim())} escape '\\' then 1 else 2 end`;
      const items = found
        .orderBy(nearness)
        .orderBy('books.raters', 'desc')
        .orderBy('books.id')
        .limit(count)
        .offset(start);
      return { total, items: records(db.all(items)) };
    },

    tags: (id: string): TagRecord[] =>
      db.all(
        query
          .selectFrom('book_tags')
          .select(['count', 'name as title'])
          .where('book_id', '=', id)
          .orderBy('count', 'desc')
          .orderBy('name')
          .limit(TAGS_MAX),
      ),

    hasSeries: (id: string) => db.first(query.selectFrom('series').select('id').where('id', '=', id)) !== undefined,

    ofSeries(id: string, { start, count }: Slice): Found<BookRecord> {
      const found = books().where('series_id', '=', id);
      const total = db.first(found.clearSelect().select((book) => book.fn.countAll<number>().as('total')))?.total ?? 0;
      return { total, items: records(db.all(found.orderBy('books.no').limit(count).offset(start))) };
    },
  };
}

function bookRecord(row: StoredBook, tags: { name: string; count: number }[]): BookRecord {
  const image = (size: string) => `https://img.example.org/book/${size}/${row.id}.jpg`;
  const average = row.raters < RATERS_MIN ? '0.0' : (row.rating_sum / row.raters).toFixed(1);
  return {
    id: row.id,
    isbn10: row.isbn10,
    isbn13: row.isbn13,
    title: row.title,
    origin_title: row.origin_title,
    alt_title: row.alt_title,
    subtitle: row.subtitle,
    url: `https://api.catalog.example/v2/book/${row.id}`,
    alt: `https://book.catalog.example/subject/${row.id}/`,
    image: image('medium'),
    images: { small: image('small'), medium: image('medium'), large: image('large') },
    author: JSON.parse(row.author) as string[],
    translator: JSON.parse(row.translator) as string[],
    publisher: row.publisher,
    pubdate: row.pubdate,
    rating: { max: 10, min: 0, numRaters: row.raters, average },
    tags: tags.map(({ name, count }) => ({ count, name, title: name })),
    binding: row.binding,
    price: row.price,
    ...(row.series_id !== null && { series: { id: row.series_id, title: row.series_title ?? '' } }),
    pages: row.pages,
    author_intro: row.author_intro,
    summary: row.summary,
    catalog: row.catalog,
    ...(row.ebook_url !== null && { ebook_url: row.ebook_url, ebook_price: row.ebook_price ?? '' }),
  };
}
