import type { GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { facade } from '../../support/facade.ts';

/** Queries a book for which the service returns this record. */
function book(record: object) {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await execute(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

describe('tags of a book', () => {
  test('are embedded in the book, up to 8', async () => {
    const { show, calls } = book({
      tags: [
        { count: 9, name: '小说', title: '小说' },
        { count: 3, name: '余华', title: '余华' },
      ],
    });
    expect(await show('tags(first: 1) { name count }')).toEqual({ tags: [{ name: '小说', count: 9 }] });
    expect(calls).toHaveLength(1);
  });

  test('beyond 8 are loaded by one call, without the book', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/book/7/tags', query: { count: 9, fields: 'count,name,title' } })
      .reply(200, { start: 0, count: 9, total: 1, tags: [{ count: 9, title: '小说' }] });
    const { data } = await execute('{ book(id: 7) { tags(first: 9) { name count } } }');
    expect(data).toEqual({ book: { tags: [{ name: '小说', count: 9 }] } });
  });

  test.each([0, 51])('are 1 to 50; %i is rejected', async (first) => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7/ }).reply(200, { id: '7', tags: [] });
    const { errors } = await execute(`{ book(id: 7) { tags(first: ${first}) { name } } }`);
    expect(errors).toMatchObject([{ path: ['book', 'tags'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

describe('a tag', () => {
  test('of a user has the collections of that user with the tag, and all books with the tag', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /user\/3\/tags/ })
      .reply(200, { start: 0, count: 20, tags: [{ count: 2, title: '小说' }] });
    service
      .intercept({ path: /collections/ })
      .reply(200, { start: 0, count: 20, collections: [{ id: 5, user_id: '3', book_id: '7', status: 'read' }] });
    service.intercept({ path: /search/ }).reply(200, { start: 0, count: 20, books: [{ id: '8', title: 'T' }] });
    const { data, errors } = await execute(
      '{ user(id: 3) { bookTags { nodes { name collections { nodes { id status } } books { nodes { title } } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.user.bookTags.nodes).toEqual([
      {
        name: '小说',
        collections: { nodes: [{ id: 'Collection:3:7', status: 'READ' }] },
        books: { nodes: [{ title: 'T' }] },
      },
    ]);
    expect(calls.map((call) => decodeURIComponent(call))).toEqual([
      'GET /v2/book/user/3/tags?count=20&fields=name,title&start=0',
      'GET /v2/book/user/3/collections?count=20&fields=book_id,id,status,user_id&start=0&tag=小说',
      'GET /v2/book/search?count=20&fields=id,title&start=0&tag=小说',
    ]);
  });

  test('of a book has no collections, because it belongs to many people', () => {
    expect(Object.keys((schema.getType('BookTag') as GraphQLObjectType).getFields())).not.toContain('collections');
  });

  test.each([
    [61, 61],
    ['61', 61],
    [undefined, null],
  ])('is one of tagsCount, which the list tells: %j', async (total, count) => {
    const { service, execute, calls } = facade();
    const tags = Array.from({ length: 9 }, (_, at) => ({ count: 9 - at, title: `标签${at}` }));
    service.intercept({ path: /7\/tags/ }).reply(200, { start: 0, count: 9, ...(total && { total }), tags });
    const { data } = await execute('{ book(id: 7) { tagsCount tags(first: 9) { name } } }');
    expect(data.book).toMatchObject({ tagsCount: count, tags: { length: 9 } });
    expect(calls).toHaveLength(1);
  });
});
