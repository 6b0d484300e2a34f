import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Queries a book for which the service returns this record. */
function book(record: object) {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await execute(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

describe('a series', () => {
  test('is a reference type: only its books cost a call', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/book/series/5/books', query: { start: 0, count: 20, fields: 'id,title' } })
      .reply(200, { start: 0, count: 20, total: 1, books: [{ id: '7', title: '活着' }] });
    expect(await execute('{ series(id: 5) { id title books { nodes { title } } } }')).toEqual({
      data: { series: { id: 'Series:5', title: null, books: { nodes: [{ title: '活着' }] } } },
    });
  });

  test('that does not exist has null books: code 6014', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/book\/series\/5\/books/ })
      .reply(404, { code: 6014, msg: 'series_not_found', request: 'GET /v2/book/series/5/books' });
    expect(await execute('{ series(id: 5) { books { totalCount } } }')).toEqual({ data: { series: { books: null } } });
  });

  test('has its title from the record of a book', async () => {
    expect(await book({ series: { id: '5', title: '文库' } }).show('series { id title }')).toEqual({
      series: { id: 'Series:5', title: '文库' },
    });
  });
});
