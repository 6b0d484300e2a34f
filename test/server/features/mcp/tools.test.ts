import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createManifest } from '../../../../src/commands/manifest-text.ts';
import { ConfigError } from '../../../../src/config/read.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';

type Setup = Awaited<ReturnType<typeof journey>>;
let setup: Setup;
let alice: Awaited<ReturnType<typeof agent>>;
beforeAll(async () => {
  setup = await journey({ mcp: 'on', mcpOperations: 'operations' });
  alice = await agent(setup.facade.url, 'demo-alice');
});

/** Creates a folder with one file of operations. */
function operations(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'));
  writeFileSync(join(folder, 'all.graphql'), text);
  return folder;
}

test('each operation of the package is a tool with a name, a title, its comment as description, and a price', async () => {
  const { tools } = await alice.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    'Annotations Book Celebrity Charts City Dashboard Diary Event Film Search Shelf ShelfSync'.split(' '),
  );
  const book = tools.find(({ name }) => name === 'Book')!;
  expect(book.title).toBe("A book's own page");
  expect(book.description).toBe(
    "A book's own page: the record, its series, what people wrote beside it, and the viewer's shelf.\n" +
      'Cost: about 4 calls; at most 4 of the catalog, 5 of events.',
  );
  expect(tools.find(({ name }) => name === 'Film')!.description).toContain(
    'basic film tier: 4 of 40 a minute, of which agents have 10.',
  );
  const search = tools.find(({ name }) => name === 'Search')!;
  expect(search.description).toContain('Cost: about 1 call; at most ');
  for (const { annotations } of tools) expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true });
  // Entries of charts are not loaded one by one.
  expect(tools.find(({ name }) => name === 'Charts')!._meta).toEqual({
    'catalog-graphql/price': { likely: 6, catalog: 6, events: 0, film: 6 },
  });
});

test('the input schema has the descriptions, limits, enums and defaults of the GraphQL schema', async () => {
  const path = operations(`
    "Reviews, newest first."
    query Reviews($id: ID!, $first: Int = 10, "Where to go on." $after: String) {
      subject(id: $id) { reviews(first: $first, after: $after) { nodes { title } } }
    }
    query Read($name: ID!, $status: CollectionStatus) {
      user(id: $name) { bookCollections(status: $status) { totalCount } }
    }`);
  const setup = await journey({ mcp: 'on', mcpOperations: path });
  const { tools } = await (await agent(setup.facade.url)).client.listTools();
  const [reviews, read] = tools;
  expect(reviews!.description).toMatch(/^Reviews, newest first\.\nCost: /);
  expect(reviews!.inputSchema).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string', description: expect.stringContaining('id') as string },
      first: {
        description: expect.stringContaining('1 to 100') as string,
        anyOf: [{ type: 'integer', minimum: 1, maximum: 100 }, { type: 'null' }],
        default: 10,
      },
      after: { description: 'Where to go on.', anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    additionalProperties: false,
    required: ['id'],
  });
  const status = (read!.inputSchema.properties as Record<string, { anyOf: { enum: string[] }[] }>).status;
  expect(status!.anyOf[0]!.enum).toEqual(['READ', 'READING', 'WISH']);
});

test('a variable that must have a value is required: without it a tool does not load the record of an example', async () => {
  const { tools } = await alice.client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'Shelf')!;
  expect(inputSchema.required).toEqual(['user']);
  expect(inputSchema.properties!.user).toMatchObject({ examples: ['alice'] });
  setup.proxy.start();
  const { isError, output } = await alice.call('Shelf');
  expect(setup.proxy.stop()).toEqual([]);
  expect(isError).toBe(true);
  expect(output.errors![0]!.message).toBe('The argument user is required.');
});

test('an invalid argument is an error that says how to correct it, without upstream calls', async () => {
  setup.proxy.start();
  const unknown = await alice.call('Book', { ident: '1' });
  const malformed = await alice.call('Book', { id: 'a b' });
  const typed = await alice.call('Book', { id: { a: 1 } });
  expect(setup.proxy.stop()).toEqual([]);
  for (const { isError, output } of [unknown, malformed, typed]) {
    expect(isError).toBe(true);
    expect(output.errors![0]).toMatchObject({
      code: 'BAD_USER_INPUT',
      whatToDo: expect.stringContaining('Correct it') as string,
    });
    expect(output.cost.calls).toEqual({ catalog: 0, events: 0 });
  }
  expect(unknown.output.errors![0]!.message).toBe('There is no argument "ident" among id.');
});

test('mutations are tools only with MCP_WRITES, with the right hints, and no value that was not given is written', async () => {
  expect((await alice.client.listTools()).tools.map(({ name }) => name)).not.toContain('Annotate');
  const writing = await journey({ mcp: 'on', mcpOperations: 'operations', mcpWrites: 'on' });
  const { client, call } = await agent(writing.facade.url, 'demo-alice');
  const { tools } = await client.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints.Annotate).toEqual({ readOnlyHint: false, destructiveHint: false, idempotentHint: false });
  expect(hints.Collect).toEqual({ readOnlyHint: false, destructiveHint: false, idempotentHint: false });
  for (const name of ['UpdateCollection', 'DeleteCollection', 'UpdateAnnotation', 'UpdateNote', 'ReplaceReview'])
    expect(hints[name]).toEqual({ readOnlyHint: false, destructiveHint: true, idempotentHint: true });
  const annotate = tools.find(({ name }) => name === 'Annotate')!;
  expect(annotate.inputSchema.required).toEqual(['book', 'content', 'isPrivate']);

  writing.proxy.start();
  expect((await call('Annotate', { book: '1003078', isPrivate: true })).output.errors![0]!.message).toBe(
    'The argument content is required.',
  );
  expect(writing.proxy.stop()).toEqual([]);
  writing.proxy.start();
  const content = 'A sentence that is long enough to be kept.';
  const { output, isError } = await call('Annotate', { book: '1003078', content, isPrivate: true });
  const lines = writing.proxy.stop().map(({ line }) => line);
  expect(isError).toBe(false);
  expect(output.data).toMatchObject({
    createAnnotation: { annotation: { page: null, content: expect.stringContaining('long enough') as string } },
  });
  expect(output.cost.calls.catalog).toBe(lines.length);
  expect(lines.filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

test('a write has only what it was given: no rating, tags or comment of an example', async () => {
  const writing = await journey({ mcp: 'on', mcpOperations: 'operations', mcpWrites: 'on' });
  const { client, call } = await agent(writing.facade.url, 'demo-alice');
  const { inputSchema } = (await client.listTools()).tools.find(({ name }) => name === 'Collect')!;
  expect(inputSchema.required).toEqual(['book', 'status']);
  expect(inputSchema.properties).toMatchObject({
    book: { type: 'string', description: 'Global or bare id of the book.' },
    rating: { anyOf: [{ type: 'integer', minimum: 1, maximum: 5 }, { type: 'null' }] },
    comment: { anyOf: [{ type: 'string', maxLength: 350 }, { type: 'null' }] },
    isPrivate: {
      description: expect.stringContaining('only the caller may see it') as string,
      anyOf: [{ type: 'boolean' }, { type: 'null' }],
    },
  });
  const { output } = await call('Collect', { book: '1003078', status: 'WISH', isPrivate: true });
  expect(output).toMatchObject({
    data: {
      collectBook: { book: { viewerCollection: { status: 'WISH', rating: null, comment: null, tagNames: [] } } },
    },
  });
  expect(output.errors).toBeUndefined();
});

test('five stars change nothing else, whether a host leaves the other arguments out or sends null', async () => {
  const writing = await journey({ mcp: 'on', mcpOperations: 'operations', mcpWrites: 'on' });
  const { client, call } = await agent(writing.facade.url, 'demo-alice');
  const { inputSchema } = (await client.listTools()).tools.find(({ name }) => name === 'UpdateCollection')!;
  const entry = {
    book: '1003078',
    status: 'READ',
    rating: 3,
    tags: ['小说', '重读'],
    comment: '很好',
    isPrivate: true,
  };
  await call('Collect', entry);
  const isShown = async () => (await writing.origin.get('/v2/book/1003078/collection?user_id=alice')).status === 200;
  const strict = Object.fromEntries(Object.keys(inputSchema.properties!).map((name) => [name, null]));
  for (const [stars, others] of [
    [5, {}],
    [4, strict],
  ] as const) {
    const { output } = await call('UpdateCollection', { ...others, book: '1003078', rating: stars });
    expect(output.errors).toBeUndefined();
    expect(output.data).toMatchObject({
      updateCollection: {
        book: {
          viewerCollection: { status: 'READ', rating: { value: stars }, tagNames: ['小说', '重读'], comment: '很好' },
        },
      },
    });
    expect(await isShown()).toBe(false);
  }
});

test('a list as a text is refused, and nothing is written', async () => {
  const writing = await journey({ mcp: 'on', mcpOperations: 'operations', mcpWrites: 'on' });
  const { call } = await agent(writing.facade.url, 'demo-alice');
  writing.proxy.start();
  const { isError, output } = await call('Collect', { book: '1003078', status: 'READ', tags: '["小说","想重读"]' });
  expect(writing.proxy.stop()).toEqual([]);
  expect([isError, output.errors![0]]).toMatchObject([
    true,
    { code: 'BAD_USER_INPUT', message: 'The argument tags must be a list.' },
  ]);
});

test("the defaults of an operator's own mutation are examples, which are not written", async () => {
  const mark = `mutation Mark($book: ID!, $content: String!, $page: Int = 27) {
    createAnnotation(input: { bookId: $book, content: $content, page: $page, isPrivate: true }) { annotation { page } }
  }`;
  const writing = await journey({ mcp: 'on', mcpOperations: operations(mark), mcpWrites: 'on' });
  const { client, call } = await agent(writing.facade.url, 'demo-alice');
  const [tool] = (await client.listTools()).tools;
  expect(tool!.inputSchema.properties!.page).toMatchObject({ examples: [27] });
  const { output } = await call('Mark', { book: '1003078', content: 'A sentence that is long enough to be kept.' });
  expect(output.data).toEqual({ createAnnotation: { annotation: { page: null } } });
});

test('arguments with files are left out of a tool, and an operation that requires one is not a tool', async () => {
  const writes = `
    mutation Note($title: String!, $content: String!, $pictures: [NotePictureInput!]) {
      createNote(input: { title: $title, content: $content, pictures: $pictures }) { note { title } }
    }
    mutation Pictures($pictures: [NotePictureInput!]!) {
      createNote(input: { title: "A title", content: "A content", pictures: $pictures }) { note { title } }
    }
    mutation Picture($file: Upload!) {
      createNote(input: { title: "A title", content: "A content", pictures: [{ number: 1, file: $file }] }) { note { title } }
    }`;
  const setup = await journey({ mcp: 'on', mcpOperations: operations(writes), mcpWrites: 'on' });
  const { client, call } = await agent(setup.facade.url, 'demo-alice');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['Note']);
  expect(Object.keys(tools[0]!.inputSchema.properties!)).toEqual(['title', 'content']);
  const { output } = await call('Note', { title: 'A title', content: 'A content' });
  expect(output.data).toEqual({ createNote: { note: { title: 'A title' } } });
});

test('a tool whose operation uses @defer and @stream returns the whole of its data', async () => {
  const path = operations(`
    query Tags($id: ID!) {
      book(id: $id) { ... @defer { title } tags @stream { name } }
    }`);
  const setup = await journey({ mcp: 'on', mcpOperations: path });
  const { output, isError } = await (await agent(setup.facade.url)).call('Tags', { id: 'Book:6082808' });
  expect(isError).toBe(false);
  expect(output.data).toMatchObject({
    book: { title: '百年孤独', tags: expect.arrayContaining([{ name: expect.any(String) as string }]) as object },
  });
  expect(output.cost.calls.catalog).toBeGreaterThan(0);
});

test('a manifest of trusted documents yields the same tools as its files', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'manifest-')), 'manifest.json');
  writeFileSync(
    path,
    createManifest(['operations/book.graphql', 'operations/search.graphql'], schema, {
      format: 'hashes',
      typename: false,
    }),
  );
  const setup = await journey({ mcp: 'on', mcpOperations: path });
  const { client, call } = await agent(setup.facade.url);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['Book', 'Search']);
  // A manifest has no comments, so the description of the field is used.
  expect(tools[0]!.description).toMatch(/^A book/);
  expect((await call('Book', { id: '1003078' })).output.data).toMatchObject({ book: { id: 'Book:1003078' } });
});

test.each([
  ['an operation without a name', '{ viewer { isLoggedIn } }'],
  ['a field that does not exist', 'query A { nothing }'],
  [
    'more aliases than are allowed',
    `query A { ${Array.from({ length: 70 }, (_, at) => `a${at}: viewer { isLoggedIn }`).join(' ')} }`,
  ],
])('%s is rejected at startup', async (_, text) => {
  await expect(journey({ mcp: 'on', mcpOperations: operations(text) })).rejects.toThrow(ConfigError);
});
