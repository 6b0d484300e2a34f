import { readFileSync } from 'node:fs';
import { createServer as createServer2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import type { EmbeddedFacade, FacadeHooks, FacadeOptions } from '../facade.d.ts';
import type { Config } from '../src/config/settings.ts';
import { ConfigError, options, readOptions } from '../src/config/read.ts';
import { createFacade } from '../src/facade.ts';
import {
  alice,
  bodyOf,
  codeOf,
  embedded as openEmbedded,
  json,
  post,
  settingsFor,
  silentService,
} from './support/embedded.ts';
import { testHost } from './support/host.ts';
import { journey } from './support/journey.ts';
import { hasRedis, until } from './support/redis.ts';
import { startRedis } from './support/redis-process.ts';
import { picture } from './support/service.ts';
import { pictures, uploadForm } from './support/upload.ts';
import { afterUse } from './support/hooks.ts';

const here = await journey();
const upstreams = { baseUrl: here.origin.url, eventBaseUrl: here.origin.url };
const settings = settingsFor(here.origin.url);
const embedded = (more: Partial<FacadeOptions> = {}) => openEmbedded(here.origin.url, more);
const requestOf = (query: string, headers: object = {}) =>
  new Request('http://host.example/graphql', post(query, headers));

/** Hono as README.md and docs/embedding.md show it. */
async function hono(facade: EmbeddedFacade, { http2 = false } = {}): Promise<string> {
  const app = new Hono();
  app.get('/', (c) => c.text('the page of the host'));
  for (const path of facade.paths)
    app.all(path, (c) => facade.fetch(c.req.raw, { address: getConnInfo(c).remote.address }));
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const options = { fetch: app.fetch, port: 0, hostname: '127.0.0.1', ...(http2 && { createServer: createServer2 }) };
    const opened = serve(options, () => resolve(opened));
  });
  afterUse(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

await testHost('Hono', hono);

test.skipIf(!hasRedis)('a Redis that may evict idempotency keys is logged', async () => {
  const { port } = await startRedis(['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru']);
  const lines: string[] = [];
  const facade = embedded({
    redisUrl: `redis://127.0.0.1:${port}`,
    logLevel: 'warn',
    onLog: (line) => void lines.push(line),
  });
  onTestFinished(facade.close);
  await until(() => lines.some((line) => line.includes('may evict them (volatile-lru)')));
});

test('the docs show Hono as it is tested', () => {
  // However Prettier has broken the lines.
  const oneLine = (file: string) =>
    readFileSync(file, 'utf8')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\( | \)/g, (text) => text.trim())
      .replaceAll(',)', ')');
  const [route] = /for \(const path of facade\.paths\)[^;]*;/.exec(oneLine('test/embedding.test.ts'))!;
  for (const page of ['README.md', 'docs/embedding.md']) expect(oneLine(page)).toContain(route);
});

test.each([
  ['production', undefined, false],
  ['production', false, true],
  ['development', undefined, true],
  [undefined, true, false],
])(
  'with NODE_ENV=%s and the option production: %s, GraphiQL and introspection are on: %s',
  (NODE_ENV, production, isOn) => {
    vi.stubEnv('NODE_ENV', NODE_ENV);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(readOptions({ ...upstreams, production })).toMatchObject({ graphiql: isOn, introspection: isOn });
  },
);

describe('the fetch function of a facade', () => {
  test.each([null, undefined, {}, { address: null }, 'env', 7])('may get %s as its second argument', async (second) => {
    const response = await embedded().fetch(requestOf('{ viewer { isLoggedIn } }'), second as { address?: string });
    expect(await response.json()).toEqual({ data: { viewer: { isLoggedIn: false } } });
  });

  test('enforces the limits of its options', async () => {
    const facade = embedded({ maxDepth: 2, introspection: false });
    expect(await codeOf(await facade.fetch(requestOf('{ book(id: "1") { series { title } } }')))).toEqual([
      200,
      'TOO_DEEP',
    ]);
    expect(await codeOf(await facade.fetch(requestOf(`{ viewer { isLoggedIn } } ${' '.repeat(1_000_000)}`)))).toEqual([
      413,
      'BODY_TOO_LARGE',
    ]);
    expect(
      await codeOf(await facade.fetch(requestOf('{ viewer { isLoggedIn } }', { 'x-y': 'x'.repeat(20_000) }))),
    ).toEqual([431, 'HEADERS_TOO_LARGE']);
    expect(await codeOf(await facade.fetch(requestOf('{ __schema { queryType { name } } }')))).toEqual([
      200,
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    // Another facade in the same process has its own limits.
    const response = await embedded().fetch(requestOf('{ book(id: "6082808") { series { title } } }'));
    expect((await bodyOf(response)).errors).toBeUndefined();
  });

  test('reads a body to its end, whatever its content-length header says', async () => {
    const facade = embedded();
    const { body } = post('{ viewer { isLoggedIn } }');
    for (const length of ['5', '5000']) {
      const request = new Request('http://host.example/graphql', {
        method: 'POST',
        headers: { ...json, 'content-length': length, 'transfer-encoding': 'chunked', connection: 'keep-alive' },
        body,
      });
      expect(await bodyOf(await facade.fetch(request))).toEqual({ data: { viewer: { isLoggedIn: false } } });
    }
  });

  test('serves the same paths as the facade with a port', async () => {
    const facade = embedded();
    const get = (path: string, init?: RequestInit) => facade.fetch(new Request(`http://host.example${path}`, init));
    expect(await (await get('/ready')).json()).toMatchObject({ status: 'ready' });
    const head = await get('/health', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(await (await get('/metrics')).text()).toContain('catalog_requests_total{path="/ready",status="200"} 1');
    const page = await get('/graphql', { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<title>GraphiQL · catalog-graphql</title>');
    expect((await get('/graphql', { method: 'OPTIONS' })).status).toBe(204);
    expect(await codeOf(await get('/other'))).toEqual([404, 'NOT_FOUND']);
  });

  test('ends the operation of a client that cancels the response body', async () => {
    const facade = embedded();
    const request = requestOf(
      '{ book(id: "6082808") { title ... @defer { annotations(first: 50) { nodes { content } } } } }',
      {
        accept: 'multipart/mixed',
      },
    );
    const { body } = await facade.fetch(request);
    await body!.cancel();
    const running = async () =>
      /catalog_requests_running (\d+)/.exec(
        await (await facade.fetch(new Request('http://host.example/metrics'))).text(),
      )?.[1];
    await until(async () => (await running()) === '1'); // the request for the metrics itself
  });

  test('stores nothing of an upload that breaks off', async () => {
    const facade = embedded();
    const titles = async () =>
      ((await here.origin.get('/v2/note/user_created/1000001', 'alice')).body.notes as { title: string }[]).map(
        ({ title }) => title,
      );
    const before = await titles();
    expect(before.length).toBeGreaterThan(0);
    const form = uploadForm(
      'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures } }',
      { input: { title: 'broken off', content: '<图片p_1>', privacy: 'PRIVATE', pictures: pictures([1]).pictures } },
      { 'input.pictures.0.file': picture('png', 1_000_000) },
    );
    const whole = new Request('http://host.example/graphql', { method: 'POST', body: form });
    const bytes = new Uint8Array(await whole.clone().arrayBuffer());
    const half = new ReadableStream({
      start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
      pull: (controller) => controller.error(new Error('the line is dead')),
    });
    const request = new Request('http://host.example/graphql', {
      method: 'POST',
      headers: { ...alice, 'x-graphql-csrf': '1', 'content-type': whole.headers.get('content-type')! },
      body: half,
      ...{ duplex: 'half' }, // Node asks for it, and the types do not know it
    });
    await expect(facade.fetch(request)).rejects.toThrow('the line is dead');
    expect(await titles()).toEqual(before);
  });

  test('rejects a request whose body was already read', async () => {
    const request = requestOf('{ viewer { isLoggedIn } }');
    await request.text();
    await expect(embedded().fetch(request)).rejects.toThrow('was already read');
  });

  test('rejects a request that is already aborted, without an upstream call', async () => {
    const silent = await silentService();
    const facade = embedded({ baseUrl: silent.url, eventBaseUrl: silent.url });
    const request = new Request(requestOf('{ book(id: "1") { title } }'), { signal: AbortSignal.abort() });
    await expect(facade.fetch(request)).rejects.toMatchObject({ name: 'AbortError' });
    expect(silent.requests()).toBe(0);
  });

  test.each([
    [{ helpUrl: 'https://help.example/errors' }, 'https://help.example/errors#BAD_USER_INPUT'],
    [{ mcpUrl: 'https://api.example/mcp' }, 'https://api.example/docs/errors#BAD_USER_INPUT'],
    // Only the host knows its own address.
    [{}, '/docs/errors#BAD_USER_INPUT'],
  ])('links errors to their page by its options: %s', async (given, help) => {
    const response = await embedded(given).fetch(requestOf('{ nodes(ids: ["?"]) { id } }'));
    const { errors } = (await response.json()) as { errors: { extensions: { help: string } }[] };
    expect(errors[0]!.extensions.help).toBe(help);
  });

  test('limits the rate per client address', async () => {
    const { origin } = await journey();
    const facade = embedded({
      baseUrl: origin.url,
      eventBaseUrl: origin.url,
      accessToken: undefined,
      filmTier: undefined,
    });
    const execute = async (n: number, address: string) =>
      bodyOf(
        await facade.fetch(requestOf(`{ searchSubjects(query: "inside ${n}") { nodes { title } } }`), { address }),
      );
    const many = await Promise.all(Array.from({ length: 30 }, (_, n) => execute(n, '192.0.2.1')));
    expect(many.filter(({ errors }) => !errors)).toHaveLength(20);
    expect((await execute(30, '192.0.2.2')).errors).toBeUndefined();
  });

  test('opens no port, adds no signal handler, and ignores the environment', async () => {
    process.env.MAX_DEPTH = '1';
    process.env.PORT = 'no port';
    onTestFinished(() => {
      delete process.env.MAX_DEPTH;
      delete process.env.PORT;
    });
    const events = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const servers = () => process.getActiveResourcesInfo().filter((kind) => /Server/.test(kind)).length;
    const before = { events: events(), servers: servers() };
    const facade = embedded();
    const response = await facade.fetch(requestOf('{ book(id: "6082808") { series { title } } }'));
    expect((await bodyOf(response)).errors).toBeUndefined();
    expect(events()).toEqual(before.events);
    expect(servers()).toBeLessThanOrEqual(before.servers); // those of other tests may be closing
  });

  test('logs to the given function, without tokens', async () => {
    const lines: string[] = [];
    const facade = embedded({ logLevel: 'debug', onLog: (line) => void lines.push(line) });
    await (
      await facade.fetch(requestOf('{ viewer { isLoggedIn } }', { ...alice, 'x-request-id': 'of-this-test' }))
    ).text();
    await until(() => lines.length > 0);
    expect(JSON.parse(lines[0]!)).toMatchObject({ requestId: 'of-this-test', path: '/graphql', status: 200 });
    expect(lines.join('')).not.toContain('demo-alice');
  });
});

describe('close() of a facade', () => {
  const book = '{ book(id: "1") { title } }';

  test('waits for running operations, and rejects new ones', async () => {
    const silent = await silentService();
    const facade = createFacade({ ...settings, baseUrl: silent.url, eventBaseUrl: silent.url, shutdownMs: 60_000 });
    const response = facade.fetch(requestOf(book));
    await until(() => silent.open() === 1);
    const closed = facade.close();
    await expect(facade.fetch(requestOf(book))).rejects.toThrow('The facade is closed.');
    silent.respond('{"id":"1","title":"活着"}');
    expect(await bodyOf(await response)).toEqual({ data: { book: { title: '活着' } } });
    await closed;
    await facade.close();
  });

  test('aborts operations that do not end in time', async () => {
    const silent = await silentService();
    const facade = createFacade({ ...settings, baseUrl: silent.url, eventBaseUrl: silent.url, shutdownMs: 50 });
    const outcome = facade.fetch(requestOf(book)).catch((error: Error) => error.message);
    await until(() => silent.open() === 1);
    await facade.close();
    expect(await outcome).toBe('The facade was closed.');
    await until(() => silent.open() === 0);
  });
});

describe('the options of a facade', () => {
  const problems = (given: object): readonly string[] => {
    try {
      createFacade(given as FacadeOptions);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  };

  test('are validated together, and reported by their names', () => {
    const wrong = {
      baseUrl: 'ftp://a',
      maxDepth: '14',
      maxUpstreamCalls: 0,
      graphiql: 'on',
      corsOrigins: ['*'],
      otelExporterOtlpHeaders: { key: 5 },
      port: 4000,
      maxDeep: 3,
      production: 'yes',
    };
    expect(problems(wrong).toSorted()).toEqual([
      'baseUrl must be an http:// or https:// address without user, query or fragment, not "ftp://a"',
      'corsOrigins must be a list of origins, each like https://shop.example or capacitor://localhost, or http://localhost:* for any port (no path, no other *)',
      'eventBaseUrl must be set',
      'graphiql must be true or false, not "on"',
      'maxDeep is not an option',
      'maxDepth must be a whole number from 1 to 500, not "14"',
      'maxUpstreamCalls must be a whole number from 1 to 1000000, not 0',
      'otelExporterOtlpHeaders must be an object of header names and values',
      'port is not an option',
      'production must be true or false',
    ]);
  });

  test('that an earlier release had are reported, with what decides now', () => {
    expect(problems({ ...upstreams, maxAliases: 90, suggestions: false, maxWaitingOperations: 0 })).toEqual([
      'maxAliases is not an option: it is 60 now. Remove it.',
      'maxWaitingOperations is not an option: it is 256 now. Remove it.',
      'suggestions is not an option: INTROSPECTION decides it. Remove it.',
    ]);
  });

  test.each([
    ['hooks', { authorize: Promise.resolve(true), onOperation: 5, headersTo: {} }],
    ['the log', { onLog: 'stdout' }],
  ])('that are functions are told from others at the start: %s', (_, wrong) => {
    expect(problems({ ...upstreams, ...wrong })).toEqual(
      Object.keys(wrong).map((name) => `${name} must be a function`),
    );
  });

  test('are shown where they are rejected, unless they contain a secret', () => {
    const secret = 'k3y-of-the-facade';
    const wrong = { maxDepth: secret, maxUpstreamCalls: `Bearer ${secret}`, logLevel: `${secret}?`, graphiql: 'yes' };
    expect(problems({ ...upstreams, ...wrong, accessToken: secret }).toSorted()).toEqual([
      'graphiql must be true or false, not "yes"',
      expect.stringMatching(/^logLevel must be [^?]*$/),
      'maxDepth must be a whole number from 1 to 500',
      'maxUpstreamCalls must be a whole number from 1 to 1000000',
    ]);
  });

  test('accept values of their own types', () => {
    const config = readOptions({
      ...upstreams,
      baseUrl: 'http://a.example/base/',
      corsOrigins: ['https://b.example', 'http://localhost:3000'],
      otelExporterOtlpHeaders: { key: 'a=b, c%' },
      recordTtlSeconds: 0,
      graphiql: false,
      redisUrl: undefined,
    });
    expect(config).toMatchObject({
      baseUrl: 'http://a.example/base',
      corsOrigins: ['https://b.example', 'http://localhost:3000'],
      otelExporterOtlpHeaders: { key: 'a=b, c%' },
      recordTtlSeconds: 0,
      graphiql: false,
      redisUrl: undefined,
      explain: true,
    });
    const production = readOptions({ ...upstreams, production: true, explain: true, corsOrigins: [] });
    expect(production).toMatchObject({ graphiql: false, introspection: false, explain: true, corsOrigins: [] });
  });

  test('have the type of their setting', () => {
    type Given = Required<
      Omit<FacadeOptions, keyof FacadeHooks | 'onLog' | 'extend' | 'services' | 'baseUrl' | 'eventBaseUrl'>
    >;
    expectTypeOf<Given>().toEqualTypeOf<{ -readonly [Name in keyof Given]: NonNullable<Config[Name]> }>();
    const names: (keyof Given | 'baseUrl' | 'eventBaseUrl')[] = options().map(([name]) => name as keyof Given);
    expect(names).toContain('maxUpstreamCalls');
    expect(names).not.toContain('port');
  });
});
