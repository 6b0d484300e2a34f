import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Queries a book for which the service returns this record. */
function book(record: object) {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await execute(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

describe('a series', () => {
  test('is a reference type: its id alone costs no call', async () => {
    const { execute, calls } = facade();
    expect(await execute('{ series(id: 5) { id sourceId } }')).toEqual({
      data: { series: { id: 'Series:5', sourceId: '5' } },
    });
    expect(calls).toEqual([]);
  });

  test('has the title that its first book tells, by the same call as its books', async () => {
    const { service, execute, calls } = facade();
    const series = { id: '5', title: '文库' };
    service
      .intercept({ path: '/v2/book/series/5/books', query: { start: 0, count: 20, fields: 'id,series,title' } })
      .reply(200, { start: 0, count: 20, total: 1, books: [{ id: '7', title: '活着', series }] });
    expect(await execute('{ series(id: 5) { id title books { nodes { title } } } }')).toEqual({
      data: { series: { id: 'Series:5', title: '文库', books: { nodes: [{ title: '活着' }] } } },
    });
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['one of its books', { id: '5', title: '文库' }, '文库'],
    ['a book of another series', { id: '6', title: '他' }, ''],
    ['a book without a series', null, ''],
  ])('by its id has the title of %s', async (_, series, title) => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: '/v2/book/series/5/books', query: { count: 1, fields: 'series' } })
      .reply(200, { start: 0, count: 1, total: 1, books: [{ series }] });
    expect((await execute('{ node(id: "Series:5") { ... on Series { title } } }')).data).toEqual({ node: { title } });
    expect(calls).toHaveLength(1);
  });

  test('of which a book has only the id is loaded', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7', series: { id: '5' } });
    service
      .intercept({ path: '/v2/book/series/5/books', query: { count: 1, fields: 'series' } })
      .reply(200, { start: 0, count: 1, total: 1, books: [{ series: { id: '5', title: '文库' } }] });
    expect((await execute('{ book(id: 7) { series { title } } }')).data.book.series).toEqual({ title: '文库' });
  });

  test('has its title from the record of a book', async () => {
    expect(await book({ series: { id: '5', title: '文库' } }).show('series { id title }')).toEqual({
      series: { id: 'Series:5', title: '文库' },
    });
  });
});
