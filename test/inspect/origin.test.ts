import { expect, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import { type Endpoint, tiers } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { describeDeviation } from '../../src/inspect/compare.ts';
import { deviationsOf } from '../../src/inspect/watch.ts';
import { createApiRequest } from '../../src/api/api-request.ts';
import { ReportedError, decodeResponse } from '../../src/upstream/http/response.ts';
import { service } from '../support/service.ts';

const readEndpoints = [bookEndpoints, filmEndpoints, eventEndpoints, noteEndpoints]
  .flatMap((table) => Object.values<Endpoint>(table))
  .filter(({ method }) => method === 'GET');
/** What the id in a path identifies, by the text before it. */
const namedIn: Readonly<Record<string, string>> = {
  '/v2/book/': 'book',
  '/v2/book/series/': 'series',
  '/v2/book/user/': 'reader',
  '/v2/movie/subject/': 'film',
  '/v2/movie/celebrity/': 'person',
  '/event/': 'event',
  '/people/': 'guest',
};

const filmLists = Object.values<Endpoint>(filmEndpoints).filter(({ path }) =>
  path.startsWith('/v2/movie/subject/:id/'),
);

/** Reads every endpoint of the origin with every id that a page of its lists has. */
async function crawl(
  url: string,
  token: string,
): Promise<{ deviations: Set<string>; read: Set<Endpoint>; count: number }> {
  const deviations = new Set<string>();
  const read = new Set<Endpoint>();
  let count = 0;
  async function get(endpoint: Endpoint, input: object): Promise<Record<string, unknown>> {
    const request = createApiRequest(endpoint, input);
    const response = await fetch(url + request.wirePath, { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    if (!response.ok) return {};
    const value = decodeResponse(catalogService.documents, request, text, response.status, url);
    if (value instanceof ReportedError) return {};
    read.add(endpoint);
    count++;
    for (const each of deviationsOf({ request, value })) deviations.add(`${endpoint.path} ${describeDeviation(each)}`);
    return value as Record<string, unknown>;
  }
  const ids = (list: unknown, ...path: string[]): string[] => [
    ...new Set(
      (Array.isArray(list) ? list : [])
        .map((item: unknown) =>
          path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], item),
        )
        .filter((id) => typeof id === 'string' || typeof id === 'number')
        .map(String),
    ),
  ];
  const each = async (some: readonly string[], most: number, visit: (id: string) => Promise<unknown>) => {
    for (const id of some.slice(0, most)) await visit(id);
  };

  const { books } = await get(bookEndpoints.search, { q: '的', count: 100 });
  await each(ids(books, 'isbn13'), 3, (isbn) => get(bookEndpoints.byIsbn, { isbn }));
  await each(ids(books, 'series', 'id'), 3, (id) => get(bookEndpoints.seriesBooks, { id, count: 20 }));
  const readers = new Set<string>();
  await each(ids(books, 'id'), 6, async (id) => {
    await get(bookEndpoints.byId, { id });
    await get(bookEndpoints.tags, { id });
    const { annotations } = await get(bookEndpoints.annotations, { id, count: 100 });
    for (const reader of ids(annotations, 'author_id')) readers.add(reader);
    await each(ids(annotations, 'id'), 3, (annotation) => get(bookEndpoints.annotation, { id: annotation }));
  });
  await each([...readers], 4, async (name) => {
    const { collections } = await get(bookEndpoints.collections, { name, count: 100 });
    await each(ids(collections, 'book_id'), 3, (id) => get(bookEndpoints.collection, { id, user_id: name }));
    await get(bookEndpoints.userTags, { name });
    await get(bookEndpoints.userTagsOld, { id: name });
    await get(bookEndpoints.userAnnotations, { name, count: 100 });
    const { notes } = await get(noteEndpoints.userCreated, { id: name });
    await each(ids(notes, 'id'), 3, async (id) => {
      for (const format of ['text', 'html_full', 'html_short', 'abstract'])
        await get(noteEndpoints.byId, { id, format });
      const { comments } = await get(noteEndpoints.comments, { id });
      await each(ids(comments, 'id'), 2, (comment) => get(noteEndpoints.comment, { id, comment_id: comment }));
    });
  });
  const films = new Set<string>();
  for (const chart of [
    filmEndpoints.top250,
    filmEndpoints.comingSoon,
    filmEndpoints.inTheaters,
    filmEndpoints.usBox,
    filmEndpoints.weekly,
    filmEndpoints.newMovies,
  ]) {
    const { subjects } = await get(chart, {});
    for (const id of [...ids(subjects, 'id'), ...ids(subjects, 'subject', 'id')]) films.add(id);
  }
  await get(filmEndpoints.search, { q: '的' });
  const people = new Set<string>();
  await each([...films], 4, async (id) => {
    const { casts, directors } = await get(filmEndpoints.subject, { id });
    for (const person of [...ids(casts, 'id'), ...ids(directors, 'id')]) people.add(person);
    for (const list of filmLists) await get(list, { id });
  });
  await each([...people], 4, async (id) => {
    for (const row of [filmEndpoints.celebrity, filmEndpoints.works, filmEndpoints.celebrityPhotos])
      await get(row, { id });
  });
  const { entries } = await get(eventEndpoints.ofCity, { id: 'beijing', 'max-results': 50 });
  await get(eventEndpoints.search, { location: 'all', q: '的' });
  const guests = new Set<string>(readers);
  await each(ids(entries, 'id'), 4, async (id) => {
    await get(eventEndpoints.byId, { id });
    for (const row of [eventEndpoints.participants, eventEndpoints.wishers])
      for (const guest of ids((await get(row, { id })).entries, 'id')) guests.add(guest);
  });
  const known: Readonly<Record<string, readonly string[]>> = {
    book: ids(books, 'id'),
    reader: [...readers],
    series: ids(books, 'series', 'id'),
    film: [...films],
    person: [...people],
    event: ids(entries, 'id'),
    guest: [...guests],
  };
  for (const row of readEndpoints.filter((row) => row.params.length === 1 && !read.has(row)))
    await each(known[namedIn[row.between[0] ?? ''] ?? ''] ?? [], 4, (id) => get(row, { [row.params[0]!]: id }));
  return { deviations, read, count };
}

test('every response of the origin is as the interface says, in each tier', async () => {
  const origin = await service();
  const read = new Set<Endpoint>();
  for (const [token, tier] of [
    ['demo-alice', 'advance'],
    ['demo-bob', 'basic'],
    ['demo-carol', 'premium'],
  ] as const) {
    const found = await crawl(origin.url, token);
    expect([...found.deviations].sort(), tier).toEqual([]);
    expect(found.count).toBeGreaterThan(80);
    for (const endpoint of found.read) read.add(endpoint);
  }
  const missed = readEndpoints.filter((each) => !read.has(each)).map(({ path }) => path);
  expect(missed, 'read it in crawl() of this test').toEqual([]);
  expect(tiers).toHaveLength(3);
});
