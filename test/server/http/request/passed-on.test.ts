import { expect, test } from 'vitest';
import { startFacade } from '../../../support/start-facade.ts';

test('the request id of the client is sent upstream, and its cookies and addresses are not', async () => {
  const { execute, books } = await startFacade();
  const headers = {
    'x-request-id': 'page-7',
    cookie: 'a=b',
    'x-forwarded-for': '10.0.0.1',
    authorization: 'Bearer alice',
  };
  await execute('{ book(id: 7) { title } }', { headers });
  expect(books.requests.length).toBeGreaterThan(0);
  for (const request of books.requests) {
    expect(request.headers).toMatchObject({ 'x-request-id': 'page-7', authorization: 'Bearer alice' });
    expect(request.headers).not.toHaveProperty('cookie');
    expect(request.headers).not.toHaveProperty('x-forwarded-for');
  }
});
