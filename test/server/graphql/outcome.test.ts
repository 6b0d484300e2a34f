/** What Cache-Status (RFC 9211) and Age say of a response. */
import { describe, expect, test } from 'vitest';
import { BOOK, openReloading } from '../../support/reloading.ts';

const FILM = (id: number) => `{ subject(id: "${id}") { title } }`;
const COLLECT = (fields: string) =>
  `mutation { collectBook(input: { bookId: "7", status: READING, isPrivate: false }) { ${fields} } }`;
const alice = { authorization: 'Bearer demo-alice' };

describe('Cache-Status', () => {
  test('is a hit if the caches have all records, or the whole response', async () => {
    const { plain } = await openReloading();
    expect((await plain(BOOK)).status).toBe('catalog-graphql; fwd=miss');
    expect((await plain(BOOK, alice)).status).toBe('catalog-graphql; hit');
    expect((await plain(BOOK)).status).toBe('catalog-graphql; hit');
    expect((await plain('{ book(id: "7") { title id } }')).status).toBe('catalog-graphql; hit');
    const one = await plain('{ a: book(id: "7") { title } b: book(id: "8") { title } }');
    expect(one.status).toBe('catalog-graphql; fwd=miss');
  });

  test('is a miss for a record that is not cached, also if its call fails', async () => {
    const { plain, state } = await openReloading();
    state.status = 503;
    expect((await plain(BOOK)).status).toBe('catalog-graphql; fwd=miss');
  });

  test('names a write, whatever was read beside it', async () => {
    const { plain } = await openReloading();
    expect((await plain(COLLECT('collection { status }'), alice)).status).toBe('catalog-graphql; fwd=method');
    const read = await plain(COLLECT('collection { book { title pages } }'), alice);
    expect([read.errors, read.status]).toEqual([undefined, 'catalog-graphql; fwd=method']);
  });

  test.each(['{ __typename }', '{ nothing }', COLLECT('collection { status }'), '{ node(id: "?") { id } }'])(
    'is not sent where nothing was read and nothing sent: %s',
    async (query) => {
      const { plain, requests } = await openReloading();
      expect((await plain(query)).status).toBeNull();
      expect(requests).toEqual([]);
    },
  );

  test('says that a call failed for which an old record stands in, and then that none was made', async () => {
    const { plain, state } = await openReloading({ readAttempts: '1' });
    state.cacheControl = 'max-age=0';
    await plain(BOOK);
    Object.assign(state, { status: 503, body: '', retryAfter: '60' });
    expect((await plain(BOOK)).status).toBe('catalog-graphql; fwd=stale; detail=stale');
    expect((await plain(BOOK)).status).toBe('catalog-graphql; hit; detail=stale');
  });

  test('is none for a film that the rate limit refuses, and an old hit where it was cached', async () => {
    const { plain, reload, requests } = await openReloading({ accessToken: 'app', filmTier: 'basic' });
    const from = { 'x-forwarded-for': '192.0.2.1' };
    for (let id = 1; id <= 20; id++) await plain(FILM(id), from);
    expect(requests).toHaveLength(20);
    const refused = await plain(FILM(21), from);
    expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED']);
    expect(refused.status).toBeNull();
    expect((await reload(FILM(1))).status).toBe('catalog-graphql; hit; detail=stale');
    expect(requests).toHaveLength(20);
  });

  test('is sent with a 304', async () => {
    const { url, requests } = await openReloading();
    const address = `${url}/graphql?${new URLSearchParams({ query: BOOK }).toString()}`;
    const first = await fetch(address);
    const headers = { 'if-none-match': first.headers.get('etag')! };
    const again = await fetch(address, { headers });
    expect([again.status, again.headers.get('cache-status')]).toEqual([304, 'catalog-graphql; hit']);
    expect(requests).toHaveLength(1);
  });
});

test('Age is that of the oldest record that stands in for a failed call, which extensions.stale names', async () => {
  const { plain, state } = await openReloading({ readAttempts: '1' });
  state.cacheControl = 'max-age=0';
  await plain(BOOK);
  Object.assign(state, { status: 503, body: '' });
  const { extensions, headers } = await plain(BOOK);
  expect(extensions?.stale).toHaveLength(1);
  expect(headers.get('age')).toBe(String(extensions!.stale![0]!.ageSeconds));
});
