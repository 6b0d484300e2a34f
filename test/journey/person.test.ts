import { beforeAll, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

let setup: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  setup = await journey();
});

const me = '{ viewer { user { id name } } }';
const collect = 'mutation ($input: CollectBookInput!) { collectBook(input: $input) { collection { user { id } } } }';

test('the viewer’s id is known after the first write, and a user by id has name, avatar and page with one call', async () => {
  expect((await setup.execute(me, { token: 'demo-alice' })).data.viewer).toEqual({ user: null });
  const input = { bookId: '1003078', status: 'WISH', onConflict: 'KEEP' };
  await setup.execute(collect, { token: 'demo-alice', variables: { input } });
  const { id } = (await setup.execute(me, { token: 'demo-alice' })).data.viewer.user;
  expect((await setup.execute(me, { token: 'demo-bob' })).data.viewer).toEqual({ user: null });

  const { response, passed } = await setup.cost(`{ user(id: "${id}") { id name avatarUrl webUrl } }`);
  expect(response.data.user).toEqual({
    id,
    name: expect.stringMatching(/./),
    avatarUrl: expect.stringMatching(/^http/),
    webUrl: expect.stringMatching(/^http/),
  });
  expect(passed.map(({ line }) => line)).toEqual([`GET /people/${id.replace('User:', '')}/events?max-results=1`]);
});

test('a conflict leads to the existing collection, once a response has shown the id of the viewer', async () => {
  const input = { bookId: '1003078', status: 'READ' };
  const { errors } = await setup.execute(collect, { token: 'demo-alice', variables: { input } });
  expect(errors![0]!.extensions).toMatchObject({ code: 'COLLECTION_EXISTS', existing: { id: expect.any(String) } });
  const { id } = errors![0]!.extensions.existing as { id: string };
  const query = `{ node(id: "${id}") { id ... on Collection { book { id } } } }`;
  expect(await setup.execute(query, { token: 'demo-alice' })).toEqual({
    data: { node: { id, book: { id: 'Book:1003078' } } },
  });
});

test('somebody who does not exist is null wherever a response names them, also where no call is made for them', async () => {
  const query = `{
    a: user(id: "nobody-at-all") { id }
    b: user(id: "nobody-at-all") { notes { totalCount } }
    c: user(id: "nobody-at-all") { bookCollection(bookId: "6082808") { status } }
    d: node(id: "User:nobody-at-all") { ... on User { name } }
  }`;
  expect(await setup.execute(query)).toEqual({ data: { a: null, b: null, c: null, d: null } });
  const film = '{ a: subject(id: "1") { year } b: subject(id: "1") { comments { totalCount } } }';
  for (const token of ['demo-alice', 'demo-bob', 'demo-carol'])
    expect(await setup.execute(film, { token })).toEqual({ data: { a: null, b: null } });
});
