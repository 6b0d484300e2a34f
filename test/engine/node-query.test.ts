import { expect, test } from 'vitest';
import { facade } from '../support/facade.ts';
import { serve } from '../support/serve.ts';

test('of more than 100 ids the first 100 are given, the rest is one error, and other fields stay', async () => {
  const made = facade({ recordTtlSeconds: 0 });
  serve(made.service, { '/v2/book/7': { body: { id: '7', title: 'Seven' } } });
  const ids = Array.from({ length: 150 }, (_, at) => (at === 99 ? 'Book:7' : 'Series:9'));
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Book { title } } viewer { isLoggedIn } }';
  const options = { variables: { ids } };
  const plan = await made.execute(query, { ...options, explain: 'plan' });
  expect(plan.extensions).toMatchObject({ upstream: { max: 1 } });
  const { data, errors } = await made.execute(query, options);
  const nodes = (data as { nodes: unknown[] }).nodes;
  expect(nodes).toHaveLength(101);
  expect(nodes[0]).toEqual({ id: 'Series:9' });
  expect(nodes.slice(99)).toEqual([{ id: 'Book:7', title: 'Seven' }, null]);
  expect(data).toMatchObject({ viewer: { isLoggedIn: false } });
  expect(errors?.map(({ message, path, extensions }) => ({ message, path, extensions }))).toMatchObject([
    {
      message: '`ids` must have at most 100 items, here 150.',
      path: ['nodes', 100],
      extensions: { code: 'BAD_USER_INPUT', argument: 'ids', limit: 100, actual: 150 },
    },
  ]);
});
