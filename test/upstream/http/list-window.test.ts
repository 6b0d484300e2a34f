import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { thorough } from '../../support/optional.ts';

/** How a service treats the window of a list. */
interface Manners {
  total: number;
  /** The most items of a page. */
  most: number;
  /** The position that a page begins at, of the requested one. */
  begins: 'requested' | 'first' | 'multiple';
  ignoresCount?: boolean;
  /** The position that it says. */
  states: 'requested' | 'own' | 'none';
  hidesTotal?: boolean;
}

const kinds = {
  json: {
    field: '__typename list: searchBooks(query: "x", ARGS)',
    names: ['start', 'count'],
    write: (stated: number | undefined, total: number | undefined, ids: readonly number[]) =>
      JSON.stringify({ start: stated, total, books: ids.map((id) => ({ id: String(id), title: 'x' })) }),
    type: 'application/json',
  },
  atom: {
    field: 'city(id: "beijing") { list: events(ARGS) BODY }',
    names: ['start-index', 'max-results'],
    write: (stated: number | undefined, total: number | undefined, ids: readonly number[]) =>
      `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/">
        ${stated === undefined ? '' : `<opensearch:startIndex>${stated + 1}</opensearch:startIndex>`}
        ${total === undefined ? '' : `<opensearch:totalResults>${total}</opensearch:totalResults>`}
        ${ids.map((id) => `<entry><id>http://x/event/${id}</id><title>t</title></entry>`).join('')}</feed>`,
    type: 'application/atom+xml',
  },
} as const;
type Kind = keyof typeof kinds;

function facadeOver(kind: Kind, { total, most, begins, ignoresCount, states, hidesTotal }: Manners) {
  const made = facade({ recordTtlSeconds: 0 });
  const { names, write, type } = kinds[kind];
  const first = kind === 'atom' ? 1 : 0;
  const answer = ({ path }: { path: string }) => {
    const { searchParams } = new URL(path, 'http://x');
    const requested = Number(searchParams.get(names[0])) - first;
    const count = ignoresCount ? most : Math.min(Number(searchParams.get(names[1])), most);
    const start = { requested, first: 0, multiple: requested - (requested % count) }[begins];
    const ids = Array.from({ length: Math.max(0, Math.min(count, total - start)) }, (_, at) => start + at + 1);
    const stated = { requested, own: start, none: undefined }[states];
    const headers = { 'content-type': type };
    return { statusCode: 200, data: write(stated, hidesTotal ? undefined : total, ids), responseOptions: { headers } };
  };
  for (const service of [made.service, made.events])
    service
      .intercept({ path: () => true })
      .reply(answer)
      .persist();
  return made;
}

/** The ids of the pages that a client reads with `after`, until there are no more, or for so many pages. */
async function pagesOf(kind: Kind, manners: Manners, first: number, most = 40): Promise<number[][]> {
  const { execute } = facadeOver(kind, manners);
  const pages: number[][] = [];
  let args = `first: ${first}`;
  for (; pages.length < most;) {
    const body = '{ nodes { sourceId } pageInfo { hasNextPage endCursor } }';
    const field = kinds[kind].field.replace('ARGS', args).replace('BODY', body);
    const { data, errors } = await execute(`{ ${field} ${kind === 'json' ? body : ''} }`);
    expect(errors).toBeUndefined();
    const { nodes, pageInfo } = (data.list ?? data.city.list) as {
      nodes: { sourceId: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
    pages.push(nodes.map(({ sourceId }) => Number(sourceId)));
    if (!pageInfo.hasNextPage) return pages;
    args = `first: ${first}, after: "${pageInfo.endCursor}"`;
  }
  return pages;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);
const ofKinds = (manners: readonly Manners[]) =>
  (Object.keys(kinds) as Kind[]).flatMap((kind) => manners.map((each) => [kind, each] as const));
const statements = [
  { states: 'own' },
  { states: 'own', hidesTotal: true },
  { states: 'none' },
  { states: 'requested' },
] as const;

describe('a list whose service sends its beginning, whatever position is requested,', () => {
  test.each(ofKinds([{ total: 13, most: 100, begins: 'first', states: 'own', hidesTotal: true }]))(
    'ends with its first page if it says so and has no total: %s %j',
    async (kind, manners) => {
      expect(await pagesOf(kind, manners, 4)).toEqual([[1, 2, 3, 4], []]);
    },
  );

  test.each(
    ofKinds([
      { total: 13, most: 100, begins: 'first', states: 'own' },
      { total: 13, most: 100, begins: 'first', states: 'none' },
      { total: 13, most: 100, begins: 'first', states: 'requested' },
    ]),
  )('ends where its total says, by which there are more pages: %s %j', async (kind, manners) => {
    const pages = await pagesOf(kind, manners, 4);
    expect(pages.length).toBeLessThanOrEqual(5);
    const last = await pagesOf(kind, { ...manners, total: 12 }, 4);
    expect(last).toHaveLength(3);
  });

  // Each page may be the requested one: neither a position, nor a total, nor the number of items says anything else.
  test.each(ofKinds([{ total: 13, most: 100, begins: 'first', states: 'requested', hidesTotal: true }]))(
    'cannot be known if nothing in a response says so: %s %j',
    async (kind, manners) => {
      expect(await pagesOf(kind, manners, 4, 6)).toEqual(Array.from({ length: 6 }, () => [1, 2, 3, 4]));
    },
  );
});

describe('a list whose service ignores position and number', () => {
  test.each(
    ofKinds(statements.map((each) => ({ total: 13, most: 100, begins: 'first', ignoresCount: true, ...each }))),
  )('is shown in pages: %s %j', async (kind, manners) => {
    const pages = await pagesOf(kind, manners, 4);
    expect(pages).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13]]);
  });

  test.each(ofKinds([{ total: 60, most: 10, begins: 'first', ignoresCount: true, states: 'own' }]))(
    'is shown in pages as far as it is sent: %s %j',
    async (kind, manners) => {
      expect(await pagesOf(kind, manners, 4)).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10], []]);
    },
  );
});

test.each(
  ofKinds([
    { total: 23, most: 5, begins: 'multiple', states: 'own' },
    { total: 23, most: 5, begins: 'multiple', states: 'own', hidesTotal: true },
  ]),
)('a page is found within the one that the service says it sends: %s %j', async (kind, manners) => {
  const { execute } = facadeOver(kind, manners);
  const field = kinds[kind].field.replace('ARGS', 'first: 5, offset: 7').replace('BODY', '{ nodes { sourceId } }');
  const { data } = await execute(`{ ${field} ${kind === 'json' ? '{ nodes { sourceId } }' : ''} }`);
  const { nodes } = data.list ?? data.city.list;
  expect(nodes).toEqual([{ sourceId: '8' }, { sourceId: '9' }, { sourceId: '10' }]);
});

describe('a client that pages', () => {
  const manners = fc.record({
    total: fc.integer({ min: 0, max: 30 }),
    most: fc.integer({ min: 2, max: 12 }),
    begins: fc.constantFrom('requested', 'first', 'multiple'),
    ignoresCount: fc.boolean(),
    states: fc.constantFrom('requested', 'own', 'none'),
    hidesTotal: fc.boolean(),
  }) as fc.Arbitrary<Manners>;
  const kind = fc.constantFrom(...(Object.keys(kinds) as Kind[]));

  test('ends, and gets no item twice where the service says which page it sends and no total contradicts it', async () => {
    await fc.assert(
      fc.asyncProperty(manners, kind, fc.integer({ min: 2, max: 8 }), async (given, of, first) => {
        fc.pre(given.states === 'own' || !given.hidesTotal);
        const pages = await pagesOf(of, given, first, 60);
        expect(pages.length).toBeLessThan(60);
        if (given.states === 'own' && given.hidesTotal) expect(pages.flat()).toEqual(upTo(pages.flat().length));
      }),
      { numRuns: thorough ? 150 : 40 },
    );
  });

  test('gets all items of a service that sends what is requested', async () => {
    await fc.assert(
      fc.asyncProperty(manners, kind, fc.integer({ min: 1, max: 8 }), async (given, of, first) => {
        const honest = { ...given, begins: 'requested', ignoresCount: false, most: 100 } as const;
        expect((await pagesOf(of, honest, first)).flat()).toEqual(upTo(given.total));
      }),
      { numRuns: thorough ? 100 : 25 },
    );
  });
});

test.each(['total', 'start', 'next_start', 'count'])(
  'a %s that is an object or a list counts as left out',
  async (name) => {
    const shownWith = (wrong?: object) => {
      const { service, execute } = facade();
      service.intercept({ path: /search/ }).reply(200, { start: 0, total: 9, books: [{ id: '1' }], [name]: wrong });
      return execute('{ searchBooks(query: "x", first: 1, offset: 5) { nodes { id } totalCount } }');
    };
    const shown = await shownWith();
    expect(shown.errors).toBeUndefined();
    for (const wrong of [{ toString: 1 }, { valueOf: 1, toString: null }, [6], [{ toString: 1 }]])
      expect(await shownWith(wrong)).toEqual(shown);
  },
);
