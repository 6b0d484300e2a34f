import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** A query of one book of the service. */
function book(record: object) {
  const { service, ask, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?.*)?$/ }).reply(200, { id: '7', ...record });
  return { calls, show: async (selection: string) => (await ask(`{ book(id: 7) { ${selection} } }`)).data?.book };
}

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
