import { expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const rejection = { code: 103, msg: 'invalid_access_token', request: 'GET /v2/book/7' };

test('a rejected token evicts no shared cache entries', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: '活着' });
  await execute('{ book(id: 7) { title } }');

  service.intercept({ path: '/v2/book/7?fields=id,publisher' }).reply(401, rejection);
  const { errors } = await execute('{ book(id: 7) { publisher } }', { token: 'made-up' });
  expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');

  const callsBefore = calls.length;
  expect((await execute('{ book(id: 7) { title } }')).data).toEqual({ book: { title: '活着' } });
  expect(calls).toHaveLength(callsBefore);
});

test('an Authorization header other than Bearer is rejected, even if the record is cached', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: '活着' });
  await execute('{ book(id: 7) { title } }');

  const { data, errors } = await execute('{ book(id: 7) { title } }', { authorization: 'Basic YWxpY2U6eA==' });
  expect(data).toEqual({ book: null });
  expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  expect(calls).toHaveLength(1);
});
