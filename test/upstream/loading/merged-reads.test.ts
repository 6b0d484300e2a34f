import { describe, expect, test } from 'vitest';
import { createApiRequest } from '../../../src/api/api-request.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import { eventEndpoints } from '../../../src/api/event.ts';
import { mergedReads, partOf } from '../../../src/upstream/loading/merged-reads.ts';

const search = (input: object, members?: string[]) =>
  createApiRequest(bookEndpoints.search, { q: 'x', ...input }, members);
const pathsOf = (...requests: ReturnType<typeof search>[]) =>
  mergedReads(requests.map((request) => ({ request }))).map(({ request }) => request.wirePath);

describe('reads of one turn', () => {
  test('of one window become one request with all members', () => {
    expect(
      pathsOf(search({ start: 0, count: 4 }, ['id', 'title']), search({ start: 0, count: 4 }, ['id', 'price'])),
    ).toEqual(['/v2/book/search?count=4&fields=id,price,title&q=x&start=0']);
  });

  test('of a window within another become a part of it, whichever comes first', () => {
    expect(pathsOf(search({ start: 2, count: 3 }, ['id']), search({ start: 0, count: 5 }, ['title']))).toEqual([
      '/v2/book/search?count=5&fields=id,title&q=x&start=0',
    ]);
  });

  test('of all members make a request without `fields`', () => {
    expect(pathsOf(search({ start: 0, count: 5 }), search({ start: 0, count: 5 }, ['title']))).toEqual([
      '/v2/book/search?count=5&q=x&start=0',
    ]);
  });

  test('of windows that only overlap, of other filters or without a window stay apart', () => {
    expect(
      pathsOf(
        search({ start: 0, count: 5 }, ['id']),
        search({ start: 3, count: 5 }, ['id']),
        search({ start: 0, count: 5, tag: 'y' }, ['id']),
        search({}, ['id']),
      ),
    ).toHaveLength(4);
  });
});

describe('a part of a response', () => {
  const whole = search({ start: 10, count: 4 });
  const part = search({ start: 11, count: 2 });
  const books = [1, 2, 3, 4].map((id) => ({ id }));

  test('has the items that were asked for, and says that more follow', () => {
    expect(partOf({ start: 10, count: 4, total: 99, next_start: 14, title: 't', books }, whole, part)).toEqual({
      ...{ start: 11, count: 2, total: 99, title: 't', next_start: 13 },
      books: [{ id: 2 }, { id: 3 }],
    });
  });

  test('of a feed counts from 1', () => {
    const events = (start: number, count: number) =>
      createApiRequest(eventEndpoints.search, { location: 'all', 'start-index': start, 'max-results': count });
    expect(partOf({ startIndex: 1, entries: [1, 2, 3] }, events(1, 3), events(2, 1))).toEqual({
      startIndex: 2,
      itemsPerPage: 1,
      next_start: 2,
      entries: [2],
    });
  });

  test('may be shorter at the end of the list', () => {
    expect(partOf({ total: 12, books: books.slice(0, 2) }, whole, part)).toMatchObject({ books: [{ id: 2 }] });
  });

  test.each([
    ['has a smaller maximum', { total: 99, books: books.slice(0, 2) }],
    ['leaves out items', { total: 99, next_start: 20, books }],
    ['sends no list', { total: 99, books: null }],
  ])('is unknown if the service %s', (_, response) => {
    expect(partOf(response, whole, part)).toBeUndefined();
  });

  test('of an absent list is absent', () => {
    expect(partOf(null, whole, part)).toBeNull();
  });
});
