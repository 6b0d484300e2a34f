/** The tables of the origin's database. The types of their rows follow from the columns. */
import type { Generated, Insertable, Selectable } from 'kysely';
import type { AnnotationOrder, CollectionStatus } from '../../../api/book.ts';
import type { Tier } from '../../../api/endpoint.ts';
import type { EventType } from '../../../api/event.ts';
import type { NotePrivacy, PictureLayout } from '../../../api/note.ts';

interface Column<T> {
  sql: string;
  /** Never set; declares the type of the values. */
  type?: T;
}
const column = <T>(sql: string): Column<T> => ({ sql });

interface Table<Columns> {
  columns: Columns;
  constraint: string;
  options: string;
}
const table = <Columns>(columns: Columns, constraint = '', options = ''): Table<Columns> => ({
  columns,
  constraint,
  options,
});
/** A table without row ids: the rows are stored in the order of the primary key. */
const sorted = <Columns>(columns: Columns, constraint?: string) => table(columns, constraint, 'WITHOUT ROWID');

/** SQLite has no booleans. */
export type Flag = 0 | 1;

const text = column<string>('TEXT NOT NULL');
const nullableText = column<string | null>('TEXT');
const uniqueText = column<string>('TEXT NOT NULL UNIQUE');
const textKey = column<string>('TEXT PRIMARY KEY');
/** A JSON list of texts. */
const list = text;
const number = column<number>('INTEGER NOT NULL');
const nullableNumber = column<number | null>('INTEGER');
const real = column<number>('REAL NOT NULL');
const flag = column<Flag>('INTEGER NOT NULL');
const oneOf = <T extends string>() => column<T>('TEXT NOT NULL');
const numberKey = column<Generated<number>>('INTEGER PRIMARY KEY');
/** Ids of deleted rows are not used again. */
const newId = column<Generated<number>>('INTEGER PRIMARY KEY AUTOINCREMENT');
const ref = (name: string) => column<string>(`TEXT NOT NULL REFERENCES ${name} (id)`);
const nullableRef = (name: string) => column<string | null>(`TEXT REFERENCES ${name} (id)`);
/** The row is deleted with the one that it belongs to. */
const partOf = (name: string) => column<number>(`INTEGER NOT NULL REFERENCES ${name} (id) ON DELETE CASCADE`);

// Several columns a line: a table is read as a whole.
// prettier-ignore
const tables = {
  meta: sorted({ key: textKey, value: text }),
  people: sorted({
    id: textKey, uid: uniqueText, name: text, signature: text, intro: text,
    /** URL; empty if there is none. */
    homepage: column<string>("TEXT NOT NULL DEFAULT ''"),
    /** The city id of the event service, a pinyin word; null without a city. */
    city_id: nullableText,
    /** The city number of the v2 service. */
    loc_id: text,
    loc_name: text, created: text, type: oneOf<'user' | 'site'>(), is_banned: flag,
  }),
  /** Each friendship has a row per direction. */
  friendships: sorted({ person_id: ref('people'), friend_id: ref('people') }, 'PRIMARY KEY (person_id, friend_id)'),
  /** `scopes` separated by spaces. */
  tokens: sorted({ token: textKey, person_id: nullableRef('people'), tier: oneOf<Tier>(), scopes: text, demo: flag }),

  series: sorted({ id: textKey, title: text }),
  books: table({
    no: numberKey, id: uniqueText, isbn10: text, isbn13: text, title: text, origin_title: text, alt_title: text, subtitle: text,
    author: list, translator: list, publisher: text, pubdate: text,
    /** The number of ratings, and their sum, each of at most ten. */
    raters: number, rating_sum: real,
    binding: text, price: text, series_id: nullableRef('series'), pages: text, author_intro: text, summary: text, catalog: text,
    ebook_url: nullableText, ebook_price: nullableText,
    /** The rank in search results, lower is better, and the rowid in `books_fts`; null until it is indexed. */
    rank: column<Generated<number | null>>('INTEGER'),
  }),
  /** `count` is the count in the demo data plus the public collections with the tag. */
  book_tags: sorted({ book_id: ref('books'), name: text, count: number }, 'PRIMARY KEY (book_id, name)'),
  collections: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), status: oneOf<CollectionStatus>(), comment: text,
    rating: nullableNumber, private: flag, updated: text,
  }, 'UNIQUE (person_id, book_id)'),
  collection_tags: sorted({ collection_id: partOf('collections'), name: text, position: number }, 'PRIMARY KEY (collection_id, name)'),
  annotations: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), chapter: text, page_no: nullableNumber, private: flag, content: text,
    usefulness: number, comments_count: number, time: text,
  }),
  annotation_photos: sorted({ annotation_id: partOf('annotations'), number, picture: text }, 'PRIMARY KEY (annotation_id, number)'),
  reviews: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), title: text, content: text, rating: nullableNumber, votes: number,
    useless: number, comments: number, published: text, updated: text,
  }),

  notes: table({
    id: newId, person_id: ref('people'), title: text,
    /** In the text format of the service, with tags. */
    content: text,
    privacy: oneOf<NotePrivacy>(), can_reply: flag, publish_time: text, update_time: text, recs_count: number,
  }),
  note_photos: sorted({
    note_id: partOf('notes'), number, picture: text, layout: oneOf<PictureLayout>(), caption: text,
  }, 'PRIMARY KEY (note_id, number)'),
  note_likes: sorted({ note_id: partOf('notes'), person_id: ref('people') }, 'PRIMARY KEY (note_id, person_id)'),
  note_comments: table({ id: newId, note_id: partOf('notes'), person_id: ref('people'), content: text, created: text }),

  /** The v2 service identifies a city by `loc_id`, the event service by `id`, a pinyin word. */
  cities: sorted({ id: textKey, loc_id: uniqueText, name: uniqueText }),

  subjects: table({
    /** The rowid in `subjects_fts`. */
    no: numberKey,
    id: uniqueText, title: text, original_title: text, year: text, subtype: oneOf<'movie' | 'tv'>(), aka: list, genres: list,
    countries: list, languages: list, durations: list, pubdates: list, mainland_pubdate: text,
    /** 0: too few ratings. */
    rating_average: real,
    rating_stars: text, ratings_count: number, wish_count: number, collect_count: number, do_count: nullableNumber,
    seasons_count: nullableNumber, current_season: nullableNumber, episodes_count: nullableNumber, website: text, mini_site: text,
    summary: text,
    /** The number of each. */
    trailers: number, clips: number, bloopers: number,
  }),
  subject_tags: sorted({ name: text, subject_id: ref('subjects') }, 'PRIMARY KEY (name, subject_id)'),
  celebrities: sorted({
    id: textKey, name: text, name_en: text, aka: list, aka_en: list, professions: list, gender: text, birthday: text,
    born_place: text, constellation: text, website: text, summary: text,
  }),
  /** `celebrity_id` is null for a person without a page. */
  credits: sorted({
    subject_id: ref('subjects'), job: oneOf<'directors' | 'casts' | 'writers'>(), position: number,
    celebrity_id: nullableRef('celebrities'), name: text,
  }, 'PRIMARY KEY (subject_id, job, position)'),
  works: sorted({
    celebrity_id: ref('celebrities'), subject_id: ref('subjects'), position: number, roles: list,
  }, 'PRIMARY KEY (celebrity_id, position)'),
  /** In the album of a celebrity if `celebrity_id` is set, otherwise in that of the subject. */
  film_photos: table({
    id: newId, subject_id: ref('subjects'), celebrity_id: nullableRef('celebrities'), person_id: ref('people'), position: number,
    description: text, comments_count: number, created: text,
  }),
  film_reviews: table({
    id: newId, subject_id: ref('subjects'), person_id: ref('people'), title: text, content: text, rating: number, useful: number,
    useless: number, comments: number, created: text, updated: text,
  }),
  film_comments: table({
    id: newId, subject_id: ref('subjects'), person_id: ref('people'), content: text, rating: number, useful: number, created: text,
  }),
  charts: sorted({
    /** The name of a chart; `in_theaters/<city>` for each city. */
    chart: text, position: number, subject_id: ref('subjects'),
    /** Of the box office chart. */
    box: nullableNumber, is_new: flag,
    /** Of the weekly chart. */
    delta: nullableNumber,
  }, 'PRIMARY KEY (chart, position)'),

  events: table({
    id: newId, person_id: ref('people'), city_id: ref('cities'), title: text, type: oneOf<EventType>(), content: text,
    invite_only: flag, can_invite: flag,
    /** As received: ISO 8601 with an offset. */
    starts: text, ends: text,
    /** The same in milliseconds. */
    starts_ms: number, ends_ms: number,
    place: text,
    /** `lat lon` or empty. */
    point: text,
    has_image: flag,
    /** People counted in the demo data that are not stored as users. */
    more_participants: number, more_wishers: number,
  }),
  /** A user is either a participant or interested, never both. */
  attendances: table({
    no: newId, event_id: partOf('events'), person_id: ref('people'), relation: oneOf<'participate' | 'wish'>(),
  }, 'UNIQUE (event_id, person_id)'),
};

type Rows<Columns> = { [Name in keyof Columns]: Columns[Name] extends Column<infer T> ? T : never };

export type Tables = { [Name in keyof typeof tables]: Rows<(typeof tables)[Name]['columns']> } & {
  /** The searchable texts of a book, written by book-index.ts; `rowid` is its `rank`. */
  books_fts: { rowid: number };
  subjects_fts: { rowid: number; words: string };
  events_fts: { rowid: number; words: string };
};

/** A row as it is read. */
export type Stored<Name extends keyof Tables> = Selectable<Tables[Name]>;
/** A row as it is inserted. */
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;

export type Person = Stored<'people'>;
export type Relation = Stored<'attendances'>['relation'];

/** The orders of the annotations of a book. Not specified: where annotations without a page go; they come last. */
export const annotationOrder: Record<AnnotationOrder, string> = {
  collect: 'time DESC, id DESC',
  rank: 'usefulness DESC, time DESC, id DESC',
  page: 'page_no NULLS LAST, time, id DESC',
};

/** The usual order of the rows of a table. */
export const listOrder = {
  annotation_photos: 'number',
  annotations: annotationOrder.collect,
  attendances: 'no',
  book_tags: 'count DESC, name',
  books: 'no',
  charts: 'position',
  collection_tags: 'position',
  credits: 'position',
  film_comments: 'useful DESC, id',
  film_photos: 'position',
  film_reviews: 'useful DESC, id',
  note_comments: 'id',
  note_photos: 'number',
  notes: 'publish_time DESC, id DESC',
  works: 'position',
} satisfies Partial<Record<keyof Tables, string>>;

const indexes = `
CREATE UNIQUE INDEX IF NOT EXISTS books_by_rank ON books (rank);
CREATE INDEX IF NOT EXISTS books_by_isbn10 ON books (isbn10);
CREATE INDEX IF NOT EXISTS books_by_isbn13 ON books (isbn13);
CREATE INDEX IF NOT EXISTS books_by_series ON books (series_id);
CREATE VIRTUAL TABLE IF NOT EXISTS books_fts USING fts5 (
  title, words, tags, short_title, short_words, tokenize = 'trigram', content = '', contentless_delete = 1
);
CREATE INDEX IF NOT EXISTS book_tags_by_use ON book_tags (name, count DESC, book_id);
CREATE INDEX IF NOT EXISTS collections_by_update ON collections (person_id, updated);
CREATE INDEX IF NOT EXISTS annotations_by_book ON annotations (book_id);
CREATE INDEX IF NOT EXISTS annotations_by_person ON annotations (person_id, time);
CREATE INDEX IF NOT EXISTS notes_by_person ON notes (person_id, publish_time);
CREATE INDEX IF NOT EXISTS note_comments_by_note ON note_comments (note_id);
CREATE VIRTUAL TABLE IF NOT EXISTS subjects_fts USING fts5 (words, tokenize = 'trigram');
CREATE INDEX IF NOT EXISTS film_photos_by_subject ON film_photos (subject_id, position) WHERE celebrity_id IS NULL;
CREATE INDEX IF NOT EXISTS film_photos_by_celebrity ON film_photos (celebrity_id, position);
CREATE INDEX IF NOT EXISTS film_reviews_by_subject ON film_reviews (subject_id, useful DESC, id);
CREATE INDEX IF NOT EXISTS film_comments_by_subject ON film_comments (subject_id, useful DESC, id);
CREATE INDEX IF NOT EXISTS events_by_city ON events (city_id, type);
CREATE INDEX IF NOT EXISTS events_by_person ON events (person_id);
CREATE VIRTUAL TABLE IF NOT EXISTS events_fts USING fts5 (words, tokenize = 'trigram');
CREATE TRIGGER IF NOT EXISTS events_words_added AFTER INSERT ON events BEGIN
  INSERT INTO events_fts (rowid, words) VALUES (new.id, concat_ws(char(10), new.title, new.content, new.place));
END;
CREATE TRIGGER IF NOT EXISTS events_words_changed AFTER UPDATE ON events BEGIN
  UPDATE events_fts SET words = concat_ws(char(10), new.title, new.content, new.place) WHERE rowid = new.id;
END;
CREATE TRIGGER IF NOT EXISTS events_words_removed AFTER DELETE ON events BEGIN
  DELETE FROM events_fts WHERE rowid = old.id;
END;
CREATE INDEX IF NOT EXISTS attendances_by_person ON attendances (person_id, relation);
CREATE INDEX IF NOT EXISTS attendances_by_event ON attendances (event_id, relation);
`;

function createTable([name, { columns, constraint, options }]: [
  string,
  Table<Record<string, Column<unknown>>>,
]): string {
  const parts = Object.entries(columns).map(([column, { sql }]) => `${column} ${sql}`);
  if (constraint) parts.push(constraint);
  return `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')}) ${options};\n`;
}

/** May run on every start. */
export const ddl = Object.entries(tables).map(createTable).join('') + indexes;
