/** Lists that are ordered by time are read page by page while others change them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { passedItems } from '../../../src/engine/values/newest-first.ts';
import { changingShelf, kinds } from '../../support/changing-shelf.ts';
import { facade } from '../../support/facade.ts';

const query = `query ($first: Int!, $after: String) { user(id: 3) { bookCollections(first: $first, after: $after) {
  totalCount edges { cursor node { id } } pageInfo { hasNextPage startCursor endCursor } } } }`;
interface Page {
  totalCount: number;
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: { hasNextPage: boolean; startCursor: string | null; endCursor: string | null };
}
type Shelf = ReturnType<typeof changingShelf>;

async function readPage({ execute }: Shelf, first: number, after: string | null): Promise<Page> {
  const { data, errors } = await execute(query, { variables: { first, after } });
  expect(errors).toBeUndefined();
  return data.user.bookCollections as Page;
}

/** The numbers of all pages; `change` is called between two of them. */
async function readAll(shelf: Shelf, first: number, change: (page: number) => void): Promise<number[]> {
  const numbers: number[] = [];
  let after: string | null = null;
  for (let pages = 0; ; pages++) {
    expect(pages).toBeLessThan(300);
    const before = shelf.calls.length;
    const { edges, pageInfo, totalCount } = await readPage(shelf, first, after);
    expect(shelf.calls.length - before).toBeLessThanOrEqual(after === null ? 1 : 2);
    expect(totalCount).toBe(shelf.entries().size);
    numbers.push(...edges.map(({ node }) => Number(node.id.split(':').at(-1))));
    if (edges.length > 0) expect(pageInfo.startCursor).toBe(edges[0]!.cursor);
    if (!pageInfo.hasNextPage) return numbers;
    after = pageInfo.endCursor;
    expect(after).not.toBeNull();
    change(pages);
  }
}

const shelves = fc.record({
  /** The seconds between an entry and the next one; mostly none. */
  gaps: fc.array(fc.constantFrom(0, 0, 0, 0, 1, 60), { maxLength: 120 }),
  first: fc.constantFrom(1, 3, 7, 20, 99, 100),
  steps: fc.array(
    fc.array(fc.record({ kind: fc.constantFrom('add', 'remove', 'remove', 'edit', 'tick'), at: fc.nat(5_000) }), {
      maxLength: 8,
    }),
    { maxLength: 40 },
  ),
});

test('a shelf that changes while it is read shows each entry that nobody touched once', async () => {
  await fc.assert(
    fc.asyncProperty(shelves, async ({ gaps, first, steps }) => {
      let second = 1_000;
      const entries = gaps.map((gap, at) => ({ id: at + 1, second: (second += gap) }));
      const shelf = changingShelf(entries, () => second);
      const untouched = new Set(shelf.entries().keys());
      const shown = await readAll(shelf, first, (page) => {
        for (const { kind, at } of steps[page] ?? []) {
          if (kind === 'tick') second++;
          else if (kind === 'add') shelf.add();
          else untouched.delete((kind === 'edit' ? shelf.edit(at) : shelf.remove(at)) ?? 0);
        }
      });
      expect([...untouched].filter((id) => !shown.includes(id))).toEqual([]);
      expect(shown.filter((id, at) => shown.indexOf(id) !== at && untouched.has(id))).toEqual([]);
    }),
    { numRuns: process.env.THOROUGH ? 40 : 15, endOnFailure: true },
  );
});

test.for(['descending', 'ascending'] as const)('a shelf is shown whole, with ids of one second %s', async (ties) => {
  const entries = Array.from({ length: 30 }, (_, at) => ({ id: at + 1, second: 1_000 + Math.floor(at / 12) }));
  // Two entries of a second on a page show their order.
  for (const first of ties === 'ascending' ? [5, 10, 11, 29] : [1, 5, 11, 12]) {
    const shown = await readAll(
      changingShelf(entries, () => 2_000, kinds.shelfChanges, { ties }),
      first,
      () => undefined,
    );
    expect(shown.toSorted((a, b) => a - b)).toEqual(entries.map(({ id }) => id));
  }
});

test('a page shows whether ids ascend within a second, if its cursor, of an item that is gone, does not', () => {
  const time = '2026-11-27T00:00:00';
  const pageOf = (ids: number[]) => ids.map((id) => ({ updated: time, id }));
  const gone = { time, id: '6', total: null, ascends: false };
  const order = { time: 'updated', id: 'id' };
  expect(passedItems(pageOf([4, 5, 7, 8]), order, gone)).toBe(2);
  expect(passedItems(pageOf([8, 7, 5, 4]), order, gone)).toBe(2);
});

test.each([3, 7, 26])(
  'a list that the service orders otherwise is shown whole, by positions, in pages of %i',
  async (first) => {
    const days = Array.from({ length: 53 }, (_, at) => ((at * 17) % 53) + 1);
    for (const order of [days, days.toSorted((a, b) => a - b)]) {
      const { service, execute } = facade();
      service
        .intercept({ path: /collections/ })
        .reply(({ path }) => {
          const query = new URL(path, 'http://x').searchParams;
          const [start, count] = [Number(query.get('start')), Number(query.get('count'))];
          const collections = order.slice(start, start + count).map((day) => ({
            ...{ id: day, book_id: `${day}`, user_id: '3', status: 'read' },
            updated: new Date(Date.UTC(2015, 0, day)).toISOString().slice(0, 19).replace('T', ' '),
          }));
          return { statusCode: 200, data: { start, count, total: 53, collections } };
        })
        .persist();
      const shown: string[] = [];
      for (let after: string | null = null, isMore = true; isMore;) {
        const { data } = await execute(query, { variables: { first, after } });
        const { edges, pageInfo } = data.user.bookCollections as Page;
        shown.push(...edges.map(({ node }) => node.id));
        [after, isMore] = [pageInfo.endCursor, pageInfo.hasNextPage];
      }
      expect(shown).toEqual(order.map((day) => `Collection:3:${day}`));
    }
  },
);

test('no item is left out after one whose time cannot be read, although an earlier one is removed meanwhile', async () => {
  const { service, execute } = facade();
  const collections = Array.from({ length: 12 }, (_, at) => ({
    ...{ id: 100 - at, book_id: `${100 - at}`, user_id: '3', status: 'read' },
    updated: at === 2 ? '0000-00-00 00:00:00' : `2015-01-${20 - at} 00:00:00`,
  }));
  service
    .intercept({ path: /collections/ })
    .reply(({ path }) => {
      const query = new URL(path, 'http://x').searchParams;
      const [start, count] = [Number(query.get('start')), Number(query.get('count'))];
      const page = collections.slice(start, start + count);
      return { statusCode: 200, data: { start, count, total: collections.length, collections: page } };
    })
    .persist();
  const read = async (after: string | null) =>
    (await execute(query, { variables: { first: 5, after } })).data.user.bookCollections as Page;
  const { pageInfo } = await read(null);
  collections.shift();
  const { edges } = await read(pageInfo.endCursor);
  expect(edges.map(({ node }) => node.id)).toContain('Collection:3:95');
});
