import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { facade } from '../../support/facade.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

const title = { path: '/v2/book/7', query: { fields: 'id,title' } };
const question = '{ book(id: 7) { title } }';
const refusal = (code: number) => ({ code, msg: 'x', request: 'x' });

/** A facade that has read the title of a book, a while ago. */
async function aWhileAgo() {
  const house = facade();
  house.service.intercept(title).reply(200, { id: '7', title: '活着' });
  await house.ask(question);
  later(4000);
  return house;
}

test.each([500, 502, 503])('a kept record stands in for one that cannot be read: status %i', async (status) => {
  const { service, ask } = await aWhileAgo();
  service.intercept(title).reply(status, '');
  expect(await ask(question)).toEqual({
    data: { book: { title: '活着' } },
    extensions: { stale: [{ path: ['book'], ageSeconds: 4000 }] },
  });
});

test('also when there is no connection, no answer in time, or the rate is reached', async () => {
  const { service, ask } = await aWhileAgo();
  service.intercept(title).replyWithError(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
  expect(await ask(question)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  service.intercept(title).reply(429, refusal(112), { headers: { 'retry-after': '9' } });
  expect(await ask(question)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  // Told to wait, nothing is asked for, and the same stands in.
  expect(await ask(question)).toMatchObject({ data: { book: { title: '活着' } }, extensions: { stale: [{}] } });
  expect(await ask('{ book(id: 8) { title } }')).toMatchObject({
    data: { book: null },
    errors: [{ extensions: { code: 'RATE_LIMITED', retryAfter: 9 } }],
  });
});

test.each([
  [401, refusal(103)],
  [403, refusal(1000)],
  [404, refusal(6000)],
  [404, 'a page of somebody else'],
])('never after a no, which also clears it: status %i', async (status, body) => {
  const { service, ask } = await aWhileAgo();
  service.intercept(title).reply(status, body);
  expect(await ask(question)).toMatchObject({ data: { book: null } });
  service.intercept(title).reply(500, '');
  expect(await ask(question)).toMatchObject({
    data: { book: null },
    errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }],
  });
});

test('what is kept stands in, and what is not is told', async () => {
  const { service, ask } = await aWhileAgo();
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,pages,title' } }).reply(500, '');
  const { data, errors, extensions } = await ask('{ book(id: 7) { title pages } }');
  expect(data).toEqual({ book: { title: '活着', pages: null } });
  expect(errors).toMatchObject([{ path: ['book', 'pages'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  expect(extensions).toEqual({ stale: [{ path: ['book'], ageSeconds: 4000 }] });
});

test('what is kept and fresh is not called stale when more of it cannot be read', async () => {
  const { service, ask } = facade();
  service.intercept(title).reply(200, { id: '7', title: '活着' });
  await ask(question);
  service.intercept({ path: '/v2/book/7', query: { fields: 'id,pages' } }).reply(500, '');
  const { data, extensions } = await ask('{ book(id: 7) { title pages } }');
  expect(data).toEqual({ book: { title: '活着', pages: null } });
  expect(extensions).toBeUndefined();
});

test('a list stands in too, and a record in it is named by its place', async () => {
  const { service, ask } = facade();
  const films = '{ top250(first: 2) { nodes { summary } } }';
  const list = { path: (path: string) => path.startsWith('/v2/movie/top250') };
  const subject = { path: (path: string) => path.startsWith('/v2/movie/subject/') };
  service.intercept(list).reply(200, {
    start: 0,
    count: 2,
    total: 2,
    subjects: [
      { id: '1', title: 'a' },
      { id: '2', title: 'b' },
    ],
  });
  service
    .intercept(subject)
    .reply(200, ({ path }) => ({ id: path.replace(/^.*\/|\?.*$/g, ''), summary: 'told' }))
    .times(2);
  const fresh = await ask(films);
  expect(fresh.data.top250.nodes).toEqual([{ summary: 'told' }, { summary: 'told' }]);
  later(3700);
  service
    .intercept({ path: () => true })
    .reply(500, '')
    .times(3);
  const { data, extensions } = await ask(films);
  expect(data).toEqual(fresh.data);
  const paths = (extensions!.stale as { path: unknown[] }[]).map(({ path }) => path);
  expect(paths.length).toBe(3);
  expect(paths[0]).toEqual(['top250']);
  for (const path of paths.slice(1)) expect(path.slice(0, 2)).toEqual(['top250', 'nodes']);
  for (const key of paths.flat()) expect(typeof key === 'number').toBe(/^\d+$/.test(String(key)));
});

test('an hour past its time it stands in no longer', async () => {
  const { service, ask } = await aWhileAgo();
  later(3601);
  service.intercept(title).reply(500, '');
  expect(await ask(question)).toMatchObject({ data: { book: null }, errors: [{}] });
});

test('with reuse turned off nothing stands in', async () => {
  const { service, ask } = facade({ recordTtlSeconds: 0 });
  service.intercept(title).reply(200, { id: '7', title: '活着' });
  await ask(question);
  service.intercept(title).reply(500, '');
  expect(await ask(question)).toMatchObject({ data: { book: null }, errors: [{}] });
});

test('a rejected token is shown nothing that was read with it', async () => {
  const { service, ask } = facade();
  const film = { path: '/v2/movie/subject/1', query: { fields: 'id,title' } };
  service.intercept(film).reply(200, { id: '1', title: '霸王别姬' });
  const mine = { token: 'mine' };
  expect(await ask('{ subject(id: 1) { title } }', mine)).toEqual({ data: { subject: { title: '霸王别姬' } } });
  expect(await ask('{ subject(id: 1) { title } }', mine)).toEqual({ data: { subject: { title: '霸王别姬' } } });
  service.intercept({ path: '/v2/note/1', query: { fields: 'id,title' } }).reply(401, refusal(106));
  expect(await ask('{ note(id: 1) { title } }', mine)).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
  service.intercept(film).reply(401, refusal(106));
  expect(await ask('{ subject(id: 1) { title } }', mine)).toMatchObject({
    data: { subject: null },
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
});
