import { beforeAll, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';

let here: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  here = await journey();
});

const me = '{ viewer { user { id uid name } } }';
const collect = 'mutation ($input: CollectBookInput!) { collectBook(input: $input) { collection { user { id } } } }';

test('a front end learns the id of its user from the first write, and shows name, avatar and page by one call', async () => {
  expect((await here.ask(me, { token: 'demo-alice' })).data.viewer).toEqual({ user: null });
  const input = { bookId: '1003078', status: 'WISH', onConflict: 'KEEP' };
  await here.ask(collect, { token: 'demo-alice', variables: { input } });
  const { id } = (await here.ask(me, { token: 'demo-alice' })).data.viewer.user;
  expect((await here.ask(me, { token: 'demo-bob' })).data.viewer).toEqual({ user: null });

  const { answer, passed } = await here.cost(`{ user(id: "${id}") { id name avatarUrl webUrl } }`);
  expect(answer.data.user).toEqual({
    id,
    name: expect.stringMatching(/./),
    avatarUrl: expect.stringMatching(/^http/),
    webUrl: expect.stringMatching(/^http/),
  });
  expect(passed.map(({ line }) => line)).toEqual([`GET /people/${id.replace('User:', '')}/events?max-results=1`]);
});
