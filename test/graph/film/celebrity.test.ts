import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { filmNotFound, serve } from '../../support/serve.ts';

/** Replies to requests with exactly this path and query. */
function replyTo(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

describe('a celebrity', () => {
  test('is loaded by one call of the works list if that provides all selected fields', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /works/ }).reply(200, { total: 0, celebrity: { id: '1', name: '吴京' }, works: [] });
    expect((await execute('{ celebrity(id: 1) { name works(first: 20) { totalCount } } }')).data).toEqual({
      celebrity: { name: '吴京', works: { totalCount: 0 } },
    });
    expect(calls).toHaveLength(1);
  });

  test('has its first works and photos from their lists if only those are open to the tier', async () => {
    const { service, execute, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    const celebrity = { id: '1', name: '吴京' };
    service
      .intercept({ path: /works/ })
      .reply(200, { total: 1, celebrity, works: [{ roles: [], subject: { id: '7', title: '战狼' } }] });
    service.intercept({ path: /photos/ }).reply(200, { total: 1, celebrity, photos: [{ id: '5' }] });
    const works = await execute('{ celebrity(id: 1) { works(first: 3) { nodes { subject { title } } } } }');
    expect(works).toEqual({ data: { celebrity: { works: { nodes: [{ subject: { title: '战狼' } }] } } } });
    const photos = await execute('{ celebrity(id: 1) { photos(first: 3) { nodes { id } } } }');
    expect(photos.data).toEqual({ celebrity: { photos: { nodes: [{ id: 'Photo:5' }] } } });
    expect(calls).toHaveLength(2);
  });

  test('has no empty texts in its lists', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/celebrity/1?fields=aka,id,professions', {
      id: '1',
      professions: ['', '', '导演'],
      aka: [''],
    });
    expect(await execute('{ celebrity(id: 1) { professions alternativeNames } }')).toEqual({
      data: { celebrity: { professions: ['导演'], alternativeNames: [] } },
    });
  });

  test('has its first works from the record', async () => {
    const { service, execute, calls } = facade();
    const works = [{ roles: ['导演', ''], subject: { id: '7', title: '战狼' } }];
    replyTo(service, '/v2/movie/celebrity/1?fields=id,name,works', { id: '1', name: '吴京', works });
    expect(await execute('{ celebrity(id: 1) { name works { nodes { roles subject { id title } } } } }')).toEqual({
      data: {
        celebrity: {
          name: '吴京',
          works: { nodes: [{ roles: ['导演'], subject: { id: 'Subject:7', title: '战狼' } }] },
        },
      },
    });
    expect(calls).toHaveLength(1);
  });

  describe('with films that carry no roles in its record', () => {
    const bare = Array.from({ length: 5 }, (_, at) => ({ id: String(70 + at), title: `战狼${at}` }));
    const listed = bare.map((subject) => ({ roles: ['演员'], subject }));
    const facadeWith = (settings: Parameters<typeof facade>[0] = {}) => {
      const made = facade({ recordTtlSeconds: 0, accessToken: 'x', filmTier: 'advance', ...settings });
      const subjects = Array.from({ length: 20 }, (_, at) => ({ id: String(at + 1), title: `第${at + 1}部` }));
      serve(made.service, {
        '/v2/movie/top250': { list: 'subjects', body: { total: 250, subjects } },
        ...Object.fromEntries(
          subjects.map(({ id }) => [
            `/v2/movie/subject/${id}`,
            { body: { id, directors: [{ id: `9${id}`, name: '吴京' }] } },
          ]),
        ),
        ...Object.fromEntries(
          subjects.flatMap(({ id }) => [
            [`/v2/movie/celebrity/9${id}`, { body: { id: `9${id}`, works: bare } }],
            [`/v2/movie/celebrity/9${id}/works`, { list: 'works', body: { total: 5, works: listed } }],
          ]),
        ),
      });
      return made;
    };
    const plannedCalls = async (made: ReturnType<typeof facadeWith>, query: string) => {
      const { extensions } = await made.execute(query, { explain: 'plan' });
      return (extensions as { upstream: { max: number } }).upstream.max;
    };

    test('has works without a list call if no role is selected', async () => {
      const made = facadeWith();
      const works = bare.map(({ title }) => ({ subject: { title } }));
      const query = '{ top250(first: 20) { nodes { directors { works { nodes { subject { title } } } } } } }';
      const { data, errors } = await made.execute(query);
      expect(errors).toBeUndefined();
      expect(data.top250.nodes).toEqual(Array(20).fill({ directors: [{ works: { nodes: works } }] }));
      expect(made.calls).toHaveLength(41);
      expect(await plannedCalls(made, query)).toBeGreaterThanOrEqual(41);
    });

    test('has roles from a list call, as planned', async () => {
      const made = facadeWith();
      const query = '{ celebrity(id: 91) { works { nodes { roles subject { title } } } } }';
      expect(await plannedCalls(made, query)).toBe(2);
      expect((await made.execute(query)).data.celebrity.works.nodes[0]).toEqual({
        roles: ['演员'],
        subject: { title: '战狼0' },
      });
      expect(made.calls).toHaveLength(2);
    });

    test.each([
      ['fails with 500', 500, '', 'UPSTREAM_UNAVAILABLE'],
      ['is answered by a web page', 200, '<!doctype html><html><body>busy</body></html>', 'UPSTREAM_INVALID_RESPONSE'],
      ['is rejected', 400, { code: 6009, msg: 'function_error', request: '' }, 'UPSTREAM_REFUSED'],
    ])('keeps the works, with the error at the roles, if the list call %s', async (_, status, body, code) => {
      const made = facade({ readAttempts: 1 });
      serve(made.service, { '/v2/movie/celebrity/91': { body: { id: '91', works: bare } } });
      made.service.intercept({ path: /works\?/ }).reply(status, body);
      const query =
        '{ celebrity(id: 91) { id works { edges { node { subject { title } } } nodes { roles subject { title } } } } }';
      const { data, errors } = await made.execute(query);
      expect(data.celebrity.works.nodes).toEqual(bare.map(({ title }) => ({ roles: null, subject: { title } })));
      expect(data.celebrity.works.edges).toEqual(bare.map(({ title }) => ({ node: { subject: { title } } })));
      expect(errors).toHaveLength(5);
      expect(errors![1]).toMatchObject({
        path: ['celebrity', 'works', 'nodes', 1, 'roles'],
        extensions: { code },
      });
    });

    test('keeps the roles that its record does carry if the list call fails', async () => {
      const made = facade({ readAttempts: 1 });
      const works = [{ roles: ['导演'], subject: bare[0] }, bare[1]];
      serve(made.service, { '/v2/movie/celebrity/91': { body: { id: '91', works } } });
      made.service.intercept({ path: /works\?/ }).reply(500, '');
      const { data, errors } = await made.execute('{ celebrity(id: 91) { works { nodes { roles } } } }');
      expect(data.celebrity.works.nodes).toEqual([{ roles: ['导演'] }, { roles: null }]);
      expect(errors).toMatchObject([{ path: ['celebrity', 'works', 'nodes', 1, 'roles'] }]);
    });

    test('has works without roles, and no error, if the list is absent', async () => {
      const made = facade();
      serve(made.service, { '/v2/movie/celebrity/91': { body: { id: '91', works: bare } } });
      made.service.intercept({ path: /works\?/ }).reply(404, filmNotFound.body);
      const { data, errors } = await made.execute('{ celebrity(id: 91) { works { nodes { roles subject { id } } } } }');
      expect(errors).toBeUndefined();
      expect(data.celebrity.works.nodes).toEqual(
        bare.map(({ id }) => ({ roles: null, subject: { id: `Subject:${id}` } })),
      );
    });

    test('has works without roles for the basic tier, which may not call the list', async () => {
      const made = facadeWith({ filmTier: 'basic' });
      for (const [selection, expected] of [
        ['subject { title }', { subject: { title: '战狼0' } }],
        ['roles subject { title }', { roles: null, subject: { title: '战狼0' } }],
      ] as const) {
        const { data, errors } = await made.execute(`{ celebrity(id: 91) { works { nodes { ${selection} } } } }`);
        expect(errors).toBeUndefined();
        expect(data.celebrity.works.nodes[0]).toEqual(expected);
      }
      expect(made.calls).toHaveLength(2);
    });
  });

  test('has roles from a list call if the films of the record carry none', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/celebrity/1?fields=id,works', { id: '1', works: [{ id: '7', title: '战狼' }] });
    service
      .intercept({ path: /works\?/ })
      .reply(200, { total: 1, works: [{ roles: ['导演'], subject: { id: '7', title: '战狼' } }] });
    expect((await execute('{ celebrity(id: 1) { works { nodes { roles subject { title } } } } }')).data).toEqual({
      celebrity: { works: { nodes: [{ roles: ['导演'], subject: { title: '战狼' } }] } },
    });
  });
});
