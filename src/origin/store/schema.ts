/** The tables of the origin's database and the types of their rows: one table, read from top to bottom. */
import type { Generated } from 'kysely';
import type { CollectionStatus } from '../../api/book.ts';
import type { Tier } from '../../api/endpoint.ts';
import type { EventType } from '../../api/event.ts';
import type { NotePrivacy, PictureLayout } from '../../api/note.ts';

/** SQLite has no booleans. */
export type Flag = 0 | 1;

export interface Tables {
  meta: { key: string; value: string };
  people: PersonRow;
  /** Each friendship has a row per direction. */
  friendships: { person_id: string; friend_id: string };
  /** `scopes` separated by spaces. */
  tokens: { token: string; person_id: string | null; tier: Tier; scopes: string; demo: Flag };

  series: { id: string; title: string };
  books: BookRow;
  /** The searchable texts of a book, written by book-index.ts; `rowid` is its `rank`. */
  books_fts: { rowid: number };
  /** `count` is the count in the demo data plus the public collections with the tag. */
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

  /** The v2 service identifies a city by `loc_id`, the event service by `id`, a pinyin word. */
  cities: { id: string; loc_id: string; name: string };

  subjects: SubjectRow;
  subject_tags: { subject_id: string; name: string };
  celebrities: CelebrityRow;
  credits: CreditRow;
  /** `roles` is a JSON list. */
  works: { celebrity_id: string; subject_id: string; position: number; roles: string };
  film_photos: FilmPhotoRow;
  film_reviews: FilmReviewRow;
  film_comments: FilmCommentRow;
  charts: ChartRow;

  events: EventRow;
  /** A user is either a participant or interested, never both. */
  attendances: { event_id: number; person_id: string; relation: 'participate' | 'wish'; no: Generated<number> };
}

export interface PersonRow {
  id: string;
  uid: string;
  name: string;
  signature: string;
  intro: string;
  /** URL of the homepage; empty if there is none. */
  homepage: string;
  /** The city id of the event service, a pinyin word; null without a city. */
  city_id: string | null;
  /** The city number of the v2 service. */
  loc_id: string;
  loc_name: string;
  created: string;
  type: 'user' | 'site';
  is_banned: Flag;
}
export interface BookRow {
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
  /** The number of ratings, and their sum, each of at most ten. */
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
  /** The rank in search results, lower is better, and the rowid in `books_fts`; null until it is indexed. */
  rank: Generated<number | null>;
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
  /** In the text format of the service, with tags. */
  content: string;
  privacy: NotePrivacy;
  can_reply: Flag;
  publish_time: string;
  update_time: string;
  recs_count: number;
}

export interface SubjectRow {
  /** The rowid in `subjects_fts`. */
  no: Generated<number>;
  id: string;
  title: string;
  original_title: string;
  year: string;
  subtype: 'movie' | 'tv';
  /** JSON lists. */
  aka: string;
  genres: string;
  countries: string;
  languages: string;
  durations: string;
  pubdates: string;
  mainland_pubdate: string;
  /** 0: too few ratings. */
  rating_average: number;
  rating_stars: string;
  ratings_count: number;
  wish_count: number;
  collect_count: number;
  do_count: number | null;
  seasons_count: number | null;
  current_season: number | null;
  episodes_count: number | null;
  website: string;
  mini_site: string;
  summary: string;
  /** The number of each. */
  trailers: number;
  clips: number;
  bloopers: number;
}
export interface CelebrityRow {
  id: string;
  name: string;
  name_en: string;
  /** JSON lists. */
  aka: string;
  aka_en: string;
  professions: string;
  gender: string;
  birthday: string;
  born_place: string;
  constellation: string;
  website: string;
  summary: string;
}
export interface CreditRow {
  subject_id: string;
  job: 'directors' | 'casts' | 'writers';
  position: number;
  /** null: a person without a page. */
  celebrity_id: string | null;
  name: string;
}
/** In the album of a celebrity if `celebrity_id` is set, otherwise in that of the subject. */
export interface FilmPhotoRow {
  id: Generated<number>;
  subject_id: string;
  celebrity_id: string | null;
  person_id: string;
  position: number;
  description: string;
  comments_count: number;
  created: string;
}
export interface FilmReviewRow {
  id: Generated<number>;
  subject_id: string;
  person_id: string;
  title: string;
  content: string;
  rating: number;
  useful: number;
  useless: number;
  comments: number;
  created: string;
  updated: string;
}
export interface FilmCommentRow {
  id: Generated<number>;
  subject_id: string;
  person_id: string;
  content: string;
  rating: number;
  useful: number;
  created: string;
}
export interface ChartRow {
  /** The name of a chart; `in_theaters/<city>` for each city. */
  chart: string;
  position: number;
  subject_id: string;
  /** Of the box office chart. */
  box: number | null;
  is_new: Flag;
  /** Of the weekly chart. */
  delta: number | null;
}

export interface EventRow {
  id: Generated<number>;
  person_id: string;
  city_id: string;
  title: string;
  type: EventType;
  content: string;
  invite_only: Flag;
  can_invite: Flag;
  /** As received: ISO 8601 with an offset. */
  starts: string;
  ends: string;
  /** The same in milliseconds. */
  starts_ms: number;
  ends_ms: number;
  place: string;
  /** `lat lon` or empty. */
  point: string;
  has_image: Flag;
  /** People counted in the demo data that are not stored as users. */
  more_participants: number;
  more_wishers: number;
}

const people = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (
  id TEXT PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, signature TEXT NOT NULL, intro TEXT NOT NULL,
  homepage TEXT NOT NULL DEFAULT '', city_id TEXT, loc_id TEXT NOT NULL, loc_name TEXT NOT NULL, created TEXT NOT NULL, type TEXT NOT NULL, is_banned INTEGER NOT NULL
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
  catalog TEXT NOT NULL, ebook_url TEXT, ebook_price TEXT, rank INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS books_by_rank ON books (rank);
CREATE INDEX IF NOT EXISTS books_by_isbn10 ON books (isbn10);
CREATE INDEX IF NOT EXISTS books_by_isbn13 ON books (isbn13);
CREATE INDEX IF NOT EXISTS books_by_series ON books (series_id);
CREATE VIRTUAL TABLE IF NOT EXISTS books_fts USING fts5 (
  title, words, tags, short_title, short_words, tokenize = 'trigram', content = '', contentless_delete = 1
);
CREATE TABLE IF NOT EXISTS book_tags (
  book_id TEXT NOT NULL REFERENCES books (id), name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (book_id, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS book_tags_by_use ON book_tags (name, count DESC, book_id);
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

const films = `
CREATE TABLE IF NOT EXISTS cities (id TEXT PRIMARY KEY, loc_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subjects (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, original_title TEXT NOT NULL, year TEXT NOT NULL,
  subtype TEXT NOT NULL, aka TEXT NOT NULL, genres TEXT NOT NULL, countries TEXT NOT NULL, languages TEXT NOT NULL,
  durations TEXT NOT NULL, pubdates TEXT NOT NULL, mainland_pubdate TEXT NOT NULL, rating_average REAL NOT NULL,
  rating_stars TEXT NOT NULL, ratings_count INTEGER NOT NULL, wish_count INTEGER NOT NULL, collect_count INTEGER NOT NULL,
  do_count INTEGER, seasons_count INTEGER, current_season INTEGER, episodes_count INTEGER, website TEXT NOT NULL,
  mini_site TEXT NOT NULL, summary TEXT NOT NULL, trailers INTEGER NOT NULL, clips INTEGER NOT NULL, bloopers INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS subjects_fts USING fts5 (words, tokenize = 'trigram');
CREATE TABLE IF NOT EXISTS subject_tags (
  name TEXT NOT NULL, subject_id TEXT NOT NULL REFERENCES subjects (id), PRIMARY KEY (name, subject_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS celebrities (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, name_en TEXT NOT NULL, aka TEXT NOT NULL, aka_en TEXT NOT NULL, professions TEXT NOT NULL,
  gender TEXT NOT NULL, birthday TEXT NOT NULL, born_place TEXT NOT NULL, constellation TEXT NOT NULL, website TEXT NOT NULL,
  summary TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS credits (
  subject_id TEXT NOT NULL REFERENCES subjects (id), job TEXT NOT NULL, position INTEGER NOT NULL,
  celebrity_id TEXT REFERENCES celebrities (id), name TEXT NOT NULL, PRIMARY KEY (subject_id, job, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS works (
  celebrity_id TEXT NOT NULL REFERENCES celebrities (id), subject_id TEXT NOT NULL REFERENCES subjects (id),
  position INTEGER NOT NULL, roles TEXT NOT NULL, PRIMARY KEY (celebrity_id, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS film_photos (
  id INTEGER PRIMARY KEY AUTOINCREMENT, subject_id TEXT NOT NULL REFERENCES subjects (id),
  celebrity_id TEXT REFERENCES celebrities (id), person_id TEXT NOT NULL REFERENCES people (id), position INTEGER NOT NULL,
  description TEXT NOT NULL, comments_count INTEGER NOT NULL, created TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS film_photos_by_subject ON film_photos (subject_id, position) WHERE celebrity_id IS NULL;
CREATE INDEX IF NOT EXISTS film_photos_by_celebrity ON film_photos (celebrity_id, position);
CREATE TABLE IF NOT EXISTS film_reviews (
  id INTEGER PRIMARY KEY AUTOINCREMENT, subject_id TEXT NOT NULL REFERENCES subjects (id),
  person_id TEXT NOT NULL REFERENCES people (id), title TEXT NOT NULL, content TEXT NOT NULL, rating INTEGER NOT NULL,
  useful INTEGER NOT NULL, useless INTEGER NOT NULL, comments INTEGER NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS film_reviews_by_subject ON film_reviews (subject_id, useful DESC, id);
CREATE TABLE IF NOT EXISTS film_comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT, subject_id TEXT NOT NULL REFERENCES subjects (id),
  person_id TEXT NOT NULL REFERENCES people (id), content TEXT NOT NULL, rating INTEGER NOT NULL, useful INTEGER NOT NULL,
  created TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS film_comments_by_subject ON film_comments (subject_id, useful DESC, id);
CREATE TABLE IF NOT EXISTS charts (
  chart TEXT NOT NULL, position INTEGER NOT NULL, subject_id TEXT NOT NULL REFERENCES subjects (id), box INTEGER,
  is_new INTEGER NOT NULL, delta INTEGER, PRIMARY KEY (chart, position)
) WITHOUT ROWID;
`;

const events = `
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, person_id TEXT NOT NULL REFERENCES people (id),
  city_id TEXT NOT NULL REFERENCES cities (id), title TEXT NOT NULL, type TEXT NOT NULL, content TEXT NOT NULL,
  invite_only INTEGER NOT NULL, can_invite INTEGER NOT NULL, starts TEXT NOT NULL, ends TEXT NOT NULL, starts_ms INTEGER NOT NULL,
  ends_ms INTEGER NOT NULL, place TEXT NOT NULL, point TEXT NOT NULL, has_image INTEGER NOT NULL,
  more_participants INTEGER NOT NULL, more_wishers INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_city ON events (city_id, type);
CREATE INDEX IF NOT EXISTS events_by_person ON events (person_id);
CREATE VIRTUAL TABLE IF NOT EXISTS events_fts USING fts5 (words, tokenize = 'trigram');
CREATE TABLE IF NOT EXISTS attendances (
  no INTEGER PRIMARY KEY AUTOINCREMENT, event_id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  person_id TEXT NOT NULL REFERENCES people (id), relation TEXT NOT NULL, UNIQUE (event_id, person_id)
);
CREATE INDEX IF NOT EXISTS attendances_by_person ON attendances (person_id, relation);
CREATE INDEX IF NOT EXISTS attendances_by_event ON attendances (event_id, relation);
`;

/** May run on every start. */
export const ddl = [people, books, notes, films, events].join('');
