import type { Generated } from 'kysely';
import type { CollectionStatus } from '../../contract/book.ts';
import type { Tier } from '../../contract/endpoint.ts';
import type { NotePrivacy, PictureLayout } from '../../contract/note.ts';

/** SQLite has no booleans. */
export type Flag = 0 | 1;

export interface Tables {
  meta: { key: string; value: string };
  people: PersonRow;
  /** Both directions are rows. */
  friendships: { person_id: string; friend_id: string };
  /** `scopes` separated by spaces. */
  tokens: { token: string; person_id: string | null; tier: Tier; scopes: string; demo: Flag };

  series: { id: string; title: string };
  books: BookRow;
  /** `count` holds what was known at the start and every public collection that carries the tag. */
  book_tags: { book_id: string; name: string; count: number };
  collections: CollectionRow;
  collection_tags: { collection_id: number; name: string; position: number };
  annotations: AnnotationRow;
  annotation_photos: { annotation_id: number; number: number; picture: string };
  reviews: ReviewRow;

  notes: NoteRow;
  note_photos: { note_id: number; number: number; picture: string; layout: PictureLayout; caption: string };
  note_likes: { note_id: number; person_id: string };
  note_comments: { id: Generated<number>; note_id: number; person_id: string; content: string; created: string };
}

export interface PersonRow {
  id: string;
  uid: string;
  name: string;
  avatar: string;
  large_avatar: string;
  signature: string;
  intro: string;
  /** The event interface's city id, a pinyin word; null: in no city. */
  city_id: string | null;
  /** The v2 interface's number of the same city. */
  loc_id: string;
  loc_name: string;
  created: string;
  type: 'user' | 'site';
  is_banned: Flag;
}
export interface BookRow {
  /** Ties the row to its line in `books_fts`. */
  no: Generated<number>;
  id: string;
  isbn10: string;
  isbn13: string;
  title: string;
  origin_title: string;
  alt_title: string;
  subtitle: string;
  /** JSON lists. */
  author: string;
  translator: string;
  publisher: string;
  pubdate: string;
  /** People who rated, and the sum of what they gave, of ten each. */
  raters: number;
  rating_sum: number;
  binding: string;
  price: string;
  series_id: string | null;
  pages: string;
  author_intro: string;
  summary: string;
  catalog: string;
  ebook_url: string | null;
  ebook_price: string | null;
}
export interface CollectionRow {
  id: Generated<number>;
  book_id: string;
  person_id: string;
  status: CollectionStatus;
  comment: string;
  rating: number | null;
  private: Flag;
  updated: string;
}
export interface AnnotationRow {
  id: Generated<number>;
  book_id: string;
  person_id: string;
  chapter: string;
  page_no: number | null;
  private: Flag;
  content: string;
  usefulness: number;
  comments_count: number;
  time: string;
}
export interface ReviewRow {
  id: Generated<number>;
  book_id: string;
  person_id: string;
  title: string;
  content: string;
  rating: number | null;
  votes: number;
  useless: number;
  comments: number;
  published: string;
  updated: string;
}
export interface NoteRow {
  id: Generated<number>;
  person_id: string;
  title: string;
  /** With the tags of the interface's text format. */
  content: string;
  privacy: NotePrivacy;
  can_reply: Flag;
  publish_time: string;
  update_time: string;
  recs_count: number;
}

const people = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (
  id TEXT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, avatar TEXT NOT NULL, large_avatar TEXT NOT NULL,
  signature TEXT NOT NULL, intro TEXT NOT NULL, city_id TEXT, loc_id TEXT NOT NULL, loc_name TEXT NOT NULL, created TEXT NOT NULL,
  type TEXT NOT NULL, is_banned INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS friendships (
  person_id TEXT NOT NULL REFERENCES people (id), friend_id TEXT NOT NULL REFERENCES people (id), PRIMARY KEY (person_id, friend_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tokens (
  token TEXT PRIMARY KEY, person_id TEXT REFERENCES people (id), tier TEXT NOT NULL, scopes TEXT NOT NULL, demo INTEGER NOT NULL
) WITHOUT ROWID;
`;

const books = `
CREATE TABLE IF NOT EXISTS series (id TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS books (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, isbn10 TEXT NOT NULL, isbn13 TEXT NOT NULL, title TEXT NOT NULL,
  origin_title TEXT NOT NULL, alt_title TEXT NOT NULL, subtitle TEXT NOT NULL, author TEXT NOT NULL, translator TEXT NOT NULL,
  publisher TEXT NOT NULL, pubdate TEXT NOT NULL, raters INTEGER NOT NULL, rating_sum REAL NOT NULL, binding TEXT NOT NULL,
  price TEXT NOT NULL, series_id TEXT REFERENCES series (id), pages TEXT NOT NULL, author_intro TEXT NOT NULL, summary TEXT NOT NULL,
  catalog TEXT NOT NULL, ebook_url TEXT, ebook_price TEXT
);
CREATE INDEX IF NOT EXISTS books_by_isbn10 ON books (isbn10);
CREATE INDEX IF NOT EXISTS books_by_isbn13 ON books (isbn13);
CREATE INDEX IF NOT EXISTS books_by_series ON books (series_id);
CREATE VIRTUAL TABLE IF NOT EXISTS books_fts USING fts5 (title, author, publisher, isbn, tags, tokenize = 'trigram');
CREATE TABLE IF NOT EXISTS book_tags (
  book_id TEXT NOT NULL REFERENCES books (id), name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (book_id, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS book_tags_by_name ON book_tags (name);
CREATE TABLE IF NOT EXISTS collections (
  id INTEGER PRIMARY KEY AUTOINCREMENT, book_id TEXT NOT NULL REFERENCES books (id), person_id TEXT NOT NULL REFERENCES people (id),
  status TEXT NOT NULL, comment TEXT NOT NULL, rating INTEGER, private INTEGER NOT NULL, updated TEXT NOT NULL,
  UNIQUE (person_id, book_id)
);
CREATE INDEX IF NOT EXISTS collections_by_update ON collections (person_id, updated);
CREATE TABLE IF NOT EXISTS collection_tags (
  collection_id INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE, name TEXT NOT NULL, position INTEGER NOT NULL,
  PRIMARY KEY (collection_id, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS annotations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, book_id TEXT NOT NULL REFERENCES books (id), person_id TEXT NOT NULL REFERENCES people (id),
  chapter TEXT NOT NULL, page_no INTEGER, private INTEGER NOT NULL, content TEXT NOT NULL, usefulness INTEGER NOT NULL,
  comments_count INTEGER NOT NULL, time TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS annotations_by_book ON annotations (book_id);
CREATE INDEX IF NOT EXISTS annotations_by_person ON annotations (person_id, time);
CREATE TABLE IF NOT EXISTS annotation_photos (
  annotation_id INTEGER NOT NULL REFERENCES annotations (id) ON DELETE CASCADE, number INTEGER NOT NULL, picture TEXT NOT NULL,
  PRIMARY KEY (annotation_id, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reviews (
  id INTEGER PRIMARY KEY AUTOINCREMENT, book_id TEXT NOT NULL REFERENCES books (id), person_id TEXT NOT NULL REFERENCES people (id),
  title TEXT NOT NULL, content TEXT NOT NULL, rating INTEGER, votes INTEGER NOT NULL, useless INTEGER NOT NULL,
  comments INTEGER NOT NULL, published TEXT NOT NULL, updated TEXT NOT NULL
);
`;

const notes = `
CREATE TABLE IF NOT EXISTS notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, person_id TEXT NOT NULL REFERENCES people (id), title TEXT NOT NULL, content TEXT NOT NULL,
  privacy TEXT NOT NULL, can_reply INTEGER NOT NULL, publish_time TEXT NOT NULL, update_time TEXT NOT NULL, recs_count INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_by_person ON notes (person_id, publish_time);
CREATE TABLE IF NOT EXISTS note_photos (
  note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE, number INTEGER NOT NULL, picture TEXT NOT NULL,
  layout TEXT NOT NULL, caption TEXT NOT NULL, PRIMARY KEY (note_id, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS note_likes (
  note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE, person_id TEXT NOT NULL REFERENCES people (id),
  PRIMARY KEY (note_id, person_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS note_comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  person_id TEXT NOT NULL REFERENCES people (id), content TEXT NOT NULL, created TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS note_comments_by_note ON note_comments (note_id);
`;

/** Safe to run on every start. */
export const ddl = [people, books, notes].join('');
