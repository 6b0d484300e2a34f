import { expect, test, vi } from 'vitest';
import { facade } from '../../support/facade.ts';

const alice = { token: 'alice' };
const book = { id: '7', title: '活着', tags: [{ name: '小说', title: '小说', count: 2 }] };
const collection = { id: 1, book_id: '7', book, status: 'wish', updated: '2026-11-20 10:00:00', user_id: 'alice' };

test('collecting a book returns the fields of the response, with one call', async () => {
  const { service, execute, calls } = facade();
  service
    .intercept({
      path: '/v2/book/7/collection',
      method: 'POST',
      body: 'status=wish&tags=%E5%B0%8F%E8%AF%B4+%E7%BB%8F%E5%85%B8&comment=%E5%A5%BD&privacy=private&rating=4',
      headers: { authorization: 'Bearer alice', 'content-type': 'application/x-www-form-urlencoded' },
    })
    .reply(201, { ...collection, rating: { max: 5, min: 0, value: '4' }, tags: ['小说', '经典'], comment: '好' });

  const response = await execute(
    `mutation ($input: CollectBookInput!) { collectBook(input: $input) {
      created
      collection { id status comment book { title } }
      book { id title subtitle tags { name } viewerCollection { status tagNames comment rating { value } user { id } } }
    } }`,
    {
      ...alice,
      variables: {
        input: { bookId: 'Book:7', status: 'WISH', rating: 4, tags: ['小说', '经典'], comment: '好', isPrivate: true },
      },
    },
  );
  expect(response).toEqual({
    data: {
      collectBook: {
        created: true,
        collection: { id: 'Collection:alice:7', status: 'WISH', comment: '好', book: { title: '活着' } },
        book: {
          id: 'Book:7',
          title: '活着',
          subtitle: null,
          tags: [{ name: '小说' }],
          viewerCollection: {
            status: 'WISH',
            tagNames: ['小说', '经典'],
            comment: '好',
            rating: { value: 4 },
            user: { id: 'User:alice' },
          },
        },
      },
    },
  });
  expect(calls).toEqual(['POST /v2/book/7/collection']);
});

test('a book whose collection was deleted has a null viewerCollection without another call', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: '/v2/book/7/collection', method: 'DELETE' }).reply(204, '');
  const response = await execute(
    'mutation { deleteCollection(input: { bookId: "7" }) { book { id viewerCollection { status comment } } } }',
    alice,
  );
  expect(response.data).toEqual({ deleteCollection: { book: { id: 'Book:7', viewerCollection: null } } });
  expect(calls).toEqual(['DELETE /v2/book/7/collection']);
});

test('a write is reported as made if its response has an object where an id is due', async () => {
  const { service, execute } = facade();
  const written = { ...collection, id: { toString: 1 } };
  service.intercept({ path: '/v2/book/7/collection', method: 'POST' }).reply(201, written);
  const mutation = 'mutation { collectBook(input: { bookId: "7", status: WISH }) { created collection { status } } }';
  expect(await execute(mutation, alice)).toEqual({
    data: { collectBook: { created: true, collection: { status: 'WISH' } } },
  });
});

test('fields that the response of a mutation lacks are loaded after it, and no others', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: '/v2/book/7/collection', method: 'POST' }).reply(201, { ...collection, book: undefined });
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,title' } }).reply(200, { id: '7', title: '活着' });
  const response = await execute(
    'mutation { collectBook(input: { bookId: "7", status: WISH }) { book { title viewerCollection { status tagNames } } } }',
    alice,
  );
  expect(response.data.collectBook.book).toEqual({ title: '活着', viewerCollection: { status: 'WISH', tagNames: [] } });
  expect(calls).toHaveLength(2);
});

test('a mutation invalidates the cached responses that it changed, for all users, and no others', async () => {
  const { service, execute, calls } = facade();
  const pages = '{ book(id: "7") { title annotations { nodes { id } } } other: book(id: "70") { title } }';
  const annotations = (ids: string[]) => ({
    start: 0,
    count: 20,
    total: ids.length,
    annotations: ids.map((id) => ({ id })),
  });
  const list = { path: '/v2/book/7/annotations', query: { fields: 'id', order: 'rank', start: 0, count: 20 } };
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,title' } }).reply(200, { id: '7', title: '活着' });
  service.intercept({ path: '/v2/book/70', query: { fields: 'id,title' } }).reply(200, { id: '70', title: '许三观' });
  service.intercept(list).reply(200, annotations([]));
  expect((await execute(pages)).data.book.annotations.nodes).toEqual([]);
  expect((await execute(pages)).data.book.annotations.nodes).toEqual([]);
  expect(calls).toHaveLength(3);

  const written = { id: '9', book_id: '7', author_id: 'alice' };
  service.intercept({ path: '/v2/book/7/annotations', method: 'POST' }).reply(201, written);
  const input = { bookId: '7', content: '一'.repeat(16) };
  const mutation =
    'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { id } } }';
  await execute(mutation, { ...alice, variables: { input } });

  service.intercept(list).reply(200, annotations(['9']));
  expect((await execute(pages, alice)).data.book.annotations.nodes).toEqual([{ id: 'Annotation:9' }]);
  expect(calls).toHaveLength(5);
});

test('a read that began before a mutation does not provide the fields selected of its payload', async () => {
  const { service, execute, calls } = facade();
  const read = { path: '/v2/note/5', query: { fields: 'id,liked_count' } };
  service.intercept(read).reply(200, { id: '5', liked_count: 0 }).delay(150);
  const before = execute('{ note(id: "5") { likesCount } }', alice);
  await vi.waitFor(() => expect(calls).toHaveLength(1), { interval: 5, timeout: 60_000 });
  service.intercept({ path: '/v2/note/5/like', method: 'POST' }).reply(200, {});
  service.intercept(read).reply(200, { id: '5', liked_count: 1 });
  const after = await execute('mutation { likeNote(input: { id: "5" }) { note { likesCount } } }', alice);
  expect(after.data.likeNote.note).toEqual({ likesCount: 1 });
  expect((await before).data.note).toEqual({ likesCount: 0 });
});

test('an existing collection is left unchanged and returned for onConflict: KEEP', async () => {
  const { service, execute, calls } = facade();
  const exists = { code: 6011, msg: 'collection_exist', request: 'POST /v2/book/7/collection' };
  service.intercept({ method: 'POST', path: '/v2/book/7/collection' }).reply(409, exists);
  service.intercept({ path: '/v2/book/7/collection' }).reply(200, { ...collection, status: 'read', comment: '旧' });
  const query =
    'mutation { collectBook(input: { bookId: 7, status: WISH, onConflict: KEEP }) { created collection { id status comment } book { title } } }';
  expect((await execute(query, alice)).data.collectBook).toEqual({
    created: false,
    collection: { id: 'Collection:alice:7', status: 'READ', comment: '旧' },
    book: { title: '活着' },
  });
  expect(calls).toEqual(['POST /v2/book/7/collection', 'GET /v2/book/7/collection']);
});

test('COLLECTION_EXISTS names the existing collection once the caller is known, and otherwise does not', async () => {
  const { service, execute, calls } = facade();
  const exists = { code: 6011, msg: 'collection_exist', request: 'POST /v2/book/7/collection' };
  service.intercept({ method: 'POST', path: '/v2/book/7/collection' }).reply(409, exists).times(3);
  const query = 'mutation { collectBook(input: { bookId: 7, status: WISH }) { created } }';
  const extensionsFor = async (caller: { token: string }) => (await execute(query, caller)).errors![0]!.extensions;

  const upstream = { service: 'catalog', status: 409, code: 6011, request: 'POST /v2/book/7/collection' };
  const unknown = await extensionsFor(alice);
  expect(unknown).toMatchObject({ code: 'COLLECTION_EXISTS', upstream });
  expect(unknown).not.toHaveProperty('existing');

  service
    .intercept({ path: /^\/v2\/book\/9\?/ })
    .reply(200, { id: '9', current_user_collection: { ...collection, book_id: '9', user_id: '3' } });
  await execute('{ book(id: 9) { viewerCollection { status } } }', alice);
  expect(await extensionsFor(alice)).toMatchObject({
    ...{ code: 'COLLECTION_EXISTS', upstream },
    existing: { id: 'Collection:3:7' },
  });
  expect(await extensionsFor({ token: 'bob' })).not.toHaveProperty('existing');
  expect(calls).toHaveLength(4);
});
