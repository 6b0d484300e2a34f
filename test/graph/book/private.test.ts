import { expect, test } from 'vitest';
import { journey } from '../../support/journey.ts';
import { facade } from '../../support/facade.ts';

const query = '{ book(id: "1003078") { viewerCollection { id isPrivate } } }';
const token = 'demo-alice';

test('a collection of the caller is private or not, for one call or two without the token, as its price says', async () => {
  const here = await journey();
  for (const isPrivate of [true, false]) {
    const input = `bookId: "1003078", status: READ, isPrivate: ${isPrivate}, onConflict: UPDATE`;
    const written = await here.execute(`mutation { collectBook(input: { ${input} }) { created } }`, { token });
    expect(written.errors).toBeUndefined();
    const { response, passed } = await here.cost(query, { token });
    expect(response.errors).toBeUndefined();
    expect(response.data.book.viewerCollection.isPrivate).toBe(isPrivate);
    const own = passed.filter(({ line }) => /\/collection/.test(line));
    expect(own.map(({ line }) => line.replace(/\?.*/, ''))).toEqual([
      'GET /v2/book/1003078/collection',
      ...(isPrivate ? ['GET /v2/book/user/1000001/collections'] : []),
    ]);
  }
  const { response } = await here.cost(query, { token, headers: { 'x-explain': 'plan' } });
  expect(response.extensions).toMatchObject({ upstream: { max: 3 } });
  // Everybody else is told nothing, without a call.
  const others = '{ book(id: "1003078") { collection(userId: "1000001") { status isPrivate } } }';
  for (const other of ['demo-bob', undefined]) {
    const { response: seen, passed } = await here.cost(others, { ...(other && { token: other }) });
    expect(seen.data.book.collection).toEqual({ status: 'READ', isPrivate: null });
    expect(passed.filter(({ line }) => line.includes('/collection'))).toHaveLength(1);
  }
});

const shelved = { id: 1, book_id: '7', user_id: '3', status: 'wish' };
test.each([
  ['the service refuses all reads without a token', 401, { code: 103, msg: 'invalid_access_token' }, null, undefined],
  ['the service does not say', 200, { ...shelved, id: 2 }, null, undefined],
  ['the service is out', 502, {}, null, 'UPSTREAM_UNAVAILABLE'],
] as const)('it is null if %s, with an error only for an outage', async (_, status, body, expected, code) => {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?|$)/ }).reply(200, { id: '7', current_user_collection: shelved });
  service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(status, body);
  const { data, errors } = await execute('{ book(id: "7") { viewerCollection { id isPrivate } } }', { token: 'a' });
  expect(data.book.viewerCollection).toEqual({ id: 'Collection:3:7', isPrivate: expected });
  expect(errors?.[0]?.extensions.code).toBe(code);
  expect(calls).toHaveLength(2);
});
