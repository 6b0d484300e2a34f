import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { startFacade, codesIn } from '../support/start-facade.ts';
import { json } from '../support/hostile.ts';

const many = (n: number, text: (at: number) => string) => Array.from({ length: n }, (_, at) => text(at)).join(' ');
const plan = { headers: { 'x-explain': 'plan' } };
const incremental = { headers: { accept: 'multipart/mixed' } };

describe('limit of list items', () => {
  test('items of nested pages are multiplied, and the error names the largest list', async () => {
    const { books, execute } = await startFacade();
    const query = `{ ${many(2, (at) => `l${at}: searchBooks(query: "x", first: 100, offset: ${at}) { nodes { tags(first: 8) { name } } edges { node { tags(first: 50) { name } } } }`)} }`;
    const answer = await execute(query);
    expect(codesIn(answer)).toEqual(['TOO_MANY_ITEMS']);
    expect(answer).not.toHaveProperty('data');
    expect(answer.errors![0]!.extensions).toEqual({
      code: 'TOO_MANY_ITEMS',
      limit: 10_000,
      actual: 2 * (100 + 100 * 8 + 100 + 100 * 50),
      field: 'l0.edges.node.tags',
      coordinate: 'Book.tags',
      advice: 'report',
      help: '/docs/errors#TOO_MANY_ITEMS',
    });
    expect(books.requests).toEqual([]);
  });

  test('an operation is rejected beyond MAX_ITEMS, not at it', async () => {
    const { books, execute } = await startFacade({ maxItems: '50' });
    books.behave(json('{"count":25,"start":0,"total":0,"books":[]}'));
    const query = 'query ($n: Int) { searchBooks(query: "x", first: $n) { nodes { id } edges { cursor } } }';
    expect(codesIn(await execute(query, { variables: { n: 25 } }))).toEqual([]);
    const rejected = await execute(query, { variables: { n: 26 } });
    expect(rejected.errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_ITEMS', limit: 50, actual: 52 });
  });

  test('x-explain: plan shows items and values beside upstream calls', async () => {
    const { execute } = await startFacade();
    const { extensions } = await execute(
      '{ searchBooks(query: "x", first: 30) { nodes { id title } totalCount } }',
      plan,
    );
    expect(extensions).toMatchObject({
      upstream: { min: 1, max: 1 },
      answer: {
        items: { max: 30, dearest: { path: 'searchBooks.nodes', coordinate: 'BookConnection.nodes', max: 30 } },
        // The connection, its two fields, and two fields of each node.
        values: { max: 1 + 2 + 60, dearest: { coordinate: 'BookConnection.nodes', max: 60 } },
      },
    });
  });
});

describe('limit of values', () => {
  test('an operation whose plan has too many values is rejected before any upstream call', async () => {
    const { books, execute } = await startFacade({ maxValues: '1000' });
    const answer = await execute(
      `{ searchBooks(query: "x", first: 100) { nodes { ${many(11, (at) => `a${at}: id`)} } } }`,
    );
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'TOO_MANY_VALUES',
      limit: 1_000,
      actual: 1 + 1 + 1_100,
      coordinate: 'BookConnection.nodes',
    });
    expect(books.requests).toEqual([]);
  });

  test('a response with longer lists than planned is stopped during execution', async () => {
    const { books, execute } = await startFacade({ maxValues: '1000' });
    const content = many(2_000, (at) => `line ${at}\n`);
    books.behave(json(JSON.stringify({ id: '7', content, photos: {}, book: { id: '1' } })));
    const query = '{ node(id: "Annotation:7") { ... on Annotation { blocks { __typename } } } }';
    const answer = await execute(query);
    expect(answer.data).toBeNull();
    expect(answer.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'TOO_MANY_VALUES', limit: 1_000, advice: 'report', help: '/docs/errors#TOO_MANY_VALUES' },
    ]);
  });

  test('the usual introspection query is within the limit, thirty of them are not', async () => {
    const { execute } = await startFacade();
    expect(codesIn(await execute(getIntrospectionQuery()))).toEqual([]);
    const all = '{ types { name fields { name args { name } type { name kind } } } }';
    const answer = await execute(`{ ${many(30, (at) => `s${at}: __schema ${all}`)} }`);
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'TOO_MANY_VALUES', field: '__schema' });
  });
});

describe('limit of response bytes', () => {
  const text = '字'.repeat(50_000);
  const book = json(JSON.stringify({ id: '7', title: 'x', summary: text }));
  const aliases = many(40, (at) => `s${at}: summary`);

  test('a response that is too large is rejected on both request paths, introspection beside it too', async () => {
    const { books, execute } = await startFacade();
    books.behave(book);
    expect((await execute('{ book(id: 7) { summary } }')).data).toEqual({ book: { summary: text } });
    for (const options of [{}, { headers: { accept: 'application/json, */*;q=0.1' } }]) {
      const answer = await execute(`{ book(id: 7) { ${aliases} } }`, options);
      expect(answer).toMatchObject({
        data: null,
        errors: [{ extensions: { code: 'ANSWER_TOO_LARGE', limit: 5_000_000 } }],
      });
    }
    const mixed = await execute(`{ __schema { queryType { name } } book(id: 7) { ${aliases} } }`);
    expect(codesIn(mixed)).toEqual(['ANSWER_TOO_LARGE']);
  });

  test('control characters count as JSON writes them: six bytes each', async () => {
    const { books, execute } = await startFacade();
    books.behave(json(JSON.stringify({ id: '7', title: 'x', summary: '\u0001'.repeat(200_000) })));
    const selected = (times: number) => `{ book(id: 7) { ${many(times, (at) => `s${at}: summary`)} } }`;
    expect(codesIn(await execute(selected(4)))).toEqual([]);
    expect(codesIn(await execute(selected(5)))).toEqual(['ANSWER_TOO_LARGE']);
  });

  test('MAX_RESPONSE_BYTES sets the limit', async () => {
    const { books, execute } = await startFacade({ maxResponseBytes: '100000' });
    books.behave(book);
    expect(codesIn(await execute('{ book(id: 7) { summary } }'))).toEqual(['ANSWER_TOO_LARGE']);
    expect(codesIn(await execute('{ book(id: 7) { title } }'))).toEqual([]);
  });

  test('the limit counts all parts of an incremental response together', async () => {
    const { books, url } = await startFacade();
    books.behave(book);
    const parts = many(4, (part) => `... @defer(label: "p${part}") { ${many(10, (at) => `s${part}_${at}: summary`)} }`);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...incremental.headers },
      body: JSON.stringify({ query: `{ book(id: 7) { title ${parts} } }` }),
    });
    const body = await response.text();
    expect(body).toContain('"title":"x"');
    expect(body).toContain('ANSWER_TOO_LARGE');
    expect(body).toContain('"hasNext":false');
    expect(body.length).toBeLessThan(5_000_000);
  });
});

describe('planned calls depend on variables and lists', () => {
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) {
    ... on Book { title } ... on Subject { title } ... on Event { title } ... on Celebrity { name } } }`;
  const ids = (n: number, type: string) => Array.from({ length: n }, (_, at) => `${type}:${at + 1}`);
  const callsOf = async (variables: Record<string, unknown>) => {
    const { execute } = await startFacade();
    const { extensions } = await execute(query, { variables, ...plan });
    return (extensions as { upstream: { max: number; services: unknown } }).upstream;
  };

  test('nodes costs one call for each id, by type', async () => {
    expect(await callsOf({ ids: ids(100, 'Book') })).toMatchObject({ max: 100 });
    expect(await callsOf({ ids: [...ids(3, 'Book'), ...ids(2, 'Event'), 'nonsense'] })).toMatchObject({
      max: 5,
      services: { catalog: { max: 3 }, events: { max: 2 } },
    });
  });

  test('nodes with ids in the document costs the same; a single node costs one', async () => {
    const { execute } = await startFacade();
    const { extensions } = await execute(
      `{ nodes(ids: [${many(40, (at) => `"Book:${at}"`)}]) { ... on Book { title } } node(id: "Subject:1") { id } }`,
      plan,
    );
    expect(extensions).toMatchObject({ upstream: { max: 41 } });
  });
});

test('variables may contain a limited number of values, nested ones included', async () => {
  const { execute } = await startFacade();
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const one = (n: number) => execute(query, { variables: { ids: Array.from({ length: n }, () => '1') } });
  expect((await one(9_999)).errors?.at(-1)?.message).toContain('at most 100');
  const rejected = await one(10_000);
  expect(rejected).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', limit: 10_000 } }] });
  const nested = Array.from({ length: 200 }, () => Array.from({ length: 60 }, (_, at) => ({ at })));
  expect((await execute(query, { variables: { ids: nested } })).errors?.[0]?.extensions).toMatchObject({
    limit: 10_000,
  });
});

test('comparing fields of the same name takes bounded time', async () => {
  const { execute } = await startFacade();
  expect(codesIn(await execute(`{ book(id: 7) { ${many(330, () => 'tags(first: 3) { name }')} } }`))).toEqual([
    'TOO_MANY_FIELDS',
  ]);
  const fragments = many(
    40,
    (at) => `fragment F${at} on Book { id title tags(first: 3) { name count } rating { average } }`,
  );
  expect(codesIn(await execute(`{ node(id: "Tag:1") { id } __typename } ${fragments}`))).toContain(
    'GRAPHQL_VALIDATION_FAILED',
  );
});
