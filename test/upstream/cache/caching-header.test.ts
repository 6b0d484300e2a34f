import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import {
  type CachingHeaders,
  type Cacheability,
  cacheabilityOf,
  unspecified,
} from '../../../src/upstream/cache/caching-header.ts';
import { createCancellationToken } from '../../../src/lib/cancellation.ts';
import { createUpstream } from '../../../src/upstream/client.ts';
import { hostile, json } from '../../support/hostile.ts';

const NOON = Date.parse('Sun, 06 Nov 2033 12:00:00 GMT');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const at = (seconds: number) => new Date(NOON + seconds * 1000).toUTCString();

test.each<[headers: CachingHeaders, reuse: Partial<Cacheability>]>([
  [{}, {}],
  [{ 'cache-control': '' }, {}],
  [{ 'cache-control': 'public' }, {}],
  [{ 'cache-control': 'max-age=60' }, { maxAge: 60 }],
  [{ 'cache-control': 'Public, MAX-AGE="60"' }, { maxAge: 60 }],
  [{ 'cache-control': 'max-age=60, max-age=30' }, { maxAge: 30 }],
  [{ 'cache-control': 'max-age=soon' }, { maxAge: 0 }],
  [{ 'cache-control': 'max-age=-1' }, { maxAge: 0 }],
  [{ 'cache-control': 'max-age' }, { maxAge: 0 }],
  [{ 'cache-control': 'x-max-age=60' }, {}],
  [{ 'cache-control': 'ext="max-age=5, no-store"' }, {}],
  [{ 'cache-control': 's-maxage=10, max-age=60' }, { maxAge: 10, mustRevalidate: true }],
  [{ 'cache-control': 'no-store' }, { noStore: true, forbidsStoring: true }],
  [{ 'cache-control': 'no-cache' }, { noStore: true }],
  [{ 'cache-control': 'no-cache="set-cookie"' }, { noStore: true }],
  [{ 'cache-control': 'private, max-age=5' }, { isPrivate: true, maxAge: 5 }],
  [{ 'cache-control': 'must-revalidate' }, { mustRevalidate: true }],
  [{ 'cache-control': 'max-age=9,proxy-revalidate' }, { mustRevalidate: true, maxAge: 9 }],
  [
    { age: '20', 'cache-control': 'max-age=60' },
    { maxAge: 60, age: 20 },
  ],
  [{ age: '20, 30' }, { age: 20 }],
  [{ age: '-5' }, {}],
  [{ age: 'old' }, {}],
  [{ expires: at(90), date: at(0) }, { maxAge: 90 }],
  [{ expires: at(90), date: at(30) }, { maxAge: 60 }],
  [{ expires: at(90) }, { maxAge: 90 }],
  [{ expires: at(-90), date: at(0) }, { maxAge: 0 }],
  [{ expires: '0' }, { maxAge: 0 }],
  [{ expires: '-1' }, { maxAge: 0 }],
  [{ expires: at(90), 'cache-control': 'max-age=5' }, { maxAge: 5 }],
  [{ vary: '*' }, { noStore: true }],
  [{ vary: 'accept, *' }, { noStore: true }],
  [{ vary: 'Accept-Encoding, Authorization' }, {}],
])('%o', (headers, reuse) => {
  expect(cacheabilityOf(headers)).toEqual({ ...unspecified, ...reuse });
});

/** A service that sends a book with these headers, and an operation that reads its title. */
async function book(headers: Record<string, string>) {
  const service = await hostile(json('{"id":"7","title":"x"}', 200, headers));
  const { url } = service;
  const upstream = createUpstream({ ...readConfig({}), baseUrl: url, eventBaseUrl: url, readAttempts: 1 });
  afterAll(() => upstream.close());
  const source = { endpoint: bookEndpoints.byId, input: (id: string) => ({ id }) };
  const read = async () => {
    const operation = upstream.forOperation(
      { authorization: undefined, address: '', requestId: 'x' },
      createCancellationToken(),
    );
    const record = await operation.records.load('Book', source, '7', ['title'], {}, undefined);
    return { record, cachePolicy: operation.cachePolicy };
  };
  return { ...service, read };
}

test('the Age header is subtracted from max-age', async () => {
  const { requests, read } = await book({ Age: '50', 'Cache-Control': 'max-age=60' });
  expect((await read()).cachePolicy.freshUntil).toBe(NOON + 10_000);
  later(9);
  await read();
  expect(requests).toHaveLength(1);
  later(2);
  await read();
  expect(requests).toHaveLength(2);
});

test('a stale response is not reused, but is served when the service fails', async () => {
  const { requests, behave, read } = await book({ Age: '90', 'Cache-Control': 'max-age=60' });
  await read();
  behave(json('', 503));
  expect((await read()).record).toMatchObject({ title: 'x' });
  expect(requests).toHaveLength(2);
});

test('Expires is obeyed, relative to Date', async () => {
  const { requests, read } = await book({ Date: at(0), Expires: at(40) });
  await read();
  later(39);
  await read();
  expect(requests).toHaveLength(1);
  later(2);
  await read();
  expect(requests).toHaveLength(2);
});

test.each(['must-revalidate', 'proxy-revalidate'])(
  'a stale record with %s is not served when the service fails',
  async (directive) => {
    const { behave, read } = await book({ 'Cache-Control': `max-age=60, ${directive}` });
    await read();
    later(61);
    behave(json('', 503));
    await expect(read()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  },
);

test('a response with "Vary: *" is not cached', async () => {
  const { requests, read } = await book({ Vary: '*' });
  await read();
  expect((await read()).cachePolicy.scope).toBe('none');
  expect(requests).toHaveLength(2);
});
