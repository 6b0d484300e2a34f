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

/** What a table may have besides its columns. */
interface Keys {
  constraint?: string;
  /** The usual order of the rows in a list. A table without one is not listed. */
  order?: string;
  /** The columns of each index, by the end of its name: `by_book` of `annotations` is `annotations_by_book`. */
  indexes?: Readonly<Record<string, string>>;
}
interface Table extends Keys {
  columns: Readonly<Record<string, Column<unknown>>>;
  options: string;
}
const table = <Columns, Has extends Keys = object>(columns: Columns, keys?: Has) =>
  ({ columns, options: '', ...keys }) as { columns: Columns; options: string } & Has;
/** A table without row ids: the rows are stored in the order of the primary key. */
const sorted = <Columns, Has extends Keys = object>(columns: Columns, keys?: Has) => ({
  ...table(columns, keys),
  options: 'WITHOUT ROWID',
});

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

/** The orders of the annotations of a book. Not specified: where annotations without a page go; they come last. */
export const annotationOrder: Record<AnnotationOrder, string> = {
  collect: 'time DESC, id DESC',
  rank: 'usefulness DESC, time DESC, id DESC',
  page: 'page_no NULLS LAST, time, id DESC',
};

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
  friendships: sorted({ person_id: ref('people'), friend_id: ref('people') }, { constraint: 'PRIMARY KEY (person_id, friend_id)' }),
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
  }, { order: 'no', indexes: { by_isbn10: '(isbn10)', by_isbn13: '(isbn13)', by_series: '(series_id)' } }),
  /** `count` is the count in the demo data plus the public collections with the tag. */
  book_tags: sorted({ book_id: ref('books'), name: text, count: number }, {
    constraint: 'PRIMARY KEY (book_id, name)', order: 'count DESC, name', indexes: { by_use: '(name, count DESC, book_id)' },
  }),
  collections: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), status: oneOf<CollectionStatus>(), comment: text,
    rating: nullableNumber, private: flag, updated: text,
  }, { constraint: 'UNIQUE (person_id, book_id)', indexes: { by_update: '(person_id, updated)' } }),
  collection_tags: sorted({ collection_id: partOf('collections'), name: text, position: number }, {
    constraint: 'PRIMARY KEY (collection_id, name)', order: 'position',
  }),
  annotations: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), chapter: text, page_no: nullableNumber, private: flag, content: text,
    usefulness: number, comments_count: number, time: text,
  }, { order: annotationOrder.collect, indexes: { by_book: '(book_id)', by_person: '(person_id, time)' } }),
  annotation_photos: sorted({ annotation_id: partOf('annotations'), number, picture: text }, {
    constraint: 'PRIMARY KEY (annotation_id, number)', order: 'number',
  }),
  reviews: table({
    id: newId, book_id: ref('books'), person_id: ref('people'), title: text, content: text, rating: nullableNumber, votes: number,
    useless: number, comments: number, published: text, updated: text,
  }),

  notes: table({
    id: newId, person_id: ref('people'), title: text,
    /** In the text format of the service, with tags. */
    content: text,
    privacy: oneOf<NotePrivacy>(), can_reply: flag, publish_time: text, update_time: text, recs_count: number,
  }, { order: 'publish_time DESC, id DESC', indexes: { by_person: '(person_id, publish_time)' } }),
  note_photos: sorted({
    note_id: partOf('notes'), number, picture: text, layout: oneOf<PictureLayout>(), caption: text,
  }, { constraint: 'PRIMARY KEY (note_id, number)', order: 'number' }),
  note_likes: sorted({ note_id: partOf('notes'), person_id: ref('people') }, { constraint: 'PRIMARY KEY (note_id, person_id)' }),
  note_comments: table({ id: newId, note_id: partOf('notes'), person_id: ref('people'), content: text, created: text }, {
    order: 'id', indexes: { by_note: '(note_id)' },
  }),

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
  subject_tags: sorted({ name: text, subject_id: ref('subjects') }, { constraint: 'PRIMARY KEY (name, subject_id)' }),
  celebrities: sorted({
    id: textKey, name: text, name_en: text, aka: list, aka_en: list, professions: list, gender: text, birthday: text,
    born_place: text, constellation: text, website: text, summary: text,
  }),
  /** `celebrity_id` is null for a person without a page. */
  credits: sorted({
    subject_id: ref('subjects'), job: oneOf<'directors' | 'casts' | 'writers'>(), position: number,
    celebrity_id: nullableRef('celebrities'), name: text,
  }, { constraint: 'PRIMARY KEY (subject_id, job, position)', order: 'position' }),
  works: sorted({
    celebrity_id: ref('celebrities'), subject_id: ref('subjects'), position: number, roles: list,
  }, { constraint: 'PRIMARY KEY (celebrity_id, position)', order: 'position' }),
  charts: sorted({
    /** The name of a chart; `in_theaters/<city>` for each city. */
    chart: text, position: number, subject_id: ref('subjects'),
    /** Only entries of the box office chart have these two. */
    box: nullableNumber, is_new: flag,
    /** Only entries of the weekly chart have it. */
    delta: nullableNumber,
  }, { constraint: 'PRIMARY KEY (chart, position)', order: 'position' }),
  /** In the album of a celebrity if `celebrity_id` is set, otherwise in that of the subject. */
  film_photos: table({
    id: newId, subject_id: ref('subjects'), celebrity_id: nullableRef('celebrities'), person_id: ref('people'), position: number,
    description: text, comments_count: number, created: text,
  }, {
    order: 'position',
    indexes: { by_subject: '(subject_id, position) WHERE celebrity_id IS NULL', by_celebrity: '(celebrity_id, position)' },
  }),
  film_reviews: table({
    id: newId, subject_id: ref('subjects'), person_id: ref('people'), title: text, content: text, rating: number, useful: number,
    useless: number, comments: number, created: text, updated: text,
  }, { order: 'useful DESC, id', indexes: { by_subject: '(subject_id, useful DESC, id)' } }),
  film_comments: table({
    id: newId, subject_id: ref('subjects'), person_id: ref('people'), content: text, rating: number, useful: number, created: text,
  }, { order: 'useful DESC, id', indexes: { by_subject: '(subject_id, useful DESC, id)' } }),

  events: table({
    id: newId, person_id: ref('people'), city_id: ref('cities'), title: text, type: oneOf<EventType>(), content: text,
    invite_only: flag, can_invite: flag,
    /** The texts that were received, in ISO 8601 with an offset. */
    starts: text, ends: text,
    /** Start and end in ms since 1970. */
    starts_ms: number, ends_ms: number,
    place: text,
    /** `lat lon` or empty. */
    point: text,
    has_image: flag,
    /** People counted in the demo data that are not stored as users. */
    more_participants: number, more_wishers: number,
  }, { indexes: { by_city: '(city_id, type)', by_person: '(person_id)' } }),
  /** A user is either a participant or interested, never both. */
  attendances: table({
    no: newId, event_id: partOf('events'), person_id: ref('people'), relation: oneOf<'participate' | 'wish'>(),
  }, {
    constraint: 'UNIQUE (event_id, person_id)', order: 'no',
    indexes: { by_person: '(person_id, relation)', by_event: '(event_id, relation)' },
  }),
};

/** In an order in which each table comes after those that it refers to. */
export const tableNames = Object.keys(tables) as (keyof typeof tables)[];

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

/** The tables with an order. */
export type ListedTable = {
  [Name in keyof typeof tables]: (typeof tables)[Name] extends { order: string } ? Name : never;
}[keyof typeof tables];
export const orderOf = (name: ListedTable): string => tables[name].order;

export type Person = Stored<'people'>;
export type Relation = Stored<'attendances'>['relation'];

/** What searches need: indexes of texts, and triggers that write them. */
const searches = `
CREATE UNIQUE INDEX IF NOT EXISTS books_by_rank ON books (rank);
CREATE VIRTUAL TABLE IF NOT EXISTS books_fts USING fts5 (
  title, words, tags, short_title, short_words, tokenize = 'trigram', content = '', contentless_delete = 1
);
CREATE VIRTUAL TABLE IF NOT EXISTS subjects_fts USING fts5 (words, tokenize = 'trigram');
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
`;

function createTable([name, { columns, constraint, options, indexes = {} }]: [string, Table]): string {
  const parts = Object.entries(columns).map(([column, { sql }]) => `${column} ${sql}`);
  if (constraint) parts.push(constraint);
  const created = Object.entries(indexes).map(
    ([end, of]) => `CREATE INDEX IF NOT EXISTS ${name}_${end} ON ${name} ${of};\n`,
  );
  return `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')}) ${options};\n${created.join('')}`;
}

/** May run on every start. */
export const ddl = Object.entries<Table>(tables).map(createTable).join('') + searches;
