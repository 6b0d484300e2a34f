import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** What the service answers to this very path and query. */
function answers(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (asked) => decodeURIComponent(asked) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

describe('node', () => {
  test('finds films and people again, and what no key can be is null', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    answers(service, '/v2/movie/celebrity/1?fields=id,name', { id: '1', name: '吴京' });
    const ids = '["Subject:7", "Celebrity:1", "Celebrity:~%E7%8E%8B", "Subject:../x"]';
    expect(
      await ask(`{ nodes(ids: ${ids}) { __typename id ... on Subject { title } ... on Celebrity { name } } }`),
    ).toEqual({
      data: {
        nodes: [
          { __typename: 'Subject', id: 'Subject:7', title: '活着' },
          { __typename: 'Celebrity', id: 'Celebrity:1', name: '吴京' },
          null,
          null,
        ],
      },
    });
  });

  test.each(['Photo:1', 'Nothing:1', '7', ''])('refuses an id that names nothing it can read: %j', async (id) => {
    const { ask } = facade();
    const { data, errors } = await ask(
      'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id, "City:beijing"]) { id } }',
      { variables: { id } },
    );
    expect(data).toEqual({ node: null, nodes: [null, { id: 'City:beijing' }] });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['node', 'BAD_USER_INPUT'],
      ['nodes.0', 'BAD_USER_INPUT'],
    ]);
  });

  test('takes a hundred ids and no more', async () => {
    const { ask } = facade();
    const ids = Array.from({ length: 101 }, (_, number) => `City:${number}`);
    const question = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect((await ask(question, { variables: { ids: ids.slice(1) } })).data.nodes).toHaveLength(100);
    expect((await ask(question, { variables: { ids } })).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
