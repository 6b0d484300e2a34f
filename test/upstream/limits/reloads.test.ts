/** What reads of cached entries anew cost, and whom they concern. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RELOADS_PER_ADDRESS, createReloads } from '../../../src/upstream/limits/reloads.ts';
import { hasRedis, until } from '../../support/redis.ts';
import { BOOK, aliases, manyAliases, openReloading, openReplicas } from '../../support/reloading.ts';

const COLLECT =
  'mutation { collectBook(input: { bookId: "7", status: READING, isPrivate: false }) { collection { status } } }';
const alice = { authorization: 'Bearer demo-alice' };
const bob = { authorization: 'Bearer demo-bob' };
const search = (text: string, first = 1, fields = 'title') =>
  `searchBooks(query: "${text}", first: ${first}) { nodes { ${fields} } }`;

describe('a reload', () => {
  test('stores nothing that a write has made untrue while it was in flight', async () => {
    const { plain, reload, requests, state, hold } = await openReloading();
    await plain(BOOK);
    state.title = 'second';
    const release = hold();
    const reloading = reload(BOOK);
    await until(() => requests.length === 2);
    state.title = 'third';
    const { data } = await plain(COLLECT, alice);
    expect(data.collectBook.collection).toEqual({ status: 'READING' });
    release();
    await reloading;
    expect((await plain(BOOK)).data.book).toEqual({ title: 'third' });
  });

  test('drops no other search, and no film of another caller', async () => {
    const { plain, reload, requests, state } = await openReloading();
    await plain(`{ ${search('x')} }`);
    await plain(`{ ${search('y')} }`);
    await plain('{ subject(id: "7") { title } }', alice);
    await plain('{ subject(id: "7") { title } }', bob);
    state.title = 'second';
    await reload(`{ ${search('x')} }`);
    await reload('{ subject(id: "7") { title } }', undefined, alice);
    const made = requests.length;
    expect((await plain(`{ ${search('x')} }`)).data.searchBooks.nodes).toEqual([{ title: 'second' }]);
    await plain(`{ ${search('y')} }`);
    expect((await plain('{ subject(id: "7") { title } }', alice)).data.subject).toEqual({ title: 'second' });
    await plain('{ subject(id: "7") { title } }', bob);
    expect(requests.slice(made)).toEqual([]);
  });

  test('reads what is old together with what the entry lacks', async () => {
    const { plain, reload, requests, state } = await openReloading();
    await plain(BOOK);
    await reload(BOOK);
    state.title = 'second';
    const { data, extensions } = await reload('{ book(id: "7") { title publisher } }');
    expect(data.book).toEqual({ title: 'second', publisher: 'second' });
    expect(extensions).toBeUndefined();
    expect(requests).toHaveLength(3);
    expect((await plain(BOOK)).data.book).toEqual({ title: 'second' });
  });

  test.each([BOOK, '{ bookByIsbn(isbn: "9787506365437") { title } }'])(
    'gets null for what is known to be absent while the service is down, and is told how old that is: %s',
    async (query) => {
      const { plain, reload, state, losesBook } = await openReloading();
      losesBook();
      const absent = (await plain(query)).data;
      Object.assign(state, { status: 503, body: '' });
      const { data, errors, extensions } = await reload(query);
      expect([Object.values(data), data, errors]).toEqual([[null], absent, undefined]);
      expect(extensions.stale).toEqual([{ path: Object.keys(data), ageSeconds: 0 }]);
    },
  );

  test('takes nothing of the share for a record that it does not read', async () => {
    const { plain, reload, requests } = await openReloading(manyAliases);
    const books = aliases(RELOADS_PER_ADDRESS, (id) => `book(id: "${id}") { title }`);
    const annotations = aliases(
      RELOADS_PER_ADDRESS,
      (id) => `book(id: "${id}") { annotations(first: 1) { totalCount } }`,
    );
    await plain(books);
    await reload(annotations);
    const made = requests.length;
    await reload(books);
    expect(requests.length - made).toBe(RELOADS_PER_ADDRESS);
  });

  test('drops what is cached when the service forbids storing what has changed', async () => {
    const { plain, reload, state } = await openReloading();
    await plain(BOOK);
    Object.assign(state, { title: 'second', cacheControl: 'no-store' });
    expect((await reload(BOOK)).data.book).toEqual({ title: 'second' });
    expect((await plain(BOOK)).data.book).toEqual({ title: 'second' });
  });

  test.each([2, 1])(
    'gets cached lists that differ in fields while the service is down, of %d and 1 items',
    async (first) => {
      const both = [search('x', first, 'publisher'), search('x')];
      const { plain, reload, state } = await openReloading();
      for (const each of both) await plain(`{ ${each} }`);
      Object.assign(state, { status: 503, body: '' });
      const { data, errors, extensions } = await reload(`{ a: ${both[0]} b: ${both[1]} }`);
      expect(errors).toBeUndefined();
      expect(data.b.nodes).toEqual([{ title: 'first' }]);
      expect(data.a.nodes).toHaveLength(first);
      expect(extensions.stale).toHaveLength(2);
    },
  );

  test('is told the reason where a film is denied meanwhile', async () => {
    const { plain, reload, state } = await openReloading();
    const query = '{ subject(id: "7") { title } }';
    await plain(query, alice);
    Object.assign(state, { status: 403, body: '{"msg":"need_permission","code":1000,"request":"x"}' });
    const { data, errors } = await reload(query, undefined, alice);
    expect(data).toEqual({ subject: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  });

  test('is told the reason where a chart is denied meanwhile, and so is everybody after it', async () => {
    const { plain, reload, state } = await openReloading();
    const query = '{ inTheaters(first: 1) { nodes { title } } }';
    expect((await plain(query, alice)).data.inTheaters.nodes).toEqual([{ title: 'first' }]);
    Object.assign(state, { status: 403, body: '{"msg":"need_permission","code":1000,"request":"x"}' });
    const codes = async (asked: ReturnType<typeof plain>) =>
      (await asked).errors?.map(({ extensions }) => extensions.code);
    expect(await codes(reload(query, undefined, alice))).toEqual(['TIER_REQUIRED']);
    expect(await codes(plain(query, alice))).toEqual(['TIER_REQUIRED']);
  });

  test('is one read for many clients that ask at once', async () => {
    const { plain, reload, requests, state } = await openReloading();
    await plain(BOOK);
    state.title = 'second';
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => reload(BOOK, `192.0.2.${at}`)));
    expect(answers.map(({ data }) => data.book.title)).toEqual(Array.from({ length: 20 }, () => 'second'));
    expect(requests).toHaveLength(2);
  });

  test('leaves nothing behind when its client leaves', async () => {
    const { url, plain, reload, requests, state, hold } = await openReloading();
    await plain(BOOK);
    const release = hold();
    const leaving = new AbortController();
    const asked = fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      body: JSON.stringify({ query: BOOK }),
      signal: leaving.signal,
    });
    await until(() => requests.length === 2);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    state.heldUntil = undefined;
    state.title = 'second';
    expect((await plain(BOOK)).data.book).toEqual({ title: 'first' });
    expect((await reload(BOOK)).data.book).toEqual({ title: 'second' });
    release();
  });

  test.each(['no-cache, no-cache', 'NO-CACHE', 'max-age=0,no-cache', `${'x,'.repeat(3500)}no-cache`])(
    'is asked for by any form of the directive: %.20s',
    async (value) => {
      const { plain, requests } = await openReloading();
      await plain(BOOK);
      expect((await plain(BOOK, { 'cache-control': value })).data.book).toEqual({ title: 'first' });
      expect(requests).toHaveLength(2);
    },
  );

  test.each(['"no-cache"', 'no-cache="age"', 'no-cached', 'max-age=0', 'no cache', ',,,'.repeat(2500)])(
    'is not asked for by another: %.20s',
    async (value) => {
      const { plain, requests } = await openReloading();
      await plain(BOOK);
      expect((await plain(BOOK, { 'cache-control': value })).extensions).toBeUndefined();
      expect(requests).toHaveLength(1);
    },
  );

  test('makes no more calls for windows of one list than a cold run', async () => {
    const both = `{ a: ${search('x', 1)} b: ${search('x', 2, 'id title')} }`;
    const cold = await openReloading();
    await cold.plain(both);
    expect(cold.requests).toHaveLength(1);
    const { plain, reload, requests } = await openReloading();
    await plain(`{ a: ${search('x', 1)} }`);
    await plain(`{ b: ${search('x', 2, 'id title')} }`);
    await reload(both);
    expect(requests).toHaveLength(3);
    await reload(both);
    await reload(both);
    await reload(both);
    expect(requests).toHaveLength(3);
  });
});

describe('what may be read anew', () => {
  afterEach(() => void vi.useRealTimers());
  const clock = () => vi.useFakeTimers({ toFake: ['performance'], now: 0 });

  test('is an entry once in ten seconds, for all addresses together', () => {
    const { advanceTimersByTime } = clock();
    const reloads = createReloads();
    const first = reloads('192.0.2.1');
    expect(first.mayRead('a')).toBe(true);
    first.wasRead('a');
    expect(first.mayRead('a')).toBe(true); // the operation goes on as it began
    advanceTimersByTime(9_999);
    expect(reloads('192.0.2.2').mayRead('a')).toBe(false);
    advanceTimersByTime(1);
    expect(reloads('192.0.2.2').mayRead('a')).toBe(true);
  });

  test('is a share of each address, which comes back a minute after each read', () => {
    const { advanceTimersByTime } = clock();
    const reloads = createReloads();
    const read = (address: string) => reloads(address).mayRead(`entry ${++entries}`);
    let entries = 0;
    expect(read('192.0.2.1')).toBe(true);
    advanceTimersByTime(30_000);
    for (let left = RELOADS_PER_ADDRESS - 1; left > 0; left--) expect(read('192.0.2.1')).toBe(true);
    expect([read('192.0.2.1'), read('192.0.2.2')]).toEqual([false, true]);
    advanceTimersByTime(30_000);
    expect([read('192.0.2.1'), read('192.0.2.1')]).toEqual([true, false]);
  });
});

describe('x-explain: plan of a reload', () => {
  const plan = { 'x-explain': 'plan' };

  test('tells no more calls than the share has room for', async () => {
    const { plain, reload } = await openReloading({ ...manyAliases, explain: 'on', maxUpstreamCalls: '200' });
    const books = aliases(RELOADS_PER_ADDRESS + 10, (id) => `book(id: "${id}") { title }`);
    await plain(books);
    const { extensions } = await reload(books, undefined, plan);
    expect(extensions.upstream.min).toBe(RELOADS_PER_ADDRESS);
  });

  test('promises no call of a film that the rate limit may refuse', async () => {
    const { plain, reload, requests } = await openReloading({ explain: 'on', accessToken: 'app', filmTier: 'basic' });
    const films = aliases(15, (id) => `subject(id: "${id}") { title }`);
    await plain(films, { 'x-forwarded-for': '192.0.2.1' });
    const made = requests.length;
    const { extensions } = await reload(films, undefined, plan);
    await reload(films);
    expect(extensions.upstream.min).toBeLessThanOrEqual(requests.length - made);
  });
});

describe.skipIf(!hasRedis)('a reload over a Redis', () => {
  test('leaves other replicas the other searches', async () => {
    const { one, other, requests, state } = await openReplicas();
    await one.plain(`{ ${search('x')} }`);
    await one.plain(`{ ${search('y')} }`);
    await until(async () => (await other.plain(`{ ${search('y')} }`)).status === 'catalog-graphql; hit');
    await until(async () => (await other.plain(`{ ${search('x')} }`)).status === 'catalog-graphql; hit');
    state.title = 'second';
    await one.reload(`{ ${search('x')} }`);
    await until(async () => (await other.plain(`{ ${search('x')} }`)).data.searchBooks.nodes[0].title === 'second');
    const made = requests.length;
    await other.plain(`{ ${search('y')} }`);
    await one.plain(`{ ${search('y')} }`);
    await one.plain(`{ ${search('x')} }`);
    expect(requests.slice(made)).toEqual([]);
  });

  test('shows other replicas a record that was absent', async () => {
    const { one, other, losesBook, findsBook } = await openReplicas();
    losesBook();
    await one.plain(BOOK);
    expect((await other.plain(BOOK)).data.book).toBeNull();
    findsBook();
    // Times of entries from Redis are exact to some ms: one that was just stored may look newer than the reload.
    await until(async () => (await one.reload(BOOK)).data.book?.title === 'first');
    await until(async () => (await other.plain(BOOK)).data.book !== null);
  });

  test('stores nothing that a write of another replica has made untrue', async () => {
    const { one, other, requests, state, hold } = await openReplicas();
    await one.plain(BOOK);
    await until(async () => (await other.plain(BOOK)).status === 'catalog-graphql; hit');
    state.title = 'second';
    const release = hold();
    const made = requests.length;
    const reloading = one.reload(BOOK);
    await until(() => requests.length === made + 1);
    state.title = 'third';
    await other.plain(COLLECT, alice);
    release();
    await reloading;
    expect((await one.plain(BOOK)).data.book).toEqual({ title: 'third' });
    expect((await other.plain(BOOK)).data.book).toEqual({ title: 'third' });
  });

  test('shows new data while the Redis is down', async () => {
    const { one, redis, state } = await openReplicas();
    await one.plain(BOOK);
    await redis.stop();
    state.title = 'second';
    const { data, errors } = await one.reload(BOOK);
    expect([data.book, errors]).toEqual([{ title: 'second' }, undefined]);
  });
});
