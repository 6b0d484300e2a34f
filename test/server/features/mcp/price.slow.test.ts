import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { price as priceOfDocument } from '../../../../src/price.ts';
import { agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';
import { everyNth, thorough } from '../../../support/optional.ts';

interface Price {
  likely: number;
  catalog: number;
  events: number;
  film: number;
}

/** The ids of the first rows of a table in the demo data, whose first row has the names of the columns. */
const ids = (file: string, table = file): string[] => {
  const demo = JSON.parse(readFileSync(`demo/${file}.json`, 'utf8')) as Record<string, [string[], ...unknown[][]]>;
  const [columns, ...rows] = demo[table]!;
  return rows.slice(0, thorough ? 4 : 1).map((row) => String(row[columns.indexOf('id')]));
};
const users = thorough ? ['alice', 'bob', 'carol', 'nobody'] : ['alice', 'nobody'];
const cities = thorough ? ['beijing', 'shanghai', 'nowhere'] : ['beijing', 'nowhere'];

/** Arguments for every operation of the package: all combinations of values. */
const argumentsOf: Record<string, Record<string, readonly (string | boolean)[]>> = {
  Annotate: { book: ids('books'), content: ['这一页值得再读一遍：一句话就把人物写活了。'], isPrivate: [true] },
  Annotations: { book: ids('books') },
  Book: { id: ids('books') },
  Celebrity: { id: ids('films', 'celebrities') },
  Charts: { city: ['北京', '上海', '无处'] },
  City: { id: cities },
  Collect: { book: ids('books'), status: ['READ', 'READING', 'WISH'], isPrivate: [true] },
  Dashboard: { user: users, city: cities },
  DeleteCollection: { book: ids('books') },
  Diary: { user: users },
  Event: { id: ids('events') },
  Film: { id: ids('films', 'subjects') },
  ReplaceReview: { id: ['1'], title: ['再读一遍'], content: ['书'.repeat(151)] },
  Search: { query: ['百年', '的', '', 'xyz'] },
  Shelf: { user: users },
  ShelfSync: { user: users },
  UpdateAnnotation: { id: ids('books', 'annotations'), content: ['这一页值得再读一遍：一句话就把人物写活了。'] },
  UpdateCollection: { book: ids('books'), status: ['READ'], comment: ['好'] },
  UpdateNote: { id: ids('notes'), title: ['周末读书'] },
  WriteNote: { title: ['周末读书'], content: ['读完了，记几句。'] },
  WriteReview: { book: ids('books'), title: ['再读一遍'], content: ['书'.repeat(151)] },
};

const open = () =>
  journey({ ...{ mcp: 'on', mcpOperations: 'operations', mcpWrites: 'on', mcpShare: '100' }, recordTtlSeconds: '0' });

function combinations(given: Record<string, readonly (string | boolean)[]>): Record<string, unknown>[] {
  return Object.entries(given).reduce<Record<string, unknown>[]>(
    (all, [name, values]) => all.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
}

test('the arguments cover every operation', async () => {
  const { tools } = await (await agent((await open()).facade.url)).client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(argumentsOf).sort());
});

test.each(Object.keys(argumentsOf))(
  '%s: no tool makes more calls than its price, and its result reports the calls that a proxy counts',
  async (name) => {
    // Each in a minute of its own, as to the rate limit, and first with nothing known of the token's tier.
    const setup = await open();
    const round = Object.keys(argumentsOf).indexOf(name);
    const tokens = ['demo-alice', 'demo-bob', undefined];
    for (const token of everyNth(tokens, tokens.length, round)) {
      const { client, call } = await agent(setup.facade.url, token);
      const { _meta, inputSchema } = (await client.listTools()).tools.find((tool) => tool.name === name)!;
      const price = _meta!['catalog-graphql/price'] as Price;
      const queue = combinations(argumentsOf[name]!);
      if (!inputSchema.required) queue.push({}, {});
      for (let given = queue.shift(); given; given = queue.shift()) {
        setup.proxy.start();
        const { output, text } = await call(name, given);
        const lines = setup.proxy.stop().map(({ line }) => line);
        const catalog = lines.filter((line) => line.includes('/v2/')).length;
        const events = lines.length - catalog;
        const film = lines.filter((line) => line.includes('/v2/movie/')).length;
        expect({ token, given, ...output.cost.calls }).toEqual({ token, given, catalog, events });
        const isWithin = catalog <= price.catalog && events <= price.events && film <= price.film;
        expect({ token, given, lines, price, isWithin }).toMatchObject({ isWithin: true });
        const [, after] = /"endCursor":"([^"]+)"/.exec(text) ?? [];
        if (after && 'after' in inputSchema.properties! && !given.after) queue.push({ ...given, after });
      }
    }
  },
);

test.each([
  ['Collect', 'collect', { book: '1003078', status: 'READ', isPrivate: false }],
  ['Annotate', 'annotate', { book: '1003078', content: '这一页值得再读一遍：一句话就把人物写活了。', isPrivate: true }],
])('%s has the price with an idempotency key too, which is that of its plan', async (name, file, variables) => {
  const setup = await open();
  const { client } = await agent(setup.facade.url, 'demo-bob');
  const { description, _meta } = (await client.listTools()).tools.find((tool) => tool.name === name)!;
  const response = await fetch(new URL('/graphql', setup.facade.url), {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', authorization: 'Bearer demo-bob' },
      ...{ 'idempotency-key': 'a-key-of-sixteen', 'x-explain': 'plan' },
    },
    body: JSON.stringify({ query: readFileSync(`operations/${file}.graphql`, 'utf8'), variables }),
  });
  const { extensions } = (await response.json()) as {
    extensions: { upstream: { services: Record<'catalog' | 'events', { max: number }> } };
  };
  const { catalog } = extensions.upstream.services;
  const price = _meta!['catalog-graphql/price-with-key'] as Price;
  expect(price.catalog).toBe(catalog.max);
  expect(price.catalog).toBeGreaterThan((_meta!['catalog-graphql/price'] as Price).catalog);
  expect(description).toContain(` With an idempotency key: at most ${catalog.max} of the catalog`);
});

test('a key adds its reads to the price, whatever directives the operation has and however few calls are allowed', async () => {
  const path = mkdtempSync(join(tmpdir(), 'operations-'));
  const text = `mutation Remove($id: ID!) {
    deleteNote(input: { id: $id }) { author { name bookCollections(first: 1) @skip(if: true) { totalCount } } }
  }`;
  writeFileSync(join(path, 'all.graphql'), text);
  const priceWith = async (maxUpstreamCalls: string) => {
    const setup = await journey({ mcp: 'on', mcpOperations: path, mcpWrites: 'on', maxUpstreamCalls });
    const { client } = await agent(setup.facade.url, 'demo-alice');
    const [tool] = (await client.listTools()).tools;
    const of = (name: string) => (tool!._meta![`catalog-graphql/${name}`] as Price).catalog;
    return { plain: of('price'), keyed: of('price-with-key') };
  };
  const { plain, keyed } = await priceWith('250');
  expect(keyed - plain).toBe(2);
  expect(await priceWith('1')).toEqual({ plain: 1, keyed });
});

test('the price covers the largest page and all variables', async () => {
  const path = mkdtempSync(join(tmpdir(), 'operations-'));
  const text = `
    query Top($first: Int = 2, $after: String, $withReviews: Boolean = false) {
      top250(first: $first, after: $after) {
        nodes { title summary reviews(first: 1) @include(if: $withReviews) { totalCount } }
      }
    }`;
  writeFileSync(join(path, 'all.graphql'), text);
  const setup = await journey({ mcp: 'on', mcpOperations: path, recordTtlSeconds: '0' });
  const { client, call } = await agent(setup.facade.url, 'demo-alice');
  const { tools } = await client.listTools();
  const price = tools[0]!._meta!['catalog-graphql/price'] as Price;
  const counts: number[] = [];
  for (const given of [{}, { first: 5 }, { first: 5, withReviews: true }, { first: 40 }]) {
    setup.proxy.start();
    const { output } = await call('Top', given);
    counts.push(setup.proxy.stop().length);
    expect(output.cost.calls.catalog).toBe(counts.at(-1));
  }
  expect(counts).toEqual([3, 6, 11, 41]);
  // A page of 100 with reviews; from 250 calls on it would be rejected.
  expect(price).toEqual({ likely: 201, catalog: 201, events: 0, film: 201 });
});

test.each([
  ['node', 'query N($id: ID!) { node(id: $id) { id ... on Book { title } ... on City { name } } }'],
  ['nodes', 'query N($ids: [ID!]!) { nodes(ids: $ids) { ... on Book { title } ... on Event { title } } }'],
  [
    'node, twice',
    'query N($id: ID!, $city: ID!) { a: node(id: $id) { ... on Subject { title reviews(first: 3) { totalCount } } } b: node(id: $city) { ... on City { name } } }',
  ],
  [
    'node, skipped',
    'query N($id: ID!, $leave: Boolean!) { node(id: $id) @skip(if: $leave) { ... on Book { title tags { books { totalCount } } } } }',
  ],
  [
    'a list and its records',
    'query N($first: Int = 2) { top250(first: $first) { nodes { title directors { name } } } }',
  ],
  [
    'what may be left out',
    'query N($more: Boolean = false) { book(id: "6082808") { title series @include(if: $more) { title } } }',
  ],
  ['what is deferred', 'query N { subject(id: "1292052") { title ... @defer { reviews(first: 2) { totalCount } } } }'],
])('a tool has the price that check and price() give the document: %s', async (_, text) => {
  const path = mkdtempSync(join(tmpdir(), 'operations-'));
  writeFileSync(join(path, 'all.graphql'), text);
  const setup = await journey({ mcp: 'on', mcpOperations: path });
  const { client } = await agent(setup.facade.url, 'demo-alice');
  const { tools } = await client.listTools();
  const { catalog, events } = tools[0]!._meta!['catalog-graphql/price'] as Price;
  const { most } = priceOfDocument(text).cost!.calls;
  // A document that reads either service has a price of both.
  expect(Math.max(catalog, events)).toBeLessThanOrEqual(most);
  expect(catalog + events).toBeGreaterThanOrEqual(most);
});
