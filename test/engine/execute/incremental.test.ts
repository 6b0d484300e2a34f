import { describe, expect, test } from 'vitest';
import { deferDirective, streamDirective } from '../../../src/engine/plan/incremental-directives.ts';
import { type GraphQLResponse, facade } from '../../support/facade.ts';
import { type Bodies, serve } from '../../support/serve.ts';
import { startFacade } from '../../support/start-facade.ts';
import { json } from '../../support/hostile.ts';

/** The merged incremental response and the response without directives, with the calls made and planned of each. */
async function withAndWithoutDirectives(bodies: Bodies, incremental: string, options: object = {}) {
  const plain = incremental.replaceAll(/ @(?:defer|stream)(?:\([^)]*\))?/g, '');
  expect(plain).not.toBe(incremental);
  const results: { response: GraphQLResponse; calls: number; planned: number }[] = [];
  for (const query of [incremental, plain]) {
    const made = facade({ recordTtlSeconds: 0 });
    serve(made.service, bodies);
    const plan = await made.execute(query, { ...options, explain: 'plan' });
    const response = await made.execute(query, options);
    const { max } = (plan.extensions as { upstream: { max: number } }).upstream;
    results.push({ response, calls: made.calls.length, planned: max });
  }
  return { incremental: results[0]!, plain: results[1]! };
}

const user = '/v2/book/user/alice';
const titles = Array.from({ length: 50 }, (_, at) => ({ id: String(at + 1), title: `第${at + 1}本`, summary: '…' }));
const notFound = { status: 404, body: { code: 6000, msg: 'book_not_found', request: 'GET /v2/book/404' } };
const bodies: Bodies = {
  [`${user}/tags`]: { list: 'tags', body: { start: 0, count: 2, total: 9, tags: [{ title: '小说', count: 7 }] } },
  [`${user}/collections`]: {
    list: 'collections',
    body: { total: 1, collections: [{ id: 5, user_id: '1', book_id: '7', status: 'read', comment: '好' }] },
  },
  '/v2/book/search': { list: 'books', body: { total: 50, books: titles } },
  '/v2/book/7': { body: { id: '7', title: '活着', summary: '…', tags: [{ name: '小说', count: 7 }] } },
  '/v2/book/7/annotations': {
    list: 'annotations',
    body: { total: 1, annotations: [{ id: '1', chapter: '一', abstract: '…', page_no: 3 }] },
  },
  '/v2/book/404': notFound,
  '/v2/book/404/annotations': { status: 404, body: notFound.body },
  '/v2/movie/us_box': {
    list: 'subjects',
    body: { title: '票房榜', subjects: [{ rank: 1, box: 5, subject: { id: '7', title: '活着', year: '1994' } }] },
  },
  '/v2/movie/top250': {
    list: 'subjects',
    body: { total: 250, subjects: ['1', '2', '3'].map((id) => ({ id, title: `第${id}部`, year: '1994' })) },
  },
  ...Object.fromEntries(
    ['1', '2', '3'].map((id) => [
      `/v2/movie/subject/${id}`,
      { body: { id, title: `第${id}部`, summary: '…', aka: [], popular_reviews: [{ id: '9', title: '好' }] } },
    ]),
  ),
  '/v2/movie/subject/1/reviews': {
    list: 'reviews',
    body: { total: 31, reviews: [{ id: '9', title: '好', useful_count: 4 }] },
  },
  '/v2/movie/celebrity/1': { status: 500, body: {} },
  '/v2/movie/celebrity/1/works': {
    body: {
      total: 1,
      celebrity: { id: '1', name: '吴京' },
      works: [{ roles: ['演员'], subject: { id: '7', title: '战狼' } }],
    },
  },
};

describe('an incremental response, merged, equals the response without directives and makes no more calls', () => {
  test.each([
    // A record without a key is loaded completely by the first request.
    '{ user(id: "alice") { bookTags(first: 2) { totalCount ... @defer { nodes { name count } } } } }',
    '{ user(id: "alice") { bookTags(first: 2) { nodes { name ... @defer { count } } } } }',
    '{ user(id: "alice") { bookTags(first: 2) { ... @defer { edges { node { name count } } } } } }',
    '{ usBoxOffice { title ... @defer { entries { rank grossUsd subject { title year } } } } }',
    '{ usBoxOffice { entries { rank ... @defer { subject { title } } } } }',
    '{ usBoxOffice { entries { rank subject { id ... @defer { title } } } } }',
    '{ user(id: "alice") { bookCollections { nodes { status ... @defer { id } } } } }',
    '{ user(id: "alice") { bookCollections { totalCount ... @defer { nodes { id comment book { id } } } } } }',
    // A list is requested once, with all fields selected of its items.
    '{ searchBooks(query: "本", first: 50) { totalCount ... @defer { nodes { title } } } }',
    '{ searchBooks(query: "本", first: 50) { nodes { id ... @defer { title subtitle } } } }',
    '{ searchBooks(query: "本", first: 50) { nodes { id } ... @defer { nodes { title ebook { url } } } } }',
    '{ searchBooks(query: "本", first: 50) { nodes @stream(initialCount: 1) { title series { title } } } }',
    '{ top250(first: 3) { nodes { title ... @defer { year } } } }',
    '{ top250(first: 3) { nodes { title ... @defer { summary alternativeTitles } } } }',
    '{ top250(first: 3) { nodes @stream { title summary } } }',
    // Whether an embedded page suffices depends on all fields selected of it.
    '{ subject(id: 1) { title reviews(first: 3) { nodes { title } ... @defer { totalCount } } } }',
    '{ subject(id: 1) { title reviews(first: 3) { nodes { title ... @defer { usefulCount } } } } }',
    '{ subject(id: 1) { title ... @defer { reviews(first: 3) { nodes { title } } } } }',
    // An absent record is null, whether its fields are deferred or not.
    '{ book(id: "404") { ... @defer { title } } }',
    '{ book(id: "404") { title ... @defer { summary } } }',
    '{ book(id: "404") { id ... @defer { annotations { nodes { id } } } } }',
    '{ book(id: "404") { ... @defer { annotations { nodes { id } } } } }',
    '{ node(id: "Book:404") { ... on Book @defer { title } } }',
    '{ node(id: "Book:404") { __typename ... @defer { ... on Book { title summary } } } }',
    '{ nodes(ids: ["Book:404", "Book:7"]) { ... on Book @defer { title } } }',
    '{ nodes(ids: ["Book:7", "Book:404"]) @stream(initialCount: 1) { ... on Book { title } } }',
    '{ nodes(ids: ["Book:404", "Book:7"]) @stream { id ... on Book @defer { title } } }',
    // A list that provides fields of its parent does so wherever the list is selected.
    '{ celebrity(id: 1) { name ... @defer { works(first: 9) { nodes { roles subject { title } } } } } }',
    '{ celebrity(id: 1) { ... @defer { name } works(first: 9) { nodes { roles } } } }',
    // Fields that are merged into one response.
    '{ book(id: 7) { ...F ...F @defer } } fragment F on Book { title ...G } fragment G on Book { tags { name } summary }',
    // The same fields of a fragment, alone and merged with others.
    `{ a: book(id: 7) { ...F } b: book(id: 7) { ...F annotations(first: 2) { nodes { chapter } } ... @defer { summary } } }
    fragment F on Book { annotations(first: 2) { nodes { abstract } } }`,
    '{ book(id: 7) { tags { name } ... @defer { tags { name count } title ... @defer { summary } } } }',
  ])('%s', async (query) => {
    const { incremental, plain } = await withAndWithoutDirectives(bodies, query);
    expect(incremental.response).toEqual(plain.response);
    expect(incremental.calls).toBeLessThanOrEqual(incremental.planned);
    expect(plain.calls).toBeLessThanOrEqual(plain.planned);
  });

  test('of a record that the tier refuses, although a list could tell what is deferred', async () => {
    const refused = { status: 403, body: { code: 1000, msg: 'need_permission', request: 'GET /v2' } };
    const works = { total: 1, celebrity: { id: '1', name: '吴京' }, works: [{ roles: ['演员'] }] };
    const { incremental, plain } = await withAndWithoutDirectives(
      { '/v2/movie/celebrity/1': refused, '/v2/movie/celebrity/1/works': { list: 'works', body: works } },
      '{ celebrity(id: 1) { gender ... @defer { name } works(last: 1) { nodes { roles } } } }',
      { token: 'carol' },
    );
    expect(plain.response.data).toMatchObject({ celebrity: { gender: null, name: null, works: { nodes: [{}] } } });
    expect(incremental.response.data).toEqual(plain.response.data);
    expect(incremental.response.errors).toHaveLength(2);
  });

  test('with deferred nodes of a list of fifty, for one list call', async () => {
    const query = '{ searchBooks(query: "本", first: 50) { totalCount ... @defer { nodes { title } } } }';
    const { incremental } = await withAndWithoutDirectives(bodies, query);
    expect(incremental).toMatchObject({ calls: 1, planned: 1 });
    expect(incremental.response.data.searchBooks.nodes).toHaveLength(50);
  });

  test('with an error at a deferred field whose parent was partly delivered before', async () => {
    const { execute, service } = facade({ recordTtlSeconds: 0 });
    serve(service, { '/v2/book/7': { body: { id: '7', series: { id: '3', title: '丛书' } } } });
    const { errors } = await execute(
      '{ book(id: 7) { series { title } ... @defer { series { books(first: 500) { nodes { id } } } } } }',
    );
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'BAD_USER_INPUT', coordinate: 'Series.books' },
    ]);
  });

  test.each([
    '{ book(id: 7) { viewerCollection { comment } ... @defer { viewerCollection { __typename } } } }',
    '{ book(id: 7) { viewerCollection { comment } ... @defer { title viewerCollection { status } } } }',
    '{ searchBooks(query: "x") { nodes { viewerCollection { comment } ... @defer { viewerCollection { __typename } } } } }',
  ])('with an object that an error nulled in an earlier part: %s', async (query) => {
    const collected = { id: 5, status: 'read', user_id: '1', book_id: '7' };
    const book = { id: '7', title: '活着', current_user_collection: collected };
    const { incremental, plain } = await withAndWithoutDirectives(
      {
        '/v2/book/7': { body: book },
        '/v2/book/search': { list: 'books', body: { total: 1, books: [book] } },
        '/v2/book/7/collection': { status: 500, body: {} },
      },
      query,
      { token: 'x' },
    );
    expect(incremental.response.data).toEqual(plain.response.data);
    const pathsOf = ({ errors = [] }: GraphQLResponse) => errors.map(({ path }) => path);
    expect(pathsOf(incremental.response)).toEqual(pathsOf(plain.response));
    expect(pathsOf(plain.response)).toHaveLength(1);
  });

  test('with an object that an error nulled in a deferred fragment beside', async () => {
    const { execute, service } = facade({ recordTtlSeconds: 0 });
    const reply = (path: string, status: number, body: object, ms = 1) =>
      service
        .intercept({ path: (sent) => sent.split('?')[0] === path })
        .reply(status, body, { headers: { 'content-type': 'application/json' } })
        .delay(ms)
        .persist();
    reply('/v2/book/7', 200, {
      id: '7',
      current_user_collection: { id: 5, status: 'read', user_id: '1', book_id: '7' },
    });
    reply('/v2/book/7/collection', 500, {});
    reply('/v2/book/7/annotations', 200, { total: 0, annotations: [] }, 100);
    const { data, errors } = await execute(
      `{ book(id: 7) { ... @defer { viewerCollection { comment } }
        ... @defer { viewerCollection { status } annotations(first: 1) { totalCount } } } }`,
      { token: 'x' },
    );
    expect(data).toEqual({ book: { viewerCollection: null, annotations: { totalCount: 0 } } });
    expect(errors?.map(({ path }) => path)).toEqual([['book', 'viewerCollection']]);
  });

  test.each([
    '... @defer { tags(first: 9) { name } ... @defer { annotations(first: 1) { totalCount } } }',
    '... @defer { summary annotations(first: 1) { nodes @stream { page } } }',
  ])('with nothing below a record that an error nulls while its deferred fields are loaded: %s', async (part) => {
    const { execute, service } = facade({ recordTtlSeconds: 0 });
    const reply = (path: RegExp, body: object, status = 200) =>
      service
        .intercept({ path })
        .reply(status, body, { headers: { 'content-type': 'application/json' } })
        .persist();
    // No book of the list names the series, and the call for its title fails.
    reply(/series\/2\/books\?count=9/, { books: [{ id: '1', title: '慢' }] });
    reply(/series\/2\/books\?count=1&/, { code: 999, msg: 'unknown', request: 'GET /v2/book' }, 500);
    reply(/book\/1\/annotations/, { annotations: [{ id: '3', page_no: 4 }] });
    reply(/book\/1\/tags/, { tags: [{ title: '慢', count: 1 }] });
    // Another deferred field keeps the response open until those of the record are loaded.
    reply(/book\/8/, { id: '8', title: '慢', summary: '…' }).delay(100);
    const { data, errors } = await execute(
      `{ book(id: 8) { id ... @defer { summary } } series(id: 2) { books(first: 9) { nodes { ${part} } } title } }`,
    );
    expect(data).toEqual({ book: { id: 'Book:8', summary: '…' }, series: null });
    expect(errors?.map(({ path }) => path)).toEqual([['series', 'title']]);
  });
});

test.each([deferDirective, streamDirective])('%s applies unless its `if` is false', ({ args }) => {
  expect(args.find(({ name }) => name === 'if')?.defaultValue).toBe(true);
});

test('the initial result does not wait for the deferred fields of a reference', async () => {
  const { execute, events } = facade({ recordTtlSeconds: 0, operationTimeoutMs: 5_000 });
  let onPart: (() => void) | undefined;
  const initial = new Promise<void>((resolve) => (onPart = resolve));
  events.intercept({ path: /^\/people\/1\/events/ }).reply(404, () => initial.then(() => ''));
  expect(await execute('{ user(id: "1") { id ... @defer { name } } }', { onPart })).toEqual({
    data: { user: { id: 'User:1', name: null } },
  });
});

/** The parts that are announced with the initial result, as `path label`, in the format with ids. */
async function announced(body: object, query: string): Promise<string[]> {
  const { books, url } = await startFacade();
  books.behave(json(JSON.stringify(body)));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'multipart/mixed;incrementalSpec=v0.2' },
    body: JSON.stringify({ query }),
  });
  const parts = (await response.text())
    .split(/\r\n--+\r?\n?/)
    .filter((part) => part.includes('{'))
    .map((part) => JSON.parse(part.slice(part.indexOf('{'), part.lastIndexOf('}') + 1)) as Announcement);
  const [first, ...later] = parts;
  expect(later.flatMap(({ pending = [] }) => pending)).toEqual([]);
  const { pending = [] } = first!;
  expect(later.flatMap(({ completed = [] }) => completed).length).toBe(pending.length);
  return pending.map(({ path, label }) => `${path.join('.')} ${label}`);
}
interface Announcement {
  pending?: { path: (string | number)[]; label: string }[];
  completed?: object[];
}

test.each([
  [
    'of an item comes with it, if the list sends it',
    '{ searchBooks(query: "x") { nodes { id ... @defer { title } } } }',
    [],
  ],
  [
    'of members that a load of their own asks for comes later',
    '{ book(id: "1") { title ... @defer(label: "more") { pages } } }',
    ['book more'],
  ],
  [
    'with a call of its own comes later',
    '{ searchBooks(query: "x") { nodes { title ... @defer(label: "more") { pages tagsCount } } } }',
    ['searchBooks.nodes.0 more'],
  ],
])('a deferred fragment %s', async (_, query, parts) => {
  const book = { id: '1', title: '活着', pages: '191' };
  expect(await announced({ ...book, start: 0, count: 1, total: 1, books: [book] }, query)).toEqual(parts);
});

describe('parts are announced only where their fragment applies to the type of the object', () => {
  test('of nodes of two types with the same response keys', async () => {
    const query = `{ nodes(ids: ["Subject:1", "Book:1", "Subject:1"]) {
      ... on Book { title ... @defer(label: "book") { pages } }
      ... on Subject { title ... @defer(label: "film") { year } }
    } }`;
    const body = { id: '1', title: '活着', pages: '191', year: '1994' };
    expect(await announced(body, query)).toEqual(['nodes.0 film', 'nodes.1 book', 'nodes.2 film']);
  });

  test('of the blocks of a text, of which nothing else is selected', async () => {
    const query = `{ node(id: "Annotation:7") { ... on Annotation { blocks {
      ... on TextBlock { ... @defer(label: "text") { spans { text } } }
      ... on PhotoBlock { ... @defer(label: "photo") { caption } }
      ... on MathBlock { ... @defer(label: "math") { tex } }
    } } } }`;
    const content = '第一行<图片1>最后';
    const photos = { 1: 'http://img.example/1.jpg' };
    const paths = await announced({ id: '7', content, photos, book: { id: '1' } }, query);
    expect(paths).toEqual(['node.blocks.0 text', 'node.blocks.1 photo', 'node.blocks.2 text']);
  });
});
