import { beforeAll, describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { failOnUnhandledErrors } from '../support/unhandled.ts';

failOnUnhandledErrors();

let setup: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  setup = await journey({ recordTtlSeconds: '0' });
});

const codesOf = ({ errors }: { errors?: { extensions: Record<string, unknown> }[] }) =>
  errors?.map(({ extensions }) => extensions.code) ?? [];
const long = 'a'.repeat(10_000);

describe('an unknown id is null, without an error:', () => {
  test.each([
    ['{ book(id: "999999999") { title } }', 1],
    ['{ bookByIsbn(isbn: "9780000000002") { title } }', 1],
    ['{ subject(id: "999999999") { title } }', 1],
    ['{ celebrity(id: "999999999") { name } }', 1],
    ['{ note(id: "999999999") { title } }', 1],
    ['{ event(id: "999999999") { title } }', 1],
    ['{ series(id: "999999999") { books { totalCount } } }', 1],
    ['{ user(id: "nobody-at-all") { bookCollections { totalCount } } }', 1],
    ['{ user(id: "nobody-at-all") { bookTags { totalCount } } }', 1],
    ['{ user(id: "nobody-at-all") { annotations { totalCount } } }', 1],
    ['{ user(id: "nobody-at-all") { events { totalCount } } }', 1],
    ['{ node(id: "Book:999999999") { id } }', 1],
    ['{ book(id: "6082808") { collection(userId: "nobody-at-all") { status } } }', 1],
  ])('%s', async (query, calls) => {
    const { response, passed } = await setup.cost(query, { token: 'demo-alice' });
    expect(response.errors).toBeUndefined();
    expect(leaves(response.data)).toEqual([null]);
    expect(passed).toHaveLength(calls);
  });

  test('an unknown city is null, and has no events', async () => {
    const { response } = await setup.cost(
      '{ city(id: "atlantis") { name events { nodes { id } } } searchEvents(cityId: "atlantis") { nodes { id } } }',
    );
    expect(codesOf(response)).toEqual([]);
    expect(response.data.city).toBeNull();
    expect([null, { nodes: [] }]).toContainEqual(response.data.searchEvents);
  });
});

const entries = ['book', 'series', 'annotation', 'note', 'subject', 'celebrity', 'event', 'city', 'user'];
const malformed: [string, string][] = [
  ['a parent path', '../x'],
  ['an encoded parent path', '..%2Fx'],
  ['a query', 'a?b'],
  ['a fragment', 'a#b'],
  ['a path', 'a/b'],
  ['an empty string', ''],
  ['a dot', '.'],
  ['two dots', '..'],
  ['a space', 'a b'],
  ['a line feed', 'a\nb'],
  ['a null', 'a\0b'],
  ['Chinese', '北京'],
  ['10 kB', long],
  ['129 characters', 'a'.repeat(129)],
  ['an id of another type', 'Photo:1'],
  ['two types', 'Book:Book:1'],
];

describe('a malformed id is rejected before any upstream call:', () => {
  test.each(malformed)('%s', async (_, id) => {
    for (const entry of entries) {
      const { response, passed } = await setup.cost(`query ($id: ID!) { ${entry}(id: $id) { id __typename } }`, {
        variables: { id },
      });
      expect({ entry, codes: codesOf(response), data: response.data as unknown, passed }).toEqual({
        entry,
        codes: ['BAD_USER_INPUT'],
        data: { [entry]: null },
        passed: [],
      });
    }
  });

  test.each([
    '{ book(id: "1") { collection(userId: "../x") { status } } }',
    '{ searchEvents(cityId: "a/b") { totalCount } }',
    '{ searchEvents(cityId: "Book:1") { totalCount } }',
  ])('in a nested argument: %s', async (query) => {
    const { response, passed } = await setup.cost(query);
    expect(codesOf(response)).toEqual(['BAD_USER_INPUT']);
    expect(passed.filter(({ line }) => !line.startsWith('GET /v2/book/1'))).toEqual([]);
  });
});

describe('an ISBN is rejected before any upstream call if it is', () => {
  test.each([
    ['too short', '978754427087'],
    ['invalid by its check digit', '9787544270879'],
    ['not a number', 'no number at all'],
    ['empty', ''],
    ['10 kB', long],
    ['a parent path', '../../etc'],
  ])('%s', async (_, isbn) => {
    const { response, passed } = await setup.cost('query ($isbn: String!) { bookByIsbn(isbn: $isbn) { title } }', {
      variables: { isbn },
    });
    expect({ codes: codesOf(response), passed }).toEqual({ codes: ['BAD_USER_INPUT'], passed: [] });
  });
});

/** Every list, with the fields that lead to it. */
const lists = [
  'searchBooks(query: "书", ARGS) { totalCount }',
  'searchSubjects(tag: "剧情", ARGS) { totalCount }',
  'top250(ARGS) { totalCount }',
  'inTheaters(ARGS) { totalCount }',
  'comingSoon(ARGS) { totalCount }',
  'searchEvents(ARGS) { totalCount }',
  'series(id: "1") { books(ARGS) { totalCount } }',
  'book(id: "1") { annotations(ARGS) { totalCount } }',
  'user(id: "alice") { bookCollections(ARGS) { totalCount } }',
  'user(id: "alice") { bookTags(ARGS) { totalCount } }',
  'user(id: "alice") { annotations(ARGS) { totalCount } }',
  'user(id: "alice") { notes(ARGS) { totalCount } }',
  'user(id: "alice") { events(ARGS) { totalCount } }',
  'note(id: "1") { comments(ARGS) { totalCount } }',
  'subject(id: "1") { photos(ARGS) { totalCount } }',
  'subject(id: "1") { reviews(ARGS) { totalCount } }',
  'subject(id: "1") { comments(ARGS) { totalCount } }',
  'celebrity(id: "1") { works(ARGS) { totalCount } }',
  'celebrity(id: "1") { photos(ARGS) { totalCount } }',
  'event(id: "1") { participants(ARGS) { totalCount } }',
  'event(id: "1") { interestedPeople(ARGS) { totalCount } }',
  'city(id: "beijing") { events(ARGS) { totalCount } }',
];

describe('page arguments are rejected before any upstream call for the list:', () => {
  test.each([
    ['a size of 0', 'first: 0'],
    ['a negative size', 'first: -1'],
    ['a size above 100', 'first: 101'],
    ['the largest Int as size', 'first: 2147483647'],
    ['a negative offset', 'offset: -1'],
    ['a cursor together with an offset', 'after: "bGlzdDow", offset: 3'],
    ['a malformed cursor', 'after: "!"'],
    ['an empty cursor', 'after: ""'],
    ['a cursor of 10 kB', `after: "${long}"`],
    ['a cursor of another list', `after: "${Buffer.from('abc:3').toString('base64url')}"`],
  ])('%s', async (_, args) => {
    for (const list of lists) {
      const { response, passed } = await setup.cost(`{ ${list.replace('ARGS', args)} }`, { token: 'demo-alice' });
      const called = passed.map(({ line }) => line);
      // Records before the list may have been requested, the list was not.
      expect({ list, codes: [...new Set(codesOf(response))], called }).toEqual({
        list,
        codes: ['BAD_USER_INPUT'],
        called: [],
      });
    }
  });

  test('a cursor of the same list with other filters', async () => {
    const { response } = await setup.cost(
      '{ searchBooks(tag: "小说", first: 2) { pageInfo { endCursor } } city(id: "beijing") { events(first: 2) { pageInfo { endCursor } } } }',
    );
    const after: string = response.data.searchBooks.pageInfo.endCursor;
    const ofCity: string = response.data.city.events.pageInfo.endCursor;
    for (const query of [
      `{ searchBooks(tag: "历史", after: "${after}") { totalCount } }`,
      `{ searchBooks(query: "小说", after: "${after}") { totalCount } }`,
      `{ city(id: "shanghai") { events(after: "${ofCity}") { totalCount } } }`,
      `{ city(id: "beijing") { events(type: MUSIC, after: "${ofCity}") { totalCount } } }`,
    ]) {
      const { response: rejected, passed } = await setup.cost(query);
      expect({ query, codes: codesOf(rejected), passed }).toEqual({ query, codes: ['BAD_USER_INPUT'], passed: [] });
    }
    expect(
      (await setup.cost(`{ searchBooks(tag: "小说", first: 5, after: "${after}") { nodes { id } } }`)).response.errors,
    ).toBeUndefined();
  });

  test.each([100_000, 2_147_483_647])('not an offset beyond the end, which is an empty page: %i', async (offset) => {
    const page = `(offset: ${offset}) { nodes { id } pageInfo { hasNextPage endCursor } }`;
    const { response, passed } = await setup.cost(`{ top250${page} searchEvents${page} }`);
    const empty = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
    expect(response).toEqual({ data: { top250: empty, searchEvents: empty } });
    expect(passed).toHaveLength(2);
  });
});

describe('invalid arguments are rejected before any upstream call:', () => {
  test.each([
    '{ searchBooks { totalCount } }',
    '{ searchBooks(query: "", tag: "  ") { totalCount } }',
    '{ searchSubjects { totalCount } }',
    `{ searchBooks(query: "${'长'.repeat(1001)}") { totalCount } }`,
    `{ searchEvents(query: "${'长'.repeat(1001)}") { totalCount } }`,
    `{ inTheaters(city: "${'长'.repeat(1001)}") { totalCount } }`,
    '{ user(id: "alice") { bookCollections(rating: 6) { totalCount } } }',
    '{ book(id: "1") { annotations(page: 0) { totalCount } } }',
    '{ book(id: "1") { tags(first: 51) { name } } }',
    '{ node(id: "Nothing:1") { id } }',
    '{ node(id: "Photo:1") { id } }',
    '{ node(id: "Query:1") { id } }',
    '{ node(id: "__Type:1") { id } }',
    '{ node(id: "constructor:1") { id } }',
    '{ node(id: "1") { id } }',
    '{ node(id: "") { id } }',
  ])('%s', async (query) => {
    const { response, passed } = await setup.cost(query);
    expect({ codes: [...new Set(codesOf(response))], passed }).toEqual({ codes: ['BAD_USER_INPUT'], passed: [] });
  });

  test('valid ids of unknown nodes are null, without a call', async () => {
    const ids = [
      'Book:../x',
      'Collection:1',
      'Collection:1:2:3',
      'NoteComment:1',
      'Celebrity:~nobody',
      'Subject:',
      `Event:${long}`,
    ];
    const { response, passed } = await setup.cost('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids },
    });
    expect(response.data.nodes).toEqual(ids.map(() => null));
    expect(passed).toEqual([]);
  });

  test('an invalid id in nodes nulls its own item only', async () => {
    const { response, passed } = await setup.cost(
      '{ nodes(ids: ["Book:6082808", "Nothing:1", "Book:6082808"]) { id } }',
    );
    expect(response.data.nodes).toEqual([{ id: 'Book:6082808' }, null, { id: 'Book:6082808' }]);
    expect(codesOf(response)).toEqual(['BAD_USER_INPUT']);
    expect(passed.length).toBeLessThanOrEqual(1);
  });
});

describe('variables of a wrong type are rejected before any upstream call:', () => {
  const query = `query ($id: ID!, $first: Int, $status: CollectionStatus, $since: LocalDateTime) {
    user(id: $id) { bookCollections(first: $first, status: $status, updatedFrom: $since) { totalCount } }
  }`;
  test.each([
    ['an object as id', { id: { a: 1 } }],
    ['a list as id', { id: ['a', 'b'] }],
    ['a fraction as id', { id: 1.5 }],
    ['null as id', { id: null }],
    ['no id', {}],
    ['a string as number', { id: 'alice', first: '5' }],
    ['a fraction as Int', { id: 'alice', first: 1.5 }],
    ['a number beyond Int', { id: 'alice', first: 1e12 }],
    ['an unknown enum value', { id: 'alice', status: 'LOST' }],
    ['the enum value of the service', { id: 'alice', status: 'wish' }],
    ['a date as LocalDateTime', { id: 'alice', since: '2015-01-01' }],
    ['a number as LocalDateTime', { id: 'alice', since: 5 }],
    ['the 31st of February', { id: 'alice', since: '2015-02-31T10:00:00+08:00' }],
  ] as [string, Record<string, unknown>][])('%s', async (_, variables) => {
    const { response, passed } = await setup.cost(query, { variables });
    expect({ codes: [...new Set(codesOf(response))], passed }).toEqual({ codes: ['BAD_USER_INPUT'], passed: [] });
  });

  test('undeclared variables are ignored', async () => {
    const { response } = await setup.cost('{ book(id: "6082808") { id } }', { variables: { id: 'x' } });
    expect(response).toEqual({ data: { book: { id: 'Book:6082808' } } });
  });
});

function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
}
