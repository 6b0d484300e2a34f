import { hasMoreThan } from '../../lib/characters.ts';
import { type SqliteDatabase, prepareWrite } from './sqlite.ts';

/** Parts names, titles and tags from one another; in no text that is looked for. */
const EDGE = '\u001e';
/** Parts the characters of what is found by one or two of them. */
const GAP = '\u001f';

/** More raters than this do not put a book further to the front; below it the count is told apart to one. */
const RATERS_MAX = 2 ** 24;
const NO_MAX = 2 ** 28;

export type BookIndex = ReturnType<typeof createBookIndex>;

/**
 * Writes the line of a book in `books_fts`. Its `rowid` is the book's rank, the most rated first: matches come out of the index in the
 * order in which they are shown, so a search stops when it has enough of them, however many there are.
 */
export function createBookIndex({ raw }: { raw: SqliteDatabase }) {
  const read = raw.prepare(
    `SELECT no, rank, raters, title, subtitle, origin_title, alt_title, author, translator, publisher, isbn10, isbn13,
       (SELECT group_concat(name, char(30)) FROM book_tags WHERE book_id = books.id) AS tags
     FROM books WHERE id = ?`,
  );
  const remove = prepareWrite(raw, 'DELETE FROM books_fts WHERE rowid = CAST(? AS INTEGER)');
  const add = prepareWrite(
    raw,
    'INSERT INTO books_fts (rowid, title, words, tags, short_title, short_words) VALUES (CAST(? AS INTEGER), ?, ?, ?, ?, ?)',
  );
  const move = prepareWrite(raw, 'UPDATE books SET rank = ? WHERE no = ?');

  /** After whatever search finds a book by, or ranks it by, has changed. */
  return (id: string): void => {
    const book = read.get(id) as Words | undefined;
    if (!book) return;
    const rank = rankOf(book);
    const names = [...(JSON.parse(book.author) as string[]), ...(JSON.parse(book.translator) as string[])];
    const words = [book.subtitle, book.origin_title, book.alt_title, ...names, book.publisher].filter(Boolean);
    const tags = book.tags?.split(EDGE) ?? [];
    if (book.rank !== null) remove.run(book.rank);
    add.run(
      rank,
      edged([book.title]),
      edged([...words, book.isbn10, book.isbn13]),
      edged(tags),
      gapped([book.title]),
      gapped([...words, ...tags]), // numbers have all digits: nobody looks for one or two of them
    );
    if (book.rank !== rank) move.run(rank, book.no);
  };
}

/** A search text, taken apart: every term must be found. */
export function termsOf(text: string): string[] {
  return plain(text).trim().split(/\s+/u).filter(Boolean).slice(0, 16);
}

/** What of the full-text index holds this text somewhere. */
export function holding(text: string, column?: 'title'): string {
  const isShort = !hasMoreThan(text, 2);
  const characters = isShort ? [...text] : [];
  // The trigrams of gapped text are its characters and pairs: GAP a GAP, and a GAP b.
  const sought = isShort ? (characters.length === 1 ? `${GAP}${text}${GAP}` : characters.join(GAP)) : text;
  return `${column ? `${isShort ? 'short_' : ''}${column} : ` : ''}${quoted(sought)}`;
}

/** What of it is this as a whole: a title, or one of the tags. */
export const being = (text: string, column: 'title' | 'tags'): string =>
  `${column} : ${quoted(EDGE + plain(text) + EDGE)}`;

/** Without what parts the index, and without NUL, which ends a text for SQLite. */
const plain = (text: string): string => text.replaceAll('\0', ' ').replaceAll(EDGE, ' ').replaceAll(GAP, ' ');
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const edged = (texts: readonly string[]): string => `${EDGE}${texts.join(EDGE)}${EDGE}`;
const gapped = (texts: readonly string[]): string => `${GAP}${[...texts.join(EDGE)].join(GAP)}${GAP}`;
const rankOf = ({ raters, no }: Words): number => (RATERS_MAX - Math.min(raters, RATERS_MAX)) * NO_MAX + no;

interface Words {
  no: number;
  rank: number | null;
  raters: number;
  title: string;
  subtitle: string;
  origin_title: string;
  alt_title: string;
  /** JSON lists. */
  author: string;
  translator: string;
  publisher: string;
  isbn10: string;
  isbn13: string;
  tags: string | null;
}
