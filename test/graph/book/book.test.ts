import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Queries a book for which the service returns this record. */
function book(record: object) {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await execute(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

describe('a book', () => {
  test('is loaded by one request with all fields that a query selects', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/book/7', query: { fields: 'id,origin_title,title' } })
      .reply(200, { id: '7', title: '活着', origin_title: '' });

    expect(await execute('{ a: book(id: 7) { title } b: book(id: "Book:7") { originalTitle } }')).toEqual({
      data: { a: { title: '活着' }, b: { originalTitle: null } },
    });
  });

  test('is null for the id that is a path of the service: code 1002', async () => {
    const { service, execute } = facade();
    const noQuery = { code: 1002, msg: 'missing_args', request: 'GET /v2/book/search' };
    service.intercept({ path: '/v2/book/search', query: { fields: 'id,title' } }).reply(400, noQuery);
    expect(await execute('{ book(id: "search") { title } }')).toEqual({ data: { book: null } });
  });

  test('is rejected without an upstream call for an id of another type or a malformed id', async () => {
    const { execute, calls } = facade();
    const { data, errors } = await execute('{ a: book(id: "Subject:7") { title } b: book(id: "a/b") { title } }');
    expect(data).toEqual({ a: null, b: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    expect(calls).toEqual([]);
  });

  test('has a null average if nobody has rated: the wire value is "0.0"', async () => {
    const { show } = book({ rating: { max: 10, numRaters: 0, average: '0.0', min: 0 } });
    expect(await show('rating { average max min ratersCount }')).toEqual({
      rating: { average: null, max: 10, min: 0, ratersCount: 0 },
    });
  });

  test('has a rating scale from 0 to 10 without any rating', async () => {
    expect(await book({}).show('rating { average max min ratersCount }')).toEqual({
      rating: { average: null, max: 10, min: 0, ratersCount: null },
    });
  });

  test('has its average as a number', async () => {
    const { show } = book({ rating: { max: 10, numRaters: 277915, average: '8.6', min: 0 } });
    expect(await show('rating { average ratersCount }')).toEqual({ rating: { average: 8.6, ratersCount: 277915 } });
  });

  test('has null for empty texts, except an empty title', async () => {
    const { show } = book({
      title: '',
      subtitle: '',
      binding: '',
      price: '',
      pages: '',
      pubdate: '',
      catalog: ' \r\n',
    });
    expect(await show('title subtitle binding price pages publishedOn tableOfContents')).toEqual({
      title: '',
      subtitle: null,
      binding: null,
      price: null,
      pages: null,
      publishedOn: null,
      tableOfContents: [],
    });
  });

  test.each(['2010-9', '2010-9-1', '2009年11月', '1976'])('has its date as sent: %s', async (pubdate) => {
    expect(await book({ pubdate }).show('publishedOn')).toEqual({ publishedOn: pubdate });
  });

  test('has one item per line in its table of contents', async () => {
    const { show } = book({ catalog: '第一章 \r\n\r\n　第二章\n' });
    expect(await show('tableOfContents')).toEqual({ tableOfContents: ['第一章', '第二章'] });
  });

  test('has `image` as the medium cover if that is missing', async () => {
    const { show } = book({ image: 'http://img.example/m.jpg', images: { small: 'http://img.example/s.jpg' } });
    expect(await show('cover { small medium large }')).toEqual({
      cover: { small: 'http://img.example/s.jpg', medium: 'http://img.example/m.jpg', large: null },
    });
  });

  test('has an e-book if the record has its URL or its price', async () => {
    const selection = 'ebook { url price }';
    expect(await book({ ebook_url: 'https://read.example/1/', ebook_price: '6.00' }).show(selection)).toEqual({
      ebook: { url: 'https://read.example/1/', price: '6.00' },
    });
    expect(await book({}).show(selection)).toEqual({ ebook: null });
  });

  test('has a default or null for each malformed member, and no error', async () => {
    const { show } = book({
      title: { odd: 1 },
      author: [null, '', '余华'],
      images: 'none',
      series: [],
      tags: 5,
      pages: 320,
      price: null,
    });
    expect(await show('title authors cover { small } series { id } tags { name } pages price')).toEqual({
      title: '',
      authors: ['余华'],
      cover: null,
      series: null,
      tags: [],
      pages: '320',
      price: null,
    });
  });

  test('has an empty list for each list that is null', async () => {
    const { show } = book({ author: null, translator: null, tags: null });
    expect(await show('authors translators tags(first: 8) { name }')).toEqual({
      authors: [],
      translators: [],
      tags: [],
    });
  });

  test('has all fields of a fragment that is spread twice, also for a second book', async () => {
    const { service, execute } = facade();
    for (const id of ['7', '8'])
      service
        .intercept({ path: '/v2/book/' + id, query: { fields: 'id,series' } })
        .reply(200, { id, series: { id: '1', title: '余华作品' } });
    const { data } = await execute(`
      { a: book(id: 7) { ...F } a: book(id: 7) { ...F } b: book(id: 8) { ...F } b: book(id: 8) { ...F } }
      fragment F on Book { series { title } }`);
    const series = { title: '余华作品' };
    expect(data).toEqual({ a: { series }, b: { series } });
  });
});

describe('bookByIsbn', () => {
  test('accepts hyphens and spaces', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/book/isbn/9787544270878', query: { fields: 'id,title' } })
      .reply(200, { id: '7', title: '解忧杂货店' });
    expect(await execute('{ bookByIsbn(isbn: "978-7-5442 7087-8") { id title } }')).toEqual({
      data: { bookByIsbn: { id: 'Book:7', title: '解忧杂货店' } },
    });
  });

  test('rejects a wrong check digit without an upstream call', async () => {
    const { execute, calls } = facade();
    const { data, errors } = await execute('{ bookByIsbn(isbn: "9787544270879") { title } }');
    expect(data).toEqual({ bookByIsbn: null });
    expect(errors).toMatchObject([{ path: ['bookByIsbn'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  });
});

describe('searchBooks', () => {
  test('returns a page of books in the order of the service, from one call', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/book/search', query: { q: '余华', start: 0, count: 2, fields: 'id,title' } })
      .reply(200, {
        start: 0,
        count: 2,
        total: 3,
        books: [
          { id: '7', title: '活着' },
          { id: '8', title: '兄弟' },
        ],
      });
    const { data } = await execute(
      '{ searchBooks(query: " 余华 ", first: 2) { totalCount pageInfo { hasNextPage } nodes { id title } } }',
    );
    expect(data.searchBooks).toEqual({
      totalCount: 3,
      pageInfo: { hasNextPage: true },
      nodes: [
        { id: 'Book:7', title: '活着' },
        { id: 'Book:8', title: '兄弟' },
      ],
    });
  });

  test.each(['', '(query: " ")', '(tag: "")', `(query: "${'长'.repeat(1001)}")`])(
    'rejects a missing, empty or too long text without an upstream call',
    async (args) => {
      const { execute, calls } = facade();
      const { errors } = await execute(`{ searchBooks${args} { totalCount } }`);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(calls).toEqual([]);
    },
  );

  test('counts a negative page size as no calls, not as a credit for other fields', async () => {
    const { execute, calls } = facade();
    const { errors } = await execute(`{
      a: searchBooks(query: "x", first: -100) { nodes { annotations { totalCount } } }
      b: searchBooks(query: "x", first: 100) { nodes { annotations { totalCount } series { books { totalCount } } tags(first: 50) { name } } }
    }`);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', actual: 302 });
    expect(calls).toEqual([]);
  });
});
