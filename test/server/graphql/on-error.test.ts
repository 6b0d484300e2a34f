import {
  GraphQLError,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  specifiedDirectives,
} from 'graphql';
import { expect, test } from 'vitest';
import { deferDirective, streamDirective } from '../../../src/engine/plan/incremental-directives.ts';
import { schema } from '../../../src/graph/schema.ts';
import { startFacade } from '../../support/start-facade.ts';
import { json } from '../../support/hostile.ts';
import { journey } from '../../support/journey.ts';
import { picture } from '../../support/service.ts';

const rejection = json(JSON.stringify({ code: 1000, msg: 'x', request: 'x' }), 400);

const failing = () => {
  throw new GraphQLError('It failed.', { extensions: { code: 'TEST' } });
};
const item: GraphQLObjectType = new GraphQLObjectType({
  name: 'Item',
  fields: () => ({
    id: { type: new GraphQLNonNull(GraphQLString) },
    fails: { type: new GraphQLNonNull(GraphQLString), resolve: ({ id }) => (id === '2' ? failing() : 'no') },
    failsLater: {
      type: new GraphQLNonNull(GraphQLString),
      resolve: ({ id }) => Promise.resolve(id).then((given) => (given === '2' ? failing() : 'no')),
    },
    isNull: { type: new GraphQLNonNull(GraphQLString), resolve: () => null },
  }),
});
const list = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(item)));
const strict = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      shelf: {
        type: new GraphQLObjectType({ name: 'Shelf', fields: { items: { type: list } } }),
        resolve: () => ({ items: [{ id: '1' }, { id: '2' }] }),
      },
    },
  }),
  directives: [...specifiedDirectives, deferDirective, streamDirective],
});
const query = '{ shelf { items { id fails failsLater } } }';

/** The facade with this schema. */
async function facade(schema: GraphQLSchema) {
  const setup = await startFacade({}, {}, { schema });
  const send = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(setup.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-alice', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as { data: unknown; errors?: Failure[] } };
  };
  return { ...setup, send };
}
interface Failure {
  path: unknown;
  extensions: { code: string };
}
const paths = (errors: Failure[] | undefined) => errors?.map(({ path }) => path);

test('without onError, and with PROPAGATE, an error nulls the nearest nullable position', async () => {
  const { send } = await facade(strict);
  const plain = await send({ query });
  expect(plain.body.data).toEqual({ shelf: null });
  expect(await send({ query, onError: 'PROPAGATE' })).toEqual(plain);
  expect(await send({ query, onError: null })).toEqual(plain);
});

test('with NULL an error nulls its own position only, even a non-null one', async () => {
  const { send, url } = await facade(strict);
  const { body } = await send({ query, onError: 'NULL' });
  const items = [
    { id: '1', fails: 'no', failsLater: 'no' },
    { id: '2', fails: null, failsLater: null },
  ];
  expect(body.data).toEqual({ shelf: { items } });
  expect(paths(body.errors)).toEqual([
    ['shelf', 'items', 1, 'fails'],
    ['shelf', 'items', 1, 'failsLater'],
  ]);
  const byGet = await fetch(`${url}?${new URLSearchParams({ query, onError: 'NULL' }).toString()}`);
  expect(((await byGet.json()) as { data: unknown }).data).toEqual(body.data);
  const unusual = await send({ query, onError: 'NULL' }, { accept: 'application/json, image/png' });
  expect(unusual.body).toEqual(body);
});

test('beside introspection an error nulls the same as without it', async () => {
  const { send } = await facade(strict);
  const introspecting = query.replace('{', '{ __schema { queryType { name } }');
  const __schema = { queryType: { name: 'Query' } };
  for (const onError of ['PROPAGATE', 'NULL', 'HALT']) {
    const { data } = (await send({ query, onError })).body;
    const beside = await send({ query: introspecting, onError });
    expect([onError, beside.body.data]).toEqual([onError, data && { __schema, ...data }]);
  }
});

test('a null at a non-null position is an error with NULL too', async () => {
  const { send } = await facade(strict);
  const { body } = await send({ query: '{ shelf { items { isNull } } }', onError: 'NULL' });
  expect(body.data).toEqual({ shelf: { items: [{ isNull: null }, { isNull: null }] } });
  expect(body.errors).toHaveLength(2);
});

test('with HALT there is no data, and only the first error', async () => {
  const { send } = await facade(strict);
  const { status, body } = await send({ query, onError: 'HALT' });
  expect([status, body.data, paths(body.errors)]).toEqual([200, null, [['shelf', 'items', 1, 'fails']]]);
});

test('an unknown value is rejected before anything runs', async () => {
  const { send } = await facade(strict);
  for (const onError of ['null', 'ABORT', 1, {}]) {
    const { status, body } = await send({ query, onError });
    expect([status, body.errors?.[0]?.extensions.code, body]).toEqual([
      400,
      'BAD_REQUEST',
      { errors: expect.anything() },
    ]);
  }
});

test('deferred parts are returned together with the rest', async () => {
  const { send } = await facade(strict);
  const deferred = '{ shelf { items { id ... @defer { fails } } } }';
  const { body } = await send(
    { query: deferred, onError: 'NULL' },
    { accept: 'multipart/mixed, application/json;q=0.9' },
  );
  expect(body.data).toEqual({
    shelf: {
      items: [
        { id: '1', fails: 'no' },
        { id: '2', fails: null },
      ],
    },
  });
});

const likes =
  'mutation { a: likeNote(input: { id: "1" }) { note { id } } b: likeNote(input: { id: "2" }) { note { id } } }';

test('with HALT no mutation runs after an error; with NULL the remaining ones run in order', async () => {
  const { send, books } = await facade(schema);
  books.behave(rejection);
  const halted = await send({ query: likes, onError: 'HALT' });
  expect([halted.body.data, paths(halted.body.errors)]).toEqual([null, [['a']]]);
  expect(books.requests.map(({ path }) => path)).toEqual(['/v2/note/1/like']);
  const both = await send({ query: likes, onError: 'NULL' });
  expect([both.body.data, paths(both.body.errors)]).toEqual([{ a: null, b: null }, [['a'], ['b']]]);
  expect(books.requests.map(({ path }) => path).slice(1)).toEqual(['/v2/note/1/like', '/v2/note/2/like']);
});

test('a mutation with onError may upload pictures', async () => {
  const { upload } = await journey();
  const query = `mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { title } } }`;
  const input = {
    ...{ title: 'x', content: 'Look: <图片p_1>', privacy: 'FRIEND' },
    pictures: [{ number: 1, file: null, layout: 'CENTER' }],
  };
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { input }, onError: 'NULL' }));
  form.set('map', '{"0": ["variables.input.pictures.0.file"]}');
  form.set('0', picture('png', 2_000), 'a.png');
  expect((await upload(form)).data).toEqual({ createNote: { storedPictures: [1], note: { title: 'x' } } });
});

test('a successful mutation has the same response with onError as without', async () => {
  const { execute } = await journey();
  const write = `mutation ($status: CollectionStatus!) {
    __typename
    collectBook(input: { bookId: "1003078", status: $status, onConflict: KEEP }) { collection { status book { id title } } }
  }`;
  const options = { token: 'demo-carol', variables: { status: 'WISH' } };
  const plain = await execute(write, options);
  expect(plain.data.collectBook.collection.book.title).toBe('小王子');
  expect(await execute(write, { ...options, onError: 'NULL' })).toEqual(plain);
  const { extensions, data } = await execute(write, { ...options, onError: 'HALT', headers: { 'x-explain': 'trace' } });
  expect(data).toEqual(plain.data);
  expect((extensions?.upstream as { calls: { field: string }[] }).calls[0]!.field).toBe('collectBook');
});
