import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Replies to requests with exactly this path and query. */
function replyTo(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

const notPaged = { id: null, name: '王/五 & co', alt: null, avatars: null };

describe('a subject', () => {
  test('is requested with the selected fields only', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=aka,id,title', { id: '7', title: '活着', aka: ['', 'To Live'] });
    expect(await execute('{ subject(id: "Subject:7") { id title alternativeTitles } }')).toEqual({
      data: { subject: { id: 'Subject:7', title: '活着', alternativeTitles: ['To Live'] } },
    });
    expect(calls).toHaveLength(1);
  });

  test('is rejected without an upstream call for the id of another type', async () => {
    const { execute, calls } = facade();
    const { data, errors } = await execute('{ subject(id: "Book:7") { title } }');
    expect(data).toEqual({ subject: null });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(calls).toEqual([]);
  });

  test.each([
    ['a float, and stars as text', { max: 10, min: 0, average: 7.5, stars: '35' }, { average: 7.5, stars: 3.5 }],
    ['a whole number', { max: 10, min: 0, average: 8, stars: '40' }, { average: 8, stars: 4 }],
    ['a value, as documented', { max: 10, min: 0, value: 9 }, { average: 9, stars: null }],
    [
      '0, and stars 00, where nobody has rated',
      { max: 10, min: 0, average: 0, stars: '00' },
      { average: null, stars: null },
    ],
    ['nothing', undefined, { average: null, stars: null }],
    ['nonsense', 'n/a', { average: null, stars: null }],
  ])('has a rating decoded from %s', async (_, rating, expected) => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,rating', { id: '7', rating });
    expect(await execute('{ subject(id: 7) { rating { average stars max min } } }')).toEqual({
      data: { subject: { rating: { ...expected, max: 10, min: 0 } } },
    });
  });

  test('has the number of raters, requested only if it is selected', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,rating,ratings_count', {
      id: '7',
      rating: { average: 9.1 },
      ratings_count: 12,
    });
    expect(await execute('{ subject(id: 7) { rating { ratersCount } } }')).toEqual({
      data: { subject: { rating: { ratersCount: 12 } } },
    });
  });

  test('has a watching count and season numbers for series, and null for movies', async () => {
    const { service, execute } = facade();
    const query = '{ subject(id: ID) { subjectType doingCount seasonsCount currentSeason episodesCount } }';
    const fields = 'fields=current_season,do_count,episodes_count,id,seasons_count,subtype';
    const none = { do_count: null, seasons_count: null, current_season: null, episodes_count: null };
    replyTo(service, `/v2/movie/subject/1?${fields}`, { id: '1', subtype: 'movie', ...none });
    replyTo(service, `/v2/movie/subject/2?${fields}`, {
      id: '2',
      subtype: 'tv',
      seasons_count: 2,
      current_season: '1',
      episodes_count: 12,
    });
    expect((await execute(query.replace('ID', '1'))).data.subject).toEqual({
      subjectType: 'MOVIE',
      doingCount: null,
      seasonsCount: null,
      currentSeason: null,
      episodesCount: null,
    });
    expect((await execute(query.replace('ID', '2'))).data.subject).toEqual({
      subjectType: 'TV',
      doingCount: 0,
      seasonsCount: 2,
      currentSeason: 1,
      episodesCount: 12,
    });
  });

  test('has a mini-site under either of its wire names', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=douban_site,id,service_site', {
      id: '7',
      douban_site: 'http://site.example/',
    });
    expect(await execute('{ subject(id: 7) { miniSiteUrl } }')).toEqual({
      data: { subject: { miniSiteUrl: 'http://site.example/' } },
    });
  });

  test.each(['service_site', 'douban_site'])(
    'has a mini-site from a list with the wire name %s, without a further call',
    async (spelling) => {
      const { service, execute, calls } = facade();
      const subjects = Array.from({ length: 20 }, (_, at) => ({
        id: String(at + 1),
        [spelling]: at ? '' : 'site.example',
      }));
      replyTo(service, '/v2/movie/coming_soon?count=20&fields=douban_site,id,service_site&start=0', {
        total: 20,
        subjects,
      });
      const { data, errors } = await execute('{ comingSoon { nodes { miniSiteUrl } } }');
      expect(errors).toBeUndefined();
      expect(data.comingSoon.nodes.slice(0, 2)).toEqual([
        { miniSiteUrl: 'http://site.example' },
        { miniSiteUrl: null },
      ]);
      expect(calls).toHaveLength(1);
    },
  );

  test('has a website that is written without a scheme', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,website', { id: '7', website: 'www.wanderingearth.example' });
    expect(await execute('{ subject(id: 7) { websiteUrl } }')).toEqual({
      data: { subject: { websiteUrl: 'http://www.wanderingearth.example' } },
    });
  });

  test('has defaults for absent members, and null for empty texts', async () => {
    const { service, execute } = facade();
    replyTo(
      service,
      '/v2/movie/subject/7?fields=collect_count,genres,id,images,original_title,summary,title,wish_count',
      { id: '7', original_title: '', summary: ' ', genres: [] },
    );
    expect(
      await execute(
        '{ subject(id: 7) { title originalTitle summary genres wishCount collectCount poster { small } } }',
      ),
    ).toEqual({
      data: {
        subject: {
          title: '',
          originalTitle: null,
          summary: null,
          genres: [],
          wishCount: 0,
          collectCount: 0,
          poster: null,
        },
      },
    });
  });

  test('has people without a page by name only, and makes no call for them', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=casts,id', {
      id: '7',
      casts: [notPaged, { id: '1000525', name: '吴京', alt: 'http://movie.example/celebrity/1000525/' }, null, 'x'],
    });
    replyTo(service, '/v2/movie/celebrity/1000525?fields=id,summary,works', { id: '1000525', summary: '', works: [] });
    expect(
      await execute(
        '{ subject(id: 7) { casts { id sourceId name webUrl portrait { large } summary works { nodes { roles } } } } }',
      ),
    ).toMatchObject({
      data: {
        subject: {
          casts: [
            {
              id: 'Celebrity:~%E7%8E%8B%2F%E4%BA%94%20%26%20co',
              sourceId: null,
              name: '王/五 & co',
              webUrl: null,
              portrait: null,
              summary: null,
              works: { nodes: [] },
            },
            { id: 'Celebrity:1000525' },
          ],
        },
      },
    });
    expect(calls).toEqual([
      'GET /v2/movie/subject/7?fields=casts,id',
      'GET /v2/movie/celebrity/1000525?fields=id,summary,works',
    ]);
  });

  test('has people from its own record, without a call for them', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=directors,id', { id: '7', directors: [{ id: '1', name: '张艺谋' }] });
    expect(await execute('{ subject(id: 7) { directors { name webUrl portrait { small } } } }')).toEqual({
      data: { subject: { directors: [{ name: '张艺谋', webUrl: null, portrait: null }] } },
    });
    expect(calls).toHaveLength(1);
  });
});

describe('a field that the configured tier lacks', () => {
  test('is null with a TIER_REQUIRED error, and is not requested', async () => {
    const { service, execute } = facade({ accessToken: 'x', filmTier: 'basic' });
    replyTo(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    const { data, errors } = await execute('{ subject(id: 7) { title writers { name } durations } }');
    expect(data).toEqual({ subject: { title: '活着', writers: null, durations: null } });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['subject.writers', 'TIER_REQUIRED'],
      ['subject.durations', 'TIER_REQUIRED'],
    ]);
  });

  test('has its error at each field of the document, once for the items of a list', async () => {
    const { service, execute } = facade({ accessToken: 'x', filmTier: 'basic' });
    const subjects = [{ id: '7' }, { id: '8' }];
    replyTo(service, '/v2/movie/search?count=20&fields=id&q=活着&start=0', { total: 2, subjects });
    replyTo(service, '/v2/movie/subject/7?fields=id', { id: '7' });
    const { errors } = await execute(
      '{ searchSubjects(query: "活着") { nodes { id durations } } a: subject(id: 7) { durations } b: subject(id: 7) { durations } }',
    );
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort()).toEqual([
      ['a.durations', 'TIER_REQUIRED'],
      ['b.durations', 'TIER_REQUIRED'],
      ['searchSubjects.nodes.0.durations', 'TIER_REQUIRED'],
    ]);
  });

  test('does not hide errors of other fields', async () => {
    const { service, execute } = facade({ accessToken: 'x', filmTier: 'basic' });
    replyTo(service, '/v2/movie/search?count=20&fields=id,summary,title&q=活着&start=0', {
      total: 1,
      subjects: [{ id: '7', title: '活着' }],
    });
    replyTo(service, '/v2/movie/subject/7?fields=id,summary', {}, 500);
    const { data, errors } = await execute('{ searchSubjects(query: "活着") { nodes { title summary languages } } }');
    expect(data).toEqual({ searchSubjects: { nodes: [{ title: '活着', summary: null, languages: null }] } });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['searchSubjects.nodes.0.summary', 'UPSTREAM_UNAVAILABLE'],
      ['searchSubjects.nodes.0.languages', 'TIER_REQUIRED'],
    ]);
  });

  test('is returned for a celebrity if an embedded representation provides it', async () => {
    const { service, execute } = facade({ accessToken: 'x', filmTier: 'premium' });
    replyTo(service, '/v2/movie/subject/7?fields=casts,id', { id: '7', casts: [{ id: '1', name: '吴京' }] });
    expect(await execute('{ subject(id: 7) { casts { name } } }')).toEqual({
      data: { subject: { casts: [{ name: '吴京' }] } },
    });
  });

  test('is returned for a celebrity if the list of works provides it', async () => {
    const { service, execute, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    replyTo(service, '/v2/movie/celebrity/1/works?count=20&fields=roles,subject&start=0', {
      start: 0,
      count: 20,
      total: 1,
      celebrity: { id: '1', name: '吴京' },
      works: [{ roles: ['演员'], subject: { id: '7', title: '战狼' } }],
    });
    const { data } = await execute(
      '{ celebrity(id: 1) { name works(first: 20) { nodes { roles subject { title } } } } }',
    );
    expect(data).toEqual({
      celebrity: { name: '吴京', works: { nodes: [{ roles: ['演员'], subject: { title: '战狼' } }] } },
    });
    expect(calls).toHaveLength(1);
  });
});

describe('searchSubjects', () => {
  test.each(['{ searchSubjects { totalCount } }', '{ searchSubjects(query: " ", tag: "") { totalCount } }'])(
    'requires a query or a tag: %s',
    async (query) => {
      const { execute, calls } = facade();
      expect((await execute(query)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      expect(calls).toEqual([]);
    },
  );

  test('rejects more than a thousand characters without an upstream call', async () => {
    const { execute, calls } = facade();
    const { errors } = await execute('query ($q: String) { searchSubjects(query: $q) { totalCount } }', {
      variables: { q: '活'.repeat(1001) },
    });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(calls).toEqual([]);
  });

  test.each([
    ['a total of 20 while the tier is unknown', undefined, 'query: "活着"', 20, true],
    ['a total of 20 on the basic tier', 'basic', 'query: "活着"', 20, true],
    ['a total of 20 on the advance tier', 'advance', 'query: "活着"', 20, false],
    ['a total of 200 for a tag', 'advance', 'tag: "剧情"', 200, true],
    ['a total of 200 for a query', 'advance', 'query: "活着"', 200, false],
  ] as const)('reports whether the total is capped: %s', async (_, filmTier, args, total, capped) => {
    const { service, execute } = facade({ accessToken: 'x', filmTier });
    service
      .intercept({ path: /search/ })
      .reply(200, { start: 0, count: 20, total, title: '搜索', subjects: [{ id: '1', title: '甲' }] });
    expect(
      (await execute(`{ searchSubjects(${args}) { title totalCount totalIsCapped nodes { title } } }`)).data,
    ).toEqual({
      searchSubjects: { title: '搜索', totalCount: total, totalIsCapped: capped, nodes: [{ title: '甲' }] },
    });
  });
});
