import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type PagedService, allOf, pagedLists, readerOf } from './paged-service.ts';

const plain = (total: number): PagedService => ({ total, hidden: new Set() });
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

describe('the last nodes of a list', () => {
  test('cost a second call if the list is longer, and have no next page', async () => {
    const { read, calls } = readerOf('comments', plain(23));
    expect(await read('last: 10')).toMatchObject({
      ids: numbers(14, 23),
      totalCount: 23,
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });
    expect(calls.map((call) => new URL(call.split(' ')[1]!, 'http://x').searchParams.get('start'))).toEqual([
      '0',
      '13',
    ]);
  });

  test('are the whole list in one call if it is that short', async () => {
    for (const total of [0, 1, 10]) {
      const { read, calls } = readerOf('comments', plain(total));
      expect(await read('last: 10')).toMatchObject({
        ids: numbers(1, total),
        pageInfo: { hasNextPage: false, hasPreviousPage: false },
      });
      expect(calls).toHaveLength(1);
    }
  });

  test('are refused if the service does not say how long the list is', async () => {
    const { read } = readerOf('comments', { ...plain(23), hidesTotal: true });
    await expect(read('last: 10')).rejects.toThrow('The service does not say how long this list is');
  });

  test('lead back to the others if the service counts more than it has', async () => {
    const { read } = readerOf('comments', { total: 30, hidden: new Set(numbers(6, 30).map(Number)), hidesNext: true });
    const pages = [await read('last: 10')];
    while (pages[0]!.pageInfo.hasPreviousPage)
      pages.unshift(await read(`last: 10, before: "${pages[0]!.pageInfo.startCursor}"`));
    expect(pages.flatMap(({ ids }) => ids)).toEqual(numbers(1, 6));
  });

  test('are those behind `after`', async () => {
    const { read } = readerOf('comments', plain(23));
    const { pageInfo } = await read('first: 20');
    const after = `after: "${pageInfo.endCursor}"`;
    expect(await read(`last: 2, ${after}`)).toMatchObject({ ids: ['22', '23'], pageInfo: { hasPreviousPage: true } });
    expect(await read(`last: 9, ${after}`)).toMatchObject({ ids: ['21', '22', '23'] });
  });

  test('need one call if only their number is selected', async () => {
    const { execute, calls } = readerOf('comments', plain(23));
    const { data } = await execute('{ subject(id: "7") { comments(last: 10) { totalCount } } }');
    expect(data.subject.comments).toEqual({ totalCount: 23 });
    expect(calls).toHaveLength(1);
  });

  test('tell whether others precede them, without nodes too', async () => {
    const { execute } = readerOf('comments', { ...plain(60), most: 50 });
    const { data } = await execute('{ subject(id: "7") { comments(last: 100) { pageInfo { hasPreviousPage } } } }');
    expect(data.subject.comments.pageInfo).toEqual({ hasPreviousPage: true });
  });
});

describe('the nodes before a cursor', () => {
  test('cost one call, since the cursor tells where they are', async () => {
    const { read, calls } = readerOf('comments', plain(23));
    const { edges } = await read('first: 20');
    const page = await read(`last: 5, before: "${edges[12]!.cursor}"`);
    expect(page).toMatchObject({ ids: numbers(8, 12), pageInfo: { hasNextPage: true, hasPreviousPage: true } });
    expect(page.pageInfo).toMatchObject({ startCursor: edges[7]!.cursor, endCursor: edges[11]!.cursor });
    expect(calls).toHaveLength(2);
  });

  test('are fewer at the beginning, and none before the first', async () => {
    const { read } = readerOf('comments', plain(23));
    const { edges } = await read('first: 20');
    expect(await read(`last: 5, before: "${edges[2]!.cursor}"`)).toMatchObject({
      ids: ['1', '2'],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    expect(await read(`last: 5, before: "${edges[0]!.cursor}"`)).toMatchObject({
      ids: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('are as many as a page has by default if no number is given', async () => {
    const { read } = readerOf('comments', plain(60));
    const { edges } = await read('first: 50');
    expect((await read(`before: "${edges[45]!.cursor}"`)).ids).toEqual(numbers(36, 45));
  });

  test('bound the first ones too', async () => {
    const { read } = readerOf('comments', plain(23));
    const { edges } = await read('first: 20');
    const between = `after: "${edges[3]!.cursor}", before: "${edges[7]!.cursor}"`;
    expect((await read(`first: 2, ${between}`)).ids).toEqual(['5', '6']);
    expect((await read(`first: 9, ${between}`)).ids).toEqual(['5', '6', '7']);
    expect((await read(`last: 2, ${between}`)).ids).toEqual(['6', '7']);
    expect((await read(`last: 2, after: "${edges[7]!.cursor}", before: "${edges[3]!.cursor}"`)).ids).toEqual([]);
  });

  test('are the last of a list that has become shorter', async () => {
    const service = plain(23);
    const { read } = readerOf('comments', service);
    const { edges } = await read('first: 20');
    service.total = 8;
    expect((await read(`last: 5, before: "${edges[18]!.cursor}"`)).ids).toEqual(numbers(4, 8));
  });
});

test('what the first page embeds is not taken for a page that goes backward', async () => {
  const { service, execute, calls } = facade({ accessToken: 'own', filmTier: 'advance' });
  service
    .intercept({ path: /7\/photos/ })
    .reply(200, { start: 0, count: 3, total: 3, photos: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  const { data } = await execute('{ subject(id: 7) { photos(last: 3) { nodes { id } } } }');
  expect(data.subject.photos.nodes).toHaveLength(3);
  expect(calls).toEqual(['GET /v2/movie/subject/7/photos?count=3&fields=id&start=0']);
});

describe('arguments that say two things', () => {
  test.each([
    ['first: 2, last: 2', 'Give `first` or `last`, not both.'],
    ['last: 0', '`last` must be from 1 to 100.'],
    ['last: 101', '`last` must be from 1 to 100.'],
    ['last: 2, offset: 1', '`offset` counts from the beginning: give it without `last` and `before`.'],
    ['last: 2, before: "x"', 'This is not a cursor.'],
  ])('are refused: %s', async (args, message) => {
    const { execute, calls } = readerOf('comments', plain(3));
    const { errors } = await execute(`{ subject(id: "7") { comments(${args}) { nodes { id } } } }`);
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(calls.filter((call) => call.includes('comments'))).toEqual([]);
  });

  test('are no such arguments if a variable has no value', async () => {
    const { execute } = readerOf('comments', plain(23));
    const query = `query ($first: Int, $last: Int, $after: String, $before: String) {
      subject(id: "7") { comments(first: $first, last: $last, after: $after, before: $before) { nodes { sourceId } } } }`;
    const idsWith = async (variables: Record<string, unknown>) =>
      ((await execute(query, { variables })).data.subject.comments.nodes as { sourceId: string }[]).map(
        ({ sourceId }) => sourceId,
      );
    expect(await idsWith({})).toEqual(numbers(1, 10));
    expect(await idsWith({ first: null, last: 3 })).toEqual(['21', '22', '23']);
    expect(await idsWith({ last: 3, after: null, before: null })).toEqual(['21', '22', '23']);
    expect(await idsWith({ first: 2, last: null })).toEqual(['1', '2']);
    expect((await execute(query, { variables: { first: 2, last: 2 } })).errors).toMatchObject([
      { message: 'Give `first` or `last`, not both.' },
    ]);
  });

  test('are refused by a list in the order of time', async () => {
    const { execute } = facade();
    const { errors } = await execute('{ book(id: 7) { annotations(order: NEWEST, last: 2) { nodes { id } } } }');
    expect(errors).toMatchObject([
      {
        message: 'A list that is ordered by time goes forward only: give `first` and `after`.',
        extensions: { code: 'BAD_USER_INPUT', argument: 'last' },
      },
    ]);
    const shelf = await execute('{ user(id: 3) { bookCollections(last: 2) { nodes { id } } } }');
    expect(shelf.errors).toMatchObject([{ message: expect.stringContaining('Unknown argument "last"') as string }]);
  });
});

test('a page costs at most what the plan says, from either end', async () => {
  const { execute, calls } = readerOf('comments', plain(50));
  const cursor = (await readerOf('comments', plain(50)).read('first: 30')).edges[25]!.cursor;
  for (const args of ['first: 5', 'last: 5', 'last: 50', `last: 5, before: "${cursor}"`, `before: "${cursor}"`]) {
    const query = `{ subject(id: "7") { comments(${args}) { nodes { id } } } }`;
    const plan = (await execute(query, { explain: 'plan' })).extensions?.upstream as { min: number; max: number };
    const before = calls.length;
    await execute(query);
    expect(calls.length - before, args).toBeGreaterThanOrEqual(plan.min);
    expect(calls.length - before, args).toBeLessThanOrEqual(plan.max);
  }
});

describe('pages in any mix of directions', () => {
  /** The items of a list that is read from both ends until the pages meet. */
  async function walk(list: string, service: PagedService, steps: readonly { isForward: boolean; size: number }[]) {
    const { read } = readerOf(list, service);
    const [front, back]: [string[], string[]] = [[], []];
    let [after, before]: [string | null, string | null] = [null, null];
    for (let at = 0; ; at++) {
      expect(at).toBeLessThan(200);
      const { isForward, size } = steps[at % steps.length]!;
      const bounds = `${after ? `, after: "${after}"` : ''}${before ? `, before: "${before}"` : ''}`;
      const { ids, pageInfo, edges } = await read(`${isForward ? 'first' : 'last'}: ${size}${bounds}`);
      if (edges.length > 0)
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]!.cursor, edges.at(-1)!.cursor]);
      if (isForward) front.push(...ids);
      else back.unshift(...ids);
      const cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor;
      const isMore = isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage;
      // Between two pages that meet is no page: it has no cursor.
      if (cursor === null || !isMore) return [...front, ...back];
      if (isForward) after = cursor;
      else before = cursor;
    }
  }

  const services = fc.record({
    total: fc.nat(40),
    most: fc.integer({ min: 1, max: 12 }),
    hidden: fc.array(fc.nat(39), { maxLength: 20 }).map((positions) => new Set(positions)),
  });
  const steps = fc.array(fc.record({ isForward: fc.boolean(), size: fc.integer({ min: 1, max: 12 }) }), {
    minLength: 1,
    maxLength: 6,
  });
  const anyList = fc.constantFrom(...Object.keys(pagedLists));

  test('give the list once, whatever the service leaves out', async () => {
    await fc.assert(
      fc.asyncProperty(anyList, services, steps, async (list, service, turns) => {
        expect(await walk(list, service, turns)).toEqual(allOf(service));
      }),
      { numRuns: 25 },
    );
  });
});
