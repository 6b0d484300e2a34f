import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type Bodies, filmNotFound, serve } from '../../support/serve.ts';

/** A facade whose service replies with these lists and records. */
function facadeWith(bodies: Bodies) {
  const made = facade({ recordTtlSeconds: 0 });
  serve(made.service, bodies);
  return made;
}

async function plannedCalls(made: ReturnType<typeof facade>, query: string, options: object = {}): Promise<number> {
  const { extensions } = await made.execute(query, { ...options, explain: 'plan' });
  return (extensions as { upstream: { max: number } }).upstream.max;
}

const ids = Array.from({ length: 100 }, (_, at) => ({ id: String(at + 1) }));

describe('fields that were requested with a list are not loaded again for its items', () => {
  test.each([
    ['ebook { url }', { ebook: null }],
    ['series { title }', { series: null }],
    ['subtitle', { subtitle: null }],
    ['id subtitle originalTitle', { subtitle: null, originalTitle: null }],
  ])('if books have no %s', async (selection, none) => {
    const made = facadeWith({ '/v2/book/search': { list: 'books', body: { total: 100, books: ids } } });
    for (const list of [`nodes { ${selection} }`, `edges { node { ${selection} } }`]) {
      const query = `{ searchBooks(query: "本", first: 100) { ${list} } }`;
      expect(await plannedCalls(made, query)).toBe(1);
      made.calls.length = 0;
      const { data, errors } = await made.execute(query);
      expect(errors).toBeUndefined();
      const { nodes, edges } = data.searchBooks as { nodes?: object[]; edges?: { node: object }[] };
      const shown = nodes ?? edges!.map(({ node }) => node);
      expect(shown).toHaveLength(100);
      expect(shown[99]).toMatchObject(none);
      expect(made.calls).toHaveLength(1);
    }
  });

  test('if annotations have no page', async () => {
    const made = facadeWith({
      '/v2/book/7/annotations': { list: 'annotations', body: { total: 100, annotations: ids } },
    });
    const { data } = await made.execute('{ book(id: 7) { annotations(first: 100) { nodes { page } } } }');
    expect(data.book.annotations.nodes).toEqual(ids.map(() => ({ page: null })));
    expect(made.calls).toHaveLength(1);
  });

  test('if films of a chart lack a field that follows from the title', async () => {
    const made = facadeWith({ '/v2/movie/new_movies': { list: 'subjects', body: { subjects: ids.slice(0, 5) } } });
    const { data } = await made.execute('{ newMovies { subjects { originalTitle } } }');
    expect(data.newMovies.subjects).toEqual(ids.slice(0, 5).map(() => ({ originalTitle: null })));
    expect(made.calls).toHaveLength(1);
  });

  test('if a single record was loaded by something else than its id', async () => {
    const made = facadeWith({ '/v2/book/isbn/9787544253994': { body: { id: '7' } } });
    const query = '{ bookByIsbn(isbn: "9787544253994") { subtitle } }';
    expect(await plannedCalls(made, query)).toBe(1);
    expect((await made.execute(query)).data).toEqual({ bookByIsbn: { subtitle: null } });
    expect(made.calls).toHaveLength(1);
  });
});

describe('an item of a list that cannot be loaded nulls only its own fields', () => {
  const subjects = Array.from({ length: 10 }, (_, at) => ({ id: String(at + 1), title: `第${at + 1}部` }));
  const bodies = (bad: Bodies[string]): Bodies => ({
    '/v2/movie/top250': { list: 'subjects', body: { total: 250, subjects } },
    ...Object.fromEntries(
      subjects.map(({ id }) => [`/v2/movie/subject/${id}`, id === '4' ? bad : { body: { id, summary: '…' } }]),
    ),
  });
  const summaries = (shown: object) => subjects.map(({ id }) => ({ ...shown, summary: id === '4' ? null : '…' }));

  test.each(['id summary', 'summary', 'title summary'])('if its request fails, for %s', async (selection) => {
    const made = facadeWith(bodies({ status: 500, body: {} }));
    const { data, errors } = await made.execute(`{ top250(first: 10) { nodes { ${selection} } } }`);
    expect(data.top250.nodes.map(({ summary }: { summary: unknown }) => ({ summary }))).toEqual(summaries({}));
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['top250.nodes.3.summary', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  test('if it does not exist, although the list contains it', async () => {
    const made = facadeWith(bodies(filmNotFound));
    const { data, errors } = await made.execute('{ top250(first: 10) { edges { node { id summary } } } }');
    expect(errors).toBeUndefined();
    expect(data.top250.edges[3]).toEqual({ node: { id: 'Subject:4', summary: null } });
  });
});

describe('an embedded record whose own endpoint fails', () => {
  const chart = { body: { subjects: [{ rank: 1, subject: { id: '7', title: '活着' } }] }, list: 'subjects' };

  test('keeps the embedded fields if the endpoint responds with 404', async () => {
    const made = facadeWith({ '/v2/movie/us_box': chart, '/v2/movie/subject/7': filmNotFound });
    expect(await made.execute('{ usBoxOffice { entries { rank subject { id title summary } } } }')).toEqual({
      data: { usBoxOffice: { entries: [{ rank: 1, subject: { id: 'Subject:7', title: '活着', summary: null } }] } },
    });
  });

  test('keeps the embedded fields if the endpoint fails, and reports the error at the selected field', async () => {
    const made = facadeWith({ '/v2/movie/us_box': chart, '/v2/movie/subject/7': { status: 500, body: {} } });
    const { data, errors } = await made.execute('{ usBoxOffice { entries { subject { title summary } } } }');
    expect(data).toEqual({ usBoxOffice: { entries: [{ subject: { title: '活着', summary: null } }] } });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['usBoxOffice.entries.0.subject.summary']);
  });

  test('is null on 404 if only its id was embedded', async () => {
    const photos = [{ id: '1', subject_id: '9', created_at: '2016-12-18 20:14:19' }];
    const made = facadeWith({
      '/v2/movie/subject/7': { body: { id: '7' } },
      '/v2/movie/subject/7/photos': { list: 'photos', body: { total: 1, photos } },
      '/v2/movie/subject/9': filmNotFound,
    });
    const { data, errors } = await made.execute(
      '{ subject(id: 7) { photos(first: 20) { nodes { createdAt subject { title } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.subject.photos.nodes).toEqual([{ createdAt: '2016-12-18T20:14:19', subject: null }]);
  });
});

describe('a malformed member in place of a record nulls only its own field', () => {
  test.each([
    { odd: true },
    { odd: 1 },
    { odd: 'x' },
    { odd: [] },
    { odd: [true] },
    { odd: [{ status: 'read' }] },
    { odd: {} },
  ])('for viewerCollection = $odd', async ({ odd }) => {
    const made = facadeWith({ '/v2/book/7': { body: { id: '7', title: '活着', current_user_collection: odd } } });
    const query = '{ book(id: 7) { title viewerCollection { id status rating { value } } } }';
    expect(await made.execute(query, { token: 'mine' })).toEqual({
      data: { book: { title: '活着', viewerCollection: null } },
    });
    expect(made.calls).toHaveLength(await plannedCalls(made, query, { token: 'mine' }));
  });

  test.each([{ odd: true }, { odd: 1 }, { odd: 'x' }, { odd: [] }, { odd: [true] }, { odd: {} }])(
    'for the book of an annotation = $odd',
    async ({ odd }) => {
      const made = facadeWith({ '/v2/book/annotation/7': { body: { id: '7', chapter: '一', book: odd } } });
      expect(
        await made.execute('{ annotation(id: 7) { chapter book { title } author { name } } }', { token: 'mine' }),
      ).toEqual({
        data: { annotation: { chapter: '一', book: null, author: null } },
      });
    },
  );
});

describe('a record of which only lists are selected', () => {
  test.each([
    '{ book(id: 404) { annotations { nodes { id } } } }',
    '{ book(id: 404) { viewerCollection { id } annotations { totalCount } } }',
    '{ book(id: 404) { tags(first: 50) { name } } }',
    '{ node(id: "Book:404") { ... on Book { annotations { nodes { id } } } } }',
  ])('is null if the lists respond with 404: %s', async (query) => {
    const absent = { status: 404, body: { code: 6000, msg: 'book_not_found', request: 'GET /v2/book/404' } };
    const made = facadeWith({ '/v2/book/404/annotations': absent, '/v2/book/404/tags': absent });
    const field = query.includes('node(') ? 'node' : 'book';
    expect(await made.execute(query)).toEqual({ data: { [field]: null } });
    expect(made.calls).toHaveLength(1);
  });

  test('exists if the lists are empty, or if they fail', async () => {
    const made = facadeWith({
      '/v2/book/7/annotations': { list: 'annotations', body: { total: 0, annotations: [] } },
      '/v2/book/8/annotations': { status: 500, body: {} },
    });
    const { data, errors } = await made.execute(
      '{ a: book(id: 7) { annotations { totalCount } } b: book(id: 8) { annotations { totalCount } } }',
    );
    expect(data).toEqual({ a: { annotations: { totalCount: 0 } }, b: { annotations: null } });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['b.annotations']);
  });
});
