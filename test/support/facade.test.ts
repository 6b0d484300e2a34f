import { expect, test } from 'vitest';
import { facade, takeUndeclared } from './facade.ts';

const query = '{ book(id: 7) { title } }';

test.each([
  ['a path', { path: '/v2/book/7?fields=id' }, 'path', 'GET /v2/book/7?fields=id'],
  ['a query', { path: '/v2/book/7', query: { fields: 'id' } }, 'path', 'GET /v2/book/7?fields=id'],
  ['a method', { path: '/v2/book/7?fields=id,title', method: 'PUT' }, 'method', 'PUT /v2/book/7?fields=id,title'],
  [
    'a header',
    { path: '/v2/book/7?fields=id,title', headers: { authorization: 'Bearer alice' } },
    'headers',
    'GET /v2/book/7?fields=id,title',
  ],
])(
  'a request that was declared with another value of %s is named, with what was declared',
  async (_, other, by, text) => {
    const { service, execute } = facade();
    service.intercept({ method: 'GET', ...other }).reply(200, {});
    expect((await execute(query)).errors).toHaveLength(1);
    expect(takeUndeclared()).toEqual([
      `GET /v2/book/7?fields=id,title was not declared, by its ${by}; declared: ${text}`,
    ]);
  },
);

test('a request that was declared once is named when it is made again', async () => {
  const { service, execute } = facade({ recordTtlSeconds: 0 });
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: '活着' });
  expect((await execute(query)).errors).toBeUndefined();
  expect((await execute(query)).errors).toHaveLength(1);
  const line = 'GET /v2/book/7?fields=id,title (its request 2)';
  expect(takeUndeclared()).toEqual([`${line} was not declared, by its path; declared: nothing more`]);
});

test('a test of what fails allows it', async () => {
  const { errors } = await facade({}, { allowsUndeclared: true }).execute(query);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  expect(takeUndeclared()).toEqual([]);
});
