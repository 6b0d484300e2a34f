import { readdirSync } from 'node:fs';
import { isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { celebrityMembers, filmEndpoints, subjectMembers } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { markedFields } from '../../src/engine/null-conditions.ts';
import { schema } from '../../src/graph/schema.ts';
import { marksIn } from '../support/marks.ts';
import { callsOf, membersOfFields } from '../support/read-members.ts';
import { recordedFolder, recordedText } from '../support/recorded.ts';
import { type Reply, replay } from '../support/replay.ts';
import {
  type ExpectedField,
  type Wire,
  extras,
  graphType,
  expectedFields,
  testedElsewhere,
} from './expected-fields.ts';

const json = (file: string): Wire => JSON.parse(recordedText(file)) as Wire;

/** One recorded response: the operation it belongs to, and the query that selects it. */
interface Recorded {
  file: string;
  operation: string;
  /** The request path that serves it. */
  path: (body: Wire) => string;
  /** The query; `…` is replaced by the selection of the records. */
  query: (body: Wire) => string;
  /** Path of the records in the data of the response. */
  at: readonly string[];
  table: string;
  /** The records in the body; by default the body itself. */
  records?: (body: Wire) => readonly Wire[];
  isList?: boolean;
  /** Records in short form: only members that they contain are selected. */
  isShort?: boolean;
  /** Fields of the envelope, and the values expected of them. */
  envelope?: Readonly<Record<string, (body: Wire) => unknown>>;
  /** The body to serve if it differs from the file. */
  serve?: (body: Wire) => Wire;
  calls?: number;
}

const total = { totalCount: (body: Wire) => body.total };
const titled = { ...total, title: (body: Wire) => body.title };
const list = (member: string) => ({ isList: true, records: (body: Wire) => body[member] as Wire[] });
const idOf = (body: Wire): string => String(body.id);
const named = (name: string, of: (body: Wire) => unknown) => (body: Wire) =>
  `${name}: ${JSON.stringify(String(of(body)))}`;
const films = { ...list('subjects'), table: 'Subject', isShort: true };
const filmAt = (file: string, name: string, row: string, path: string, args: string): Recorded => ({
  file: `film/${file}.json`,
  operation: `GET ${row}`,
  path: () => path,
  query: () => `{ ${name}(${args}) { totalCount title nodes … } }`,
  at: [name, 'nodes'],
  envelope: titled,
  ...films,
});

const recorded: readonly Recorded[] = [
  ...[1, 2, 3, 4, 5, 6, 7].map((nth): Recorded => ({
    file: `book/book-isbn-${nth}.json`,
    operation: 'GET /v2/book/isbn/:isbn',
    path: ({ isbn13 }) => `/v2/book/isbn/${String(isbn13)}`,
    query: (body) => `{ bookByIsbn(${named('isbn', ({ isbn13 }) => isbn13)(body)}) … }`,
    at: ['bookByIsbn'],
    table: 'Book',
  })),
  {
    file: 'book/book-1.json',
    operation: 'GET /v2/book/:id',
    path: ({ id }) => `/v2/book/${String(id)}`,
    query: (body) => `{ book(${named('id', idOf)(body)}) … }`,
    at: ['book'],
    table: 'Book',
  },
  ...['search-1', 'search-2', 'search-fields-1'].map((name): Recorded => ({
    file: `book/${name}.json`,
    operation: 'GET /v2/book/search',
    path: () => '/v2/book/search',
    query: () => '{ searchBooks(query: "书") { totalCount nodes … } }',
    at: ['searchBooks', 'nodes'],
    table: 'Book',
    envelope: total,
    ...list('books'),
  })),
  ...[1, 2].map((nth): Recorded => ({
    file: `book/annotations-${nth}.json`,
    operation: 'GET /v2/book/:id/annotations',
    path: () => '/v2/book/7/annotations',
    query: () => '{ book(id: 7) { annotations { totalCount nodes … } } }',
    at: ['book', 'annotations', 'nodes'],
    table: 'Annotation',
    envelope: total,
    ...list('annotations'),
  })),
  {
    file: 'book/annotation-html-1.json',
    operation: 'GET /v2/book/annotation/:id',
    path: (body) => `/v2/book/annotation/${idOf(body)}`,
    query: (body) => `{ annotation(${named('id', idOf)(body)}) … }`,
    at: ['annotation'],
    table: 'Annotation',
  },
  {
    file: 'book/collection-1.json',
    operation: 'GET /v2/book/:id/collection',
    path: ({ book_id }) => `/v2/book/${String(book_id)}/collection`,
    query: ({ book_id, user_id }) =>
      `{ book(id: "${String(book_id)}") { collection(userId: "${String(user_id)}") … } }`,
    at: ['book', 'collection'],
    table: 'Collection',
  },
  {
    file: 'book/collections-1.json',
    operation: 'GET /v2/book/user/:name/collections',
    path: () => '/v2/book/user/reader/collections',
    query: () => '{ user(id: "reader") { bookCollections { totalCount nodes … } } }',
    at: ['user', 'bookCollections', 'nodes'],
    table: 'Collection',
    envelope: total,
    ...list('collections'),
    // The recording lacks the ids and the book of the item: the ids are put back.
    serve: (body) => ({
      ...body,
      collections: (body.collections as Wire[]).map((item) => ({ ...item, id: 1, book_id: '1' })),
    }),
  },
  {
    file: 'note/note-1.json',
    operation: 'GET /v2/note/:id',
    path: (body) => `/v2/note/${idOf(body)}`,
    query: (body) => `{ note(${named('id', idOf)(body)}) … }`,
    at: ['note'],
    table: 'Note',
  },
  {
    file: 'note/note-2.json',
    operation: 'GET /v2/note/user_created/:id',
    path: () => '/v2/note/user_created/writer',
    query: () => '{ user(id: "writer") { notes { nodes … } } }',
    at: ['user', 'notes', 'nodes'],
    table: 'Note',
    serve: (body) => ({ count: 20, start: 0, notes: [body] }),
    ...list('notes'),
  },
  {
    file: 'note/comments-1.json',
    operation: 'GET /v2/note/:id/comments',
    path: () => '/v2/note/7/comments',
    query: () => '{ note(id: 7) { comments { totalCount nodes … } } }',
    at: ['note', 'comments', 'nodes'],
    table: 'NoteComment',
    envelope: total,
    ...list('comments'),
  },
  ...[1, 2, 3].map((nth): Recorded => ({
    file: `film/subject-${nth}.json`,
    operation: 'GET /v2/movie/subject/:id',
    path: (body) => `/v2/movie/subject/${idOf(body)}`,
    query: (body) => `{ subject(${named('id', idOf)(body)}) … }`,
    at: ['subject'],
    table: 'Subject',
  })),
  ...[1, 2].map((nth): Recorded => ({
    file: `film/celebrity-${nth}.json`,
    operation: 'GET /v2/movie/celebrity/:id',
    path: (body) => `/v2/movie/celebrity/${idOf(body)}`,
    query: (body) => `{ celebrity(${named('id', idOf)(body)}) … }`,
    at: ['celebrity'],
    table: 'Celebrity',
  })),
  {
    file: 'film/celebrity-works-1.json',
    operation: 'GET /v2/movie/celebrity/:id/works',
    path: ({ celebrity }) => `/v2/movie/celebrity/${idOf(celebrity as Wire)}/works`,
    query: ({ celebrity }) =>
      `{ celebrity(${named('id', idOf)(celebrity as Wire)}) { name webUrl portrait { small large } works(first: 20) { totalCount nodes … } } }`,
    at: ['celebrity', 'works', 'nodes'],
    table: 'CelebrityWork',
    envelope: total,
    ...list('works'),
    isShort: true,
  },
  ...(
    [
      ['photos', 'Photo'],
      ['reviews', 'FilmReview'],
      ['comments', 'FilmComment'],
    ] as const
  ).map(([name, table]): Recorded => ({
    file: `film/subject-${name}-1.json`,
    operation: `GET /v2/movie/subject/:id/${name}`,
    path: () => `/v2/movie/subject/7/${name}`,
    query: () => `{ subject(id: 7) { ${name}(first: 20) { totalCount nodes … } } }`,
    at: ['subject', name, 'nodes'],
    table,
    envelope: total,
    ...list(name),
  })),
  filmAt('search-tag-1', 'searchSubjects', '/v2/movie/search', '/v2/movie/search', 'tag: "剧情"'),
  filmAt('search-q-1', 'searchSubjects', '/v2/movie/search', '/v2/movie/search', 'query: "和平", first: 10'),
  filmAt('top250-1', 'top250', '/v2/movie/top250', '/v2/movie/top250', 'first: 20'),
  filmAt('top250-2', 'top250', '/v2/movie/top250', '/v2/movie/top250', 'first: 20, offset: 20'),
  filmAt('in_theaters-1', 'inTheaters', '/v2/movie/in_theaters', '/v2/movie/in_theaters', 'first: 20'),
  filmAt('in_theaters-2', 'inTheaters', '/v2/movie/in_theaters', '/v2/movie/in_theaters', 'city: "北京", offset: 20'),
  filmAt('coming_soon-1', 'comingSoon', '/v2/movie/coming_soon', '/v2/movie/coming_soon', 'first: 20'),
  filmAt('coming_soon-2', 'comingSoon', '/v2/movie/coming_soon', '/v2/movie/coming_soon', 'offset: 74'),
  {
    file: 'film/us_box-1.json',
    operation: 'GET /v2/movie/us_box',
    path: () => '/v2/movie/us_box',
    query: () => '{ usBoxOffice { title dateRange entries … } }',
    at: ['usBoxOffice', 'entries'],
    table: 'BoxOfficeEntry',
    envelope: { title: (body) => body.title, dateRange: (body) => body.date },
    ...list('subjects'),
    isShort: true,
  },
  {
    file: 'film/weekly-1.json',
    operation: 'GET /v2/movie/weekly',
    path: () => '/v2/movie/weekly',
    query: () => '{ weeklyChart { title entries … } }',
    at: ['weeklyChart', 'entries'],
    table: 'WeeklyEntry',
    envelope: { title: (body) => body.title },
    ...list('subjects'),
    isShort: true,
  },
  {
    file: 'film/new_movies-1.json',
    operation: 'GET /v2/movie/new_movies',
    path: () => '/v2/movie/new_movies',
    query: () => '{ newMovies { title subjects … } }',
    at: ['newMovies', 'subjects'],
    envelope: { title: (body) => body.title },
    ...films,
  },
];

/** Recorded Atom documents. The altjson files have the same content in a format that no operation uses. */
interface RecordedAtom {
  /** Paths that the connection of this list has no fields for. */
  omitted?: readonly string[];
  file: string;
  operation: string;
  path: string;
  query: string;
}
const personFields = 'id sourceId name avatarUrl webUrl isSite';
const actorFields =
  '__typename id name avatarUrl webUrl ... on Node { id } ... on User { sourceId } ... on Organization { sourceId }';
const guestFields = `node { ${personFields} } uid signature bio homepageUrl city { id name }`;
const eventFields = `id sourceId title summary content type typeTerm startsAt endsAt place imageUrl webUrl inviteOnly canInvite
  participantsCount interestedPeopleCount viewerRelation city { id name } organizer { ${actorFields} }`;
const atoms: readonly RecordedAtom[] = [
  {
    file: 'event/event-1.xml',
    operation: 'GET /event/:id',
    path: '/event/14792861',
    query: `{ event(id: "14792861") { ${eventFields} } }`,
  },
  {
    file: 'event/event-2.xml',
    operation: 'GET /event/:id',
    path: '/event/12171445',
    query: `{ event(id: "12171445") { ${eventFields} } }`,
  },
  {
    file: 'event/user-events-1.xml',
    operation: 'GET /people/:id/events',
    path: '/people/9000066/events',
    query: `{ user(id: "9000066") { events(first: 1, offset: 2) { title totalCount pageInfo { hasNextPage } nodes { ${eventFields} } } } }`,
  },
  {
    file: 'event/people-feed-1.xml',
    omitted: ['feed/title'],
    operation: 'GET /event/:id/participants',
    path: '/event/7/participants',
    query: `{ event(id: "7") { participants(first: 100, offset: 9) { totalCount edges { ${guestFields} } } } }`,
  },
];

/** A recorded error response, and the expected outcome. */
interface RecordedError {
  file: string;
  operation: string;
  status: number;
  path: string;
  query: string;
  /** null: the record does not exist, which is no error. */
  code: string | null;
  upstreamCode?: number;
}
const book = { operation: 'GET /v2/book/:id', path: '/v2/book/7', query: '{ book(id: 7) { title } }' };
const search = {
  operation: 'GET /v2/book/search',
  path: '/v2/book/search',
  query: '{ searchBooks(query: "x") { totalCount } }',
};
const errors: readonly RecordedError[] = [
  { file: '1000-need_permission-user', ...book, status: 403, code: 'FORBIDDEN' },
  {
    file: '1000-need_permission',
    operation: 'GET /v2/movie/weekly',
    path: '/v2/movie/weekly',
    query: '{ weeklyChart { title } }',
    status: 403,
    code: 'TIER_REQUIRED',
  },
  { file: '1001-uri_not_found-doc', ...book, status: 404, code: 'FORBIDDEN' },
  {
    file: '1001-uri_not_found',
    operation: 'GET /v2/book/:id/collection',
    path: '/v2/book/7/collection',
    query: '{ book(id: 7) { collection(userId: 8) { status } } }',
    status: 404,
    code: null,
  },
  { file: '103-invalid_access_token', ...book, status: 400, code: 'UNAUTHENTICATED' },
  { file: '104-invalid_apikey', ...search, status: 400, code: 'UPSTREAM_REFUSED', upstreamCode: 104 },
  {
    file: '112-rate_limit_exceeded2',
    operation: 'GET /v2/movie/coming_soon',
    path: '/v2/movie/coming_soon',
    query: '{ comingSoon { totalCount } }',
    status: 400,
    code: 'RATE_LIMITED',
  },
  {
    file: '1309-subject_ip_rate_limit',
    operation: 'GET /v2/movie/subject/:id',
    path: '/v2/movie/subject/7',
    query: '{ subject(id: 7) { title } }',
    status: 400,
    code: 'RATE_LIMITED',
  },
  { file: '131-apikey_required', ...search, status: 400, code: 'UPSTREAM_REFUSED', upstreamCode: 131 },
  {
    file: '6000-book_not_found-isbn',
    operation: 'GET /v2/book/isbn/:isbn',
    path: '/v2/book/isbn/9787544270878',
    query: '{ bookByIsbn(isbn: "9787544270878") { title } }',
    status: 404,
    code: null,
  },
  { file: '6000-book_not_found', ...book, status: 404, code: null },
  {
    file: '6014-series_not_found',
    operation: 'GET /v2/book/series/:id/books',
    path: '/v2/book/series/14/books',
    query: '{ series(id: 14) { books { totalCount } } }',
    status: 404,
    code: null,
  },
  {
    file: '999-invalid_request',
    operation: 'GET /v2/movie/in_theaters',
    path: '/v2/movie/in_theaters',
    query: '{ inTheaters { totalCount } }',
    status: 400,
    code: 'UPSTREAM_REFUSED',
    upstreamCode: 999,
  },
].map((error) => ({ ...error, file: `error/error-${error.file}.json` }));

/** Files of the folder that are no responses of the operations. */
const others: Readonly<Record<string, string>> = {
  'README.md': 'about the folder',
  'event/altjson-event-1.json': 'Atom as JSON, which no operation uses',
  'event/altjson-people-feed-1.json': 'Atom as JSON, which no operation uses',
  'event/altjson-user-events-1.json': 'Atom as JSON, which no operation uses',
  'event/city-1.xml': 'no operation returns a city',
  'event/city-feed-1.xml': 'no operation returns a city',
  'event/event-category-feed-1.xml': 'no operation returns categories',
  'event/person-1.xml': 'no operation returns a user',
  'event/create-request-1.xml': 'a request, used by the tests of the origin',
  'event/delete-request-1.xml': 'a request, used by the tests of the origin',
  'event/v2-event-list-1.json': 'another interface',
  'event/v2-event-user-list-1.json': 'another interface',
  'user/user-1.json': 'no operation returns a user',
  'user/user-2.json': 'no operation returns a user',
};

/** Read by `Photo.next` and `Photo.previous`, which are tested elsewhere. */
const neighbours = ['Photo.next_photo', 'Photo.prev_photo'];
/** Fields with @semanticNonNull that no recorded response contains: no operation returns a city; the search by tag is recorded as `searchBooks`. */
const unrecordedFields: readonly string[] = [
  'Query.city',
  'Organization.sourceId',
  'BookTag.books',
  'FilmTag.films',
  'UserBookTag.books',
];

describe('a recorded response', () => {
  let execute: Awaited<ReturnType<typeof replay>>;
  /** Fields with @semanticNonNull that had a value in a replayed response. */
  const seenFields = new Set<string>();
  beforeAll(async () => {
    const send = await replay();
    execute = async (query, replies) => {
      const result = await send(query, replies);
      const { shown: seen, broken } = marksIn(query, result.response);
      expect(broken, 'null without an error').toEqual([]);
      for (const coordinate of seen) seenFields.add(coordinate);
      return result;
    };
  });

  test('exists 56 times for the operations, and every other file of the folder is listed with a reason', () => {
    const rows = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap((table) => Object.values(table));
    const operations = rows.map(({ method, path }) => `${method} ${path}`);
    const all = [...recorded, ...atoms, ...errors];
    expect(all.filter(({ operation }) => !operations.includes(operation))).toEqual([]);
    expect(all).toHaveLength(56);
    const names = readdirSync(recordedFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('.'),
    );
    const files = all.map(({ file }) => file);
    expect(files.filter((file) => !names.includes(file))).toEqual([]);
    expect(names.filter((name) => !files.includes(name) && !(name in others))).toEqual([]);
  });

  test.each(recorded)('$file of $operation is returned completely', async (row) => {
    const body = json(row.file);
    const served = row.serve?.(body) ?? body;
    const records = row.records?.(served) ?? [served];
    const selection = select(row.table, records, !row.isShort);
    const query = row.query(served).replace('…', print(selection));
    const path = row.path(served);
    const { response, calls } = await execute(query, { [path]: reply(served) });

    expect((response.errors ?? []).filter(({ extensions }) => extensions.code !== 'TIER_REQUIRED')).toEqual([]);
    const found = row.at.reduce((data: unknown, key) => (data as Wire | null)?.[key], response.data);
    const expectedRecords = records.map((record) => expected(selection, record));
    expect(found).toEqual(row.isList ? expectedRecords : expectedRecords[0]);
    expect(coordinates(response.errors)).toEqual(row.isShort ? [] : lacking(row.table, records));
    const around = row.at.slice(0, -1).reduce((data: unknown, key) => (data as Wire)[key], response.data) as Wire;
    for (const [field, value] of Object.entries(row.envelope ?? {}))
      expect({ [field]: around[field] }).toEqual({ [field]: value(served) ?? null });
    expect(calls).toEqual(Array.from({ length: row.calls ?? 1 }, () => `GET ${path}`));
    expect(unreadMembers(row.table, records).filter((member) => ![...extras, ...neighbours].includes(member))).toEqual(
      [],
    );
  });

  test.each(atoms)('$file of $operation is returned completely', async ({ file, path, query, omitted = [] }) => {
    const text = recordedText(file);
    const { response, calls } = await execute(query, { [path]: { type: 'application/atom+xml', text } });
    expect(response.errors).toBeUndefined();
    expect(calls).toEqual([`GET ${path}`]);
    const seen = new Set(leaves(response.data));
    const values = atomValues(text).filter(
      ({ place }) => !omitted.includes(place) && !omittedPaths.some((one) => one.test(place)),
    );
    expect(values.length).toBeGreaterThan(10);
    expect(values.filter(({ place, value }) => !seen.has(fieldValueOf(place, value)))).toEqual([]);
  });

  test('with three people has three edges, although its feed says two', async () => {
    const { path, query } = atoms[3]!;
    const { response } = await execute(query, {
      [path]: { type: 'application/atom+xml', text: recordedText('event/people-feed-1.xml') },
    });
    const { edges, totalCount } = response.data.event.participants;
    expect({ totalCount, people: edges.length }).toEqual({ totalCount: 158, people: 3 });
    expect(edges.map(({ homepageUrl, bio }: Wire) => [homepageUrl, bio === null])).toEqual([
      [null, true],
      ['http://http://blog.example.com/home', false],
      [null, true],
    ]);
  });

  test('in HTML is returned unchanged', async () => {
    const body = json('book/annotation-html-1.json');
    const { response, calls } = await execute(
      `{ annotation(id: "${idOf(body)}") { abstract html: content(format: HTML) } }`,
      {
        [`/v2/book/annotation/${idOf(body)}`]: reply(body),
      },
    );
    expect(response).toEqual({ data: { annotation: { abstract: body.abstract, html: body.content } } });
    expect(calls).toHaveLength(1);
  });

  test.each(errors)(
    '$file has the result $code, without texts of the service',
    async ({ file, status, path, query, code, upstreamCode }) => {
      const { msg, localized_message } = json(file) as Record<string, string>;
      const { response } = await execute(query, { [path]: { status, text: recordedText(file) } });
      expect(leaves(response.data)).toEqual([null]);
      expect(response.errors?.map(({ extensions }) => extensions.code) ?? []).toEqual(code === null ? [] : [code]);
      if (code === 'RATE_LIMITED') expect(response.errors![0]!.extensions.retryAfter).toBeGreaterThan(0);
      if (upstreamCode) expect(response.errors![0]!.extensions.upstream).toMatchObject({ code: upstreamCode, status });
      // Addresses and tokens in the message of the service.
      const secrets = [...msg!.matchAll(/[0-9a-f]{20,}|\d+\.\d+\.\d+\.\d+|\S+@\S+/g)].map(([found]) => found);
      for (const secret of [...secrets, localized_message ?? '\0'])
        expect(JSON.stringify(response)).not.toContain(secret);
    },
  );

  test.each([
    ['note', 'note/note-1.json', '/v2/note/'],
    ['annotation', 'book/annotation-html-1.json', '/v2/book/annotation/'],
  ])('of a %s is returned as content blocks', async (name, file, path) => {
    const body = json(file);
    const { response } = await execute(
      `{ ${name}(id: "${idOf(body)}") { blocks { ... on TextBlock { spans { text } } } } }`,
      {
        [`${path}${idOf(body)}`]: reply(body),
      },
    );
    expect(leaves(response.data)).not.toHaveLength(0);
  });

  test('has a value for every field with @semanticNonNull at least once, and null only beside an error', () => {
    const names = [...markedFields(schema).keys()].filter(
      (name) => !/^(?:Mutation|Review|Content|Actor)\.|Payload\./.test(name) && !unrecordedFields.includes(name),
    );
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !seenFields.has(name))).toEqual([]);
  });
});

describe('the table of expected fields', () => {
  test.each(Object.keys(expectedFields))('has every field of %s', (table) => {
    const type = schema.getType(graphType[table] ?? table);
    const fields = isObjectType(type) ? Object.keys(type.getFields()) : [];
    const tested = Object.keys(expectedFields[table]!);
    expect(tested.filter((name) => !fields.includes(name))).toEqual([]);
    if (graphType[table]) return;
    const elsewhere = [...callsOf(table), ...(testedElsewhere[table] ?? [])];
    const lacking = fields.filter((name) => !tested.includes(name) && !elsewhere.includes(name));
    expect(lacking, 'missing in test/corpus/expected-fields.ts').toEqual([]);
  });
});

test('no member that is listed as undocumented or without a field is read', () => {
  const read = extras.filter((coordinate) => {
    const [table, member] = coordinate.split('.') as [string, string];
    const members = [
      ...Object.values(expectedFields[table] ?? {}).flatMap(({ wire }) => wire),
      ...membersOfFields(graphType[table] ?? table),
    ];
    return expectedFields[table] === undefined || members.includes(member);
  });
  expect(read).toEqual([]);
});

interface Selection {
  table: string;
  fields: Map<string, { rule: ExpectedField; nested?: Selection }>;
}

/** The selection of these records: all fields of complete ones; of short ones the fields that all of them have. */
function select(table: string, records: readonly Wire[], isWhole: boolean): Selection {
  const fields: Selection['fields'] = new Map();
  for (const [field, rule] of Object.entries(expectedFields[table]!)) {
    if (!isWhole && !records.every((record) => rule.wire.some((name) => name in record))) continue;
    if (!rule.nested) {
      fields.set(field, { rule });
      continue;
    }
    const nested = records.flatMap((record) => objects(rule.nested!.of(record)));
    fields.set(field, { rule, nested: selectNested(rule.nested.table, nested, isWhole) });
  }
  return { table, fields };
}

function selectNested(table: string, nested: readonly Wire[], isWhole: boolean): Selection {
  if (table === 'Pictures') return { table, fields: new Map() };
  if (table === 'Connection') {
    const items = nested.flatMap(({ nodes }) => nodes as Wire[]);
    // Every type of these lists has an id.
    const of = (nested[0]?.table as string | undefined) ?? 'Photo';
    return { table, fields: new Map([['nodes', { rule: { wire: [] }, nested: selectNested(of, items, false) }]]) };
  }
  // The number of raters is a member of the film beside its rating, and absent in short forms.
  if (!('id' in expectedFields[table]!)) return select(table, nested, isWhole || table !== 'FilmRating');
  const isRecord = ['Subject', 'Celebrity', 'FilmReview', 'Photo'].includes(table);
  const isBare = nested.length > 0 && nested.every((record) => Object.keys(record).join() === 'id');
  if (isBare || (nested.length === 0 && 'id' in expectedFields[table]))
    return { table, fields: new Map([['id', { rule: expectedFields[table].id }]]) };
  return select(table, nested, isWhole && !isRecord);
}

function print({ table, fields }: Selection): string {
  if (table === 'Pictures') return '{ number url }';
  return `{ ${[...fields].map(([field, { rule, nested }]) => `${field}${rule.args ?? ''}${nested ? ` ${print(nested)}` : ''}`).join(' ')} }`;
}

/** The data expected for a record. */
function expected({ fields }: Selection, record: Wire): Wire {
  return Object.fromEntries(
    [...fields].map(([field, { rule, nested }]) => {
      if (isLacking(rule, record)) return [field, null];
      if (!nested || !rule.nested) return [field, rule.value!(record)];
      const found = rule.nested.of(record);
      if (nested.table === 'Pictures') return [field, pictures(found)];
      if (nested.table === 'Connection') {
        const inner = nested.fields.get('nodes')!.nested!;
        return [field, { nodes: objects((found as Wire).nodes).map((item) => expected(inner, item)) }];
      }
      if (rule.nested.list) return [field, objects(found).map((item) => expected(nested, item))];
      return [field, found === null || found === undefined ? null : expected(nested, found as Wire)];
    }),
  );
}

const pictures = (found: unknown) =>
  Object.entries((found ?? {}) as Wire).map(([number, url]) => ({ number: Number(number), url }));
const objects = (found: unknown): Wire[] =>
  (Array.isArray(found) ? found : [found]).filter((item): item is Wire => typeof item === 'object' && item !== null);

/** Whether the member is absent because of the tier. */
function isLacking(rule: ExpectedField, record: Wire): boolean {
  const isFull = 'ratings_count' in record || ('born_place' in record && 'gender' in record);
  if (!isFull) return false;
  const tiers: Readonly<Record<string, readonly string[]>> =
    'ratings_count' in record ? subjectMembers : celebrityMembers;
  const allTiers = 'ratings_count' in record ? 3 : 2;
  return rule.wire.every((name) => !(name in record) && (tiers[name]?.length ?? 3) < allTiers);
}

function lacking(table: string, records: readonly Wire[]): string[] {
  const fields = Object.entries(expectedFields[table]!);
  return fields
    .filter(([, rule]) => records.some((record) => isLacking(rule, record)))
    .map(([field]) => `${table}.${field}`)
    .sort();
}

const coordinates = (errors: readonly { extensions: Wire }[] | undefined): string[] =>
  (errors ?? []).map(({ extensions }) => String(extensions.coordinate)).sort();

/** Members of the records that no field reads. */
function unreadMembers(table: string, records: readonly Wire[]): string[] {
  if (table === 'Pictures') return [];
  if (table === 'Connection')
    return records.flatMap(({ table: of, nodes }) => unreadMembers(String(of), objects(nodes)));
  const members = new Set(Object.values(expectedFields[table]!).flatMap(({ wire }) => wire));
  const own = records.flatMap((record) => Object.keys(record)).filter((name) => !members.has(name));
  const nested = Object.values(expectedFields[table]!).flatMap((rule) =>
    rule.nested
      ? unreadMembers(
          rule.nested.table,
          records.flatMap((record) => objects(rule.nested!.of(record))),
        )
      : [],
  );
  return [...new Set([...own.map((name) => `${table}.${name}`), ...nested])];
}

/** Encoded as the service does: escaped slashes, ASCII only. */
const reply = (body: Wire): Reply => ({
  text: JSON.stringify(body)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
});

function leaves(value: unknown): (string | null)[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leaves);
  return [value === null || value === undefined ? null : `${value as string | number}`];
}

/** Every text and attribute of a document with its path, found without the Atom reader. */
function atomValues(document: string): { place: string; value: string }[] {
  const values: { place: string; value: string }[] = [];
  const open: string[] = [];
  for (const [, tag, words = '', isClosed, text = ''] of document.matchAll(/<(\/?[\w:]+)([^>]*?)(\/?)>([^<]*)/g)) {
    if (tag!.startsWith('/')) {
      open.pop();
      continue;
    }
    const mark = /\b(?:rel|name)="([^"]*)"/.exec(words)?.[1];
    open.push(mark ? `${tag}[${mark}]` : tag!);
    const place = open.join('/');
    for (const [, name, value] of words.matchAll(/([\w:]+)="([^"]*)"/g))
      values.push({ place: `${place}@${name}`, value: value! });
    if (text.trim()) values.push({ place, value: text.trim() });
    if (isClosed) open.pop();
  }
  return values;
}

/** Paths without a field: markup, paging, and additions of the real service. */
const omittedPaths = [
  /@(xmlns.*|rel|name|scheme)$/,
  /startIndex$/,
  /item(s?)PerPage$/,
  /\[self\]@href$/,
  /author\/uri$/,
  /feed\/(author|link)/,
  /\[album\]/,
  /\[icon\]@href$/,
  /georss:point$/,
];

/** The value of the field for the value at this path. */
function fieldValueOf(place: string, value: string): string {
  if (/\/?entry\/id$|^entry\/id$/.test(place)) return value.split('/').at(-1)!;
  if (/\[(invite_only|can_invite)\]$/.test(place)) return String(value === 'yes');
  if (/\[status\]$/.test(place)) return value === 'wish' ? 'INTERESTED' : 'PARTICIPATING';
  if (/db:location@id$/.test(place)) return `City:${value}`;
  return value.replace(/&amp;/g, '&');
}
