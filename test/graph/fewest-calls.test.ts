/** The fewest calls, in shapes in which a graph easily makes more than a client of the service. */
import { describe, expect, test } from 'vitest';
import { facade } from '../support/facade.ts';
import { type Bodies, serve } from '../support/serve.ts';

const film = {
  id: '7',
  title: '霸王别姬',
  original_title: '',
  alt: '',
  images: {},
  rating: {},
  year: '1993',
  subtype: 'movie',
};
const review = (id: string) => ({
  id,
  title: `r${id}`,
  subject_id: '7',
  author: { id: '3', name: '安' },
  useful_count: 1,
  comments_count: 2,
});
const listOf = (list: string, items: object[], more = {}) => ({
  list,
  body: { start: 0, count: 20, total: items.length, [list]: items, ...more },
});

const bodies: Bodies = {
  '/v2/note/9': { body: { id: '9', title: 'T', privacy: 'public', content: '<p>html</p>' } },
  '/v2/book/annotation/5': {
    body: { id: '5', page_no: 3, author_user: { id: '3', uid: 'an', name: '安' }, content: '<p>html</p>' },
  },
  '/v2/movie/subject/7/reviews': listOf('reviews', ['1', '2', '3'].map(review), { subject: film }),
  '/v2/movie/subject/7/comments': listOf('comments', [{ id: '4', content: 'c', subject_id: '7' }], { subject: film }),
  '/v2/movie/subject/7/photos': listOf('photos', [{ id: '8', subject_id: '7', image: 'http://img.example/8.jpg' }], {
    subject: film,
  }),
  '/v2/movie/subject/7': { body: { ...film, genres: ['剧情'] } },
  '/v2/book/search': listOf(
    'books',
    [1, 2, 3, 4].map((id) => ({ id: `${id}`, title: `b${id}`, price: '1' })),
  ),
  '/v2/note/user_created/3': listOf('notes', [
    { id: '9', title: 'T' },
    { id: '10', title: 'U' },
  ]),
  '/v2/note/9/comments': listOf('comments', [{ id: '1', content: 'c' }]),
  '/v2/note/10/comments': listOf('comments', [{ id: '1', content: 'c' }]),
};

function run() {
  const made = facade();
  serve(made.service, bodies);
  return made;
}

describe('the fewest calls are made, and are the fewest of the plan', () => {
  test.each<[string, number, string]>([
    ['a note as HTML with other fields', 1, '{ note(id: 9) { title privacy content(format: HTML_FULL) } }'],
    [
      'an annotation as HTML by `node`',
      1,
      '{ node(id: "Annotation:5") { ... on Annotation { page authorUid content(format: HTML) } } }',
    ],
    [
      'two formats of a note',
      2,
      '{ note(id: 9) { title a: content(format: HTML_FULL) b: content(format: HTML_SHORT) } }',
    ],
    ['a note as text and as HTML', 2, '{ note(id: 9) { title content html: content(format: HTML_FULL) } }'],
    [
      'one list with other fields',
      1,
      '{ a: searchBooks(query: "x", first: 3) { nodes { title } } b: searchBooks(query: "x", first: 3) { totalCount nodes { price } } }',
    ],
    [
      'a part of a list',
      1,
      '{ a: searchBooks(query: "x", first: 2, offset: 1) { nodes { title } } b: searchBooks(query: "x", first: 4) { nodes { id } } }',
    ],
    [
      'the first reviews by two components',
      1,
      '{ subject(id: 7) { a: reviews { nodes { usefulCount } } reviews(first: 10) { totalCount nodes { commentsCount } } } }',
    ],
    [
      'a film beside its comments',
      1,
      '{ subject(id: 7) { title year comments(first: 3, offset: 10) { nodes { content } } } }',
    ],
    ['a film beside its photos', 1, '{ subject(id: 7) { title photos { totalCount } } }'],
    [
      'a film that its reviews refer to',
      1,
      '{ subject(id: 7) { reviews(first: 11) { nodes { subject { title } } } } }',
    ],
    [
      'more of a film that its reviews refer to',
      2,
      '{ subject(id: 7) { reviews(first: 11) { nodes { subject { title genres } } } } }',
    ],
    ['a note that its comments refer to', 2, '{ note(id: 9) { comments { nodes { note { title } } } } }'],
    [
      'a note as HTML that its comments refer to',
      2,
      '{ note(id: 9) { comments { nodes { note { title content(format: HTML_FULL) } } } } }',
    ],
    [
      'notes that their comments refer to',
      3,
      '{ user(id: 3) { notes { nodes { comments { nodes { note { title } } } } } } }',
    ],
  ])('%s: %d', async (_, fewest, query) => {
    const { execute, calls } = run();
    const plan = await execute(query, { token: 'alice', explain: 'plan' });
    const { min, max } = (plan.extensions as { upstream: { min: number; max: number } }).upstream;
    const { data, errors } = await execute(query, { token: 'alice' });
    expect(errors).toBeUndefined();
    expect(JSON.stringify(data)).not.toContain('null');
    expect(calls).toHaveLength(fewest);
    expect(min).toBeLessThanOrEqual(fewest);
    expect(max).toBeGreaterThanOrEqual(fewest);
  });

  test.each<[string, number]>([
    ['{ city(id: "beijing") { events { totalCount } } }', 1],
    ['{ city(id: "beijing") { name events { totalCount } } }', 1],
    ['{ user(id: 3) { name bookCollections { totalCount } } }', 2],
    ['{ series(id: 5) { title } }', 1],
    ['{ user(id: "User:site~3") { bookCollections { totalCount } } }', 0],
    ['{ user(id: 3) { id } city(id: "beijing") { id sourceId } }', 0],
    ['{ node(id: "Book:1") { id } }', 1],
    ['{ node(id: "Book:1") { ... on Book { title tags(first: 20) { name } } ... on Series { series: title } } }', 2],
    ['{ node(id: "User:3") { id ... on User { isSite } } }', 0],
    ['{ node(id: "User:3") { ... on User { name events { totalCount } } } }', 1],
    ['{ node(id: "NoteComment:9:1") { __typename } }', 1],
    ['{ nodes(ids: ["Book:1", "Book:2", "Book:1", "City:beijing", "nonsense"]) { id ... on City { name } } }', 3],
    ['{ node(id: "Subject:7") { ... on Subject { reviews(first: 20) { totalCount } } } subject(id: 7) { title } }', 2],
  ])('are stated for records that the client names: %s', async (query, fewest) => {
    const { extensions } = await run().execute(query, { token: 'alice', explain: 'plan' });
    const { min, max, fields } = (extensions as { upstream: { min: number; max: number; fields: { min: number }[] } })
      .upstream;
    expect([min, fields.reduce((sum, field) => sum + field.min, 0)]).toEqual([fewest, fewest]);
    expect(max).toBeGreaterThanOrEqual(min);
  });

  test.each<[string, string[]]>([
    ['{ searchBooks(query: "x", first: 50, offset: 2) { totalCount } }', ['count=1&fields=id&q=x&start=2']],
    ['{ searchBooks(query: "x", first: 50) { __typename } }', ['count=1&fields=id&q=x&start=0']],
    [
      '{ searchBooks(query: "x", first: 50) { __typename totalIsCapped pageInfo { hasPreviousPage } } }',
      ['count=1&fields=id&q=x&start=0'],
    ],
    ['{ searchBooks(query: "x", first: 50) { pageInfo { hasNextPage } } }', ['count=50&fields=id&q=x&start=0']],
    ['{ searchBooks(query: "x", first: 50) { nodes { id sourceId } } }', ['count=50&fields=id&q=x&start=0']],
    ['{ searchBooks(query: "x", first: 50) { edges { __typename } } }', ['count=50&fields=id&q=x&start=0']],
    [
      '{ a: searchBooks(query: "x", first: 50) { totalCount } b: searchBooks(query: "x", first: 2, offset: 1) { nodes { title } } }',
      ['count=2&fields=id,title&q=x&start=1'],
    ],
  ])('and the least is requested that tells what is selected of a list: %s', async (query, requests) => {
    const { execute, calls } = run();
    const { errors } = await execute(query);
    expect(errors).toBeUndefined();
    expect(calls).toEqual(requests.map((each) => `GET /v2/book/search?${each}`));
  });

  test('and the total of a list is the same beside the items of any page and alone', async () => {
    const { execute } = run();
    const { data } = await execute(
      '{ a: searchBooks(query: "x", offset: 3, first: 2) { totalCount pageInfo { hasPreviousPage } } b: searchBooks(query: "x", first: 4) { totalCount nodes { id } } }',
    );
    expect(data.a).toEqual({ totalCount: 4, pageInfo: { hasPreviousPage: true } });
    expect(data.b.totalCount).toBe(4);
    expect((await execute('{ searchBooks(query: "x", offset: 3) { totalCount } }')).data.searchBooks).toEqual({
      totalCount: 4,
    });
  });

  test('and a wrong size of a page makes no call, also where the record has the first page', async () => {
    const { execute, calls } = run();
    const { data, errors } = await execute('{ subject(id: 7) { title reviews(first: 0) { nodes { id } } } }');
    expect(data).toEqual({ subject: { title: film.title, reviews: null } });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(calls).toEqual(['GET /v2/movie/subject/7?fields=id,title']);
  });

  test('and a record that is denied in a variant is not asked for without it', async () => {
    const { service, execute, calls } = facade();
    const refused = { code: 1000, msg: 'need_permission', request: 'GET /v2' };
    service
      .intercept({ path: /^\/v2\/book\/annotation\/6/ })
      .reply(403, refused, { headers: { 'content-type': 'application/json' } })
      .persist();
    const { data, errors } = await execute('{ annotation(id: 6) { page content(format: HTML) } }');
    expect(data).toEqual({ annotation: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    expect(calls).toHaveLength(1);
  });

  test('and each alias has its own fields and window', async () => {
    const { execute } = run();
    const { data } = await execute(
      '{ a: searchBooks(query: "x", first: 2, offset: 1) { pageInfo { hasNextPage } nodes { title } } b: searchBooks(query: "x", first: 4) { nodes { id price } } }',
    );
    expect(data.a).toEqual({ pageInfo: { hasNextPage: true }, nodes: [{ title: 'b2' }, { title: 'b3' }] });
    expect(data.b.nodes).toHaveLength(4);
  });
});
