import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const uncollected = { code: 1001, msg: 'uri_not_found', request: 'GET /v2/book/7/collection' };
const noBook = { code: 6000, msg: 'book_not_found', request: 'GET /v2/book/7' };

/** A query of one book of the service. */
function book(record: object) {
  const { service, ask, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await ask(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

describe('a book', () => {
  test('is asked once for everything a query wants of it', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: '/v2/book/7', query: { fields: 'id,origin_title,title' } })
      .reply(200, { id: '7', title: '活着', origin_title: '' });

    expect(await ask('{ a: book(id: 7) { title } b: book(id: "Book:7") { originalTitle } }')).toEqual({
      data: { a: { title: '活着' }, b: { originalTitle: null } },
    });
  });

  test('that is not there is null, without an error', async () => {
    const { service, ask } = facade();
    service.intercept({ path: '/v2/book/7', query: { fields: 'id,title' } }).reply(404, noBook);
    expect(await ask('{ book(id: 7) { title } }')).toEqual({ data: { book: null } });
  });

  test('whose id is that of another type, or is none, is refused before any call', async () => {
    const { ask, calls } = facade();
    const { data, errors } = await ask('{ a: book(id: "Subject:7") { title } b: book(id: "a/b") { title } }');
    expect(data).toEqual({ a: null, b: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    expect(calls).toEqual([]);
  });

  test('has no rating when nobody has rated: the average is a text, "0.0"', async () => {
    const { show } = book({ rating: { max: 10, numRaters: 0, average: '0.0', min: 0 } });
    expect(await show('rating { average max min stars ratersCount }')).toEqual({
      rating: { average: null, max: 10, min: 0, stars: null, ratersCount: 0 },
    });
  });

  test('has the scale from 0 to 10 without any rating', async () => {
    expect(await book({}).show('rating { average max min ratersCount }')).toEqual({
      rating: { average: null, max: 10, min: 0, ratersCount: null },
    });
  });

  test('shows its average as a number', async () => {
    const { show } = book({ rating: { max: 10, numRaters: 277915, average: '8.6', min: 0 } });
    expect(await show('rating { average ratersCount }')).toEqual({ rating: { average: 8.6, ratersCount: 277915 } });
  });

  test('has empty texts as null, and an empty title as it is', async () => {
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

  test.each(['2010-9', '2010-9-1', '2009年11月', '1976'])('shows its date as written: %s', async (pubdate) => {
    expect(await book({ pubdate }).show('publishedOn')).toEqual({ publishedOn: pubdate });
  });

  test('has a table of contents of one item a line', async () => {
    const { show } = book({ catalog: '第一章 \r\n\r\n　第二章\n' });
    expect(await show('tableOfContents')).toEqual({ tableOfContents: ['第一章', '第二章'] });
  });

  test('shows `image` where the medium cover is missing', async () => {
    const { show } = book({ image: 'http://img.example/m.jpg', images: { small: 'http://img.example/s.jpg' } });
    expect(await show('cover { small medium large }')).toEqual({
      cover: { small: 'http://img.example/s.jpg', medium: 'http://img.example/m.jpg', large: null },
    });
  });

  test('has an e-book where it has an address or a price', async () => {
    const selection = 'ebook { url price }';
    expect(await book({ ebook_url: 'https://read.example/1/', ebook_price: '6.00' }).show(selection)).toEqual({
      ebook: { url: 'https://read.example/1/', price: '6.00' },
    });
    expect(await book({}).show(selection)).toEqual({ ebook: null });
  });

  test('costs an odd member its own field alone', async () => {
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
      cover: { small: null },
      series: null,
      tags: [],
      pages: '320',
      price: null,
    });
  });

  test('is shown whole where one fragment comes to it by two ways, and to another book as well', async () => {
    const { service, ask } = facade();
    for (const id of ['7', '8'])
      service
        .intercept({ path: '/v2/book/' + id, query: { fields: 'id,series' } })
        .reply(200, { id, series: { id: '1', title: '余华作品' } });
    const { data } = await ask(`
      { a: book(id: 7) { ...F } a: book(id: 7) { ...F } b: book(id: 8) { ...F } b: book(id: 8) { ...F } }
      fragment F on Book { series { title } }`);
    const series = { title: '余华作品' };
    expect(data).toEqual({ a: { series }, b: { series } });
  });
});

describe('by ISBN', () => {
  test('a book is found with hyphens and spaces', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: '/v2/book/isbn/9787544270878', query: { fields: 'id,title' } })
      .reply(200, { id: '7', title: '解忧杂货店' });
    expect(await ask('{ bookByIsbn(isbn: "978-7-5442 7087-8") { id title } }')).toEqual({
      data: { bookByIsbn: { id: 'Book:7', title: '解忧杂货店' } },
    });
  });

  test('a wrong check digit is refused before any call', async () => {
    const { ask, calls } = facade();
    const { data, errors } = await ask('{ bookByIsbn(isbn: "9787544270879") { title } }');
    expect(data).toEqual({ bookByIsbn: null });
    expect(errors).toMatchObject([{ path: ['bookByIsbn'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls).toEqual([]);
  });
});

describe('a search', () => {
  test('is one call, a page of books in its order', async () => {
    const { service, ask } = facade();
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
    const { data } = await ask(
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
    'for nothing, or for too much, is refused before any call',
    async (args) => {
      const { ask, calls } = facade();
      const { errors } = await ask(`{ searchBooks${args} { totalCount } }`);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(calls).toEqual([]);
    },
  );

  test('for fewer than none pays for no other', async () => {
    const { ask, calls } = facade();
    const { errors } = await ask(`{
      a: searchBooks(query: "x", first: -100) { nodes { annotations { totalCount } } }
      b: searchBooks(query: "x", first: 100) { nodes { annotations { totalCount } series { books { totalCount } } tags(first: 50) { name } } }
    }`);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', actual: 302 });
    expect(calls).toEqual([]);
  });
});

describe('tags', () => {
  test('up to 8 come with the book, named twice', async () => {
    const { show, calls } = book({
      tags: [
        { count: 9, name: '小说', title: '小说' },
        { count: 3, name: '余华', title: '余华' },
      ],
    });
    expect(await show('tags(first: 1) { name count }')).toEqual({ tags: [{ name: '小说', count: 9 }] });
    expect(calls).toHaveLength(1);
  });

  test('beyond 8 cost a call, which needs no book first', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: '/v2/book/7/tags', query: { count: 9, fields: 'count,name,title' } })
      .reply(200, { start: 0, count: 9, total: 1, tags: [{ count: 9, title: '小说' }] });
    const { data } = await ask('{ book(id: 7) { tags(first: 9) { name count } } }');
    expect(data).toEqual({ book: { tags: [{ name: '小说', count: 9 }] } });
  });

  test.each([0, 51])('are 1 to 50, not %i', async (first) => {
    const { service, ask } = facade();
    service.intercept({ path: /^\/v2\/book\/7/ }).reply(200, { id: '7', tags: [] });
    const { errors } = await ask(`{ book(id: 7) { tags(first: ${first}) { name } } }`);
    expect(errors).toMatchObject([{ path: ['book', 'tags'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

describe('a series', () => {
  test('is a handle: its books are the only call', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: '/v2/book/series/5/books', query: { start: 0, count: 20, fields: 'id,title' } })
      .reply(200, { start: 0, count: 20, total: 1, books: [{ id: '7', title: '活着' }] });
    expect(await ask('{ series(id: 5) { id title books { nodes { title } } } }')).toEqual({
      data: { series: { id: 'Series:5', title: null, books: { nodes: [{ title: '活着' }] } } },
    });
  });

  test('that nobody knows has no books: code 6014', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: /^\/v2\/book\/series\/5\/books/ })
      .reply(404, { code: 6014, msg: 'series_not_found', request: 'GET /v2/book/series/5/books' });
    expect(await ask('{ series(id: 5) { books { totalCount } } }')).toEqual({ data: { series: { books: null } } });
  });

  test('is told with its title by a book', async () => {
    expect(await book({ series: { id: '5', title: '文库' } }).show('series { id title }')).toEqual({
      series: { id: 'Series:5', title: '文库' },
    });
  });
});

describe('a shelf', () => {
  const entry = {
    id: 99,
    status: 'read',
    rating: { max: 5, min: 0, value: '4' },
    updated: '2015-02-28 10:31:02',
    user_id: '3',
    book_id: '7',
  };

  test("of the viewer is told by the book, but for the entry's tags and comment", async () => {
    const { service, ask } = facade();
    service
      .intercept({
        path: '/v2/book/7',
        query: { fields: 'current_user_collection,id' },
        headers: { authorization: 'Bearer t' },
      })
      .reply(200, { id: '7', current_user_collection: entry });
    const { data } = await ask(
      '{ book(id: 7) { viewerCollection { id sourceId status rating { value max } updatedAt user { id } book { id } } } }',
      {
        token: 't',
      },
    );
    expect(data.book.viewerCollection).toEqual({
      id: 'Collection:3:7',
      sourceId: '3:7',
      status: 'READ',
      rating: { value: 4, max: 5 },
      updatedAt: '2015-02-28T10:31:02',
      user: { id: 'User:3' },
      book: { id: 'Book:7' },
    });
  });

  test("of the viewer is asked where the entry's tags or comment are wanted; both may be absent", async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7\?/ })
      .reply(200, { id: '7' })
      .times(2);
    service
      .intercept({ path: /^\/v2\/book\/7\/collection\?/, headers: { authorization: 'Bearer t' } })
      .reply(200, { ...entry, rating: undefined });
    const { data } = await ask('{ book(id: 7) { viewerCollection { status rating { value } tags comment } } }', {
      token: 't',
    });
    expect(data.book.viewerCollection).toEqual({ status: 'READ', rating: null, tags: [], comment: null });
  });

  test('without the book is null, and so is every shelf without a token of the caller', async () => {
    const { service, ask, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7/ })
      .reply(200, { id: '7' })
      .times(2);
    expect(
      (await ask('{ book(id: 7) { id viewerCollection { status } } }', { token: 't' })).data.book.viewerCollection,
    ).toBeNull();
    expect(
      (await ask('{ book(id: 7) { id viewerCollection { status comment } } }')).data.book.viewerCollection,
    ).toBeNull();
    expect(calls.some((call) => call.includes('collection?'))).toBe(false);
  });

  test('of somebody else is null where it is private or the book is not on it: code 1001', async () => {
    const { service, ask } = facade();
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7' });
    service.intercept({ path: /^\/v2\/book\/7\/collection\?.*user_id=3/ }).reply(404, uncollected);
    const answer = await ask('{ book(id: 7) { id collection(userId: "User:3") { status } } }');
    expect(answer).toEqual({ data: { book: { id: 'Book:7', collection: null } } });
  });

  test('can be read again by the id of an entry', async () => {
    const { service, ask } = facade();
    service.intercept({ path: /^\/v2\/book\/7\/collection\?.*user_id=3/ }).reply(200, { ...entry, comment: '好' });
    expect(
      (await ask('{ node(id: "Collection:3:7") { id ... on Collection { sourceId comment user { id } } } }')).data.node,
    ).toEqual({
      id: 'Collection:3:7',
      sourceId: '3:7',
      comment: '好',
      user: { id: 'User:3' },
    });
  });

  test('of a person takes filters, and leads on to books without a further call', async () => {
    const { service, ask, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/user\/ann\/collections\?/ })
      .reply(200, { start: 0, count: 20, total: 1, collections: [{ ...entry, book: { id: '7', title: '活着' } }] });
    const { data } = await ask(
      '{ user(id: "ann") { bookCollections(status: READ, rating: 4, updatedAfter: "2015-01-01T00:00:00+08:00") { nodes { book { title } } } } }',
    );
    expect(data.user.bookCollections.nodes).toEqual([{ book: { title: '活着' } }]);
    expect(calls).toHaveLength(1);
    expect(Object.fromEntries(new URL(calls[0]!.replace('GET ', 'http://x')).searchParams)).toMatchObject({
      status: 'read',
      rating: '4',
      from: '2015-01-01T00:00:00+08:00',
    });
  });

  test('is rated from 1 to 5', async () => {
    const { ask, calls } = facade();
    const { errors } = await ask('{ user(id: 3) { bookCollections(rating: 6) { totalCount } } }');
    expect(errors).toMatchObject([
      { path: ['user', 'bookCollections'], extensions: { code: 'BAD_USER_INPUT', limit: 5 } },
    ]);
    expect(calls).toEqual([]);
  });
});

describe('an annotation', () => {
  const record = {
    id: '11',
    book_id: '7',
    author_id: '3',
    chapter: '',
    page_no: 222,
    privacy: 2,
    abstract: '短',
    content: '一\n<图片1>二',
    photos: { 1: 'http://img.example/1.jpg' },
    last_photo: 1,
    hasmath: false,
    time: '2012-12-16 10:42:27',
  };

  test('shows its content as text and as a tree, from one call', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /^\/v2\/book\/annotation\/11/ }).reply(200, record);
    const { data } = await ask(`{ annotation(id: 11) {
      id chapter page content hasMath lastPhotoNumber privacyLevel time photos { number url } book { id } author { id }
      blocks { __typename ... on TextBlock { spans { text } } ... on PhotoBlock { photo { number } layout caption } }
    } }`);
    expect(data.annotation).toEqual({
      id: 'Annotation:11',
      chapter: null,
      page: 222,
      content: '一\n<图片1>二',
      hasMath: false,
      lastPhotoNumber: 1,
      privacyLevel: 2,
      time: '2012-12-16T10:42:27',
      photos: [{ number: 1, url: 'http://img.example/1.jpg' }],
      book: { id: 'Book:7' },
      author: { id: 'User:3' },
      blocks: [
        { __typename: 'TextBlock', spans: [{ text: '一' }] },
        { __typename: 'PhotoBlock', photo: { number: 1 }, layout: 'CENTER', caption: null },
        { __typename: 'TextBlock', spans: [{ text: '二' }] },
      ],
    });
    expect(calls).toHaveLength(1);
  });

  test('in HTML is one call more, for all fields that ask for it', async () => {
    const { service, ask, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/annotation\/11\?.*format=html/ })
      .reply(200, { ...record, content: '一<br>二' });
    service.intercept({ path: /^\/v2\/book\/annotation\/11\?/ }).reply(200, record);
    const { data } = await ask('{ annotation(id: 11) { content a: content(format: HTML) b: content(format: HTML) } }');
    expect(data.annotation).toEqual({ content: '一\n<图片1>二', a: '一<br>二', b: '一<br>二' });
    expect(calls).toHaveLength(2);
  });

  test('of a list that carries no book leads to it by its id', async () => {
    const { service, ask, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/user\/3\/annotations\?/ })
      .reply(200, { start: 0, count: 20, total: 1, annotations: [record] });
    service.intercept({ path: '/v2/book/7', query: { fields: 'id,title' } }).reply(200, { id: '7', title: '活着' });
    const { data } = await ask('{ user(id: 3) { annotations { nodes { abstract book { id title } } } } }');
    expect(data.user.annotations.nodes).toEqual([{ abstract: '短', book: { id: 'Book:7', title: '活着' } }]);
    expect(calls).toHaveLength(2);
  });

  test('is ranked by use until another order is asked', async () => {
    const { service, ask, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7\/annotations/ })
      .reply(200, { start: 0, count: 20, total: 0, annotations: [] })
      .times(2);
    service.intercept({ path: /^\/v2\/book\/7(\?|$)/ }).reply(200, { id: '7' });
    await ask(
      '{ book(id: 7) { a: annotations { totalCount } b: annotations(order: NEWEST, page: 12) { totalCount } } }',
    );
    const queries = calls.filter((call) => call.includes('annotations')).sort();
    expect(queries[0]).toContain('order=collect');
    expect(queries[0]).toContain('page=12');
    expect(queries[1]).toContain('order=rank');
  });
});

test("private annotations of the person whose token is the facade's own are shown to nobody", async () => {
  const { service, ask, calls } = facade({ accessToken: 'x' });
  const annotations = [
    { id: '1', content: 'for everybody', privacy: 2 },
    { id: '2', content: 'for its author', privacy: 0 },
  ];
  service.intercept({ path: /annotations/ }).reply(200, { start: 0, count: 20, total: 2, annotations });
  const { data } = await ask('{ book(id: 7) { annotations { nodes { content } } } }');
  expect(data.book.annotations.nodes).toEqual([{ content: 'for everybody' }]);
  // The member that tells them apart is requested with what is selected.
  expect(calls.filter((call) => call.includes('annotations'))).toEqual([
    'GET /v2/book/7/annotations?count=20&fields=content,id,privacy&order=rank&start=0',
  ]);
});
