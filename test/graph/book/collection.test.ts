import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const uncollected = { code: 1001, msg: 'uri_not_found', request: 'GET /v2/book/7/collection' };

describe('a collection', () => {
  const entry = {
    id: 99,
    status: 'read',
    rating: { max: 5, min: 0, value: '4' },
    updated: '2015-02-28 10:31:02',
    user_id: '3',
    book_id: '7',
  };

  test('of the viewer is embedded in the book, except for its tags and comment', async () => {
    const { service, execute } = facade();
    service
      .intercept({
        path: '/v2/book/7',
        query: { fields: 'current_user_collection,id' },
        headers: { authorization: 'Bearer t' },
      })
      .reply(200, { id: '7', current_user_collection: entry });
    const { data } = await execute(
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

  test('has the ids of the book and the reader that it is asked for with, if it lacks them', async () => {
    const { service, execute } = facade();
    const { user_id: _, book_id: __, ...bare } = entry;
    const collections = ['7', '8'].map((id) => ({ ...bare, book: { id, title: id } }));
    service
      .intercept({ path: /collections/ })
      .reply(200, { start: 0, count: 20, total: 2, collections })
      .persist();
    service
      .intercept({ path: /^\/v2\/book\/7\?/ })
      .reply(200, { id: '7', current_user_collection: { ...bare, user_id: '3' } });
    const { data } = await execute(
      '{ user(id: 3) { bookCollections { nodes { id book { title } user { id } } } } book(id: 7) { viewerCollection { id status } } }',
      { token: 't' },
    );
    expect(data).toEqual({
      user: {
        bookCollections: {
          nodes: ['7', '8'].map((id) => ({ id: `Collection:3:${id}`, book: { title: id }, user: { id: 'User:3' } })),
        },
      },
      book: { viewerCollection: { id: 'Collection:3:7', status: 'READ' } },
    });
  });

  test('of the viewer is loaded if its tags or comment are selected; both may be absent', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7\?/ })
      .reply(200, { id: '7' })
      .times(2);
    service
      .intercept({ path: /^\/v2\/book\/7\/collection\?/, headers: { authorization: 'Bearer t' } })
      .reply(200, { ...entry, rating: undefined });
    const { data } = await execute(
      '{ book(id: 7) { viewerCollection { status rating { value } tagNames comment } } }',
      {
        token: 't',
      },
    );
    expect(data.book.viewerCollection).toEqual({ status: 'READ', rating: null, tagNames: [], comment: null });
  });

  test('of the viewer is requested without the book, however many other fields are selected', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7' });
    const fields = 'book_id,comment,id,rating,status,tags,updated,user_id';
    service
      .intercept({ path: '/v2/book/7/collection', query: { fields } })
      .reply(200, { ...entry, tags: ['小说'], comment: '好' });
    const { data } = await execute(
      '{ book(id: 7) { title viewerCollection { id status rating { value } tagNames comment updatedAt user { id } book { id } } } }',
      { token: 't' },
    );
    expect(data.book.viewerCollection).toMatchObject({ status: 'READ', tagNames: ['小说'], book: { id: 'Book:7' } });
  });

  test('of the viewer is null if the record of the book has none, and without a user token', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/7/ })
      .reply(200, { id: '7' })
      .times(2);
    expect(
      (await execute('{ book(id: 7) { id viewerCollection { status } } }', { token: 't' })).data.book.viewerCollection,
    ).toBeNull();
    expect(
      (await execute('{ book(id: 7) { id viewerCollection { status comment } } }')).data.book.viewerCollection,
    ).toBeNull();
    expect(calls.some((call) => call.includes('collection?'))).toBe(false);
  });

  test('of another user is null if it is private or does not exist: code 1001', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7' });
    service.intercept({ path: /^\/v2\/book\/7\/collection\?.*user_id=3/ }).reply(404, uncollected);
    const response = await execute('{ book(id: 7) { id collection(userId: "User:3") { status } } }');
    expect(response).toEqual({ data: { book: { id: 'Book:7', collection: null } } });
  });

  test('can be loaded by its global id', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\/collection\?.*user_id=3/ }).reply(200, { ...entry, comment: '好' });
    expect(
      (await execute('{ node(id: "Collection:3:7") { id ... on Collection { sourceId comment user { id } } } }')).data
        .node,
    ).toEqual({
      id: 'Collection:3:7',
      sourceId: '3:7',
      comment: '好',
      user: { id: 'User:3' },
    });
  });

  test('list of a user has filters, and embeds the books without a further call', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/user\/ann\/collections\?/ })
      .reply(200, { start: 0, count: 20, total: 1, collections: [{ ...entry, book: { id: '7', title: '活着' } }] });
    const { data } = await execute(
      '{ user(id: "ann") { bookCollections(status: READ, rating: 4, updatedFrom: "2015-01-01T00:00:00+08:00") { nodes { book { title } } } } }',
    );
    expect(data.user.bookCollections.nodes).toEqual([{ book: { title: '活着' } }]);
    expect(calls).toHaveLength(1);
    expect(Object.fromEntries(new URL(calls[0]!.replace('GET ', 'http://x')).searchParams)).toMatchObject({
      status: 'read',
      rating: '4',
      from: '2015-01-01T00:00:00+08:00',
    });
  });

  test.each([
    [6, 5],
    [0, 1],
  ])('list rejects the rating %d with the bound that it breaks, %d', async (rating, limit) => {
    const { execute, calls } = facade();
    const { errors } = await execute(`{ user(id: 3) { bookCollections(rating: ${rating}) { totalCount } } }`);
    expect(errors).toMatchObject([
      { path: ['user', 'bookCollections'], extensions: { code: 'BAD_USER_INPUT', limit } },
    ]);
    expect(calls).toEqual([]);
  });
});

describe('the collection of one book', () => {
  const entry = { id: 99, status: 'read', rating: { max: 5, min: 0, value: '4' }, user_id: '3', book_id: '7' };
  const annotation = { id: '5', book_id: '7', author_id: '3', author_user: { id: '3', name: '艾莉丝', type: 'user' } };

  test('of a person costs one call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(200, entry);
    const { data, errors } = await execute(
      '{ user(id: 3) { bookCollection(bookId: "Book:7") { id status rating { value } user { id } book { id } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.user.bookCollection).toEqual({
      id: 'Collection:3:7',
      status: 'READ',
      rating: { value: 4 },
      user: { id: 'User:3' },
      book: { id: 'Book:7' },
    });
    expect(calls).toEqual(['GET /v2/book/7/collection?fields=book_id,id,rating,status,user_id&user_id=3']);
  });

  test('of the author of an annotation costs one call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /annotation\/5/ }).reply(200, annotation);
    service
      .intercept({ path: /^\/v2\/book\/7\/collection/ })
      .reply(200, { ...entry, user_id: undefined, book_id: undefined });
    expect(await execute('{ annotation(id: 5) { authorCollection { id rating { value } } } }')).toEqual({
      data: { annotation: { authorCollection: { id: 'Collection:3:7', rating: { value: 4 } } } },
    });
    expect(calls).toEqual([
      'GET /v2/book/annotation/5?fields=author_id,author_user,book_id,id',
      'GET /v2/book/7/collection?fields=book_id,id,rating,user_id&user_id=3',
    ]);
  });

  test('is one call by all three ways, with the members of all', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /annotations/ }).reply(200, { total: 2, annotations: [annotation, annotation] });
    service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(200, { ...entry, comment: '好' });
    const { data, errors } = await execute(`{
      book(id: 7) {
        collection(userId: 3) { comment }
        annotations(first: 2) { nodes { authorCollection { comment } } }
      }
      user(id: 3) { bookCollection(bookId: 7) { comment } }
    }`);
    expect(errors).toBeUndefined();
    expect(data.user.bookCollection).toEqual({ comment: '好' });
    expect(data.book.annotations.nodes[1].authorCollection).toEqual({ comment: '好' });
    expect(calls.filter((call) => call.includes('/collection'))).toHaveLength(1);
  });

  test('is null if there is none or it is private, and an error if the service fails', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /user_id=3/ }).reply(404, uncollected);
    service.intercept({ path: /user_id=4/ }).reply(500, 'down');
    const of = (id: number) => execute(`{ user(id: ${id}) { bookCollection(bookId: 7) { status } } }`);
    expect(await of(3)).toEqual({ data: { user: { bookCollection: null } } });
    const failed = await of(4);
    expect(failed.data).toEqual({ user: { bookCollection: null } });
    expect(failed.errors).toMatchObject([
      { path: ['user', 'bookCollection'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
    ]);
  });

  test('is null without a call of an organisation, and of an annotation that names no author', async () => {
    const { service, execute, calls } = facade();
    const site = { ...annotation, author_user: { id: '3', type: 'site' } };
    const nameless = { ...annotation, author_id: '', author_user: null };
    service.intercept({ path: /annotations/ }).reply(200, { total: 2, annotations: [site, nameless] });
    const { data, errors } = await execute(`{
      user(id: "User:site~3") { bookCollection(bookId: 7) { status } }
      book(id: 7) { annotations(first: 2) { nodes { authorCollection { status } } } }
    }`);
    expect(errors).toBeUndefined();
    expect(data.user.bookCollection).toBeNull();
    expect(data.book.annotations.nodes).toEqual([{ authorCollection: null }, { authorCollection: null }]);
    expect(calls).toHaveLength(1);
  });

  test('of a book without a valid id is bad input', async () => {
    const { execute } = facade();
    const { errors } = await execute('{ user(id: 3) { bookCollection(bookId: "Note:7") { status } } }');
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});
