import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Replies to requests with exactly this path and query. */
function replyTo(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

describe('node', () => {
  test('loads films and celebrities by their global ids; an id that cannot exist is null', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    replyTo(service, '/v2/movie/celebrity/1?fields=id,name', { id: '1', name: '吴京' });
    const ids = '["Subject:7", "Celebrity:1", "Celebrity:~%E7%8E%8B", "Subject:../x"]';
    expect(
      await execute(`{ nodes(ids: ${ids}) { __typename id ... on Subject { title } ... on Celebrity { name } } }`),
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

  test.each(['Photo:1', 'Nothing:1', '7', ''])(
    'rejects an id whose type is not a node or that is malformed: %j',
    async (id) => {
      const { execute } = facade();
      const { data, errors } = await execute(
        'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id, "City:beijing"]) { id } }',
        { variables: { id } },
      );
      expect(data).toEqual({ node: null, nodes: [null, { id: 'City:beijing' }] });
      expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
        ['node', 'BAD_USER_INPUT'],
        ['nodes.0', 'BAD_USER_INPUT'],
      ]);
    },
  );

  test('accepts at most a hundred ids', async () => {
    const { execute } = facade();
    const ids = Array.from({ length: 101 }, (_, number) => `City:${number}`);
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect((await execute(query, { variables: { ids: ids.slice(1) } })).data.nodes).toHaveLength(100);
    expect((await execute(query, { variables: { ids } })).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
