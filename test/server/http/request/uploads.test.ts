import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { GraphQLObjectType, GraphQLInt, GraphQLList, GraphQLScalarType, GraphQLSchema, GraphQLString } from 'graphql';
import type { Upload } from 'graphql-upload-minimal';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import type { UploadedFile } from '../../../../src/engine/values/uploaded-file.ts';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { configWith } from '../../../support/config.ts';
import { openServer } from '../../../support/open-server.ts';
import type { Facade } from '../../../../src/server/server.ts';
import { createUpstream } from '../../../../src/upstream/client.ts';

const FileScalar = new GraphQLScalarType({ name: 'Upload', parseValue: (value) => (value as Upload).file });
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { word: { type: GraphQLString } } }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: {
      weigh: {
        type: new GraphQLList(GraphQLInt),
        args: { files: { type: new GraphQLList(FileScalar) } },
        resolve: (_, { files }: { files: UploadedFile[] }) =>
          files.map(({ bytes }) => bytes.reduce((sum, { length }) => sum + length, 0)),
      },
      buffers: {
        type: new GraphQLList(GraphQLInt),
        args: { files: { type: new GraphQLList(FileScalar) } },
        resolve: (_, { files }: { files: UploadedFile[] }) => files.map(({ bytes }) => bytes.length),
      },
      ignore: { type: GraphQLString, args: { file: { type: FileScalar } }, resolve: () => 'ignored' },
    },
  }),
});

let facade: Facade | undefined;
afterEach(() => facade?.close());

/** The schema of these tests calls no service. */
const nowhere = 'http://127.0.0.1:1';

async function open(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = configWith({ PORT: '0', ...env });
  facade = await openServer(config, {
    schema,
    upstream: createUpstream(catalogService, { ...config, baseUrl: nowhere, eventBaseUrl: nowhere }),
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

test('files reach the resolver, at the positions they are mapped to', async () => {
  const url = await open();
  const answer = await send(url, weigh(2), { a: ['variables.files.0'], b: ['variables.files.1'] }, { a: 70_000, b: 5 });
  expect(await answer.json()).toEqual({ data: { weigh: [70_000, 5] } });
});

test('a file in several places is read once and given to each, among other files', async () => {
  const url = await open();
  const map = {
    a: ['variables.files.0', 'variables.files.3'],
    b: ['variables.files.1'],
    c: ['variables.files.2', 'variables.files.4'],
  };
  const answer = await send(url, weigh(5), map, { a: 2_900_000, b: 70_000, c: 0 });
  expect(await answer.json()).toEqual({ data: { weigh: [2_900_000, 70_000, 0, 2_900_000, 0] } });
});

test('an unread file does not delay the response, and the connection stays usable', async () => {
  const url = await open();
  const ignore = { query: 'mutation ($file: Upload) { ignore(file: $file) }', variables: { file: null } };
  for (let i = 0; i < 3; i++) {
    const answer = await send(url, ignore, { a: ['variables.file'] }, { a: 3_000_000 });
    expect(await answer.json()).toEqual({ data: { ignore: 'ignored' } });
  }
});

test('a file that comes in single bytes takes no more memory than one that comes at once', async () => {
  const url = await open();
  const form = new FormData();
  const query = 'mutation ($files: [Upload]) { weigh(files: $files) buffers(files: $files) }';
  form.set('operations', JSON.stringify({ query, variables: { files: [null] } }));
  form.set('map', JSON.stringify({ a: ['variables.files.0'] }));
  form.set('a', new Blob([new Uint8Array(30_000)]), 'a.png');
  const whole = new Response(form);
  const type = whole.headers.get('content-type')!;
  const body = Buffer.from(await whole.arrayBuffer());
  const request = httpRequest(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': type, 'x-graphql-csrf': '1' }, // without a length: each write is a chunk
  });
  for (let at = 0; at < body.length; at++) request.write(body.subarray(at, at + 1));
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { data } = (await json(response)) as { data: { weigh: number[]; buffers: number[] } };
  expect(data.weigh).toEqual([30_000]);
  expect(data.buffers[0]).toBeLessThan(10);
});

test('too many files, or too many bytes, are rejected with a code', async () => {
  const url = await open({ MAX_PICTURES: '1', MAX_MUTATIONS: '1', MAX_UPLOAD_BYTES: '1000', MAX_BODY_BYTES: '2000' });
  const many = await send(url, weigh(2), { a: ['variables.files.0'], b: ['variables.files.1'] }, { a: 1, b: 1 });
  expect([many.status, await codeOf(many)]).toEqual([413, 'UPLOAD_TOO_LARGE']);
  const large = await send(url, weigh(1), { a: ['variables.files.0'] }, { a: 50_000 });
  expect([large.status, await codeOf(large)]).toEqual([413, 'UPLOAD_TOO_LARGE']);
});

test.each([null, 'word', 7, []])('an invalid map is rejected: %j', async (map) => {
  const url = await open();
  const answer = await send(url, { query: '{ word }' }, map, {});
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_UPLOAD' } }] });
});

test('an invalid or ambiguous map, and a batch, are rejected before anything runs', async () => {
  const url = await open();
  const both = { a: ['variables.files.0'], b: ['variables.files.0'] };
  const twice = await send(url, weigh(1), both, { a: 1, b: 1 });
  expect([twice.status, await codeOf(twice)]).toEqual([400, 'BAD_UPLOAD']);
  const nothing = await send(url, weigh(1), { a: [] }, { a: 1 });
  expect([nothing.status, await codeOf(nothing)]).toEqual([400, 'BAD_UPLOAD']);
  const nowhere = await send(url, weigh(1), { a: ['variables.none.0'] }, { a: 1 });
  expect([nowhere.status, await codeOf(nowhere)]).toEqual([400, 'BAD_UPLOAD']);
  const batch = await send(url, [weigh(1)], { a: ['0.variables.files.0'] }, { a: 1 });
  expect([batch.status, await codeOf(batch)]).toEqual([400, 'BATCHING_OFF']);
});

test.each([
  // The list would grow to this place, and be read to its end.
  'variables.files.4000000000',
  'variables.files.length',
  'variables.__proto__.x',
  'variables.constructor.x',
  'variables.toString.x',
  'variables.files.push.x',
  'query.charAt.x',
])('a file has its place in the operations, and not at %s', async (path) => {
  const url = await open();
  const answer = await send(url, weigh(1), { a: [path] }, { a: 1 });
  expect([answer.status, await codeOf(answer)]).toEqual([400, 'BAD_UPLOAD']);
  const prototypes = [Object.prototype, Array.prototype, String.prototype];
  const inherited = prototypes.flatMap((each) => Object.values(Object.getOwnPropertyDescriptors(each)));
  expect(inherited.flatMap(({ value }) => (typeof value === 'function' ? Object.keys(value as object) : []))).toEqual(
    [],
  );
});

test('a form whose operations do not arrive times out', async () => {
  const url = await open({ REQUEST_BODY_TIMEOUT_MS: '100' });
  const never = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('--x\r\n')) });
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'x-graphql-csrf': '1' };
  const init = { method: 'POST', headers, body: never, duplex: 'half' };
  const answer = await fetch(`${url}/graphql`, init);
  expect([answer.status, await codeOf(answer)]).toEqual([408, 'REQUEST_TIMEOUT']);
});
