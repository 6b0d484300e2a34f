import { beforeAll, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../../src/config/read.ts';
import { agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';

let setup: Awaited<ReturnType<typeof journey>>;
let call: Awaited<ReturnType<typeof agent>>['call'];
beforeAll(async () => {
  setup = await journey({ mcp: 'on', mcpOperations: 'operations', mcpFree: 'on' });
  ({ call } = await agent(setup.facade.url, 'demo-alice'));
});

test('query runs a document and reports its upstream calls', async () => {
  setup.proxy.start();
  const { output, isError } = await call('query', {
    query: 'query A($id: ID!) { book(id: $id) { title series { title } } }',
    variables: { id: '1003078' },
  });
  expect(isError).toBe(false);
  expect(output.cost.calls.catalog).toBe(setup.proxy.stop().length);
  expect(output.data).toMatchObject({ book: { title: expect.any(String) as string } });
});

test('query with plan reports what a document would cost, without upstream calls', async () => {
  setup.proxy.start();
  const { output, isError } = await call('query', {
    query: '{ book(id: "6082808") { annotations(first: 50) { totalCount } } }',
    plan: true,
  });
  expect(setup.proxy.stop()).toEqual([]);
  expect(isError).toBe(false);
  expect(output.plan).toMatchObject({ max: 2 });
});

test.each([
  ['a mutation', { query: 'mutation { deleteCollection(input: { bookId: "1" }) { book { id } } }' }, 'BAD_USER_INPUT'],
  ['an invalid document', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['a document over a limit', { query: `{ ${'viewer { isLoggedIn } '.repeat(3_000)} }` }, 'DOCUMENT_TOO_LONG'],
  [
    'a document that costs too much',
    {
      query:
        '{ top250(first: 100) { nodes { photos(first: 100) { totalCount } reviews(first: 100) { totalCount } comments(first: 100) { totalCount } } } }',
    },
    'TOO_MANY_CALLS',
  ],
  ['no document', { query: 1 }, 'BAD_USER_INPUT'],
  ['a list as variables', { query: '{ viewer { isLoggedIn } }', variables: [] }, 'BAD_USER_INPUT'],
])('%s is an error and makes no call', async (_, given, code) => {
  setup.proxy.start();
  const { output, isError } = await call('query', given);
  expect(setup.proxy.stop()).toEqual([]);
  expect([isError, output.errors![0]!.code]).toEqual([true, code]);
});

test('arguments that are null are left out', async () => {
  const { output } = await call('query', { query: '{ __typename }', variables: null, operationName: null, plan: null });
  expect(output.data).toEqual({ __typename: 'Query' });
});

test('plans and errors with many violations are within the limit of results, too', async () => {
  const limited = {
    mcp: 'on',
    mcpOperations: 'operations',
    mcpFree: 'on',
    mcpWrites: 'on',
    mcpResultCharacters: '2000',
  };
  const { call } = await agent((await journey(limited)).facade.url, 'demo-alice');
  const films = Array.from({ length: 20 }, (_, at) => `f${at}: top250(first: 2, offset: ${at}) { nodes { title } }`);
  const planned = await call('query', { query: `{ ${films.join(' ')} }`, plan: true });
  expect([planned.isError, planned.output.errors![0]!.code]).toEqual([true, 'ANSWER_TOO_LARGE']);
  const rejected = await call('query', {
    query: 'mutation ($tags: [String!]) { collectBook(input: { bookId: "1", status: READ, tags: $tags }) { created } }',
    variables: { tags: Array.from({ length: 100 }, () => 'two words') },
  });
  expect(rejected.text.length).toBeLessThanOrEqual(2_000);
  const [error] = rejected.output.errors as { violations?: unknown[] }[];
  expect(error!.violations!.length).toBeGreaterThan(1);
});

test('schema returns the whole schema without descriptions, or named types with them', async () => {
  const whole = await call('schema');
  expect(whole.text).toContain('type Book implements Node');
  expect(whole.text).not.toContain('"""');
  const types = await call('schema', { types: ['Book', 'Nothing'] });
  expect(types.text).toContain('"""');
  expect(types.text).toContain('# There is no type "Nothing".');
});

test('a type that is named several times is shown once, so that no request prints more than the schema', async () => {
  const once = await call('schema', { types: ['Book'] });
  const { text } = await call('schema', { types: Array.from({ length: 9_000 }, () => 'Book') });
  expect(text).toBe(once.text);
});

test('types that are too long together are refused', async () => {
  const { output, isError } = await call('schema', { types: Array.from({ length: 9_000 }, (_, at) => `Unknown${at}`) });
  expect([isError, output.errors![0]!.code]).toEqual([true, 'ANSWER_TOO_LARGE']);
});

test.each([[[7]], [[['Book']]], ['Book'], [[null]]])('%j is no list of names, which is an error', async (types) => {
  const { output, isError } = await call('schema', { types });
  expect([isError, output.errors![0]!.code]).toEqual([true, 'BAD_USER_INPUT']);
});

test('a result of many objects is refused', async () => {
  const limited = { mcp: 'on', mcpOperations: 'operations', mcpFree: 'on', mcpResultCharacters: '2000' };
  const { call } = await agent((await journey(limited)).facade.url, 'demo-alice');
  const books = Array.from({ length: 30 }, (_, at) => `b${at}: book(id: "1003078") { ...Long }`).join(' ');
  const fragment =
    'fragment Long on Book { title publisher binding price isbn13 webUrl summary cover { small large } }';
  const { text, output, isError } = await call('query', { query: `{ ${books} } ${fragment}` });
  expect(text.length).toBeLessThanOrEqual(2_000);
  expect([isError, output.errors![0]!.code]).toEqual([true, 'ANSWER_TOO_LARGE']);
});

test('an error of a document says where in it', async () => {
  const { output } = await call('query', { query: '{\n  book(id: )\n}' });
  expect(output.errors).toMatchObject([{ code: 'GRAPHQL_PARSE_FAILED', locations: [{ line: 2, column: 12 }] }]);
  const { output: unknown } = await call('query', { query: '{ viewer { isLoggedIn nothing } }' });
  expect(unknown.errors).toMatchObject([{ code: 'GRAPHQL_VALIDATION_FAILED', locations: [{ line: 1, column: 23 }] }]);
});

test('an error of a document that is in hundreds of places names the first of them', async () => {
  const variables = Array.from({ length: 900 }, () => '$v: Int').join(' ');
  const { output } = await call('query', { query: `query (${variables}) { __typename }` });
  const [error] = output.errors as { code: string; locations?: unknown[] }[];
  expect([error!.code, error!.locations!.length]).toEqual(['GRAPHQL_VALIDATION_FAILED', 10]);
});

test('errors that differ in their paths alone are one with all paths', async () => {
  const users = Array.from({ length: 25 }, (_, at) => `a${at}: user(id: "no id!") { id }`);
  const { output } = await call('query', { query: `{ ${users.join(' ')} }` });
  const alsoAt = Array.from({ length: 24 }, (_, at) => `a${at + 1}`);
  expect(output.errors).toEqual([expect.objectContaining({ path: 'a0', alsoAt })]);
  expect(output.cut).toBeUndefined();
});

test('MCP_FREE and PERSISTED_ONLY exclude each other', () => {
  const env = { BASE_URL: 'http://a', EVENT_BASE_URL: 'http://a', MCP: 'on', MCP_FREE: 'on', PERSISTED_ONLY: 'on' };
  expect(() => readConfig(env)).toThrow(ConfigError);
  expect(() => readConfig(env)).toThrow('MCP_FREE must be off, because PERSISTED_ONLY is on');
});
