import { beforeEach, expect, test, vi } from 'vitest';
import { type ResponseCache, createResponseCache, isCacheable } from '../../../src/server/graphql/response-cache.ts';
import type { CachePolicy } from '../../../src/upstream/cache/cache-policy.ts';
import { journey } from '../../support/journey.ts';

const minute = (): CachePolicy => ({
  scope: 'public',
  freshUntil: Date.now() + 60_000,
  mayChange: false,
  restrict: () => undefined,
});
const bytes = Buffer.from('{"data":{}}');

let answers: ResponseCache;
let epoch: number | null;
beforeEach(() => {
  epoch = 0;
  answers = createResponseCache(() => epoch);
});

test('an answer stands for the same body and media type, and for no other', () => {
  answers.put('application/json', 'a', bytes, minute(), 0);
  expect(answers.get('application/json', 'a')?.response).toBe(bytes);
  expect(answers.get('application/json', 'b')).toBeUndefined();
  expect(answers.get('application/graphql-response+json', 'a')).toBeUndefined();
});

test('a body that begins with the name of another media type is not taken for what was asked in that', () => {
  const other = 'application/graphql-response+json';
  answers.put(other, '{}', bytes, minute(), 0);
  expect(answers.get(other, '{}')?.response).toBe(bytes);
  expect(answers.get('application/json', `${other}{}`)).toBeUndefined();
  expect(answers.get('application/json', '{}')).toBeUndefined();
});

test('it stands no longer than what was read for it is fresh', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  answers.put('', 'a', bytes, minute(), 0);
  vi.setSystemTime(Date.now() + 59_999);
  expect(answers.get('', 'a')?.response).toBe(bytes);
  vi.setSystemTime(Date.now() + 1);
  expect(answers.get('', 'a')).toBeUndefined();
  vi.useRealTimers();
});

test('none stands after anything was cleared, nor one whose operation began before that', () => {
  answers.put('', 'a', bytes, minute(), 0);
  epoch = 1;
  expect(answers.get('', 'a')).toBeUndefined();
  answers.put('', 'b', bytes, minute(), 0);
  expect(answers.get('', 'b')).toBeUndefined();
  answers.put('', 'c', bytes, minute(), 1);
  expect(answers.get('', 'c')?.response).toBe(bytes);
});

test('where others clear too nothing is kept', () => {
  epoch = null;
  answers.put('', 'a', bytes, minute(), null);
  expect(answers.get('', 'a')).toBeUndefined();
});

test('they are bounded by their bytes, the oldest go first', () => {
  const large = Buffer.alloc(1_000_000);
  for (let each = 0; each < 20; each++) answers.put('', `${each}`, large, minute(), 0);
  expect(answers.get('', '0')).toBeUndefined();
  expect(answers.get('', '19')?.response).toBe(large);
});

test('what nothing was read for, and what is not for everybody, is not reusable', () => {
  expect(isCacheable(minute())).toBe(true);
  expect(isCacheable({ ...minute(), scope: 'private' })).toBe(false);
  expect(isCacheable({ ...minute(), scope: 'none' })).toBe(false);
  expect(isCacheable({ ...minute(), freshUntil: Infinity })).toBe(false);
});

const page = '{ book(id: "6082808") { title viewerCollection { status } annotations(first: 2) { nodes { page } } } }';
const annotate = `mutation {
  createAnnotation(input: {bookId: "6082808", page: 7, content: "Rain for four years, eleven months and two days."}) { annotation { page } }
}`;

test('nobody is shown the answer of somebody, and nobody sees what was true before a write', async () => {
  const { ask, cost } = await journey();
  const nobodys = await ask(page);
  expect((await cost(page)).calls).toBe(0);
  const alices = await ask(page, { token: 'demo-alice' });
  expect(alices.data.book.viewerCollection).toEqual({ status: 'READ' });
  expect(await ask(page)).toEqual(nobodys);
  expect(nobodys.data.book.viewerCollection).toBeNull();

  const count = '{ book(id: "6082808") { annotations(first: 1) { totalCount } } }';
  const before = (await ask(count)).data.book.annotations.totalCount as number;
  expect((await ask(annotate, { token: 'demo-alice' })).data.createAnnotation.annotation.page).toBe(7);
  expect((await ask(count)).data.book.annotations.totalCount).toBe(before + 1);
});

test('an explained question is run, and its answer is given to nobody else', async () => {
  const { ask } = await journey();
  await ask(page);
  const explained = await ask(page, { headers: { 'x-explain': 'trace' } });
  expect(explained.extensions).toHaveProperty('upstream.calls');
  expect((await ask(page)).extensions).toBeUndefined();
});
