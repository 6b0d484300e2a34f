/** Four plugins of others, and one that notes what the hooks of Envelop get, around `catalogPlugin` in a Yoga server. */
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { createInlineSigningKeyProvider, useJWT } from '@graphql-yoga/plugin-jwt';
import { usePrometheus } from '@graphql-yoga/plugin-prometheus';
import { useResponseCache } from '@graphql-yoga/plugin-response-cache';
import type { ExecutionResult } from 'graphql';
import { type Plugin, createYoga } from 'graphql-yoga';
import jsonwebtoken from 'jsonwebtoken';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { catalogPlugin } from '../../src/facade.ts';
import { settlesWithin } from '../../src/lib/promises.ts';
import { bodyOf, embedded, post } from '../support/embedded.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { hostile, json } from '../support/hostile.ts';
import { listen } from '../support/listen.ts';
import { picture, service } from '../support/service.ts';
import { pictures, uploadForm } from '../support/upload.ts';

const origin = await service();
const KEY = 'a key of the program, which the service does not know';
/** The program's own users, and the tokens with which they are known to the service. */
const serviceTokens: Readonly<Record<string, string>> = { alice: 'demo-alice' };
// Without the second of its making: two requests of a person have one token, so one session.
const tokenOf = (sub: string) => jsonwebtoken.sign({ sub }, KEY, { algorithm: 'HS256', noTimestamp: true });
const as = (sub: string, more: object = {}) => ({ authorization: `Bearer ${tokenOf(sub)}`, ...more });

const registry = new Registry();
const seen: string[] = [];
const notes: Plugin = {
  onParse:
    () =>
    ({ result }) =>
      void seen.push(`parsed ${result instanceof Error ? result.message : 'document'}`),
  onValidate:
    () =>
    ({ valid }) =>
      void seen.push(`valid ${valid}`),
  onExecute({ args }) {
    const [definition] = args.document.definitions;
    seen.push(`execute ${definition.kind} ${JSON.stringify(args.variableValues)} ${typeof args.contextValue.request}`);
    const note = ({ result }: { result: ExecutionResult }) =>
      void seen.push(
        `result ${Object.keys(result).sort().join()} ${result.errors?.map(({ message }) => message).join() ?? ''}`,
      );
    return {
      onExecuteDone: ({ result }) =>
        Symbol.asyncIterator in result
          ? {
              onNext: ({ result: part }) => note({ result: part }),
              onEnd: () => void seen.push('end'),
            }
          : note({ result }),
    };
  },
};

const facade = embedded(origin.url, { maxUpstreamCalls: 3 });
const yoga = createYoga({
  logging: false,
  plugins: [
    useJWT({
      signingKeyProviders: [createInlineSigningKeyProvider(KEY)],
      tokenVerification: { algorithms: ['HS256'] },
      reject: { missingToken: true, invalidToken: true },
      extendContext: true,
    }),
    catalogPlugin(facade, {
      token: ({ jwt }) => serviceTokens[(jwt as { payload: { sub: string } }).payload.sub],
    }),
    maxDepthPlugin({ n: 5 }),
    usePrometheus({
      registry,
      metrics: {
        graphql_envelop_phase_execute: true,
        graphql_envelop_phase_validate: true,
        graphql_envelop_error_result: true,
      },
    }),
    useResponseCache({ session: ({ headers }) => headers.get('authorization'), includeExtensionMetadata: true }),
    notes,
  ],
});
const send = async (init: RequestInit): Promise<Response> => yoga.fetch('http://host.example/graphql', init);
const ask = async (query: string, headers: object, variables?: object) =>
  bodyOf(await send(post(query, headers, variables)));
const notesOf = async (run: () => Promise<unknown>): Promise<string[]> => {
  seen.length = 0;
  await run();
  return [...seen];
};

describe('a query in a Yoga server with catalogPlugin', () => {
  const query = 'query Book($id: ID!) { book(id: $id) { title } viewer { isLoggedIn } }';

  test('is run by the facade, for the caller whom the program names', async () => {
    expect(await ask(query, as('alice'), { id: '6082808' })).toMatchObject({
      data: { book: { title: expect.any(String) as string }, viewer: { isLoggedIn: true } },
    });
    expect(await ask(query, as('guest'), { id: '6082808' })).toMatchObject({ data: { viewer: { isLoggedIn: false } } });
  });

  test('never gives the service a token of the program', async () => {
    const tokens: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      tokens.push(headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1","title":"t"}');
    });
    const other = embedded(await listen(server));
    const own = createYoga({ logging: false, plugins: [catalogPlugin(other, { token: () => undefined })] });
    await own.fetch('http://host.example/graphql', post('{ book(id: "1") { title } }', as('alice')));
    expect(tokens).toEqual(['Bearer demo-app']);
  });

  test('is seen by the hooks of Envelop, before and after', async () => {
    const id = '1003078';
    expect(await notesOf(() => ask(query, as('alice'), { id }))).toEqual([
      'parsed document',
      'valid true',
      `execute OperationDefinition ${JSON.stringify({ id })} object`,
      'result data,extensions ', // those of the cache
    ]);
    expect(await notesOf(() => ask('{ book(id: "a b") { title } }', as('alice')))).toEqual([
      'parsed document',
      'valid true',
      'execute OperationDefinition undefined object',
      expect.stringMatching(/^result data,errors,extensions \S/),
    ]);
    expect(await notesOf(() => ask('{ book(id: "1") { unknown } }', as('alice')))).toEqual([
      'parsed document',
      'valid false',
    ]);
    expect(await notesOf(() => ask('{ book(', as('alice')))).toEqual([expect.stringMatching(/^parsed Syntax Error/)]);
  });

  test('is refused by the rule of a plugin, and by the limits of the facade', async () => {
    const deep = '{ book(id: "1") { series { books(first: 1) { nodes { series { title } } } } } }';
    expect((await ask(deep, as('alice'))).errors).toMatchObject([
      { message: expect.stringContaining('depth') as string },
    ]);
    const dear = `{ ${Array.from({ length: 4 }, (_, at) => `b${at}: book(id: "${at + 1}") { title }`).join(' ')} }`;
    expect((await ask(dear, as('alice'))).errors).toMatchObject([{ extensions: { code: 'TOO_MANY_CALLS' } }]);
  });

  test('is refused without a token of the program, before the facade has it', async () => {
    expect((await send(post(query))).status).toBe(401);
    expect((await send(post(query, { authorization: 'Bearer demo-alice' }))).status).toBe(400);
  });

  test('is answered by the cache of a plugin for the same caller alone', async () => {
    const cached = '{ book(id: "1003078") { title } viewer { isLoggedIn } }';
    await ask(cached, as('alice'));
    expect(await ask(cached, as('alice'))).toMatchObject({
      data: { viewer: { isLoggedIn: true } },
      extensions: { responseCache: { hit: true } },
    });
    expect(await ask(cached, as('guest'))).toMatchObject({
      data: { viewer: { isLoggedIn: false } },
      extensions: { responseCache: { hit: false } },
    });
  });

  test('is counted by a plugin of metrics', async () => {
    const text = await registry.metrics();
    expect(text).toMatch(/graphql_envelop_phase_execute_count\{[^}]*operationName="Book"[^}]*\} [1-9]/);
    expect(text).toMatch(/graphql_envelop_error_result\{[^}]*\} [1-9]/);
  });

  test('of several is the one that is named, though the server keeps the document', async () => {
    const two = 'query A { viewer { isLoggedIn } } query B { book(id: "1003078") { title } }';
    const named = async (operationName?: string) =>
      bodyOf(
        await send({
          ...post(''),
          headers: { ...post('').headers, ...as('alice') },
          body: JSON.stringify({ query: two, operationName }),
        }),
      );
    expect((await named()).errors).toMatchObject([{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }]);
    expect((await named('A')).data).toEqual({ viewer: { isLoggedIn: true } });
    expect((await named('B')).data).toEqual({ book: { title: expect.any(String) as string } });
  });
});

test('an upload passes the plugins, and is stored', async () => {
  const { pictures: list, files } = pictures([1], () => picture('png', 3_000));
  const form = uploadForm(
    'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures } }',
    { input: { title: 'by Yoga', content: '<图片p_1>', privacy: 'PRIVATE', pictures: list } },
    files,
  );
  const run = async () => {
    const response = await send({ method: 'POST', body: form, headers: as('alice') });
    expect(await bodyOf(response)).toMatchObject({ data: { createNote: { storedPictures: [1] } } });
  };
  expect((await notesOf(run)).at(-1)).toMatch(/^result data/);
});

describe.each(['multipart/mixed', 'text/event-stream'])('@defer by %s', (accept) => {
  const query = `{ book(id: "1003078") { title ... @defer(label: "${accept}") { annotations(first: 1) { totalCount } } } }`;

  test('comes in parts, each of which the hooks of Envelop see', async () => {
    const run = async () => {
      const response = await send(post(query, as('alice', { accept })));
      expect(response.headers.get('content-type')).toContain(accept);
      const text = await response.text();
      expect(text).toContain('"hasNext":false');
      expect(text).toContain('totalCount');
    };
    const noted = await notesOf(run);
    expect(noted.filter((note) => note.startsWith('result')).length).toBeGreaterThan(1);
    expect(noted.at(-1)).toBe('end');
  });

  test('gives its place back when the client leaves', async () => {
    const title = json('{"id":"1003078","title":"x"}');
    const { url } = await hostile(
      (socket, request) => !request.path.includes('/annotations') && title(socket, request),
    );
    const small = embedded(url, { maxRunningOperations: 1 });
    const server = createYoga({ logging: false, plugins: [catalogPlugin(small)] });
    const asked = (headers: object, text = query) => server.fetch('http://host.example/graphql', post(text, headers));
    const reader = (await asked({ accept })).body!.getReader();
    await reader.read();
    const waiting = Promise.resolve(asked({}, '{ viewer { isLoggedIn } }'));
    expect(await settlesWithin(50, waiting)).toBe(false);
    await reader.cancel();
    expect((await bodyOf(await waiting)).errors).toBeUndefined();
  });
});

test('a whole response is sent as an event to a client that accepts events alone', async () => {
  const response = await send(post('{ viewer { isLoggedIn } }', as('alice', { accept: 'text/event-stream' })));
  const text = await response.text();
  const [, data] = /^data: (.*)$/m.exec(text)!;
  expect((JSON.parse(data!) as GraphQLResponse).data).toMatchObject({ viewer: { isLoggedIn: true } });
});

test('only trusted documents run where the facade says so', async () => {
  const manifest = join(mkdtempSync(join(tmpdir(), 'manifest-')), 'operations.json');
  const trustedText = '{ book(id: "1003078") { title } }';
  writeFileSync(manifest, JSON.stringify({ [createHash('sha256').update(trustedText).digest('hex')]: trustedText }));
  const trusted = embedded(origin.url, { persistedOnly: true, persistedOperations: manifest });
  const server = createYoga({ logging: false, plugins: [catalogPlugin(trusted)] });
  const response = await server.fetch('http://host.example/graphql', post('{ viewer { isLoggedIn } }'));
  expect((await bodyOf(response)).errors).toMatchObject([{ extensions: { code: 'PERSISTED_ONLY' } }]);
  const known = await server.fetch('http://host.example/graphql', post(trustedText));
  expect((await bodyOf(known)).errors).toBeUndefined();
});

test('catalogPlugin refuses what is no facade', () => {
  expect(() => catalogPlugin({ ...facade })).toThrow('catalogPlugin needs a facade that createFacade has returned.');
});
