import { describe, expect, test } from 'vitest';
import { bookMembers } from '../../src/api/book.ts';
import { rejection, service } from '../support/service.ts';

const origin = await service();
const showcase = '/v2/book/6082808';

describe('a book', () => {
  test('has all members, in the documented order', async () => {
    const { status, body } = await origin.get(showcase);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: '6082808',
      isbn13: '9787544253994',
      title: '百年孤独',
      author: ['[哥伦比亚] 加西亚·马尔克斯'],
      pubdate: '2011-6',
      rating: { max: 10, min: 0, numRaters: 128063, average: '9.2' },
      series: { id: '10489', title: '新经典文库:加西亚·马尔克斯作品' },
    });
    expect(body.tags).toHaveLength(8);
    expect(body.tags[0]).toEqual({ count: expect.any(Number), name: '百年孤独', title: '百年孤独' });
    expect(body.tags[0].count).toBeGreaterThanOrEqual(42091);
    const order = Object.keys(body).map((name) => (bookMembers as readonly string[]).indexOf(name));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test('has long texts', async () => {
    const { body } = await origin.get(showcase);
    expect(Buffer.byteLength(body.summary + body.author_intro + body.catalog)).toBeGreaterThan(6000);
  });

  test('lacks absent members: series, e-book, and the average of too few ratings', async () => {
    const { books } = (await origin.get('/v2/book/search?tag=小说&count=100')).body;
    const { books: all } = (await origin.get('/v2/book/search?q=出版&count=100')).body;
    const every = [...books, ...all];
    expect(every.some((book: object) => !('series' in book))).toBe(true);
    expect(every.some((book: object) => 'ebook_url' in book && 'ebook_price' in book)).toBe(true);
    expect(every.some((book: object) => !('ebook_url' in book))).toBe(true);
    expect(every.some((book: { rating: object }) => 'average' in book.rating)).toBe(true);
  });

  test('is found by either of its ISBNs', async () => {
    for (const isbn of ['9787544253994', '7544253996']) {
      expect((await origin.get(`/v2/book/isbn/${isbn}?fields=id`)).body).toEqual({ id: '6082808' });
    }
    expect(await origin.get('/v2/book/isbn/9787544253995')).toMatchObject(
      rejection(404, 6000, 'book_not_found', 'GET /v2/book/isbn/9787544253995'),
    );
  });

  test('is answered with 404 if it does not exist', async () => {
    expect(await origin.get('/v2/book/0')).toMatchObject(rejection(404, 6000, 'book_not_found', 'GET /v2/book/0'));
  });

  test('has the collection of the current user by id, by ISBN and in a search, and no other collection', async () => {
    const own = { status: 'read', rating: { max: 5, min: 0, value: '5' }, user_id: '1000001', book_id: '6082808' };
    const shape = { ...own, updated: expect.any(String), id: expect.any(Number) };
    for (const path of [showcase, '/v2/book/isbn/9787544253994']) {
      expect((await origin.get(path, 'alice')).body.current_user_collection).toEqual(shape);
      expect((await origin.get(path)).body).not.toHaveProperty('current_user_collection');
      expect((await origin.get(path, 'carol')).body).not.toHaveProperty('current_user_collection');
      expect((await origin.get(path, 'app')).body).not.toHaveProperty('current_user_collection');
    }
    const { books } = (await origin.get('/v2/book/search?q=百年孤独', 'alice')).body;
    expect(books[0].current_user_collection).toEqual(shape);
  });
});

describe('a search for books', () => {
  const ids = async (query: string) => {
    const { body } = await origin.get(`/v2/book/search?${query}&fields=id`);
    return body.books.map((book: { id: string }) => book.id);
  };

  test('requires a text or a tag', async () => {
    for (const query of ['', '?q=', '?q=%20&tag=', '?start=0']) {
      expect(await origin.get(`/v2/book/search${query}`)).toMatchObject(
        rejection(400, 1002, 'missing_args', 'GET /v2/book/search'),
      );
    }
  });

  test.each([
    ['a whole title', 'q=百年孤独'],
    ['two characters', 'q=孤独'],
    ['one character', 'q=孤'],
    ['an author', 'q=加西亚·马尔克斯'],
    ['a translator', 'q=范晔'],
    ['a publisher', 'q=南海出版公司'],
    ['a number', 'q=9787544253994'],
    ['a first title in another case', 'q=CIEN'],
    ['several terms, everywhere', 'q=孤独 范晔'],
    ['a text and a tag', 'q=孤独&tag=拉美文学'],
  ])('matches %s', async (_, query) => {
    expect(await ids(query)).toContain('6082808');
  });

  test('returns the best match first', async () => {
    expect((await ids('q=百年孤独'))[0]).toBe('6082808');
  });

  test.each([
    'q=孤%25独',
    'q="孤独"',
    "q='孤独",
    'q=百年孤独 OR 岛上书店',
    'q=孤*',
    'q=孤_',
    'q=\\',
    'q=没有这样的一本书',
  ])('treats operators and wildcards as text: %s', async (query) => {
    expect(await ids(query)).toEqual([]);
  });

  test('matches a tag as a whole', async () => {
    expect(await ids('tag=拉美文学')).toContain('6082808');
    expect(await ids('tag=拉美文')).toEqual([]);
    expect(await ids('q=孤独&tag=没有')).toEqual([]);
  });

  test('returns every result once over all pages', async () => {
    const { total } = (await origin.get('/v2/book/search?tag=小说&count=1')).body;
    const found: string[] = [];
    for (let start = 0; start < total; start += 20) found.push(...(await ids(`tag=小说&start=${start}`)));
    expect(total).toBeGreaterThan(40);
    expect(new Set(found).size).toBe(total);
  });
});

describe('tags', () => {
  test('of a book are at most fifty, most used first, and paged', async () => {
    const { body } = await origin.get(`${showcase}/tags`);
    expect(body).toMatchObject({ start: 0, count: 50, total: 50 });
    const counts = body.tags.map((tag: { count: number }) => tag.count);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect((await origin.get(`${showcase}/tags?start=49&count=5`)).body.tags).toEqual(body.tags.slice(49));
    expect((await origin.get('/v2/book/0/tags')).body.code).toBe(6000);
  });

  test('of a user are found by id, by uid and at the old path', async () => {
    const { body } = await origin.get('/v2/book/user/alice/tags?count=5');
    expect(body.tags[0]).toEqual({ count: expect.any(Number), title: expect.any(String) });
    expect(body.total).toBeGreaterThan(20);
    expect((await origin.get('/v2/book/user/1000001/tags?count=5')).body).toEqual(body);
    expect((await origin.get('/v2/book/user_tags/alice?count=5', 'bob')).body).toEqual(body);
    // The user is the one in the path, whatever the query contains.
    expect((await origin.get('/v2/book/user_tags/alice?count=5&name=carol', 'bob')).body).toEqual(body);
    expect(await origin.get('/v2/book/user/nobody/tags')).toMatchObject(
      rejection(404, 6008, 'people_not_found', 'GET /v2/book/user/nobody/tags'),
    );
  });
});

describe('a series', () => {
  test('has a paged list of its books', async () => {
    const { body } = await origin.get('/v2/book/series/23971/books?count=15&fields=id');
    expect(body).toMatchObject({ start: 0, count: 15, total: 18 });
    expect(body.books).toHaveLength(15);
    expect((await origin.get('/v2/book/series/23971/books?start=15&fields=id')).body.books).toHaveLength(3);
  });

  test('is answered with 404 if it does not exist', async () => {
    expect(await origin.get('/v2/book/series/0/books')).toMatchObject(
      rejection(404, 6014, 'series_not_found', 'GET /v2/book/series/0/books'),
    );
  });
});

describe('collections', () => {
  const list = async (query = '', as: 'alice' | 'bob' | null = null) =>
    (await origin.get(`/v2/book/user/alice/collections?${query}`, as)).body;

  test('of a user are listed newest first, with complete books', async () => {
    const { start, count, total, collections } = await list();
    expect({ start, count }).toEqual({ start: 0, count: 20 });
    expect(total).toBeGreaterThan(60);
    expect(collections).toHaveLength(20);
    const times = collections.map((item: { updated: string }) => item.updated);
    expect(times).toEqual([...times].sort().reverse());
    expect(collections[0].book).toMatchObject({ id: collections[0].book_id, summary: expect.any(String) });
    expect(collections[0]).toMatchObject({ id: expect.any(Number), user_id: '1000001' });
    expect((await list('count=3', 'alice')).collections[0].book).not.toHaveProperty('current_user_collection');
  });

  test('that are private are listed for their owner only', async () => {
    const { total } = await list('count=0');
    expect((await list('count=0', 'bob')).total).toBe(total);
    expect((await list('count=0', 'alice')).total).toBeGreaterThan(total);
  });

  test('have no rating, tags or comment if none was given', async () => {
    const { collections } = await list('count=100');
    for (const name of ['rating', 'tags', 'comment']) {
      expect(collections.some((item: object) => name in item)).toBe(true);
      expect(collections.some((item: object) => !(name in item))).toBe(true);
    }
    for (const { rating, tags, comment } of collections) {
      if (rating) expect(rating).toEqual({ max: 5, min: 0, value: expect.stringMatching(/^[1-5]$/) });
      expect(tags).not.toEqual([]);
      expect(comment).not.toBe('');
    }
  });

  test('are filtered by status, tag and rating', async () => {
    let sum = 0;
    for (const status of ['wish', 'reading', 'read']) {
      const { total, collections } = await list(`status=${status}&count=100`);
      expect(new Set(collections.map((item: { status: string }) => item.status))).toEqual(new Set([status]));
      expect(total).toBeGreaterThan(20);
      sum += total;
    }
    expect((await list()).total).toBe(sum);

    const tagged = await list('tag=小说&count=100');
    expect(tagged.collections.length).toBeGreaterThan(0);
    for (const { tags } of tagged.collections) expect(tags).toContain('小说');
    const rated = await list('rating=4&count=100');
    expect(rated.collections.length).toBeGreaterThan(0);
    for (const { rating } of rated.collections) expect(rating.value).toBe('4');
  });

  test('are filtered by the time of their update, in any time zone', async () => {
    const { updated } = (await list('start=10&count=1')).collections[0];
    const at = `${updated.replace(' ', 'T')}%2B08:00`;
    const utc = new Date(`${updated.replace(' ', 'T')}+08:00`).toISOString();
    expect((await list(`to=${at}`)).collections[0].updated).toBe(updated);
    expect((await list(`from=${at}`)).collections.at(-1).updated).toBe(updated);
    expect((await list(`from=${utc}`)).total).toBe((await list(`from=${at}`)).total);
    expect((await list(`from=${at}&to=${at}`)).total).toBe(1);
  });

  test.each([
    'status=done',
    'rating=6',
    'rating=0',
    'rating=x',
    'from=2015-01-01',
    'to=yesterday',
    'from=2015-02-30T00:00:00Z',
  ])('are rejected for an invalid filter: %s', async (query) => {
    expect(await list(query)).toMatchObject({ code: 999, msg: 'invalid_request' });
  });

  test('of a user who does not exist are answered with 404', async () => {
    expect((await origin.get('/v2/book/user/nobody/collections')).body.code).toBe(6008);
  });
});

describe('a collection', () => {
  test('is that of the current user, or of the user given by id or uid', async () => {
    const own = await origin.get(`${showcase}/collection`, 'alice');
    expect(own.body).toMatchObject({
      book_id: '6082808',
      status: 'read',
      tags: ['拉美文学', '重读'],
      user_id: '1000001',
      book: { id: '6082808' },
    });
    for (const name of ['alice', '1000001']) {
      expect((await origin.get(`${showcase}/collection?user_id=${name}`)).body).toEqual(own.body);
    }
    expect((await origin.get(`${showcase}/collection?fields=status`, 'alice')).body).toEqual({ status: 'read' });
  });

  test('that does not exist is answered with code 1001', async () => {
    const absent = rejection(404, 1001, 'uri_not_found', 'GET /v2/book/6082808/collection');
    expect(await origin.get(`${showcase}/collection`, 'carol')).toMatchObject(absent);
    expect(await origin.get(`${showcase}/collection`)).toMatchObject(absent);
    expect(await origin.get(`${showcase}/collection?user_id=carol`)).toMatchObject(absent);
  });

  test('that is private is returned to its owner only', async () => {
    expect((await origin.get(`${showcase}/collection`, 'bob')).status).toBe(200);
    expect((await origin.get(`${showcase}/collection?user_id=bob`, 'bob')).status).toBe(200);
    expect(await origin.get(`${showcase}/collection?user_id=bob`, 'alice')).toMatchObject(
      rejection(404, 1001, 'uri_not_found', 'GET /v2/book/6082808/collection'),
    );
  });

  test('of an unknown book or user has a code of its own', async () => {
    expect((await origin.get('/v2/book/0/collection', 'alice')).body.code).toBe(6000);
    expect((await origin.get(`${showcase}/collection?user_id=nobody`)).body.code).toBe(6008);
  });
});

describe('annotations', () => {
  const list = async (query = '', as: 'alice' | null = null) =>
    (await origin.get(`${showcase}/annotations?${query}`, as)).body;

  test('of a book are public, listed in pages and complete', async () => {
    const { total, annotations } = await list('count=100');
    expect(total).toBeGreaterThanOrEqual(45);
    expect(annotations).toHaveLength(total);
    expect(annotations[0]).toMatchObject({
      id: expect.any(String),
      book_id: '6082808',
      book: { id: '6082808' },
      author_user: { name: expect.any(String), type: 'user', is_banned: false },
      privacy: 2,
      photos: {},
      hasmath: expect.any(Boolean),
    });
    expect(annotations[0].abstract).toBe(annotations[0].summary);
    for (const { privacy } of annotations) expect(privacy).toBe(2);
    expect((await list('count=0', 'alice')).total).toBe(total);
    expect((await origin.get('/v2/book/0/annotations')).body.code).toBe(6000);
  });

  test('are ordered by rank, time or page, and filtered by page', async () => {
    const ids = async (query: string) => (await list(`${query}&count=100`)).annotations;
    const newest = (await ids('order=collect')).map((one: { time: string }) => one.time);
    expect(newest).toEqual([...newest].sort().reverse());
    const byPage = (await ids('order=page')).map((one: { page_no?: number }) => one.page_no ?? Infinity);
    expect(byPage).toEqual([...byPage].sort((a: number, b: number) => (a === b ? 0 : a - b)));
    expect(byPage).toContain(Infinity);
    expect(await ids('order=rank')).toEqual(await ids(''));
    expect(await ids('')).not.toEqual(await ids('order=collect'));
    const page = byPage[0] as number;
    for (const { page_no } of await ids(`page=${page}`)) expect(page_no).toBe(page);
    expect((await ids(`page=${page}`)).length).toBeGreaterThan(0);
    for (const query of ['order=best', 'format=pdf']) expect((await list(query)).code).toBe(999);
    for (const page of ['0', '1000000', '-1', '2.5', 'x']) expect((await list(`page=${page}`)).code).toBe(6012);
  });

  test('are returned as text, or as HTML with paragraphs and pictures', async () => {
    const { annotations } = await list('count=100');
    const { id, content, photos, abstract_photo, last_photo } = annotations.find((one: { content: string }) =>
      one.content.includes('<图片1>'),
    );
    expect(Object.keys(photos)).toEqual(['1', '2']);
    expect({ abstract_photo, last_photo }).toEqual({ abstract_photo: photos[1], last_photo: 2 });
    const html = (await origin.get(`/v2/book/annotation/${id}?format=html`)).body;
    expect(html.content).toContain(`<img src="${photos[1]}">`);
    expect(html.content).toContain('<div style="padding-bottom:1em;"></div>');
    expect(html.content).not.toContain('图片');
    expect((await origin.get(`/v2/book/annotation/${id}?format=text`)).body.content).toBe(content);
    expect((await list('format=html&count=100')).annotations.find((one: { id: string }) => one.id === id)).toEqual(
      html,
    );
    expect(annotations.some((one: { hasmath: boolean }) => one.hasmath)).toBe(true);
  });

  test('of a user are listed newest first, private ones for their owner only', async () => {
    const { body } = await origin.get('/v2/book/user/alice/annotations?count=100');
    expect(body.total).toBeGreaterThanOrEqual(45);
    const times = body.annotations.map((one: { time: string }) => one.time);
    expect(times).toEqual([...times].sort().reverse());
    const own = (await origin.get('/v2/book/user/1000001/annotations?count=100', 'alice')).body;
    expect(own.total).toBeGreaterThan(body.total);
    expect((await origin.get('/v2/book/user/nobody/annotations')).body.code).toBe(6008);

    const hidden = own.annotations.find((one: { privacy: number }) => one.privacy === 0);
    expect((await origin.get(`/v2/book/annotation/${hidden.id}`, 'alice')).body).toEqual(hidden);
    for (const as of [null, 'bob'] as const) {
      expect((await origin.get(`/v2/book/annotation/${hidden.id}`, as)).body.code).toBe(1001);
    }
  });

  test.each(['0', 'abc', '99999999999999999999'])('that do not exist are answered with 404: %s', async (id) => {
    expect(await origin.get(`/v2/book/annotation/${id}`)).toMatchObject(
      rejection(404, 1001, 'uri_not_found', `GET /v2/book/annotation/${id}`),
    );
  });
});
