import { GraphQLObjectType, GraphQLInt, GraphQLList, GraphQLSchema, GraphQLString } from 'graphql';
import type { FileUpload } from 'graphql-upload-minimal';
import { GraphQLUpload } from 'graphql-upload-minimal';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { openServer } from '../../../src/server/server.ts';
import type { Facade } from '../../../src/server/server.ts';
import { createUpstream } from '../../../src/upstream/client.ts';

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { word: { type: GraphQLString } } }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: {
      weigh: {
        type: new GraphQLList(GraphQLInt),
        args: { files: { type: new GraphQLList(GraphQLUpload) } },
        resolve: async (_, { files }: { files: Promise<FileUpload>[] }) => {
          const sizes: number[] = [];
          for (const file of files) {
            let size = 0;
            for await (const chunk of (await file).createReadStream()) size += (chunk as Buffer).length;
            sizes.push(size);
          }
          return sizes;
        },
      },
      ignore: { type: GraphQLString, args: { file: { type: GraphQLUpload } }, resolve: () => 'ignored' },
    },
  }),
});

let facade: Facade | undefined;
afterEach(() => facade?.close());

/** The schema of these tests asks no service. */
const nowhere = 'http://127.0.0.1:1';

async function open(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = readConfig({ PORT: '0', ...env });
  facade = await openServer(config, {
    schema,
    upstream: createUpstream({ ...config, baseUrl: nowhere, eventBaseUrl: nowhere }),
    log: pino({ level: 'silent' }),
  });
  return facade.url;
}

const weigh = (count: number) => ({
  query: 'mutation ($files: [Upload]) { weigh(files: $files) }',
  variables: { files: Array<null>(count).fill(null) },
});

function send(url: string, operations: unknown, map: unknown, files: Record<string, number>) {
  const form = new FormData();
  form.set('operations', JSON.stringify(operations));
  form.set('map', JSON.stringify(map));
  for (const [name, size] of Object.entries(files)) form.set(name, new Blob([new Uint8Array(size)]), `${name}.png`);
  return fetch(`${url}/graphql`, { method: 'POST', body: form, headers: { 'x-graphql-csrf': '1' } });
}

const codeOf = async (response: Response) => (await response.json()).errors[0].extensions.code;

test('files reach the resolver as streams, in the places they are mapped to', async () => {
  const url = await open();
  const answer = await send(url, weigh(2), { a: ['variables.files.0'], b: ['variables.files.1'] }, { a: 70_000, b: 5 });
  expect(await answer.json()).toEqual({ data: { weigh: [70_000, 5] } });
});

test('a file that nobody reads does not hold up the answer, and the connection serves on', async () => {
  const url = await open();
  const ignore = { query: 'mutation ($file: Upload) { ignore(file: $file) }', variables: { file: null } };
  for (let i = 0; i < 3; i++) {
    const answer = await send(url, ignore, { a: ['variables.file'] }, { a: 3_000_000 });
    expect(await answer.json()).toEqual({ data: { ignore: 'ignored' } });
  }
});

test('too many files, or too much of them, is refused with a code', async () => {
  const url = await open({ MAX_PICTURES: '1', MAX_MUTATIONS: '1', MAX_UPLOAD_BYTES: '1000', MAX_BODY_BYTES: '2000' });
  const many = await send(url, weigh(2), { a: ['variables.files.0'], b: ['variables.files.1'] }, { a: 1, b: 1 });
  expect([many.status, await codeOf(many)]).toEqual([413, 'UPLOAD_TOO_LARGE']);
  const large = await send(url, weigh(1), { a: ['variables.files.0'] }, { a: 50_000 });
  expect([large.status, await codeOf(large)]).toEqual([413, 'UPLOAD_TOO_LARGE']);
});

test.each([null, 'word', 7, []])('a map that is none is refused, and harms nobody: %j', async (map) => {
  const url = await open();
  const answer = await send(url, { query: '{ word }' }, map, {});
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_UPLOAD' } }] });
});

test('what is mapped wrongly, or twice, is refused before it runs', async () => {
  const url = await open();
  const twice = await send(url, weigh(2), { a: ['variables.files.0', 'variables.files.1'] }, { a: 1 });
  expect([twice.status, await codeOf(twice)]).toEqual([400, 'BAD_UPLOAD']);
  const nowhere = await send(url, weigh(1), { a: ['variables.none.0'] }, { a: 1 });
  expect([nowhere.status, await codeOf(nowhere)]).toEqual([400, 'BAD_UPLOAD']);
  const batch = await send(url, [weigh(1)], { a: ['0.variables.files.0'] }, { a: 1 });
  expect([batch.status, await codeOf(batch)]).toEqual([400, 'BATCHING_OFF']);
});

test('a form whose operations do not arrive is given up', async () => {
  const url = await open({ REQUEST_BODY_TIMEOUT_MS: '100' });
  const never = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('--x\r\n')) });
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'x-graphql-csrf': '1' };
  const init = { method: 'POST', headers, body: never, duplex: 'half' };
  const answer = await fetch(`${url}/graphql`, init);
  expect([answer.status, await codeOf(answer)]).toEqual([408, 'REQUEST_TIMEOUT']);
});
