import { readFileSync } from 'node:fs';
import { buildSchema, printSchema } from 'graphql';
import { type Plugin, createYoga } from 'graphql-yoga';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EmbeddedFacade, FacadeOperation, FacadeOptions, ResultPart } from '../../facade.d.ts';
import { catalogPlugin, createFacade } from '../../src/facade.ts';
import { settlesWithin } from '../../src/lib/promises.ts';
import { bodyOf, embedded, post, settingsFor, silentService } from '../support/embedded.ts';
import { until } from '../support/redis.ts';
import { picture, service } from '../support/service.ts';
import { mergeParts } from '../support/pieces.ts';

const origin = await service();
const facade = embedded(origin.url);
const alice = { token: 'demo-alice' };

const codesOf = async (given: FacadeOptions | EmbeddedFacade, operation: FacadeOperation) => {
  const own = 'execute' in given ? given : embedded(origin.url, given);
  const { errors = [] } = await own.execute({ ...operation, incremental: undefined });
  return errors.map(({ extensions }) => extensions?.code);
};
const metric = async (own: EmbeddedFacade, name: string): Promise<number> => {
  const text = await (await own.fetch(new Request('http://host.example/metrics'))).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
};
const overHttp = async (query: string, variables?: object): Promise<unknown> =>
  (await facade.fetch(new Request('http://host.example/graphql', post(query, {}, variables)))).json();

test('the schema of a facade is the one that it serves', () => {
  expect(printSchema(facade.schema)).toContain('type Query');
  expect(readFileSync('schema.graphql', 'utf8')).toContain(printSchema(facade.schema).slice(0, 200));
});

test.each([undefined, null])('a program that finds no token, and passes %s, reads what is public', async (token) => {
  const query = '{ viewer { isLoggedIn } }';
  const nobody = { data: { viewer: { isLoggedIn: false } } };
  expect(await facade.execute({ query, token: token as undefined })).toEqual(nobody);
  const yoga = createYoga({ logging: false, plugins: [catalogPlugin(facade, { token: () => token as undefined })] });
  expect(await bodyOf(await yoga.fetch('http://host.example/graphql', post(query, {})))).toEqual(nobody);
});

describe('a Yoga server with catalogPlugin', () => {
  const own = buildSchema('type Query { own: Int }');

  test.each(['before', 'after'])('is refused at its start if it has a schema of its own, set %s the plugin', (when) => {
    const ofOther: Plugin = { onPluginInit: ({ setSchema }) => setSchema(own) };
    const plugins = when === 'before' ? [ofOther, catalogPlugin(facade)] : [catalogPlugin(facade), ofOther];
    const twoWays = /a schema of its own.*extend of createFacade.*at another path/;
    expect(() => createYoga({ plugins })).toThrow(twoWays);
    expect(() => createYoga({ schema: own, plugins: [catalogPlugin(facade)] })).toThrow(twoWays);
  });

  test('answers nothing if its own schema comes with a request', async () => {
    const yoga = createYoga({ logging: false, schema: async () => own, plugins: [catalogPlugin(facade)] });
    const { status } = await yoga.fetch('http://host.example/graphql', post('{ own }', {}));
    expect(status).toBe(500);
  });

  test('is refused with a misspelt option, by its name', () => {
    expect(() => catalogPlugin(facade, { tokn: () => 'a' } as object)).toThrow(
      /tokn is not an option.*Did you mean token\?/,
    );
  });
});

describe('an operation of the program', () => {
  test.each([
    ['{ book(id: "6082808") { title series { title } } top250(first: 2) { nodes { title } } }', {}],
    ['query ($id: ID!) { book(id: $id) { title } }', { id: '6082808' }],
    ['query ($id: ID!) { book(id: $id) { title } }', {}],
    ['{ book(id: "6082808") { unknown } }', {}],
    ['{ book(id: "6082808") { ', {}],
    ['{ book(id: "a b") { title } viewer { isLoggedIn } }', {}],
    ['{ viewer { isLoggedIn user { name } } }', {}],
    [
      'mutation { collectBook(input: { bookId: "1003078", status: READING, isPrivate: false }) { book { title } } }',
      {},
    ],
  ])('has the result that %s with %j has over HTTP', async (query, variables) => {
    expect(await facade.execute({ query, variables })).toEqual(await overHttp(query, variables));
  });

  test('acts for the caller whose token it has', async () => {
    const query = '{ viewer { isLoggedIn } book(id: "1003078") { viewerCollection { status } } }';
    expect(await facade.execute({ query, ...alice })).toMatchObject({ data: { viewer: { isLoggedIn: true } } });
    expect(await facade.execute({ query })).toMatchObject({ data: { viewer: { isLoggedIn: false } } });
  });

  test('is within the limits of the facade, and says which it breaks', async () => {
    expect(
      await codesOf({ maxDepth: 2 } as FacadeOptions, { query: '{ book(id: "1") { series { title } } }' }),
    ).toEqual(['TOO_DEEP']);
    expect(
      await codesOf({ maxUpstreamCalls: 1 } as FacadeOptions, {
        query: '{ a: book(id: "1") { title } b: book(id: "2") { title } }',
      }),
    ).toEqual(['TOO_MANY_CALLS']);
    const minClients = { minClients: ['ios:5.2'], clientUpdateUrls: [] };
    expect(
      await codesOf({ ...minClients } as Partial<FacadeOptions> as FacadeOptions, {
        query: '{ viewer { isLoggedIn } }',
        headers: { 'graphql-client-name': 'ios', 'graphql-client-version': '5.1' },
      }),
    ).toEqual(['CLIENT_TOO_OLD']);
    expect(await codesOf(facade, {})).toEqual(['BAD_REQUEST']);
    expect(await codesOf(facade, { query: '{ viewer { isLoggedIn } }', onError: 'ALL' as 'NULL' })).toEqual([
      'BAD_REQUEST',
    ]);
  });

  test.each([
    ['a token that no header can have', { token: 'a\nb' }],
    ['variables that JSON cannot have', { variables: { id: 1n } }],
  ])('is refused with %s', async (_, wrong) => {
    expect(await codesOf(facade, { query: '{ viewer { isLoggedIn } }', ...wrong })).toEqual(['BAD_REQUEST']);
  });

  test('tells its calls before and after it runs, in production too', async () => {
    const own = embedded(origin.url, { production: true });
    const query = '{ book(id: "1003078") { title } }';
    expect(await own.execute({ query, explain: 'plan' })).toMatchObject({
      errors: [{ extensions: { code: 'PLANNED_NOT_RUN' } }],
      extensions: { upstream: { min: 1, max: 1 } },
    });
    expect(await own.execute({ query, explain: 'trace' })).toMatchObject({
      data: { book: { title: expect.any(String) as string } },
      extensions: { upstream: { calls: [{ path: '/v2/book/1003078', how: 'sent' }] } },
    });
  });

  test('reads from the record cache, which requests over HTTP share', async () => {
    const own = embedded(origin.url);
    const query = '{ book(id: "1003078") { title } }';
    await own.fetch(new Request('http://host.example/graphql', post(query)));
    const { extensions } = await own.execute({ query, explain: 'trace' });
    expect(extensions).toMatchObject({ upstream: { calls: [{ how: 'cached' }] } });
  });

  test('uploads a Blob of its variables', async () => {
    const file = picture('png', 3_000);
    const input = {
      title: 'by a program',
      content: 'a <图片p_1>',
      privacy: 'PRIVATE',
      pictures: [{ number: 1, file }],
    };
    const query = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { title } } }';
    expect(await facade.execute({ query, variables: { input }, ...alice })).toEqual({
      data: { createNote: { storedPictures: [1], note: { title: 'by a program' } } },
    });
    const text = { ...input, pictures: [{ number: 1, file: { stream: 'x', type: 'y' } }] };
    expect(await codesOf(facade, { query, variables: { input: text }, ...alice })).toEqual(['BAD_USER_INPUT']);
  });

  test('makes one write with a key, and says that the second is the first', async () => {
    const input = { title: 'once', content: 'text', privacy: 'PRIVATE' };
    const query = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { note { id } } }';
    const create = () =>
      facade.execute({ query, variables: { input }, ...alice, idempotencyKey: 'program-1-of-sixteen' });
    const first = await create();
    expect(first.errors).toBeUndefined();
    expect(await create()).toEqual(first);
  });
});

describe('@defer of a program', () => {
  const query = '{ book(id: "1003078") { title ... @defer(label: "more") { annotations(first: 1) { totalCount } } } }';

  test('is in a whole result unless parts are asked for', async () => {
    expect(await facade.execute({ query })).toMatchObject({
      data: {
        book: { title: expect.any(String) as string, annotations: { totalCount: expect.any(Number) as number } },
      },
    });
    expect(await facade.execute({ query: '{ viewer { isLoggedIn } }', incremental: 'v0.2' })).toEqual({
      data: { viewer: { isLoggedIn: false } },
    });
  });

  test.each(['v0.2', '20220824'] as const)(
    'comes in parts of the format %s, which add up to the whole result',
    async (incremental) => {
      const parts: ResultPart[] = [];
      for await (const part of (await facade.execute({ query, incremental })) as AsyncIterable<ResultPart>)
        parts.push(part);
      expect(parts.map(({ hasNext }) => hasNext)).toEqual([...parts.slice(1).map(() => true), false]);
      expect(parts.length).toBeGreaterThan(1);
      expect(JSON.stringify(parts)).toContain(incremental === 'v0.2' ? '"pending"' : '"path"');
      if (incremental === '20220824') expect(mergeParts(parts as never)).toMatchObject(await facade.execute({ query }));
    },
  );

  test.each([false, true])('ends with its calls when nobody reads on, after a first part: %s', async (begin) => {
    const silent = await silentService();
    const own = createFacade({ ...settingsFor(silent.url), maxRunningOperations: 1 });
    const deferred = '{ viewer { isLoggedIn } ... @defer { book(id: "1003078") { title } } }';
    const parts = await own.execute({ query: deferred, incremental: 'v0.2' });
    const reader = (parts as AsyncIterable<ResultPart>)[Symbol.asyncIterator]();
    if (begin) expect((await reader.next()).value).toMatchObject({ data: { viewer: { isLoggedIn: false } } });
    await until(() => silent.open() === 1);
    const waiting = codesOf(own, { query: '{ viewer { isLoggedIn } }' });
    expect(await settlesWithin(50, waiting)).toBe(false);
    await reader.return!();
    expect(await waiting).toEqual([]);
    await until(() => silent.open() === 0);
    await own.close();
  });
});

describe('the end of an operation of the program', () => {
  const query = '{ book(id: "1003078") { title } }';
  let silent: Awaited<ReturnType<typeof silentService>>;
  beforeAll(async () => void (silent = await silentService()));
  const silentFacade = (more: Partial<FacadeOptions> = {}) => createFacade({ ...settingsFor(silent.url), ...more });

  test('comes with its signal, which also ends the calls, and with the reason of the signal', async () => {
    const own = silentFacade();
    const leaving = new AbortController();
    const result = own.execute({ query, signal: leaving.signal });
    await until(() => silent.open() === 1);
    leaving.abort(new Error('the visitor has left'));
    await expect(result).rejects.toThrow('the visitor has left');
    await until(() => silent.open() === 0);
    await expect(own.execute({ query, signal: leaving.signal })).rejects.toThrow('the visitor has left');
    expect(await metric(own, 'catalog_operations_running')).toBe(0);
    await own.close();
  });

  test('comes at its deadline, with an error', async () => {
    const own = silentFacade({ operationTimeoutMs: 50 });
    expect(await own.execute({ query })).toMatchObject({ data: { book: null }, errors: [{ path: ['book'] }] });
    await own.close();
  });

  test('comes with the facade, which runs none afterwards', async () => {
    const own = silentFacade({ shutdownMs: 20 });
    const result = own.execute({ query });
    await until(() => silent.open() === 1);
    const ended = expect(result).rejects.toThrow('The facade was closed.');
    await own.close();
    await ended;
    await expect(own.execute({ query })).rejects.toThrow('The facade is closed.');
  });
});
