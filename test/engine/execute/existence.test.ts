import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type Bodies, filmNotFound, serve } from '../../support/serve.ts';

const facadeWith = (bodies: Bodies, settings: Parameters<typeof facade>[0] = {}) => {
  const made = facade({ recordTtlSeconds: 0, ...settings });
  serve(made.service, bodies);
  return made;
};

const rejection = (status: number, code: number) => ({ status, body: { code, msg: 'no', request: 'GET /v2' } });
const annotationNotFound = rejection(404, 6008);
const needPermission = rejection(403, 1000);

/** The planned minimum and maximum of calls, and the calls made. */
async function callsOf(made: ReturnType<typeof facade>, query: string, options = {}) {
  const { extensions } = await made.execute(query, { ...options, explain: 'plan' });
  const { min, max } = (extensions as { upstream: { min: number; max: number } }).upstream;
  const before = made.calls.length;
  const response = await made.execute(query, options);
  return { response, min, max, calls: made.calls.slice(before) };
}

describe('a record selected by a given id is looked up, whatever fields are selected', () => {
  test.each([
    '{ node(id: "Annotation:404") { __typename } }',
    '{ node(id: "Annotation:404") { id } }',
    '{ node(id: "Annotation:404") { ... on Book { title } } }',
    '{ node(id: "Annotation:404") { __typename ... on Annotation @include(if: false) { content } } }',
    '{ node(id: "Annotation:404") { ... on Annotation @defer { chapter } } }',
    '{ annotation(id: 404) { __typename } }',
    '{ annotation(id: 404) { ... @defer { chapter } } }',
  ])('and is null if it does not exist: %s', async (query) => {
    const made = facadeWith({ '/v2/book/annotation/404': annotationNotFound });
    const { response, min, max, calls } = await callsOf(made, query);
    expect(response).toEqual({ data: { [query.includes('node(') ? 'node' : 'annotation']: null } });
    expect(calls).toHaveLength(1);
    expect(min).toBeLessThanOrEqual(1);
    expect(max).toBeGreaterThanOrEqual(1);
  });

  test('and the plan does not count calls that are made only for an existing record', async () => {
    const celebrity = '/v2/movie/celebrity/404';
    const made = facadeWith({ [celebrity]: filmNotFound, [`${celebrity}/works`]: filmNotFound });
    const query = '{ celebrity(id: 404) { works(first: 9) { totalCount } ... @defer { bornPlace } } }';
    const { response, min, calls } = await callsOf(made, query);
    expect(response).toEqual({ data: { celebrity: null } });
    expect(calls).toHaveLength(1);
    expect(min).toBe(1);
  });

  test('and keeps its key for the deferred fields, where the id of the service is only a part of the key', async () => {
    const made = facadeWith({ '/v2/note/501/comment/3': { body: { id: '3', content: 'A comment.' } } });
    const query = '{ node(id: "NoteComment:501:3") { ... on NoteComment { sourceId ... @defer { id content } } } }';
    const { response } = await callsOf(made, query, { token: 'reader' });
    const id = 'NoteComment:501:3';
    expect(response).toEqual({ data: { node: { sourceId: '3', id, content: 'A comment.' } } });
  });

  test('and has its type if it exists', async () => {
    const made = facadeWith({ '/v2/book/annotation/7': { body: { id: '7', book_id: '1' } } });
    const query = '{ nodes(ids: ["Annotation:7", "Series:9"]) { __typename } }';
    const { response, max, calls } = await callsOf(made, query);
    expect(response).toEqual({ data: { nodes: [{ __typename: 'Annotation' }, { __typename: 'Series' }] } });
    expect(calls).toEqual(['GET /v2/book/annotation/7?fields=id']);
    expect(max).toBe(1);
  });

  test('and its id is not returned if a login is required or the service fails', async () => {
    const made = facadeWith({ '/v2/note/504/comment/2': { status: 500, body: {} } });
    for (const [options, code] of [
      [{}, 'LOGIN_REQUIRED'],
      [{ token: 'alice' }, 'UPSTREAM_UNAVAILABLE'],
    ] as const) {
      const { data, errors } = await made.execute('{ node(id: "NoteComment:504:2") { id } }', options);
      expect(data).toEqual({ node: null });
      expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([[['node'], code]]);
      const list = await made.execute(
        '{ nodes(ids: ["NoteComment:504:2"]) { id ... on NoteComment { content } } }',
        options,
      );
      expect(list.data).toEqual({ nodes: [null] });
      expect(list.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([[['nodes', 0], code]]);
    }
  });

  test('and is not shown by its id because another field shows a list of it that has come before', async () => {
    const refused = rejection(403, 1000);
    const made = facadeWith({ '/v2/note/5/comments': refused });
    made.service
      .intercept({ path: '/v2/note/5', query: { fields: 'id' } })
      .reply(403, refused.body, { headers: { 'content-type': 'application/json' } })
      .delay(100);
    const query = `{
      p1: nodes(ids: ["Note:5"]) { ... on Note { comments { nodes { __typename } } } }
      p2: note(id: 5) { id }
    }`;
    const { data, errors } = await made.execute(query, { token: 'alice' });
    expect(data).toEqual({ p1: [{ comments: null }], p2: null });
    expect(errors?.map(({ path = [], extensions }) => [path.join('.'), extensions.code]).sort()).toEqual([
      ['p1.0.comments', 'FORBIDDEN'],
      ['p2', 'FORBIDDEN'],
    ]);
  });

  test('and a comment has its id, or is null if it does not exist', async () => {
    const made = facadeWith({
      '/v2/note/504/comment/2': { body: { id: '2', content: 'x' } },
      '/v2/note/504/comment/4': rejection(404, 1006),
    });
    const query = '{ nodes(ids: ["NoteComment:504:2", "NoteComment:504:4"]) { id } }';
    expect(await made.execute(query, { token: 'alice' })).toEqual({
      data: { nodes: [{ id: 'NoteComment:504:2' }, null] },
    });
  });

  test('and a field that the service may lack does not replace the lookup', async () => {
    const made = facadeWith({ '/v2/note/4': rejection(404, 1006), '/v2/note/505': { body: { id: '505' } } });
    const query = '{ note(id: 505) { author { isSite } } }';
    const { data, errors } = await made.execute(query);
    expect(data).toEqual({ note: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['LOGIN_REQUIRED']);
    const { response, min, max, calls } = await callsOf(made, query, { token: 'alice' });
    expect(response).toEqual({ data: { note: { author: null } } });
    expect(calls).toEqual(['GET /v2/note/505?fields=author,id']);
    expect([min, max]).toEqual([1, 1]);
    expect(await made.execute('{ note(id: 4) { author { id } } }', { token: 'alice' })).toEqual({
      data: { note: null },
    });
  });
});

describe('a film of which only fields of a higher tier are selected', () => {
  const film = { '/v2/movie/subject/7': { body: { id: '7' } }, '/v2/movie/subject/4': filmNotFound };

  test('is looked up, as planned', async () => {
    const made = facadeWith(film, { accessToken: 'x', filmTier: 'basic' });
    const { response, min, max, calls } = await callsOf(made, '{ subject(id: 7) { releaseDates } }');
    expect(response.data).toEqual({ subject: { releaseDates: null } });
    expect(response.errors?.map(({ extensions }) => extensions.code)).toEqual(['TIER_REQUIRED']);
    expect(calls).toEqual(['GET /v2/movie/subject/7?fields=id']);
    expect([min, max]).toEqual([1, 1]);
  });

  test.each(['{ subject(id: 4) { releaseDates } }', '{ node(id: "Subject:4") { ... on Subject { releaseDates } } }'])(
    'is null if it does not exist: %s',
    async (query) => {
      const made = facadeWith(film, { accessToken: 'x', filmTier: 'basic' });
      const { response, max, calls } = await callsOf(made, query);
      expect(response).toEqual({ data: { [query.includes('node(') ? 'node' : 'subject']: null } });
      expect(calls).toHaveLength(1);
      expect(max).toBe(1);
    },
  );
});

describe('a record that does not exist is null at every place of a response that names it', () => {
  const bookNotFound = rejection(404, 6000);
  const lists = 'photos { nodes { id } }';
  const cases: [why: string, bodies: Bodies, places: string[]][] = [
    [
      'and that its list is refused says nothing else',
      { '/v2/movie/subject/4': filmNotFound, '/v2/movie/subject/4/comments': needPermission },
      ['subject(id: 4) { doingCount }', 'subject(id: 4) { comments { nodes { id } } }'],
    ],
    [
      'nor that its own call is refused',
      { '/v2/movie/celebrity/4': needPermission, '/v2/movie/celebrity/4/photos': filmNotFound },
      [`celebrity(id: 4) { name ${lists} }`, `node(id: "Celebrity:4") { ... on Celebrity { ${lists} } }`],
    ],
    [
      'nor that another list fails',
      { '/v2/book/4/annotations': bookNotFound, '/v2/book/4/tags': { status: 500, body: {} } },
      ['book(id: 4) { annotations { totalCount } }', 'book(id: 4) { tags(first: 50) { name } }'],
    ],
    [
      'nor an argument that is wrong',
      { '/v2/movie/subject/4': filmNotFound },
      [`subject(id: 4) { ${lists} }`, 'subject(id: 4) { photos(last: 0) { totalCount } }'],
    ],
    [
      'where only a collection of it is selected',
      { '/v2/book/4': bookNotFound, '/v2/book/4/collection': rejection(404, 1001) },
      ['book(id: 4) { title }', 'book(id: 4) { viewerCollection { status } }'],
    ],
  ];
  test.each(cases)('%s', async (_, bodies, places) => {
    for (const [a, b] of [places, places.toReversed()]) {
      const made = facadeWith(bodies);
      expect(await made.execute(`{ a: ${a} b: ${b} }`, { token: 'alice' })).toEqual({ data: { a: null, b: null } });
    }
  });

  test('and is there at each if another list has it', async () => {
    const made = facadeWith({
      '/v2/book/4/annotations': bookNotFound,
      '/v2/book/4/tags': { list: 'tags', body: { total: 0, tags: [] } },
    });
    expect(
      await made.execute(
        '{ a: book(id: 4) { annotations { totalCount } } b: book(id: 4) { tags(first: 50) { name } } }',
      ),
    ).toEqual({ data: { a: { annotations: null }, b: { tags: [] } } });
  });
});

test('a film that a chart lists although the service has none has no list of reviews, whether its record or the list says so', async () => {
  const made = facadeWith({
    '/v2/movie/coming_soon': { list: 'subjects', body: { total: 1, subjects: [{ id: '4', title: 'x' }] } },
    '/v2/movie/subject/4': filmNotFound,
    '/v2/movie/subject/4/reviews': filmNotFound,
  });
  const query = `{ comingSoon { nodes {
    title
    inRecord: reviews(first: 10) { nodes { title } }
    called: reviews(first: 10) { nodes { usefulCount } }
  } } }`;
  expect(await made.execute(query)).toEqual({
    data: { comingSoon: { nodes: [{ title: 'x', inRecord: null, called: null }] } },
  });
  const wrong = await made.execute('{ comingSoon { nodes { reviews(first: -1) { nodes { title } } } } }');
  expect(wrong.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
});

describe('a celebrity whose record the tier may not load', () => {
  const bodies = {
    '/v2/movie/celebrity/1': needPermission,
    '/v2/movie/celebrity/1/photos': { list: 'photos', body: { total: 1, photos: [{ id: '5' }] } },
  };

  test.each([
    '{ celebrity(id: 1) { id } }',
    '{ celebrity(id: 1) { __typename } }',
    '{ node(id: "Celebrity:1") { id } }',
  ])('is not returned with the given id: %s', async (query) => {
    for (const [settings, options, code] of [
      [{ accessToken: 'x', filmTier: 'premium' }, {}, 'TIER_REQUIRED'],
      [{}, { token: 'carol' }, 'TIER_REQUIRED'],
    ] as const) {
      const made = facadeWith(bodies, settings);
      const field = query.includes('node(') ? 'node' : 'celebrity';
      const { response, min, max, calls } = await callsOf(made, query, options);
      expect(response.data).toEqual({ [field]: null });
      expect(response.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([[[field], code]]);
      expect(min).toBeLessThanOrEqual(calls.length);
      expect(max).toBeGreaterThanOrEqual(calls.length);
    }
  });

  test('is refused by one code, from the first time on and in any list: that of the tier that the viewer has', async () => {
    const people = [1, 2].map((id) => ({ id: `${id}`, name: 'x' }));
    const made = facadeWith({
      ...bodies,
      '/v2/movie/celebrity/2': needPermission,
      '/v2/movie/subject/7': { body: { id: '7', casts: people } },
    });
    const codesOf = async (query: string) =>
      (await made.execute(query, { token: 'carol' })).errors?.map(({ extensions }) => extensions.code);
    expect(await codesOf('{ subject(id: 7) { casts { nameEn } } }')).toEqual(['TIER_REQUIRED']);
    expect(await codesOf('{ celebrity(id: 1) { name } }')).toEqual(['TIER_REQUIRED']);
    expect((await made.execute('{ viewer { filmTier } }', { token: 'carol' })).data.viewer.filmTier).toBe('PREMIUM');
  });

  test('keeps its lists', async () => {
    const made = facadeWith(bodies);
    const query = '{ celebrity(id: 1) { photos { nodes { id } pageInfo { endCursor } } } }';
    const { response, min, max, calls } = await callsOf(made, query, { token: 'carol' });
    expect(response.errors).toBeUndefined();
    expect(response.data.celebrity.photos.nodes).toEqual([{ id: 'Photo:5' }]);
    expect(calls).toHaveLength(2);
    expect([min, max]).toEqual([1, 2]);
  });
});

describe('a record that may be a bare id is planned as loaded', () => {
  test('for the book of an annotation', async () => {
    const made = facadeWith({
      '/v2/book/annotation/401': { body: { id: '401', book_id: '7' } },
      '/v2/book/7': { body: { id: '7', price: '5' } },
      '/v2/book/user/1/annotations': { list: 'annotations', body: { annotations: [] } },
    });
    const { response, min, max, calls } = await callsOf(made, '{ annotation(id: 401) { book { price } } }');
    expect(response).toEqual({ data: { annotation: { book: { price: '5' } } } });
    expect(calls).toHaveLength(2);
    expect([min, max]).toEqual([1, 2]);
    const listed = '{ user(id: 1) { annotations(first: 10) { nodes { book { price } } } } }';
    expect((await callsOf(made, listed)).max).toBe(11);
    const known = '{ user(id: 1) { annotations(first: 10) { nodes { book { id } } } } }';
    expect((await callsOf(made, known)).max).toBe(1);
  });
});

test('a series that is remembered as absent is null if only its books are selected', async () => {
  const made = facadeWith({ '/v2/book/series/34/books': rejection(404, 6000) }, { recordTtlSeconds: 60 });
  expect(await made.execute('{ series(id: 34) { title } }')).toEqual({ data: { series: null } });
  for (const query of [
    '{ series(id: 34) { books { totalCount } } }',
    '{ series(id: 34) { books { nodes { title } } } }',
  ])
    expect((await callsOf(made, query)).response).toEqual({ data: { series: null } });
});

test('a film stays in a chart that lists it, with ranks or without, if its own call denies it', async () => {
  const chart = { list: 'subjects', body: { title: 'New', subjects: [{ id: '104' }] } };
  const made = facadeWith({ '/v2/movie/new_movies': chart, '/v2/movie/subject/104': filmNotFound });
  const query = '{ newMovies { subjects { id clipUrls } entries { subject { id clipUrls } } } }';
  const film = { id: 'Subject:104', clipUrls: [] };
  expect(await made.execute(query, { token: 'reader' })).toEqual({
    data: { newMovies: { subjects: [film], entries: [{ subject: film }] } },
  });
});

test('the minimum of a plan has a call for a field that is not cached, and none for those that are', async () => {
  const made = facadeWith(
    { '/v2/book/7': { body: { id: '7', title: '活着', summary: '…' } } },
    { recordTtlSeconds: 60 },
  );
  await made.execute('{ book(id: 7) { title } }');
  const { min, calls } = await callsOf(made, '{ book(id: 7) { title __typename } }');
  expect([min, calls]).toEqual([0, []]);
  const more = await callsOf(made, '{ book(id: 7) { title summary } }');
  expect([more.min, more.calls]).toEqual([1, ['GET /v2/book/7?fields=id,summary']]);
});

test('a token that was rejected recently costs no call, as planned', async () => {
  const made = facadeWith({ '/v2/book/7': rejection(400, 103) });
  const query = '{ book(id: 7) { title } }';
  expect((await callsOf(made, query, { token: 'stranger' })).calls).toHaveLength(1);
  const { min, calls } = await callsOf(made, query, { token: 'stranger' });
  expect([min, calls]).toEqual([0, []]);
});
