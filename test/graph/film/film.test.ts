import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { serve } from '../../support/serve.ts';

/** What the service answers to this very path and query. */
function answers(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (asked) => decodeURIComponent(asked) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

const notPaged = { id: null, name: '王/五 & co', alt: null, avatars: null };

describe('a subject', () => {
  test('asks for what is shown and for nothing else', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=aka,id,title', { id: '7', title: '活着', aka: ['', 'To Live'] });
    expect(await ask('{ subject(id: "Subject:7") { id title alternativeTitles } }')).toEqual({
      data: { subject: { id: 'Subject:7', title: '活着', alternativeTitles: ['To Live'] } },
    });
    expect(calls).toHaveLength(1);
  });

  test('is null where there is none', async () => {
    const { service, ask } = facade();
    const refusal = { code: 5000, msg: 'movie_not_found', request: 'GET /v2/movie/subject/7' };
    answers(service, '/v2/movie/subject/7?fields=id,title', refusal, 404);
    expect(await ask('{ subject(id: 7) { title } }')).toEqual({ data: { subject: null } });
  });

  test('is refused without a call for the id of something else', async () => {
    const { ask, calls } = facade();
    const { data, errors } = await ask('{ subject(id: "Book:7") { title } }');
    expect(data).toEqual({ subject: null });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(calls).toEqual([]);
  });

  test.each([
    ['a float and stars as text', { max: 10, min: 0, average: 7.5, stars: '40' }, { average: 7.5, stars: 40 }],
    ['a whole number', { max: 10, min: 0, average: 8, stars: '40' }, { average: 8, stars: 40 }],
    ['a value, as on paper', { max: 10, min: 0, value: 9 }, { average: 9, stars: null }],
    [
      '0 and stars 00 where nobody has rated',
      { max: 10, min: 0, average: 0, stars: '00' },
      { average: null, stars: null },
    ],
    ['nothing', undefined, { average: null, stars: null }],
    ['nonsense', 'n/a', { average: null, stars: null }],
  ])('shows a rating that comes as %s', async (_, rating, shown) => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,rating', { id: '7', rating });
    expect(await ask('{ subject(id: 7) { rating { average stars max min } } }')).toEqual({
      data: { subject: { rating: { ...shown, max: 10, min: 0 } } },
    });
  });

  test('reads the number of raters beside the rating, where it is shown', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,rating,ratings_count', {
      id: '7',
      rating: { average: 9.1 },
      ratings_count: 12,
    });
    expect(await ask('{ subject(id: 7) { rating { ratersCount } } }')).toEqual({
      data: { subject: { rating: { ratersCount: 12 } } },
    });
  });

  test('has a watching count for series alone, and null for the numbers of a series where it is a movie', async () => {
    const { service, ask } = facade();
    const question = '{ subject(id: ID) { type doingCount seasonsCount currentSeason episodesCount } }';
    const fields = 'fields=current_season,do_count,episodes_count,id,seasons_count,subtype';
    const none = { do_count: null, seasons_count: null, current_season: null, episodes_count: null };
    answers(service, `/v2/movie/subject/1?${fields}`, { id: '1', subtype: 'movie', ...none });
    answers(service, `/v2/movie/subject/2?${fields}`, {
      id: '2',
      subtype: 'tv',
      seasons_count: 2,
      current_season: '1',
      episodes_count: 12,
    });
    expect((await ask(question.replace('ID', '1'))).data.subject).toEqual({
      type: 'MOVIE',
      doingCount: null,
      seasonsCount: null,
      currentSeason: null,
      episodesCount: null,
    });
    expect((await ask(question.replace('ID', '2'))).data.subject).toEqual({
      type: 'TV',
      doingCount: 0,
      seasonsCount: 2,
      currentSeason: 1,
      episodesCount: 12,
    });
  });

  test('reads the mini-site in both its spellings', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=douban_site,id,service_site', {
      id: '7',
      douban_site: 'http://site.example/',
    });
    expect(await ask('{ subject(id: 7) { miniSiteUrl } }')).toEqual({
      data: { subject: { miniSiteUrl: 'http://site.example/' } },
    });
  });

  test.each(['service_site', 'douban_site'])('has its mini-site in the list that writes it %s', async (spelling) => {
    const { service, ask, calls } = facade();
    const subjects = Array.from({ length: 20 }, (_, at) => ({
      id: String(at + 1),
      [spelling]: at ? '' : 'site.example',
    }));
    answers(service, '/v2/movie/coming_soon?count=20&fields=douban_site,id,service_site&start=0', {
      total: 20,
      subjects,
    });
    const { data, errors } = await ask('{ comingSoon { nodes { miniSiteUrl } } }');
    expect(errors).toBeUndefined();
    expect(data.comingSoon.nodes.slice(0, 2)).toEqual([{ miniSiteUrl: 'http://site.example' }, { miniSiteUrl: null }]);
    expect(calls).toHaveLength(1);
  });

  test('has a site that is written without a scheme', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,website', { id: '7', website: 'www.wanderingearth.example' });
    expect(await ask('{ subject(id: 7) { websiteUrl } }')).toEqual({
      data: { subject: { websiteUrl: 'http://www.wanderingearth.example' } },
    });
  });

  test('shows absent members as their defaults, and empty texts as null', async () => {
    const { service, ask } = facade();
    answers(
      service,
      '/v2/movie/subject/7?fields=collect_count,genres,id,images,original_title,summary,title,wish_count',
      { id: '7', original_title: '', summary: ' ', genres: [] },
    );
    expect(
      await ask('{ subject(id: 7) { title originalTitle summary genres wishCount collectCount images { small } } }'),
    ).toEqual({
      data: {
        subject: {
          title: '',
          originalTitle: null,
          summary: null,
          genres: [],
          wishCount: 0,
          collectCount: 0,
          images: { small: null },
        },
      },
    });
  });

  test('shows people without a page by their name alone', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=casts,id', {
      id: '7',
      casts: [notPaged, { id: '1000525', name: '吴京', alt: 'http://movie.example/celebrity/1000525/' }, null, 'x'],
    });
    expect(
      await ask(
        '{ subject(id: 7) { casts { id sourceId name webUrl avatars { large } summary works { nodes { roles } } } } }',
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
              avatars: { large: null },
              summary: null,
              works: { nodes: [] },
            },
            { id: 'Celebrity:1000525' },
          ],
        },
      },
    });
    expect(calls.filter((call) => call.includes('~') || call.includes('null'))).toEqual([]);
  });

  test('shows people as it embeds them, without a call', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=directors,id', { id: '7', directors: [{ id: '1', name: '张艺谋' }] });
    expect(await ask('{ subject(id: 7) { directors { name webUrl avatars { small } } } }')).toEqual({
      data: { subject: { directors: [{ name: '张艺谋', webUrl: null, avatars: { small: null } }] } },
    });
    expect(calls).toHaveLength(1);
  });
});

describe('what a tier does not get', () => {
  test('is null with the tiers that have it, and is not asked for', async () => {
    const { service, ask } = facade({ accessToken: 'x', filmTier: 'basic' });
    answers(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    const { data, errors } = await ask('{ subject(id: 7) { title writers { name } durations } }');
    expect(data).toEqual({ subject: { title: '活着', writers: null, durations: null } });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['subject.writers', 'TIER_REQUIRED'],
      ['subject.durations', 'TIER_REQUIRED'],
    ]);
  });

  test('hides no failure of the rest', async () => {
    const { service, ask } = facade({ accessToken: 'x', filmTier: 'basic' });
    answers(service, '/v2/movie/search?count=20&fields=id,summary,title&q=活着&start=0', {
      total: 1,
      subjects: [{ id: '7', title: '活着' }],
    });
    answers(service, '/v2/movie/subject/7?fields=id,summary', {}, 500);
    const { data, errors } = await ask('{ searchSubjects(query: "活着") { nodes { title summary languages } } }');
    expect(data).toEqual({ searchSubjects: { nodes: [{ title: '活着', summary: null, languages: null }] } });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['searchSubjects.nodes.0.summary', 'UPSTREAM_UNAVAILABLE'],
      ['searchSubjects.nodes.0.languages', 'TIER_REQUIRED'],
    ]);
  });

  test('does not take away what the short form of a person tells', async () => {
    const { service, ask } = facade({ accessToken: 'x', filmTier: 'premium' });
    answers(service, '/v2/movie/subject/7?fields=casts,id', { id: '7', casts: [{ id: '1', name: '吴京' }] });
    expect(await ask('{ subject(id: 7) { casts { name } } }')).toEqual({
      data: { subject: { casts: [{ name: '吴京' }] } },
    });
  });

  test('leaves to the premium tier what the list of works tells of a person', async () => {
    const { service, ask, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    answers(service, '/v2/movie/celebrity/1/works?count=20&fields=roles,subject&start=0', {
      start: 0,
      count: 20,
      total: 1,
      celebrity: { id: '1', name: '吴京' },
      works: [{ roles: ['演员'], subject: { id: '7', title: '战狼' } }],
    });
    const { data } = await ask('{ celebrity(id: 1) { name works(first: 20) { nodes { roles subject { title } } } } }');
    expect(data).toEqual({
      celebrity: { name: '吴京', works: { nodes: [{ roles: ['演员'], subject: { title: '战狼' } }] } },
    });
    expect(calls).toHaveLength(1);
  });
});

describe('a celebrity', () => {
  test('is told by the list of works where that tells all that is asked: one call', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /works/ }).reply(200, { total: 0, celebrity: { id: '1', name: '吴京' }, works: [] });
    expect((await ask('{ celebrity(id: 1) { name works(first: 20) { totalCount } } }')).data).toEqual({
      celebrity: { name: '吴京', works: { totalCount: 0 } },
    });
    expect(calls).toHaveLength(1);
  });

  test('leaves out what is empty in a list', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/celebrity/1?fields=aka,id,professions', {
      id: '1',
      professions: ['', '', '导演'],
      aka: [''],
    });
    expect(await ask('{ celebrity(id: 1) { professions alternativeNames } }')).toEqual({
      data: { celebrity: { professions: ['导演'], alternativeNames: [] } },
    });
  });

  test('serves the first works from the record', async () => {
    const { service, ask, calls } = facade();
    const works = [{ roles: ['导演', ''], subject: { id: '7', title: '战狼' } }];
    answers(service, '/v2/movie/celebrity/1?fields=id,name,works', { id: '1', name: '吴京', works });
    expect(await ask('{ celebrity(id: 1) { name works { nodes { roles subject { id title } } } } }')).toEqual({
      data: {
        celebrity: {
          name: '吴京',
          works: { nodes: [{ roles: ['导演'], subject: { id: 'Subject:7', title: '战狼' } }] },
        },
      },
    });
    expect(calls).toHaveLength(1);
  });

  describe('whose record carries bare films', () => {
    const bare = Array.from({ length: 5 }, (_, at) => ({ id: String(70 + at), title: `战狼${at}` }));
    const listed = bare.map((subject) => ({ roles: ['演员'], subject }));
    const over = (settings: Parameters<typeof facade>[0] = {}) => {
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
    const plannedCalls = async (made: ReturnType<typeof over>, query: string) => {
      const { extensions } = await made.ask(query, { explain: 'plan' });
      return (extensions as { upstream: { max: number } }).upstream.max;
    };

    test('shows these without a call of the list, where no role is selected', async () => {
      const made = over();
      const works = bare.map(({ title }) => ({ subject: { title } }));
      const query = '{ top250(first: 20) { nodes { directors { works { nodes { subject { title } } } } } } }';
      const { data, errors } = await made.ask(query);
      expect(errors).toBeUndefined();
      expect(data.top250.nodes).toEqual(Array(20).fill({ directors: [{ works: { nodes: works } }] }));
      expect(made.calls).toHaveLength(41);
      expect(await plannedCalls(made, query)).toBeGreaterThanOrEqual(41);
    });

    test('asks the list for the roles, as planned', async () => {
      const made = over();
      const query = '{ celebrity(id: 91) { works { nodes { roles subject { title } } } } }';
      expect(await plannedCalls(made, query)).toBe(2);
      expect((await made.ask(query)).data.celebrity.works.nodes[0]).toEqual({
        roles: ['演员'],
        subject: { title: '战狼0' },
      });
      expect(made.calls).toHaveLength(2);
    });

    test('shows them without roles to the basic tier, which does not get the list', async () => {
      const made = over({ filmTier: 'basic' });
      for (const [selection, shown] of [
        ['subject { title }', { subject: { title: '战狼0' } }],
        ['roles subject { title }', { roles: null, subject: { title: '战狼0' } }],
      ] as const) {
        const { data, errors } = await made.ask(`{ celebrity(id: 91) { works { nodes { ${selection} } } } }`);
        expect(errors).toBeUndefined();
        expect(data.celebrity.works.nodes[0]).toEqual(shown);
      }
      expect(made.calls).toHaveLength(2);
    });
  });

  test('asks the list for the roles where the record carries bare films', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/celebrity/1?fields=id,works', { id: '1', works: [{ id: '7', title: '战狼' }] });
    service
      .intercept({ path: /works\?/ })
      .reply(200, { total: 1, works: [{ roles: ['导演'], subject: { id: '7', title: '战狼' } }] });
    expect((await ask('{ celebrity(id: 1) { works { nodes { roles subject { title } } } } }')).data).toEqual({
      celebrity: { works: { nodes: [{ roles: ['导演'], subject: { title: '战狼' } }] } },
    });
  });
});

describe('photos and opinions', () => {
  const photo = {
    id: '2',
    icon: 'http://img.example/icon.jpg',
    next_photo: '3',
    prev_photo: '',
    album_id: '9',
    position: 6,
    subject_id: '7',
  };

  test('come with the record while it suffices', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,photos,title', {
      id: '7',
      title: '活着',
      photos: [photo, { ...photo, id: undefined }],
    });
    expect(await ask('{ subject(id: 7) { title photos(first: 5) { nodes { id iconUrl } } } }')).toEqual({
      data: {
        subject: { title: '活着', photos: { nodes: [{ id: 'Photo:2', iconUrl: 'http://img.example/icon.jpg' }] } },
      },
    });
    expect(calls).toHaveLength(1);
  });

  test('are listed for what the record does not carry, beside the call for the record', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    answers(
      service,
      '/v2/movie/subject/7/photos?count=10&fields=album_id,album_title,album_url,created_at,id,next_photo,position,prev_photo,subject_id&start=0',
      { total: 12, photos: [{ ...photo, created_at: '2016-12-18 20:14:19' }] },
    );
    expect(
      await ask(
        '{ subject(id: 7) { title photos { totalCount nodes { createdAt position nextPhotoId previousPhotoId album { id title } subject { id } } } } }',
      ),
    ).toEqual({
      data: {
        subject: {
          title: '活着',
          photos: {
            totalCount: 12,
            nodes: [
              {
                createdAt: '2016-12-18T20:14:19',
                position: 6,
                nextPhotoId: 'Photo:3',
                previousPhotoId: null,
                album: { id: 'PhotoAlbum:9', title: null },
                subject: { id: 'Subject:7' },
              },
            ],
          },
        },
      },
    });
    expect(calls).toHaveLength(2);
  });

  test('serves popular reviews from the record, or from the list where they must tell more', async () => {
    const { service, ask, calls } = facade();
    const review = {
      id: 5,
      title: '好',
      rating: { value: 4.0, max: 5, min: 0 },
      author: { id: '1', name: '甲', uid: 'jia' },
      useful_count: 3,
    };
    answers(service, '/v2/movie/subject/7?fields=id,popular_reviews', { id: '7', popular_reviews: [review, null] });
    expect(await ask('{ subject(id: 7) { popularReviews { id title rating { value } author { name } } } }')).toEqual({
      data: {
        subject: {
          popularReviews: [{ id: 'FilmReview:5', title: '好', rating: { value: 4 }, author: { name: '甲' } }],
        },
      },
    });
    service.intercept({ path: /reviews\?/ }).reply(200, { total: 1, reviews: [review] });
    expect((await ask('{ subject(id: 7) { popularReviews { usefulCount } } }')).data).toEqual({
      subject: { popularReviews: [{ usefulCount: 3 }] },
    });
    expect(calls).toHaveLength(2);
  });

  test('the ten most useful reviews are one request, whichever field asks for them', async () => {
    const { service, ask, calls } = facade();
    answers(service, '/v2/movie/subject/7?fields=id', { id: '7' });
    answers(service, '/v2/movie/subject/7/reviews?count=10&fields=id,useful_count&start=0', {
      total: 1,
      reviews: [{ id: 5, useful_count: 3 }],
    });
    const question =
      '{ subject(id: 7) { id popularReviews { id usefulCount } reviews(first: 10) { nodes { id usefulCount } } } }';
    const { data, errors } = await ask(question);
    expect(errors).toBeUndefined();
    const review = { id: 'FilmReview:5', usefulCount: 3 };
    expect(data.subject).toEqual({ id: 'Subject:7', popularReviews: [review], reviews: { nodes: [review] } });
    expect(calls).toHaveLength(2);
  });

  test('shows a rating of 0 as none, and an author who is gone as null', async () => {
    const { service, ask } = facade();
    answers(service, '/v2/movie/subject/7?fields=id', { id: '7' });
    service.intercept({ path: /comments\?/ }).reply(200, {
      total: 1,
      comments: [
        {
          id: '1',
          content: 'x'.repeat(352),
          rating: { value: 0, max: 5, min: 0 },
          author: null,
          created_at: 'yesterday',
        },
      ],
    });
    expect(
      (await ask('{ subject(id: 7) { comments { nodes { content rating { value } author { id } createdAt } } } }'))
        .data,
    ).toEqual({
      subject: { comments: { nodes: [{ content: 'x'.repeat(352), rating: null, author: null, createdAt: null }] } },
    });
  });
});

describe('charts', () => {
  test('tell rank, gross and film in one call', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /us_box/ }).reply(200, {
      title: '豆瓣电影北美票房榜',
      date: '7月27日 - 7月29日',
      subjects: [
        { rank: 1, box: 62000000, new: true, subject: { id: '7', title: '活着', rating: { average: 8, stars: '40' } } },
        { rank: 2, box: null, new: false, subject: { title: 'no id' } },
      ],
    });
    expect(
      await ask(
        '{ usBoxOffice { title dateRange entries { rank grossUsd isNew subject { title rating { average } } } } }',
      ),
    ).toEqual({
      data: {
        usBoxOffice: {
          title: '豆瓣电影北美票房榜',
          dateRange: '7月27日 - 7月29日',
          entries: [
            { rank: 1, grossUsd: 62000000, isNew: true, subject: { title: '活着', rating: { average: 8 } } },
            { rank: 2, grossUsd: null, isNew: false, subject: null },
          ],
        },
      },
    });
    expect(decodeURIComponent(calls[0]!)).toBe('GET /v2/movie/us_box?fields=box,new,rank,subject');
  });

  test('tell a fall in the weekly chart, and new films in their order', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: /weekly/ })
      .reply(200, { subjects: [{ rank: 1, delta: -3, subject: { id: '7', title: '活着' } }] });
    service
      .intercept({ path: /new_movies/ })
      .reply(200, { title: '新片榜', subjects: [{ id: '8', title: '乙' }, {}, { id: '7', title: '甲' }] });
    expect(
      (await ask('{ weeklyChart { entries { rank delta subject { title } } } newMovies { title subjects { title } } }'))
        .data,
    ).toEqual({
      weeklyChart: { entries: [{ rank: 1, delta: -3, subject: { title: '活着' } }] },
      newMovies: { title: '新片榜', subjects: [{ title: '乙' }, { title: '甲' }] },
    });
  });

  test('are topped up, one call an item, where the short form does not tell', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /top250/ }).reply(200, {
      start: 0,
      count: 2,
      total: 250,
      title: 'Top250',
      subjects: [
        { id: '1', title: '甲' },
        { id: '2', title: '乙', summary: 'x' },
      ],
    });
    answers(service, '/v2/movie/subject/1?fields=id,summary', { id: '1', summary: 'y' });
    expect(
      (await ask('{ top250(first: 2) { title totalCount nodes { title summary } pageInfo { hasNextPage } } }')).data,
    ).toEqual({
      top250: {
        title: 'Top250',
        totalCount: 250,
        nodes: [
          { title: '甲', summary: 'y' },
          { title: '乙', summary: 'x' },
        ],
        pageInfo: { hasNextPage: true },
      },
    });
    expect(calls).toHaveLength(2);
  });
});

describe('searching films', () => {
  test.each(['{ searchSubjects { totalCount } }', '{ searchSubjects(query: " ", tag: "") { totalCount } }'])(
    'asks for a query or a tag: %s',
    async (question) => {
      const { ask, calls } = facade();
      expect((await ask(question)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      expect(calls).toEqual([]);
    },
  );

  test('refuses more than a thousand characters before any call', async () => {
    const { ask, calls } = facade();
    const { errors } = await ask('query ($q: String) { searchSubjects(query: $q) { totalCount } }', {
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
  ] as const)('tells whether the service stopped counting: %s', async (_, filmTier, args, total, capped) => {
    const { service, ask } = facade({ accessToken: 'x', filmTier });
    service
      .intercept({ path: /search/ })
      .reply(200, { start: 0, count: 20, total, title: '搜索', subjects: [{ id: '1', title: '甲' }] });
    expect((await ask(`{ searchSubjects(${args}) { title totalCount totalIsCapped nodes { title } } }`)).data).toEqual({
      searchSubjects: { title: '搜索', totalCount: total, totalIsCapped: capped, nodes: [{ title: '甲' }] },
    });
  });
});

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

describe('viewer', () => {
  test('tells what this caller may do, without a call', async () => {
    const { ask, calls } = facade({ accessToken: 'x', filmTier: 'premium' });
    const question = '{ viewer { isLoggedIn filmTier rateBudget { limit } } }';
    expect((await ask(question)).data.viewer).toEqual({ isLoggedIn: false, filmTier: 'PREMIUM', rateBudget: null });
    expect((await ask(question, { token: 'mine' })).data.viewer).toMatchObject({ isLoggedIn: true, filmTier: null });
    expect(calls).toEqual([]);
  });
});
