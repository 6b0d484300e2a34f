import { containedTerm, equalTerm, plain } from './book-index.ts';
import { type Database, type Slice, Store, type StorePage, pageIn } from './database/database.ts';
import type { Stored } from './database/schema.ts';
import type { SqliteStatement } from './database/sqlite.ts';
import { termsOf } from './text-search.ts';

/** The maximum of results of one search. */
const FOUND_MAX = 1_000;

type BookKey = Partial<Pick<Stored<'books'>, 'id' | 'rank'>>;

export class BookStore extends Store {
  private readonly match: SqliteStatement;

  constructor(db: Database) {
    super(db);
    this.match = db.raw.prepare('SELECT rowid FROM books_fts WHERE books_fts MATCH ? ORDER BY rowid LIMIT ?');
  }

  /**
   * Every term of `text` must occur in the titles, people, publisher, ISBNs or tags of a book; `tag` must equal one of its tags.
   * Books whose title equals the text come first, then those whose title contains it; with a tag only, those with most uses of it.
   *
   * Not specified: the maximum of results. With FOUND_MAX, the time of a search hardly grows with the catalog.
   */
  search(text: string | undefined, tag: string | undefined, slice: Slice): StorePage<Stored<'books'>> {
    const { items, ...page } = pageIn(text === undefined ? this.tagged(tag ?? '') : this.ranked(text, tag), slice);
    return { ...page, items: items.flatMap((key) => this.db.find('books', key) ?? []) };
  }

  /** The books with a tag, those with most uses of it first. */
  private tagged(tag: string): BookKey[] {
    const rows = this.query.selectFrom('book_tags').select('book_id as id').where('name', '=', tag);
    return this.db.run(rows.orderBy('count', 'desc').orderBy('book_id').limit(FOUND_MAX));
  }

  /** The results of a search, the best matches first. */
  private ranked(text: string, tag: string | undefined): BookKey[] {
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
    return [...found].map((rank) => ({ rank }));
  }
}
