import { expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const refused = { code: 103, msg: 'invalid_access_token', request: 'GET /v2/book/7' };

test('a token that nobody knows drops nothing of what is the same for everybody', async () => {
  const { service, ask, calls } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: '活着' });
  await ask('{ book(id: 7) { title } }');

  service.intercept({ path: '/v2/book/7?fields=id,publisher' }).reply(401, refused);
  const { errors } = await ask('{ book(id: 7) { publisher } }', { token: 'made-up' });
  expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');

  const made = calls.length;
  expect((await ask('{ book(id: 7) { title } }')).data).toEqual({ book: { title: '活着' } });
  expect(calls).toHaveLength(made);
});

test('an Authorization that is not Bearer is told so, also of what is kept', async () => {
  const { service, ask, calls } = facade();
  service.intercept({ path: '/v2/book/7?fields=id,title' }).reply(200, { id: '7', title: '活着' });
  await ask('{ book(id: 7) { title } }');

  const { data, errors } = await ask('{ book(id: 7) { title } }', { authorization: 'Basic YWxpY2U6eA==' });
  expect(data).toEqual({ book: null });
  expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  expect(calls).toHaveLength(1);
});
