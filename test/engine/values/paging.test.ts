import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type PagedList, type PagedService, allOf, facadeOver, pagedLists } from './paged-service.ts';

/** The ids of all pages, by the cursor that `next` takes of a page. */
async function walk(list: PagedList, service: PagedService, first: number, by: 'endCursor' | 'last edge') {
  const { execute } = facadeOver(list, service);
  const { query } = pagedLists[list]!;
  const args = list === 'books' ? `query: "x", first: ${first}, after: $after` : `first: ${first}, after: $after`;
  const document = `query ($after: String) { ${query}(${args}) {
    totalCount edges { cursor node { sourceId } } pageInfo { startCursor endCursor hasNextPage } }${list === 'books' ? '' : ' }'} }`;
  const ids: string[] = [];
  let after: string | null = null;
  for (let pages = 0; ; pages++) {
    expect(pages).toBeLessThan(100);
    const { data, errors } = await execute(document, { variables: { after } });
    expect(errors).toBeUndefined();
    const { edges, pageInfo } = (data.list ??
      Object.values(data as Record<string, { list?: unknown }>).find((each) => each.list)?.list) as {
      edges: { cursor: string; node: { sourceId: string } }[];
      pageInfo: { startCursor: string | null; endCursor: string | null; hasNextPage: boolean };
    };
    ids.push(...edges.map(({ node }) => node.sourceId));
    if (edges.length > 0) {
      expect(pageInfo.startCursor).toBe(edges[0]!.cursor);
      expect(pageInfo.endCursor).toBe(edges.at(-1)!.cursor);
    }
    if (!pageInfo.hasNextPage) return ids;
    after = by === 'endCursor' ? pageInfo.endCursor : (edges.at(-1)?.cursor ?? pageInfo.endCursor);
    expect(after).not.toBeNull();
  }
}

describe('a list whose service leaves out what is hidden, and says where the next page begins,', () => {
  const every = (step: number) => new Set(Array.from({ length: 20 }, (_, at) => at * step));
  const run = (from: number, to: number) => new Set(Array.from({ length: to - from }, (_, at) => from + at));

  test.each<[string, PagedService]>([
    ['with every seventh item hidden', { total: 60, hidden: every(7) }],
    ['with a hidden page in the middle', { total: 60, hidden: run(20, 30) }],
    ['with the first two pages hidden', { total: 60, hidden: run(0, 20) }],
    ['with the last page hidden', { total: 60, hidden: run(50, 60) }],
    ['with all hidden', { total: 30, hidden: run(0, 30) }],
    ['with a smaller maximum of the service', { total: 60, hidden: every(7), most: 8 }],
    ['without a total', { total: 60, hidden: every(7), hidesTotal: true }],
  ])('is shown once and to its end: %s', async (_, service) => {
    for (const list of Object.keys(pagedLists))
      for (const by of ['endCursor', 'last edge'] as const)
        expect(await walk(list, service, 10, by)).toEqual(allOf(service));
  });

  test('is shown once and to its end, whatever is hidden', async () => {
    const services = fc.record({
      total: fc.integer({ min: 0, max: 40 }),
      hidden: fc.array(fc.nat(39), { maxLength: 30 }).map((positions) => new Set(positions)),
      most: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(services, fc.integer({ min: 1, max: 10 }), async (service, first) => {
        expect(await walk('comments', service, first, 'endCursor')).toEqual(allOf(service));
      }),
      { numRuns: 25 },
    );
  });

  test('shows an empty page in the middle with the cursor of its end', async () => {
    const { execute } = facadeOver('comments', { total: 60, hidden: run(20, 30) });
    const { data } = await execute(
      '{ subject(id: "7") { comments(first: 10, offset: 20) { totalCount nodes { id } pageInfo { startCursor endCursor hasNextPage } } } }',
    );
    expect(data.subject.comments).toMatchObject({
      totalCount: 60,
      nodes: [],
      pageInfo: { startCursor: null, endCursor: expect.any(String) as string, hasNextPage: true },
    });
  });
});

test('a list without `next_start` ends by the items received', async () => {
  const shortened = { total: 23, hidden: new Set<number>(), hidesNext: true };
  expect(await walk('comments', shortened, 10, 'endCursor')).toEqual(allOf(shortened));
});

const page = (start: number, ids: number[]) => ({ start, count: 10, comments: ids.map((id) => ({ id: String(id) })) });
const tenFrom = (from: number) => Array.from({ length: 10 }, (_, at) => from + at);
async function commentsOf(answer: object, args = 'first: 10') {
  const { service, execute } = facade({ recordTtlSeconds: 0 });
  service.intercept({ path: () => true }).reply(200, answer);
  const { data, errors } = await execute(
    `{ subject(id: "7") { comments(${args}) { totalCount nodes { sourceId } pageInfo { endCursor hasNextPage } } } }`,
  );
  expect(errors).toBeUndefined();
  const { totalCount, nodes, pageInfo } = data.subject.comments as {
    totalCount: number | null;
    nodes: { sourceId: string }[];
    pageInfo: { endCursor: string | null; hasNextPage: boolean };
  };
  const end = pageInfo.endCursor && Number(/\d+$/.exec(Buffer.from(pageInfo.endCursor, 'base64url').toString())![0]);
  return { totalCount, ids: nodes.map(({ sourceId }) => Number(sourceId)), end, hasNextPage: pageInfo.hasNextPage };
}

test.each<[unknown, number]>([
  [20, 19],
  ['20', 19],
  [0, 9],
  [-1, 9],
  [10.5, 9],
  [null, 9],
  ['soon', 9],
  [1e300, 9],
  [[20], 9],
  [{}, 9],
])('`next_start` is believed if it is a whole number above `start`: %j', async (next_start, end) => {
  expect(await commentsOf({ ...page(0, tenFrom(1)), total: 60, next_start })).toMatchObject({ end, hasNextPage: true });
});

test('`next_start` is not believed if the service sends more than the page', async () => {
  expect(await commentsOf({ ...page(0, tenFrom(1)), total: 60, next_start: 20 }, 'first: 5')).toMatchObject({
    ids: [1, 2, 3, 4, 5],
    end: 4,
    hasNextPage: true,
  });
});

test.each(['first: 3', 'last: 3'])('items beyond the page do not count against the total: %s', async (args) => {
  const sent = { ...page(0, [1, 2, 3, 4, 5]), count: 3, total: 3 };
  expect(await commentsOf(sent, args)).toMatchObject({ totalCount: 3, ids: [1, 2, 3] });
});

test('a start beyond the end, for which the service sends its last page, is an empty page', async () => {
  const last = page(50, tenFrom(51));
  const empty = { ids: [], end: null, hasNextPage: false };
  expect(await commentsOf({ ...last, total: 60 }, 'first: 10, offset: 500')).toEqual({ totalCount: 60, ...empty });
  expect(await commentsOf({ ...last, total: 60 }, 'first: 10, offset: 60')).toEqual({ totalCount: 60, ...empty });
  expect(await commentsOf(last, 'first: 10, offset: 500')).toEqual({ totalCount: null, ...empty });
  // The whole list is shorter than a page.
  const whole = { ...page(0, [1, 2, 3]), total: 3 };
  expect(await commentsOf(whole, 'first: 10, offset: 40')).toEqual({ totalCount: 3, ...empty });
});

test('a page is shown although the service says `start: 0`, if another statement says that there is such a page', async () => {
  const second = { ...page(0, tenFrom(11)), total: 60 };
  expect(await commentsOf(second, 'first: 10, offset: 10')).toMatchObject({ ids: tenFrom(11), hasNextPage: true });
  const first = { ...page(0, tenFrom(11)), total: undefined };
  expect(await commentsOf(first, 'first: 10, offset: 10')).toMatchObject({ ids: [], hasNextPage: false });
  const known = { ...first, next_start: 20 };
  expect(await commentsOf(known, 'first: 10, offset: 10')).toMatchObject({ ids: tenFrom(11), hasNextPage: true });
  const last = { ...page(0, [51, 52, 53]), total: 53 };
  expect(await commentsOf(last, 'first: 10, offset: 50')).toMatchObject({ ids: [51, 52, 53], hasNextPage: false });
});

test('the list ends with a page past its total, even one that is said to be there', async () => {
  const past = { ...page(20, tenFrom(1)), total: 20 };
  expect(await commentsOf(past, 'first: 10, offset: 20')).toMatchObject({ totalCount: null, hasNextPage: false });
  // More items than there should be show that the total is wrong.
  expect(await commentsOf({ ...past, total: 9 }, 'first: 10, offset: 20')).toMatchObject({ hasNextPage: true });
});

test('a total below what was shown is not believed', async () => {
  expect(await commentsOf({ ...page(0, tenFrom(1)), total: 3 })).toEqual({
    totalCount: null,
    ids: tenFrom(1),
    end: 9,
    hasNextPage: true,
  });
  expect(await commentsOf({ ...page(10, tenFrom(11)), total: 15 }, 'first: 10, offset: 10')).toMatchObject({
    totalCount: null,
    ids: tenFrom(11),
    hasNextPage: true,
  });
  expect(await commentsOf({ ...page(0, [1, 2]), total: 0 })).toMatchObject({ totalCount: null, hasNextPage: false });
});

test.each<[string, object]>([
  ['null', { start: 0, count: 10, total: 0, comments: null }],
  ['absent', { start: 0, count: 10, total: 0 }],
  ['absent, its total a text', { start: 0, count: 10, total: '0' }],
])('an empty list may be %s beside a total of 0', async (_, answer) => {
  expect(await commentsOf(answer)).toEqual({ totalCount: 0, ids: [], end: null, hasNextPage: false });
});

describe('an Atom feed', () => {
  const atom = (inside: string, ids: readonly number[]) => `<feed xmlns="http://www.w3.org/2005/Atom"
    xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/">${inside}
    ${ids.map((id) => `<entry><id>http://x/event/${id}</id><title>t</title></entry>`).join('')}</feed>`;
  const next = (href: string) => `<link rel="next" href="${href.replaceAll('&', '&amp;')}"/>`;
  const sized = (name: string, value: number) => `<opensearch:${name}>${value}</opensearch:${name}>`;

  async function eventsOf(text: string, args = 'first: 10') {
    const { events, execute } = facade({ recordTtlSeconds: 0 });
    events.intercept({ path: () => true }).reply(200, text, { headers: { 'content-type': 'application/atom+xml' } });
    const { data, errors } = await execute(
      `{ city(id: "beijing") { events(${args}) { totalCount nodes { sourceId } pageInfo { endCursor hasNextPage } } } }`,
    );
    expect(errors).toBeUndefined();
    const { totalCount, nodes, pageInfo } = data.city.events as {
      totalCount: number | null;
      nodes: { sourceId: string }[];
      pageInfo: { endCursor: string | null; hasNextPage: boolean };
    };
    const end = pageInfo.endCursor && Number(/\d+$/.exec(Buffer.from(pageInfo.endCursor, 'base64url').toString())![0]);
    return { totalCount, ids: nodes.map(({ sourceId }) => Number(sourceId)), end, hasNextPage: pageInfo.hasNextPage };
  }

  test.each([
    ['http://x/event/location/beijing?start-index=21&max-results=10', 19],
    ['?max-results=10&start-index=21', 19],
    ['?start-index=21#more', 19],
    ['?start-index=1', 8],
    ['?start-index=21x', 8],
    ['?page=3', 8],
    ['', 8],
  ])('goes on where its link to the next page says: %s', async (href, end) => {
    const text = atom(next(href) + sized('totalResults', 60), tenFrom(1).slice(1));
    expect(await eventsOf(text)).toMatchObject({ end, hasNextPage: true });
  });

  test('has a next page if an empty page links to it', async () => {
    const text = atom(next('?start-index=31') + sized('totalResults', 60), []);
    expect(await eventsOf(text, 'first: 10, offset: 20')).toMatchObject({ ids: [], end: 29, hasNextPage: true });
  });

  test('has no total if `totalResults` counts less than was shown', async () => {
    const text = atom(sized('totalResults', 15) + sized('startIndex', 11), tenFrom(11));
    expect(await eventsOf(text, 'first: 10, offset: 10')).toEqual({
      totalCount: null,
      ids: tenFrom(11),
      end: 19,
      hasNextPage: true,
    });
  });

  test('is an empty page if the service sends the last one instead of one beyond the end', async () => {
    const text = atom(sized('totalResults', 30) + sized('startIndex', 21), tenFrom(21));
    expect(await eventsOf(text, 'first: 10, offset: 90')).toMatchObject({ ids: [], end: null, hasNextPage: false });
  });

  test('is shown if the service counts `startIndex` from 0', async () => {
    const text = atom(sized('totalResults', 30) + sized('startIndex', 10), tenFrom(11));
    expect(await eventsOf(text, 'first: 10, offset: 10')).toMatchObject({ ids: tenFrom(11), hasNextPage: true });
  });
});
