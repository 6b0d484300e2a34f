/** `Cache-Control: no-cache` of a request, which phones send when somebody pulls to refresh. */
import { createHash } from 'node:crypto';
import { createYoga } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import type { EmbeddedFacade, ResultPart } from '../../facade.d.ts';
import { catalogPlugin } from '../../src/facade.ts';
import { RELOADS_PER_ADDRESS } from '../../src/upstream/limits/reloads.ts';
import { embedded, post } from '../support/embedded.ts';
import { mergeParts } from '../support/pieces.ts';
import { hasRedis, until } from '../support/redis.ts';
import {
  BOOK,
  aliases,
  changingService,
  manyAliases,
  openReloading as open,
  openReplicas,
} from '../support/reloading.ts';

const FILM = '{ subject(id: "7") { title } }';
const SEARCH = '{ searchBooks(query: "x", first: 1) { nodes { title } } }';

describe('a request with Cache-Control: no-cache', () => {
  test('reads a cached record and a cached list anew, and others get what it has read', async () => {
    const { plain, reload, requests, state } = await open();
    await plain(BOOK);
    await plain(SEARCH);
    state.title = 'second';
    expect((await plain(BOOK)).data.book).toEqual({ title: 'first' });
    expect(requests).toHaveLength(2);
    const { data, extensions, status } = await reload(BOOK);
    expect(data.book).toEqual({ title: 'second' });
    expect(extensions).toBeUndefined();
    expect(status).toBe('catalog-graphql; fwd=miss');
    expect((await reload(SEARCH)).data.searchBooks).toEqual({ nodes: [{ title: 'second' }] });
    expect(requests).toHaveLength(4);
    // Also where the whole response was stored.
    expect((await plain(BOOK)).data.book).toEqual({ title: 'second' });
    expect((await plain(SEARCH)).data.searchBooks).toEqual({ nodes: [{ title: 'second' }] });
    expect(requests).toHaveLength(4);
  });

  test('reads a record once in ten seconds, whoever asks, and else says how old it is', async () => {
    const { plain, reload, requests } = await open();
    await plain(BOOK);
    await reload(BOOK);
    const { data, extensions, headers, status } = await reload(BOOK, '192.0.2.2');
    expect(requests).toHaveLength(2);
    expect(data.book).toEqual({ title: 'first' });
    expect(extensions).toEqual({ age: [{ path: ['book'], ageSeconds: expect.any(Number) as number }] });
    expect(headers.get('age')).toMatch(/^\d+$/);
    expect(status).toBe('catalog-graphql; hit; detail=stale');
  });

  test('keeps what is cached of a record that has not changed, of which it asked for less', async () => {
    const { plain, reload, requests } = await open();
    await plain('{ book(id: "7") { title publisher } }');
    await reload(BOOK);
    const made = requests.length;
    expect((await plain('{ book(id: "7") { publisher } }')).data.book).toEqual({ publisher: 'first' });
    expect(requests).toHaveLength(made);
  });

  test('reads no more of an address than its share, and takes nothing from another', async () => {
    const { plain, reload, requests } = await open(manyAliases);
    const some = RELOADS_PER_ADDRESS + 20;
    const books = aliases(some, (id) => `book(id: "${id}") { title }`);
    await plain(books);
    expect(requests).toHaveLength(some);
    const { extensions, data } = await reload(books);
    expect(requests).toHaveLength(some + RELOADS_PER_ADDRESS);
    expect(extensions?.age).toHaveLength(20);
    expect(Object.values(data)).toEqual(Array.from({ length: some }, () => ({ title: 'first' })));
    await reload(`{ book(id: "${some}") { title } }`, '192.0.2.2');
    expect(requests).toHaveLength(some + RELOADS_PER_ADDRESS + 1);
  });

  test.each([
    ['is down', 503],
    ['refuses calls for a while', 429],
  ])('gets the cached record with its age when the service %s', async (_, status) => {
    const { plain, reload, state } = await open();
    await plain(BOOK);
    Object.assign(state, { status, body: '' });
    const { data, errors, extensions } = await reload(BOOK);
    expect(errors).toBeUndefined();
    expect(data.book).toEqual({ title: 'first' });
    expect(extensions?.stale ?? extensions?.age).toHaveLength(1);
    // And once more, when the service has not been asked again.
    expect((await reload(BOOK)).data.book).toEqual({ title: 'first' });
  });

  test('gets the cached records with their age while the circuit breaker is open, and makes no call', async () => {
    const { plain, reload, requests, state } = await open({ ...manyAliases, breakerFailures: '3' });
    const books = aliases(12, (id) => `book(id: "${id}") { title }`);
    await plain(books);
    state.isGone = true;
    for (const time of ['as it opens', 'while it is open']) {
      const before = requests.length;
      const { data, errors, extensions } = await reload(books);
      expect(errors, time).toBeUndefined();
      expect(Object.values(data), time).toEqual(Array.from({ length: 12 }, () => ({ title: 'first' })));
      expect([...(extensions?.stale ?? []), ...(extensions?.age ?? [])], time).toHaveLength(12);
      if (time !== 'as it opens') expect(requests).toHaveLength(before);
    }
  });

  test('gets null for a record that has been deleted, and so does everybody after it', async () => {
    const { plain, reload, losesBook } = await open();
    await plain(BOOK);
    losesBook();
    expect((await plain(BOOK)).data.book).toEqual({ title: 'first' });
    expect((await reload(BOOK)).data.book).toBeNull();
    expect((await plain(BOOK)).data.book).toBeNull();
  });

  test('finds a record that was absent before', async () => {
    const { plain, reload, losesBook, findsBook } = await open();
    losesBook();
    expect((await plain(BOOK)).data.book).toBeNull();
    findsBook();
    expect((await plain(BOOK)).data.book).toBeNull();
    expect((await reload(BOOK)).data.book).toEqual({ title: 'first' });
    expect((await plain(BOOK)).data.book).toEqual({ title: 'first' });
  });

  test('reads films from the share of its address, and gets the cached ones beyond it', async () => {
    const { plain, reload, requests } = await open({ accessToken: 'app', filmTier: 'basic' });
    const films = aliases(15, (id) => `subject(id: "${id}") { title }`);
    await plain(films, { 'x-forwarded-for': '192.0.2.1' });
    expect(requests).toHaveLength(15);
    // The address has 20 of 40 calls a minute and has used 15.
    const { data, errors } = await reload(films);
    expect(errors).toBeUndefined();
    expect(Object.values(data)).toEqual(Array.from({ length: 15 }, () => ({ title: 'first' })));
    expect(requests).toHaveLength(20);
    await reload(FILM, '192.0.2.2');
    expect(requests).toHaveLength(21);
  });

  test('is no reload with If-None-Match, to which fetch adds the header by itself', async () => {
    const { plain, requests } = await open();
    await plain(BOOK);
    const again = await plain(BOOK, { 'if-none-match': '"other"' });
    expect(again.extensions).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test('is planned without using up what may be read', async () => {
    const { plain, reload, requests } = await open({ explain: 'on' });
    await plain(BOOK);
    for (let n = 0; n < 3; n++) {
      const { extensions } = await reload(BOOK, undefined, { 'x-explain': 'plan' });
      expect(extensions).toMatchObject({ upstream: { min: 1 } });
    }
    await reload(BOOK);
    expect(requests).toHaveLength(2);
  });
});

describe('new data comes', () => {
  const anew = { 'cache-control': 'no-cache' };
  /** A facade whose program decides who may run what, and which has a book in its cache that has changed since. */
  async function outdated() {
    const { url, state, requests } = await changingService();
    const facade = embedded(url, { authorize: () => true });
    expect(await facade.execute({ query: BOOK })).toEqual({ data: { book: { title: 'first' } } });
    state.title = 'second';
    expect(await facade.execute({ query: BOOK })).toEqual({ data: { book: { title: 'first' } } });
    return { facade, url, requests };
  }
  const result = { data: { book: { title: 'second' } } };

  test('to an operation of the program', async () => {
    const { facade } = await outdated();
    expect(await facade.execute({ query: BOOK, headers: anew })).toEqual(result);
  });

  test('through a Yoga server of the program', async () => {
    const { facade } = await outdated();
    const yoga = createYoga({ logging: false, plugins: [catalogPlugin(facade)] });
    expect(await (await yoga.fetch('http://host.example/graphql', post(BOOK, anew))).json()).toEqual(result);
  });

  test('to a GET of a persisted query', async () => {
    const { facade } = await outdated();
    const sha256Hash = createHash('sha256').update(BOOK).digest('hex');
    const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
    const get = async (params: Record<string, string>, headers: object) => {
      const address = `http://host.example/graphql?${new URLSearchParams({ extensions, ...params }).toString()}`;
      return (await facade.fetch(new Request(address, { headers: { ...headers, 'x-graphql-csrf': '1' } }))).json();
    };
    expect(await get({ query: BOOK }, {})).toEqual({ data: { book: { title: 'first' } } });
    expect(await get({}, anew)).toEqual(result);
  });

  test('in both parts of a response, for no more calls than without a cache', async () => {
    const { facade, url, requests } = await outdated();
    const read = async (from: EmbeddedFacade) => {
      const before = requests.length;
      const query = '{ book(id: "7") { title ... @defer { publisher } } }';
      const parts: ResultPart[] = [];
      const result = await from.execute({ query, headers: anew, incremental: '20220824' });
      for await (const part of result as AsyncIterable<ResultPart>) parts.push(part);
      return [mergeParts(parts as never).data, requests.length - before];
    };
    const book = { title: 'second', publisher: 'second' };
    const [data, calls] = await read(facade);
    expect([data, calls]).toEqual(await read(embedded(url, {})));
    expect(data).toEqual({ book });
  });
});

describe.skipIf(!hasRedis)('replicas over a Redis', () => {
  test('have what one of them has read anew, if it was changed', async () => {
    const { one, other, state } = await openReplicas();
    await one.plain(BOOK);
    await until(async () => (await other.plain(BOOK)).status === 'catalog-graphql; hit');
    state.title = 'second';
    expect((await one.reload(BOOK)).data.book).toEqual({ title: 'second' });
    await until(async () => (await other.plain(BOOK)).data.book?.title === 'second');
    expect((await one.plain(BOOK)).data.book).toEqual({ title: 'second' });
  });
});
