import { type BookRecord, RECORD_TAGS, TAGS_MAX, type TagRecord } from '../../api/book.ts';
import { address } from '../address.ts';
import { drawnImages } from './drawn-pictures.ts';
import { containedTerm, equalTerm, plain } from './book-index.ts';
import { type Database, type Slice, Store, type StorePage, pageIn } from './database.ts';
import type { Stored } from './schema.ts';
import type { SqliteStatement } from './sqlite.ts';
import { termsOf } from './text-search.ts';

/** The maximum of results of one search. */
const FOUND_MAX = 1_000;
/** The minimum of ratings for an average. */
const RATERS_MIN = 10;

type StoredBook = Stored<'books'> & { series_title: string | null };

export class BookStore extends Store {
  private readonly match: SqliteStatement;

  constructor(db: Database) {
    super(db);
    this.match = db.raw.prepare('SELECT rowid FROM books_fts WHERE books_fts MATCH ? ORDER BY rowid LIMIT ?');
  }

  has(id: string): boolean {
    return this.db.first(this.query.selectFrom('books').select('id').where('id', '=', id)) !== undefined;
  }

  byId(id: string): BookRecord | undefined {
    return this.records(this.db.all(this.books().where('books.id', '=', id)))[0];
  }

  byIds(ids: readonly string[]): Map<string, BookRecord> {
    const rows = this.db.all(this.books().where('books.id', 'in', ids));
    return new Map(this.records(rows).map((book) => [book.id, book]));
  }

  byIsbn(isbn: string): BookRecord | undefined {
    const column = isbn.length === 13 ? 'books.isbn13' : 'books.isbn10';
    return this.records(this.db.all(this.books().where(column, '=', isbn).limit(1)))[0];
  }

  /**
   * Every term of `text` must occur in the titles, people, publisher, ISBNs or tags of a book; `tag` must equal one of its tags.
   * Books whose title equals the text come first, then those whose title contains it; with a tag only, those with most uses of it.
   *
   * Not specified: the maximum of results. With FOUND_MAX, the time of a search hardly grows with the catalog.
   */
  search(text: string | undefined, tag: string | undefined, slice: Slice): StorePage<BookRecord> {
    if (text === undefined) {
      const { items, ...page } = pageIn(this.tagged(tag ?? ''), slice);
      const books = this.byIds(items);
      return { ...page, items: items.flatMap((id) => books.get(id) ?? []) };
    }
    const { items, ...page } = pageIn(this.ranked(text, tag), slice);
    const rows = this.db.all(this.books().where('books.rank', 'in', items));
    const byRank = new Map(rows.map((row) => [row.rank, row]));
    return { ...page, items: this.records(items.flatMap((rank) => byRank.get(rank) ?? [])) };
  }

  tags(id: string): TagRecord[] {
    const all = this.query.selectFrom('book_tags').select(['count', 'name as title']).where('book_id', '=', id);
    return this.db.all(all.orderBy('count', 'desc').orderBy('name').limit(TAGS_MAX));
  }

  hasSeries(id: string): boolean {
    return this.db.first(this.query.selectFrom('series').select('id').where('id', '=', id)) !== undefined;
  }

  ofSeries(id: string, slice: Slice): StorePage<BookRecord> {
    const page = this.db.page(this.books().where('series_id', '=', id).orderBy('books.no'), slice);
    return { ...page, items: this.records(page.items) };
  }

  private books() {
    return this.query
      .selectFrom('books')
      .leftJoin('series', 'series.id', 'books.series_id')
      .selectAll('books')
      .select('series.title as series_title');
  }

  private records(rows: readonly StoredBook[]): BookRecord[] {
    const tags = this.topTags(rows.map((row) => row.id));
    return rows.map((row) => bookRecord(row, tags.get(row.id) ?? []));
  }

  private topTags(ids: readonly string[]) {
    const tags = new Map<string, { name: string; count: number }[]>();
    if (ids.length === 0) return tags;
    const rows = this.query.selectFrom('book_tags').selectAll().where('book_id', 'in', ids);
    for (const { book_id, name, count } of this.db.all(rows.orderBy('count', 'desc').orderBy('name'))) {
      const tagsOfBook = tags.get(book_id);
      if (!tagsOfBook) tags.set(book_id, [{ name, count }]);
      else if (tagsOfBook.length < RECORD_TAGS) tagsOfBook.push({ name, count });
    }
    return tags;
  }

  /** The ids of the books with a tag, those with most uses of it first. */
  private tagged(tag: string): string[] {
    const rows = this.query.selectFrom('book_tags').select('book_id').where('name', '=', tag);
    const ordered = rows.orderBy('count', 'desc').orderBy('book_id').limit(FOUND_MAX);
    return this.db.all(ordered).map((row) => row.book_id);
  }

  /** The ranks of the results of a search, the best matches first. */
  private ranked(text: string, tag: string | undefined): number[] {
    const terms = termsOf(plain(text));
    const phrase = terms.join(' ');
    if (terms.length === 0) return [];
    const tagged = tag === undefined ? [] : [equalTerm(tag, 'tags')];
    const found = new Set<number>();
    for (const expressions of [
      [equalTerm(phrase, 'title')],
      [containedTerm(phrase, 'title')],
      terms.map((term) => containedTerm(term)),
    ]) {
      const left = FOUND_MAX + found.size; // better matches are found again
      for (const { rowid } of this.match.all([...expressions, ...tagged].join(' AND '), left) as { rowid: number }[])
        if (found.size < FOUND_MAX) found.add(rowid);
    }
    return [...found];
  }
}

function bookRecord(row: StoredBook, tags: { name: string; count: number }[]): BookRecord {
  const images = drawnImages('book', row.id);
  const average = row.raters < RATERS_MIN ? '0.0' : (row.rating_sum / row.raters).toFixed(1);
  return {
    id: row.id,
    isbn10: row.isbn10,
    isbn13: row.isbn13,
    title: row.title,
    origin_title: row.origin_title,
    alt_title: row.alt_title,
    subtitle: row.subtitle,
    url: address(`/v2/book/${row.id}`),
    alt: `https://book.catalog.example/subject/${row.id}/`,
    image: images.medium,
    images,
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
