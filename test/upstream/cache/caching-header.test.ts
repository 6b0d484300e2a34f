import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import {
  type CachingHeaders,
  type Cacheability,
  cacheabilityOf,
  forbiddingWords,
  unspecified,
} from '../../../src/upstream/cache/caching-header.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { type UpstreamParts, createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json } from '../../support/hostile.ts';
import { afterUse } from '../../support/hooks.ts';

const NOON = Date.parse('Sun, 06 Nov 2033 12:00:00 GMT');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: NOON }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
const at = (seconds: number) => new Date(NOON + seconds * 1000).toUTCString();

test.each<[headers: CachingHeaders, reuse: Partial<Cacheability>]>([
  [{}, {}],
  [{ 'cache-control': '' }, {}],
  [{ 'cache-control': 'public' }, {}],
  [{ 'cache-control': 'max-age' }, { maxAge: 0 }],
  [{ 'cache-control': 'x-max-age=60' }, {}],
  [{ 'cache-control': 'ext="max-age=5, no-store"' }, {}],
  [{ 'cache-control': 'private, max-age=5' }, { refusal: 'private', maxAge: 5 }],
  [{ 'cache-control': 'must-revalidate' }, { mustRevalidate: true }],
  [{ expires: at(90) }, { maxAge: 90 }],
  [{ expires: '-1' }, { maxAge: 0 }],
  [{ 'cache-control': 'no-cache, must-revalidate' }, { refusal: 'no-cache', mustRevalidate: true }],
  [{ 'cache-control': 'no-cache, private' }, { refusal: 'no-cache' }],
])('to the letter: %o', (headers, reuse) => {
  expect(cacheabilityOf(headers, { share: 'public', isPersonal: false, mode: 'strict', sent: [] })).toEqual({
    ...unspecified,
    ...reuse,
  });
});

test.each<[headers: CachingHeaders, reuse: Partial<Cacheability>]>([
  [{ 'cache-control': 'must-revalidate, no-cache, private', expires: 'Sun, 1 Jan 2006 01:00:00 GMT' }, {}],
  [{ 'cache-control': 'no-cache="set-cookie", private="x", proxy-revalidate' }, {}],
  [{ 'cache-control': 'no-cache, no-store' }, { refusal: 'no-store' }],
  [{ 'cache-control': 'max-age=0, NO-STORE' }, { refusal: 'no-store' }],
  [{ 'cache-control': 'max-age=0, s-maxage=0, must-revalidate' }, {}],
  [{ 'cache-control': 'max-age=0, private' }, {}],
  [{ 'cache-control': 'max-age=0' }, { maxAge: 0 }],
  [{ 'cache-control': 'max-age=soon' }, { maxAge: 0 }],
  [{ 'cache-control': 'no-cache, max-age=60' }, { maxAge: 60 }],
  [{ 'cache-control': 'private, max-age="60"' }, { maxAge: 60 }],
  [{ 'cache-control': 'max-age=0, max-age=60, max-age=90' }, { maxAge: 60 }],
  [{ 'cache-control': 's-maxage=0, max-age=60' }, { maxAge: 60 }],
  [{ 'cache-control': 's-maxage=30, max-age=60' }, { maxAge: 30 }],
  [{ 'cache-control': 'no-cache', expires: at(90), date: at(0) }, { maxAge: 90 }],
  [{ expires: '0' }, {}],
  [{ expires: at(0), date: at(0) }, {}],
  [{ 'cache-control': 'no-cache', age: '20' }, { age: 20 }],
  [{ 'cache-control': 'no-cache', vary: '*' }, { refusal: 'vary' }],
])('as defaults of a framework: %o', (headers, reuse) => {
  for (const share of ['public', 'tier', 'anonymous'] as const)
    expect(cacheabilityOf(headers, { share, isPersonal: false, mode: 'relaxed', sent: [] })).toEqual({
      ...unspecified,
      ...reuse,
    });
});

test('what belongs to the viewer is never taken for a framework default', () => {
  const headers = { 'cache-control': 'must-revalidate, no-cache, private' };
  expect(cacheabilityOf(headers, { share: 'viewer', isPersonal: false, mode: 'relaxed', sent: [] }).refusal).toBe(
    'no-cache',
  );
});

test('a private film is stored for the token that read it', () => {
  const rules = { share: 'tier', mode: 'strict', sent: [] } as const;
  const headers = { 'cache-control': 'private' };
  expect(cacheabilityOf(headers, { ...rules, isPersonal: true }).refusal).toBeUndefined();
  expect(cacheabilityOf(headers, { ...rules, isPersonal: false }).refusal).toBe('private');
});

/** The request has these, and an Authorization perhaps. */
const sent = ['x-request-id', 'cookie', 'x-tenant', 'one'];

test.each<[vary: string, ofEverybody: boolean, ofOneCredential: boolean]>([
  ['Accept-Encoding', true, true],
  ['accept, ACCEPT-encoding,', true, true],
  ['Accept-Encoding, User-Agent', true, true],
  ['Origin, Access-Control-Request-Method, Access-Control-Request-Headers', true, true],
  ['Accept-Encoding, Cookie, Referer, X-Requested-With, X-Forwarded-Proto, Prefer, Range, X-User', true, true],
  ['traceparent', true, true],
  ['Authorization', false, true],
  ['Accept-Encoding, authorization', false, true],
  ['X-Request-Id', false, false],
  ['Cookie, x-tenant', false, false],
  ['*', false, false],
])('Vary: %s counts if the request has such a header', (vary, ofEverybody, ofOneCredential) => {
  for (const mode of ['relaxed', 'strict'] as const) {
    const isStored = (share: 'public' | 'tier' | 'anonymous') =>
      cacheabilityOf({ vary }, { share, isPersonal: false, mode, sent }).refusal === undefined;
    expect([isStored('public'), isStored('tier'), isStored('anonymous')]).toEqual([
      ofEverybody,
      ofOneCredential,
      ofOneCredential,
    ]);
  }
});

test('what forbids caching is named in known words only', () => {
  const headers = { 'cache-control': 'private, x-\u001b[2K, max-age=0', expires: '0', vary: 'Cookie' };
  const varied = { ...unspecified, refusal: 'vary' as const };
  expect(forbiddingWords(headers, varied, false)).toEqual(['private', 'max-age=0', 'Expires in the past', 'Vary']);
  expect(forbiddingWords({ 'cache-control': 'max-age=60', vary: 'Cookie' }, unspecified, true)).toEqual([]);
  expect(forbiddingWords({ age: '90000' }, { ...unspecified, age: 90_000 }, false)).toEqual(['Age']);
});

/** A service that sends a book with these headers, and an operation that reads its title. */
async function book(headers: Record<string, string>, settings: NodeJS.ProcessEnv = {}, parts: UpstreamParts = {}) {
  const service = await hostile(json('{"id":"7","title":"x"}', 200, headers));
  const { url } = service;
  const config = { ...readConfig(settings), baseUrl: url, eventBaseUrl: url, readAttempts: 1 };
  const upstream = createUpstream(catalogService, config, parts);
  afterUse(() => upstream.close());
  const source = { endpoint: bookEndpoints.byId, input: (id: string) => ({ id }) };
  const read = async () => {
    const operation = upstream.forOperation(
      { authorization: undefined, address: '', requestId: 'cookie' },
      createCancellationToken(),
    );
    const record = await operation.records.load('Book', source, '7', ['title'], {}, undefined);
    return { record, cachePolicy: operation.cachePolicy };
  };
  return { ...service, read };
}

test('the Age header is subtracted from max-age', async () => {
  const { requests, read } = await book({ Age: '50', 'Cache-Control': 'max-age=60' });
  expect((await read()).cachePolicy.freshUntil).toBe(performance.now() + 10_000);
  later(9);
  await read();
  expect(requests).toHaveLength(1);
  later(2);
  await read();
  expect(requests).toHaveLength(2);
});

test.each(['must-revalidate', 'proxy-revalidate'])(
  'to the letter, a stale record with %s is not served when the service fails',
  async (directive) => {
    const { behave, read } = await book({ 'Cache-Control': `max-age=60, ${directive}` }, { UPSTREAM_CACHE: 'strict' });
    await read();
    later(61);
    behave(json('', 503));
    await expect(read()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  },
);

test('a response is not cached if its Vary names a header that an embedding program adds, from the first on', async () => {
  let added: Record<string, string> = {};
  const { requests, read } = await book(
    { Vary: 'X-Tenant', 'Cache-Control': 'max-age=1' },
    {},
    { headersTo: () => added },
  );
  await read();
  await read();
  expect(requests).toHaveLength(1);
  added = { 'X-Tenant': 'one' };
  later(2);
  await read();
  await read();
  expect(requests).toHaveLength(3);
});

/** Of eight captured responses of the real service. */
const realHeaders = {
  'Cache-Control': 'must-revalidate, no-cache, private',
  Pragma: 'no-cache',
  Expires: 'Sun, 1 Jan 2006 01:00:00 GMT',
  'Set-Cookie': 'bid=abcdefghijk; Expires=Mon, 06-Nov-34 12:00:00 GMT; Domain=.catalog.example; Path=/',
  Vary: 'Accept-Encoding',
};

test("a book with the real service's headers is served from the cache for its hour, and stands in for an outage after it", async () => {
  const { requests, behave, read } = await book(realHeaders);
  expect((await read()).cachePolicy).toMatchObject({ scope: 'public', freshUntil: performance.now() + 3_600_000 });
  later(3_599);
  await read();
  expect(requests).toHaveLength(1);
  later(2);
  behave(json('', 503));
  expect((await read()).record).toMatchObject({ title: 'x' });
  expect(requests).toHaveLength(2);
});

test("to the letter, the real service's headers let nothing be kept", async () => {
  const { requests, behave, read } = await book(realHeaders, { UPSTREAM_CACHE: 'strict' });
  expect((await read()).cachePolicy.scope).toBe('none');
  behave(json('', 503));
  await expect(read()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(requests).toHaveLength(2);
});

test('responses that are not stored are counted by reason', async () => {
  const service = await hostile(json('{"id":"7","title":"x"}', 200, { ...realHeaders, Vary: 'X-Request-Id' }));
  const { url } = service;
  const upstream = createUpstream(catalogService, { ...readConfig({}), baseUrl: url, eventBaseUrl: url });
  afterUse(() => upstream.close());
  const read = () =>
    upstream
      .forOperation({ authorization: undefined, address: '', requestId: 'x' }, createCancellationToken())
      .records.load('Book', { endpoint: bookEndpoints.byId, input: (id) => ({ id }) }, '7', ['title'], {}, undefined);
  await read();
  await read();
  expect(upstream.notStored()).toEqual({ 'no-store': 0, 'no-cache': 0, private: 0, vary: 2, expired: 0 });
});
