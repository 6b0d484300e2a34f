import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type Bodies, filmNotFound, serve } from '../../support/serve.ts';

/** A facade over lists and records by their path. */
function over(bodies: Bodies) {
  const made = facade({ recordTtlSeconds: 0 });
  serve(made.service, bodies);
  return made;
}

async function planned(made: ReturnType<typeof facade>, query: string, asking: object = {}): Promise<number> {
  const { extensions } = await made.ask(query, { ...asking, explain: 'plan' });
  return (extensions as { upstream: { max: number } }).upstream.max;
}

const ids = Array.from({ length: 100 }, (_, at) => ({ id: String(at + 1) }));

describe('what a list was asked for is known of its items, whatever came', () => {
  test.each([
    ['ebook { url }', { ebook: null }],
    ['series { title }', { series: null }],
    ['subtitle', { subtitle: null }],
    ['id subtitle originalTitle', { subtitle: null, originalTitle: null }],
  ])('books that have no %s are asked for in one call', async (selection, none) => {
    const made = over({ '/v2/book/search': { list: 'books', body: { total: 100, books: ids } } });
    for (const list of [`nodes { ${selection} }`, `edges { node { ${selection} } }`]) {
      const query = `{ searchBooks(query: "本", first: 100) { ${list} } }`;
      expect(await planned(made, query)).toBe(1);
      made.calls.length = 0;
      const { data, errors } = await made.ask(query);
      expect(errors).toBeUndefined();
      const { nodes, edges } = data.searchBooks as { nodes?: object[]; edges?: { node: object }[] };
      const shown = nodes ?? edges!.map(({ node }) => node);
      expect(shown).toHaveLength(100);
      expect(shown[99]).toMatchObject(none);
      expect(made.calls).toHaveLength(1);
    }
  });

  test('so are annotations without a page', async () => {
    const made = over({ '/v2/book/7/annotations': { list: 'annotations', body: { total: 100, annotations: ids } } });
    const { data } = await made.ask('{ book(id: 7) { annotations(first: 100) { nodes { page } } } }');
    expect(data.book.annotations.nodes).toEqual(ids.map(() => ({ page: null })));
    expect(made.calls).toHaveLength(1);
  });

  test('so are the films of a chart, of which its short form promises the title', async () => {
    const made = over({ '/v2/movie/new_movies': { list: 'subjects', body: { subjects: ids.slice(0, 5) } } });
    const { data } = await made.ask('{ newMovies { subjects { originalTitle } } }');
    expect(data.newMovies.subjects).toEqual(ids.slice(0, 5).map(() => ({ originalTitle: null })));
    expect(made.calls).toHaveLength(1);
  });

  test('and a single record that was asked for otherwise than by its id', async () => {
    const made = over({ '/v2/book/isbn/9787544253994': { body: { id: '7' } } });
    const query = '{ bookByIsbn(isbn: "9787544253994") { subtitle } }';
    expect(await planned(made, query)).toBe(1);
    expect((await made.ask(query)).data).toEqual({ bookByIsbn: { subtitle: null } });
    expect(made.calls).toHaveLength(1);
  });
});

describe('one bad item of a list costs its own fields', () => {
  const subjects = Array.from({ length: 10 }, (_, at) => ({ id: String(at + 1), title: `第${at + 1}部` }));
  const bodies = (bad: Bodies[string]): Bodies => ({
    '/v2/movie/top250': { list: 'subjects', body: { total: 250, subjects } },
    ...Object.fromEntries(
      subjects.map(({ id }) => [`/v2/movie/subject/${id}`, id === '4' ? bad : { body: { id, summary: '…' } }]),
    ),
  });
  const summaries = (shown: object) => subjects.map(({ id }) => ({ ...shown, summary: id === '4' ? null : '…' }));

  test.each(['id summary', 'summary', 'title summary'])('where one fails, of %s', async (selection) => {
    const made = over(bodies({ status: 500, body: {} }));
    const { data, errors } = await made.ask(`{ top250(first: 10) { nodes { ${selection} } } }`);
    expect(data.top250.nodes.map(({ summary }: { summary: unknown }) => ({ summary }))).toEqual(summaries({}));
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['top250.nodes.3.summary', 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  test('where one is absent: its list has named it', async () => {
    const made = over(bodies(filmNotFound));
    const { data, errors } = await made.ask('{ top250(first: 10) { edges { node { id summary } } } }');
    expect(errors).toBeUndefined();
    expect(data.top250.edges[3]).toEqual({ node: { id: 'Subject:4', summary: null } });
  });
});

describe('what a record embeds of another stays where the rest of that is absent', () => {
  const chart = { body: { subjects: [{ rank: 1, subject: { id: '7', title: '活着' } }] }, list: 'subjects' };

  test('a film of a chart keeps the title that the chart provided', async () => {
    const made = over({ '/v2/movie/us_box': chart, '/v2/movie/subject/7': filmNotFound });
    expect(await made.ask('{ usBoxOffice { entries { rank subject { id title summary } } } }')).toEqual({
      data: { usBoxOffice: { entries: [{ rank: 1, subject: { id: 'Subject:7', title: '活着', summary: null } }] } },
    });
  });

  test('or that fails: the error is reported at the field', async () => {
    const made = over({ '/v2/movie/us_box': chart, '/v2/movie/subject/7': { status: 500, body: {} } });
    const { data, errors } = await made.ask('{ usBoxOffice { entries { subject { title summary } } } }');
    expect(data).toEqual({ usBoxOffice: { entries: [{ subject: { title: '活着', summary: null } }] } });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['usBoxOffice.entries.0.subject.summary']);
  });

  test('but one that was named by its id alone is null', async () => {
    const photos = [{ id: '1', subject_id: '9', created_at: '2016-12-18 20:14:19' }];
    const made = over({
      '/v2/movie/subject/7': { body: { id: '7' } },
      '/v2/movie/subject/7/photos': { list: 'photos', body: { total: 1, photos } },
      '/v2/movie/subject/9': filmNotFound,
    });
    const { data, errors } = await made.ask(
      '{ subject(id: 7) { photos(first: 20) { nodes { createdAt subject { title } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.subject.photos.nodes).toEqual([{ createdAt: '2016-12-18T20:14:19', subject: null }]);
  });
});

describe('an odd member where a record should be costs its own field', () => {
  test.each([
    { odd: true },
    { odd: 1 },
    { odd: 'x' },
    { odd: [] },
    { odd: [true] },
    { odd: [{ status: 'read' }] },
    { odd: {} },
  ])('the collection of the viewer as $odd', async ({ odd }) => {
    const made = over({ '/v2/book/7': { body: { id: '7', title: '活着', current_user_collection: odd } } });
    const query = '{ book(id: 7) { title viewerCollection { id status rating { value } } } }';
    expect(await made.ask(query, { token: 'mine' })).toEqual({
      data: { book: { title: '活着', viewerCollection: null } },
    });
    expect(made.calls).toHaveLength(await planned(made, query, { token: 'mine' }));
  });

  test.each([{ odd: true }, { odd: 1 }, { odd: 'x' }, { odd: [] }, { odd: [true] }, { odd: {} }])(
    'the book of an annotation as $odd',
    async ({ odd }) => {
      const made = over({ '/v2/book/annotation/7': { body: { id: '7', chapter: '一', book: odd } } });
      expect(
        await made.ask('{ annotation(id: 7) { chapter book { title } author { name } } }', { token: 'mine' }),
      ).toEqual({
        data: { annotation: { chapter: '一', book: null, author: null } },
      });
    },
  );
});

describe('a record of which nothing but lists is selected', () => {
  test.each([
    '{ book(id: 404) { annotations { nodes { id } } } }',
    '{ book(id: 404) { viewerCollection { id } annotations { totalCount } } }',
    '{ book(id: 404) { tags(first: 50) { name } } }',
    '{ node(id: "Book:404") { ... on Book { annotations { nodes { id } } } } }',
  ])('is null where these are not there: %s', async (query) => {
    const absent = { status: 404, body: { code: 6000, msg: 'book_not_found', request: 'GET /v2/book/404' } };
    const made = over({ '/v2/book/404/annotations': absent, '/v2/book/404/tags': absent });
    const field = query.includes('node(') ? 'node' : 'book';
    expect(await made.ask(query)).toEqual({ data: { [field]: null } });
    expect(made.calls).toHaveLength(1);
  });

  test('exists where they are empty, and where they cannot be read', async () => {
    const made = over({
      '/v2/book/7/annotations': { list: 'annotations', body: { total: 0, annotations: [] } },
      '/v2/book/8/annotations': { status: 500, body: {} },
    });
    const { data, errors } = await made.ask(
      '{ a: book(id: 7) { annotations { totalCount } } b: book(id: 8) { annotations { totalCount } } }',
    );
    expect(data).toEqual({ a: { annotations: { totalCount: 0 } }, b: { annotations: null } });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['b.annotations']);
  });
});
