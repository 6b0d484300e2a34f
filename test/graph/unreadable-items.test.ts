/** An item that cannot be read costs only itself, and keeps its place: pages neither repeat its neighbours nor end before them. */
import { describe, expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const numbers = [1, 2, 3, 4, 5, 6, 7];
/** The third item of each list. */
const UNREADABLE = 3;
/** Its works lack the roles, so the list is read. */
const PARENT = '{"id":"7","works":[{"subject":{"id":"1"}}]}';
const namespaces = 'xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/"';

interface List {
  path: string;
  query: string;
  node: string;
  item: (number: number) => object | string;
  list?: string;
}
const lists: Record<string, List> = {
  works: {
    path: '/v2/movie/celebrity/7/works',
    query: 'parent: celebrity(id: "7") { list: works',
    node: 'roles subject { sourceId }',
    list: 'works',
    item: (number) => ({ roles: ['演员'], subject: { id: String(number), title: 'x' } }),
  },
  comments: {
    path: '/v2/note/7/comments',
    query: 'parent: note(id: "7") { list: comments',
    node: 'sourceId',
    list: 'comments',
    item: (number) => ({ id: String(number), content: 'x' }),
  },
  'tags of a person': {
    path: '/v2/book/user/7/tags',
    query: 'parent: user(id: "7") { list: bookTags',
    node: 'name',
    list: 'tags',
    item: (number) => ({ title: String(number), count: 1 }),
  },
  participants: {
    path: '/event/7/participants',
    query: 'parent: event(id: "7") { list: participants',
    node: 'sourceId',
    item: (number) => `<id>http://x.example/people/${number}</id>`,
  },
  events: {
    path: '/people/7/events',
    query: 'parent: user(id: "7") { list: events',
    node: 'sourceId',
    item: (number) => `<id>http://x.example/event/${number}</id>`,
  },
};

function pageOf({ list, item }: List, query: URLSearchParams, unreadable: unknown, total: number | undefined): string {
  const start = list ? Number(query.get('start') ?? 0) : Number(query.get('start-index') ?? 1) - 1;
  const count = Number(query.get(list ? 'count' : 'max-results'));
  const items = numbers
    .slice(start, start + count)
    .map((number) => (number === UNREADABLE ? unreadable : item(number)));
  if (list) return JSON.stringify({ start, count, total, [list]: items });
  const counted = total === undefined ? '' : `<opensearch:totalResults>${total}</opensearch:totalResults>`;
  return `<feed ${namespaces}>${counted}${items.map((inside) => `<entry>${inside as string}</entry>`).join('')}</feed>`;
}

interface ShownPage {
  nodes: object[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

describe.each(Object.keys(lists))('%s', (name) => {
  const list = lists[name]!;
  const odd = list.list ? [null, [], 'x'] : ['<title>no id</title>'];
  const cases = odd.flatMap(
    (item) => [{ item, total: numbers.length }, { item }] as { item: unknown; total?: number }[],
  );

  test.each(cases)('are read to the end past the item $item, with a total of $total', async ({ item, total }) => {
    const { service, events, execute } = facade({ accessToken: 'own', filmTier: 'advance' });
    const headers = { 'content-type': list.list ? 'application/json' : 'application/atom+xml' };
    (list.list ? service : events)
      .intercept({ path: () => true })
      .reply(({ path }) => {
        const { pathname, searchParams } = new URL(path, 'http://x');
        const data = pathname === list.path ? pageOf(list, searchParams, item, total) : PARENT;
        return { statusCode: 200, data, responseOptions: { headers } };
      })
      .persist();
    const shown: string[] = [];
    let after = '';
    for (let pages = 0; pages < 4; pages++) {
      const { data, errors } = await execute(
        `{ ${list.query}(first: 3${after}) { nodes { ${list.node} } pageInfo { hasNextPage endCursor } } } }`,
        { token: 't' },
      );
      expect(errors).toBeUndefined();
      const { nodes, pageInfo } = (data as { parent: { list: ShownPage } }).parent.list;
      for (const node of nodes) shown.push(/"(\d)"/.exec(JSON.stringify(node))![1]!);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(shown).toEqual(numbers.filter((number) => number !== UNREADABLE).map(String));
  });
});

test.each(['[]', '[[]]', '"x"'])('a person, a tag and a work are not made of %s', async (item) => {
  const { service, execute } = facade({ accessToken: 'own', filmTier: 'advance' });
  const reply = (path: string, record: string) =>
    service
      .intercept({ path: (requested) => requested.startsWith(path) })
      .reply(200, record, { headers: { 'content-type': 'application/json' } });
  reply('/v2/movie/subject/7', `{"id":"7","casts":[${item},{"id":"1","name":"a"}]}`);
  reply('/v2/book/7', `{"id":"7","tags":[${item},{"name":"b","count":2}]}`);
  reply('/v2/movie/celebrity/7', `{"id":"7","works":[${item},{"roles":[],"subject":{"id":"1"}}]}`);
  const { data, errors } = await execute(`{
    subject(id: "7") { casts { sourceId } } book(id: "7") { tags { name } }
    celebrity(id: "7") { works(first: 2) { nodes { roles subject { sourceId } } } } }`);
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    subject: { casts: [{ sourceId: '1' }] },
    book: { tags: [{ name: 'b' }] },
    celebrity: { works: { nodes: [{ roles: [], subject: { sourceId: '1' } }] } },
  });
});
