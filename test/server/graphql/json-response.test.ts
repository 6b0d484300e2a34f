import { OperationTypeNode } from 'graphql';
import { beforeEach, expect, test, vi } from 'vitest';
import { createResponseCache } from '../../../src/server/graphql/json-response.ts';
import { isCacheable } from '../../../src/server/graphql/outcome.ts';
import type { CachePolicy } from '../../../src/upstream/cache/cache-policy.ts';
import { journey } from '../../support/journey.ts';

const minute = (): CachePolicy => ({
  scope: 'public',
  freshUntil: performance.now() + 60_000,
  mayChange: false,
  forbidsStoring: false,
  restrict: () => undefined,
});
const bytes = Buffer.from('{"data":{}}');

let responses: ReturnType<typeof createResponseCache>;
let epoch: number | null;
const named = { type: OperationTypeNode.QUERY, name: undefined };
beforeEach(() => {
  epoch = 0;
  responses = createResponseCache(() => epoch);
});

test('a cached response is served for the same body and media type only', () => {
  responses.put('application/json', 'a', bytes, minute(), 0, named);
  expect(responses.get('application/json', 'a')?.response).toBe(bytes);
  expect(responses.get('application/json', 'b')).toBeUndefined();
  expect(responses.get('application/graphql-response+json', 'a')).toBeUndefined();
});

test('a body that begins with the name of another media type is not mistaken for a request in that type', () => {
  const other = 'application/graphql-response+json';
  responses.put(other, '{}', bytes, minute(), 0, named);
  expect(responses.get(other, '{}')?.response).toBe(bytes);
  expect(responses.get('application/json', `${other}{}`)).toBeUndefined();
  expect(responses.get('application/json', '{}')).toBeUndefined();
});

test('a cached response expires with the records in it', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  responses.put('', 'a', bytes, minute(), 0, named);
  vi.advanceTimersByTime(59_999);
  expect(responses.get('', 'a')?.response).toBe(bytes);
  vi.advanceTimersByTime(1);
  expect(responses.get('', 'a')).toBeUndefined();
  vi.useRealTimers();
});

test('an invalidation drops all cached responses, and keeps responses of earlier operations out', () => {
  responses.put('', 'a', bytes, minute(), 0, named);
  epoch = 1;
  expect(responses.get('', 'a')).toBeUndefined();
  responses.put('', 'b', bytes, minute(), 0, named);
  expect(responses.get('', 'b')).toBeUndefined();
  responses.put('', 'c', bytes, minute(), 1, named);
  expect(responses.get('', 'c')?.response).toBe(bytes);
});

test('nothing is cached if other replicas may invalidate too', () => {
  epoch = null;
  responses.put('', 'a', bytes, minute(), null, named);
  expect(responses.get('', 'a')).toBeUndefined();
});

test('the cache is bounded by bytes and evicts the oldest responses', () => {
  const large = Buffer.alloc(1_000_000);
  for (let each = 0; each < 20; each++) responses.put('', `${each}`, large, minute(), 0, named);
  expect(responses.get('', '0')).toBeUndefined();
  expect(responses.get('', '19')?.response).toBe(large);
});

test('responses that read nothing, or are not public, are not cacheable', () => {
  expect(isCacheable(minute())).toBe(true);
  expect(isCacheable({ ...minute(), scope: 'private' })).toBe(false);
  expect(isCacheable({ ...minute(), scope: 'none' })).toBe(false);
  expect(isCacheable({ ...minute(), freshUntil: Infinity })).toBe(false);
});

const page = '{ book(id: "6082808") { title viewerCollection { status } annotations(first: 2) { nodes { page } } } }';
const annotate = `mutation {
  createAnnotation(input: {bookId: "6082808", page: 7, content: "Rain for four years, eleven months and two days."}) { annotation { page } }
}`;

test('no response of one viewer is served to another, and none from before a write after it', async () => {
  const { execute, cost } = await journey();
  const nobodys = await execute(page);
  expect((await cost(page)).calls).toBe(0);
  const alices = await execute(page, { token: 'demo-alice' });
  expect(alices.data.book.viewerCollection).toEqual({ status: 'READ' });
  expect(await execute(page)).toEqual(nobodys);
  expect(nobodys.data.book.viewerCollection).toBeNull();

  const count = '{ book(id: "6082808") { annotations(first: 1) { totalCount } } }';
  const before = (await execute(count)).data.book.annotations.totalCount as number;
  expect((await execute(annotate, { token: 'demo-alice' })).data.createAnnotation.annotation.page).toBe(7);
  expect((await execute(count)).data.book.annotations.totalCount).toBe(before + 1);
});

test('a request with x-explain is executed, and its response is not served to others', async () => {
  const { execute } = await journey();
  await execute(page);
  const explained = await execute(page, { headers: { 'x-explain': 'trace' } });
  expect(explained.extensions).toHaveProperty('upstream.calls');
  expect((await execute(page)).extensions).toBeUndefined();
});
