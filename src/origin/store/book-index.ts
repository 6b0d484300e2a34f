import { hasMoreThan } from '../../lib/text/characters.ts';
import type { Stored } from './database/schema.ts';
import type { SqliteDatabase } from './database/sqlite.ts';
import { quoted } from './text-search.ts';

/** Separates names, titles and tags; never part of a search text. */
const EDGE = '\u001e';
/** Separates the characters of texts in the columns for terms of one or two characters. */
const GAP = '\u001f';

/** More raters than this do not raise the rank of a book any further. */
const RATERS_MAX = 2 ** 24;
const NO_MAX = 2 ** 28;

/**
 * Writes the row of a book in `books_fts`. Its `rowid` is the rank of the book, the most rated first. The index returns matches in
 * this order, so a search can stop after enough of them, however many there are.
 */
export function createBookIndex({ raw }: { raw: SqliteDatabase }) {
  const read = raw.prepare(
    `SELECT no, rank, raters, title, subtitle, origin_title, alt_title, author, translator, publisher, isbn10, isbn13,
       (SELECT group_concat(name, char(30)) FROM book_tags WHERE book_id = books.id) AS tags
     FROM books WHERE id = ?`,
  );
  const remove = raw.prepare('DELETE FROM books_fts WHERE rowid = CAST(? AS INTEGER)');
  const add = raw.prepare(
    'INSERT INTO books_fts (rowid, title, words, tags, short_title, short_words) VALUES (CAST(? AS INTEGER), ?, ?, ?, ?, ?)',
  );
  const move = raw.prepare('UPDATE books SET rank = ? WHERE no = ?');

  /** Call it after a change of anything that the search matches or ranks by. */
  return (id: string): void => {
    const book = read.get(id) as Words | undefined;
    if (!book) return;
    const rank = rankOf(book);
    const names = [...(JSON.parse(book.author) as string[]), ...(JSON.parse(book.translator) as string[])];
    const words = [book.subtitle, book.origin_title, book.alt_title, ...names, book.publisher].filter(Boolean);
    const tags = book.tags?.split(EDGE) ?? [];
    if (book.rank !== null) remove.all(book.rank);
    add.all(
      rank,
      edged([book.title]),
      edged([...words, book.isbn10, book.isbn13]),
      edged(tags),
      gapped([book.title]),
      gapped([...words, ...tags]), // without ISBNs: one or two digits would match nearly all of them
    );
    if (book.rank !== rank) move.all(rank, book.no);
  };
}

/** An index expression for texts that contain this one. */
export function containedTerm(text: string, column?: 'title'): string {
  const isShort = !hasMoreThan(text, 2);
  const characters = isShort ? [...text] : [];
  // The trigrams of gapped text are its characters and pairs: GAP a GAP, and a GAP b.
  const term = isShort ? (characters.length === 1 ? `${GAP}${text}${GAP}` : characters.join(GAP)) : text;
  return `${column ? `${isShort ? 'short_' : ''}${column} : ` : ''}${quoted(term)}`;
}

/** An index expression for a title or tag that equals this text. */
export const equalTerm = (text: string, column: 'title' | 'tags'): string =>
  `${column} : ${quoted(EDGE + plain(text) + EDGE)}`;

/** Replaces the separators, and NUL, which ends a text for SQLite. */
export const plain = (text: string): string => text.replaceAll('\0', ' ').replaceAll(EDGE, ' ').replaceAll(GAP, ' ');
const edged = (texts: readonly string[]): string => `${EDGE}${texts.join(EDGE)}${EDGE}`;
const gapped = (texts: readonly string[]): string => `${GAP}${[...texts.join(EDGE)].join(GAP)}${GAP}`;
const rankOf = ({ raters, no }: Words): number => (RATERS_MAX - Math.min(raters, RATERS_MAX)) * NO_MAX + no;

interface Words
  extends
    Pick<Stored<'books'>, 'no' | 'rank' | 'raters' | 'title' | 'subtitle' | 'origin_title' | 'alt_title'>,
    Pick<Stored<'books'>, 'author' | 'translator' | 'publisher' | 'isbn10' | 'isbn13'> {
  tags: string | null;
}
