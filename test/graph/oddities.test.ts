/**
 * Differences between the real service and its documentation, one test per difference. The numbers are those of the list of findings.
 *
 * Tested elsewhere: 1 and 9 (stars and averages), 5 (numbers of a series), 8 (mini-site), 15 (people without a page), 18 (a rating of
 * one user), 21 (empty texts in lists) and 22 (charts) in film/ and values/decode.test.ts; 3 (tags with two names), 11 (e-book,
 * series), 12 (empty texts of a book), 14 (dates) and 23 (absent members of a collection) in book/; the parser of 25 in
 * test/atom/.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
const json = { headers: { 'content-type': 'application/json' } };
const atom = { headers: { 'content-type': 'application/atom+xml' } };

/** A facade whose service always replies with this body at this path. */
function facadeWith(
  path: string,
  text: string,
  { status = 200, headers = json.headers }: { status?: number; headers?: Record<string, string> } = {},
) {
  const made = facade();
  const host = path.startsWith('/v2/') ? made.service : made.events;
  host
    .intercept({ path: (requested: string) => requested.split('?')[0] === path })
    .reply(status, text, { headers })
    .persist();
  return made;
}
const book = (record: object) => facadeWith('/v2/book/7', JSON.stringify({ id: '7', ...record }));

describe('a list of films in short form', () => {
  const search = () => facadeWith('/v2/movie/search', fixture('oddities/film-search.json'));

  test('provides the members that its items contain beyond the short form, in one call (4, 16)', async () => {
    const { execute, calls } = search();
    const { data, errors } = await execute(
      '{ searchSubjects(query: "风筝", first: 10) { nodes { genres casts { name nameEn } directors { name } collectCount durations releaseDates mainlandReleaseDate } } }',
    );
    expect(errors).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(data.searchSubjects.nodes).toEqual([
      {
        genres: [],
        casts: [],
        directors: [{ name: '无页之人' }],
        collectCount: 4,
        durations: [],
        releaseDates: [],
        mainlandReleaseDate: null,
      },
      {
        genres: ['剧情', '动画', '家庭'],
        casts: [
          { name: '甲', nameEn: 'One' },
          { name: '乙', nameEn: 'Two' },
          { name: '丙', nameEn: 'Three' },
        ],
        directors: [],
        collectCount: 259,
        durations: ['110分钟(剧场版)', '60分鐘'],
        releaseDates: ['2018-04-22(远方电影节)', '2016-08', '1998'],
        mainlandReleaseDate: '2019-04-22',
      },
      {
        genres: ['剧情'],
        casts: [],
        directors: [],
        collectCount: 12,
        durations: ['79 分钟'],
        releaseDates: [],
        mainlandReleaseDate: null,
      },
    ]);
  });

  test('has a title that need not contain the search text (2, 6)', async () => {
    const { execute } = search();
    expect(
      (await execute('{ searchSubjects(query: "风筝") { title totalCount pageInfo { hasNextPage } } }')).data
        .searchSubjects,
    ).toEqual({
      title: '搜索 "风筝" 的结果',
      totalCount: 3,
      pageInfo: { hasNextPage: false },
    });
  });

  test('has averages that are 0, integers or decimals, whatever other members stand beside them (9, 10)', async () => {
    const { execute } = search();
    const { data } = await execute('{ searchSubjects(query: "风筝") { nodes { rating { average stars max min } } } }');
    expect(data.searchSubjects.nodes).toEqual([
      { rating: { average: null, stars: null, max: 10, min: 0 } },
      { rating: { average: 8, stars: 4, max: 10, min: 0 } },
      { rating: { average: 7.5, stars: 4, max: 10, min: 0 } },
    ]);
  });

  test('has URLs as sent, of any scheme and host (17)', async () => {
    const { execute } = search();
    const { data } = await execute(
      '{ searchSubjects(query: "风筝") { nodes { webUrl poster { small medium large } } } }',
    );
    const sizes = (url: string) => ({ small: url, medium: url, large: url });
    expect(data.searchSubjects.nodes).toEqual([
      { webUrl: 'http://movie.example/subject/71/', poster: sizes('http://img1.example/mpic/s1.jpg') },
      {
        webUrl: 'https://movie.example/subject/72/',
        poster: sizes('https://img3.example/view/subject/m/public/p2.webp'),
      },
      { webUrl: 'https://movie.example/subject/73/', poster: sizes('https://img1.example/f/default-cover.png') },
    ]);
  });

  test('may be sent where full films are documented; missing fields are loaded per item (7)', async () => {
    const { execute, calls, service } = facadeWith('/v2/movie/in_theaters', fixture('oddities/film-search.json'));
    service
      .intercept({ path: /^\/v2\/movie\/subject\/7\d\?/ })
      .reply(200, ({ path }) => JSON.stringify({ id: path.replace(/^.*\/|\?.*$/g, ''), summary: '线断了。' }), json)
      .persist();
    const { data, errors } = await execute('{ inTheaters { nodes { title summary } } }');
    expect(errors).toBeUndefined();
    expect(data.inTheaters.nodes).toEqual(
      ['纸风筝', '风筝匠', '放风筝的四季'].map((title) => ({ title, summary: '线断了。' })),
    );
    expect(calls).toHaveLength(4);
  });
});

describe('a film', () => {
  test('may contain unknown members, which are ignored (2, 10)', async () => {
    const { execute, calls } = facadeWith('/v2/movie/subject/72', fixture('oddities/film.json'));
    const { data, errors } = await execute(`{ subject(id: 72) {
      title miniSiteUrl websiteUrl alternativeTitles rating { average } doingCount seasonsCount currentSeason episodesCount pubdate durations releaseDates
    } }`);
    expect(errors).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(data.subject).toEqual({
      title: '风筝匠',
      miniSiteUrl: 'http://site.example/kite',
      websiteUrl: null,
      alternativeTitles: [],
      rating: { average: 8 },
      doingCount: null,
      seasonsCount: null,
      currentSeason: null,
      episodesCount: null,
      pubdate: '2019-04-22',
      durations: ['110分钟(剧场版)'],
      releaseDates: ['2016-08'],
    });
  });

  test('may have photos without some of their URLs (23)', async () => {
    const { execute, calls } = facadeWith('/v2/movie/subject/72', fixture('oddities/film.json'));
    const { data, errors } = await execute('{ subject(id: 72) { photos { nodes { id imageUrl iconUrl thumbUrl } } } }');
    expect(errors).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(data.subject.photos.nodes).toEqual([
      { id: 'Photo:1', imageUrl: 'https://img.example/p1.jpg', iconUrl: null, thumbUrl: null },
      { id: 'Photo:2', imageUrl: 'https://img.example/p2.jpg', iconUrl: 'https://img.example/i2.jpg', thumbUrl: null },
    ]);
  });

  test('may have comments and summaries longer than documented (19)', async () => {
    const content = '长'.repeat(352);
    const comments = facadeWith(
      '/v2/movie/subject/72/comments',
      JSON.stringify({ count: 20, start: 0, next_start: 20, total: 1, comments: [{ id: '1', content }] }),
    );
    expect(
      (await comments.execute('{ subject(id: 72) { comments { nodes { content } } } }')).data.subject.comments.nodes,
    ).toEqual([{ content }]);
    const summary = '长'.repeat(118);
    const reviews = facadeWith(
      '/v2/movie/subject/72/reviews',
      JSON.stringify({ count: 20, start: 0, total: 1, reviews: [{ id: 1, title: '', summary, content: summary }] }),
    );
    expect(
      (await reviews.execute('{ subject(id: 72) { reviews { totalCount nodes { id summary } } } }')).data.subject
        .reviews.nodes,
    ).toEqual([{ id: 'FilmReview:1', summary }]);
  });
});

describe('a book', () => {
  test.each(['39.50元', '39.50', 'CNY 39.50', '39.50 元', '39.50元（上下两册）'])(
    'has its price as sent: %s (13)',
    async (price) => {
      expect((await book({ price }).execute('{ book(id: 7) { price } }')).data.book).toEqual({ price });
    },
  );

  test.each(['320', '320页'])('has its page count as sent: %s (14)', async (pages) => {
    expect((await book({ pages }).execute('{ book(id: 7) { pages } }')).data.book).toEqual({ pages });
  });

  test('has no tags, series or e-book if the requested members are absent, without a further call (23)', async () => {
    const { execute, calls } = book({ title: '风筝谱' });
    expect(await execute('{ book(id: 7) { title tags { name } series { id } ebook { url } } }')).toEqual({
      data: { book: { title: '风筝谱', tags: [], series: null, ebook: null } },
    });
    expect(calls).toHaveLength(1);
  });

  test('may contain escaped slashes and letters, line ends of any kind, and U+2028 (28)', async () => {
    const text = fixture('oddities/escaped.json');
    expect(text).toContain('\u2028');
    expect(text).toContain('\\/');
    expect(
      (await facadeWith('/v2/book/7', text).execute('{ book(id: 7) { title webUrl summary authorIntro } }')).data.book,
    ).toEqual({
      title: '风筝',
      webUrl: 'http://book.example/subject/7/',
      summary: '第一行\r\n第二行\u2028第三行',
      authorIntro: '🪁',
    });
  });

  test.each(['text/html; charset=utf-8', 'text/plain', ''])(
    'is parsed as JSON whatever its content type is: "%s" (29)',
    async (type) => {
      const { execute } = facadeWith('/v2/book/7', '{"id":"7","title":"风筝谱"}', {
        headers: type ? { 'content-type': type } : {},
      });
      expect(await execute('{ book(id: 7) { title } }')).toEqual({ data: { book: { title: '风筝谱' } } });
    },
  );

  test.each([
    [400, 112, 'rate_limit_exceeded2: 192.0.2.66'],
    [400, 111, 'rate_limit_exceeded: 192.0.2.66'],
    [400, 1309, 'subject_ip_rate_limit'],
    [403, 112, 'rate_limit_exceeded2'],
  ])('may be rate limited with status %i and code %i (30)', async (status, code, msg) => {
    const { execute, calls } = facadeWith(
      '/v2/book/7',
      JSON.stringify({ request: 'GET /v2/book/7', msg, code, localized_message: '请稍后' }),
      { status },
    );
    const { data, errors } = await execute('{ book(id: 7) { title } }');
    expect(data).toEqual({ book: null });
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'RATE_LIMITED', retryAfter: 5 }]);
    expect(JSON.stringify(errors)).not.toMatch(/192\.0\.2|请稍后/);
    // The rate limit is remembered: the second query makes no upstream call.
    await execute('{ book(id: 7) { title } }');
    expect(calls).toHaveLength(1);
  });
});

describe('a list that PHP writes as an object with whole numbers as keys', () => {
  test('is the list of the response, in order', async () => {
    const books = { 2: { id: '12', title: 'c' }, 0: { id: '10', title: 'a' }, 10: { id: '13', title: 'd' } };
    const { execute } = facadeWith('/v2/book/search', JSON.stringify({ start: 0, count: 20, total: 3, books }));
    const { data, errors } = await execute('{ searchBooks(query: "x", first: 20) { totalCount nodes { title } } }');
    expect(errors).toBeUndefined();
    expect(data.searchBooks).toEqual({ totalCount: 3, nodes: [{ title: 'a' }, { title: 'c' }, { title: 'd' }] });
  });

  test('is cut to the requested count like any other', async () => {
    const books = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [2 * at, { id: String(at), title: 'x' }]));
    const { execute } = facadeWith('/v2/book/search', JSON.stringify({ start: 0, count: 30, total: 30, books }));
    const { data } = await execute(
      '{ searchBooks(query: "x", first: 2) { nodes { sourceId } pageInfo { hasNextPage } } }',
    );
    expect(data.searchBooks).toEqual({
      nodes: [{ sourceId: '0' }, { sourceId: '1' }],
      pageInfo: { hasNextPage: true },
    });
  });

  test('is the list of a member: texts and objects', async () => {
    const { execute } = book({
      author: { 0: '余华', 2: '某人' },
      tags: { 1: { count: 2, name: 'a' }, 3: { count: 1, name: 'b' } },
    });
    expect((await execute('{ book(id: "7") { authors tags { name } } }')).data).toEqual({
      book: { authors: ['余华', '某人'], tags: [{ name: 'a' }, { name: 'b' }] },
    });
  });

  test('is the list of people and of names of a film', async () => {
    const film = { id: '7', genres: { 1: '剧情' }, casts: { 0: { id: '1', name: 'a' }, 5: { id: '2', name: 'b' } } };
    const { execute } = facadeWith('/v2/movie/subject/7', JSON.stringify(film));
    expect((await execute('{ subject(id: "7") { genres casts { name } } }')).data).toEqual({
      subject: { genres: ['剧情'], casts: [{ name: 'a' }, { name: 'b' }] },
    });
  });

  test.each(['{}', 'null'])('is an empty list as %s, if the total is 0', async (books) => {
    const { execute } = facadeWith('/v2/book/search', `{"start":0,"count":20,"total":0,"books":${books}}`);
    expect(await execute('{ searchBooks(query: "x") { totalCount nodes { title } } }')).toEqual({
      data: { searchBooks: { totalCount: 0, nodes: [] } },
    });
  });

  test.each(['{}', 'null'])('is empty as %s, past the end of the list', async (books) => {
    const { execute } = facadeWith('/v2/book/search', `{"start":20,"count":20,"total":20,"books":${books}}`);
    expect(await execute('{ searchBooks(query: "x", offset: 20) { totalCount nodes { title } } }')).toEqual({
      data: { searchBooks: { totalCount: 20, nodes: [] } },
    });
  });

  test.each(['{}', '{"0":{"id":"1"},"error":"x"}', '{"-1":{"id":"1"}}'])('is not: %s', async (books) => {
    const { execute } = facadeWith('/v2/book/search', `{"start":0,"count":20,"total":2,"books":${books}}`);
    const { errors } = await execute('{ searchBooks(query: "x") { totalCount } }');
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});

describe('a list that the service sends whole, whatever is asked for', () => {
  const whole = Array.from({ length: 13 }, (_, at) => ({ id: String(at + 1), title: 'x' }));
  const ids = whole.map(({ id }) => id);

  test.each([{ start: 0, count: 13, total: 13 }, { total: '13' }, { start: 0 }, {}])(
    'is shown in pages, with the envelope %j',
    async (envelope) => {
      const { execute } = facadeWith('/v2/book/search', JSON.stringify({ ...envelope, books: whole }));
      const shown: string[][] = [];
      let after = '';
      for (let pages = 0; pages < 6; pages++) {
        const { data } = await execute(
          `{ searchBooks(query: "x", first: 4${after}) { nodes { sourceId } pageInfo { hasNextPage endCursor } } }`,
        );
        const { nodes, pageInfo } = data.searchBooks;
        shown.push(nodes.map(({ sourceId }: { sourceId: string }) => sourceId));
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
      }
      expect(shown).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8, 12), ids.slice(12)]);
    },
  );

  test('is not a rest of it, whose beginning is the position that was asked for', async () => {
    const books = whole.slice(4);
    const { execute } = facadeWith('/v2/book/search', JSON.stringify({ start: 4, books }));
    const { data } = await execute('{ searchBooks(query: "x", first: 2, offset: 4) { nodes { sourceId } } }');
    expect(data.searchBooks.nodes).toEqual([{ sourceId: '5' }, { sourceId: '6' }]);
  });
});

test('false, which PHP writes where it has nothing, is no text and no id', async () => {
  const { execute } = book({
    title: false,
    subtitle: false,
    author: [false, 'a'],
    series: { id: false, title: false },
  });
  const { data, errors } = await execute('{ book(id: "7") { title subtitle authors series { title } } }');
  expect(errors).toBeUndefined();
  expect(data.book).toEqual({ title: '', subtitle: null, authors: ['a'], series: null });
});

describe('JSON that JavaScript reads otherwise', () => {
  test('may have ids beyond 2^53 as numbers, which keep their digits and their place in a list', async () => {
    const text =
      '{"start":0,"count":20,"total":2,"books":[{"id":12345678901234567891,"title":"a"},{"id":8,"title":"b"}]}';
    const { execute } = facadeWith('/v2/book/search', text);
    const { data } = await execute('{ searchBooks(query: "x") { totalCount nodes { sourceId title } } }');
    expect(data.searchBooks).toEqual({
      totalCount: 2,
      nodes: [
        { sourceId: '12345678901234567891', title: 'a' },
        { sourceId: '8', title: 'b' },
      ],
    });
  });

  test('may have a record with such an id, which is the one that was requested', async () => {
    const { execute } = facadeWith('/v2/book/12345678901234567891', '{"id":12345678901234567891,"title":"a"}');
    expect((await execute('{ book(id: "12345678901234567891") { title } }')).data).toEqual({ book: { title: 'a' } });
  });

  test('may have a member named __proto__, whose members are not those of the record', async () => {
    const { execute } = facadeWith('/v2/book/7', '{"id":"7","title":"a","__proto__":{"price":"1","pages":"2"}}');
    expect((await execute('{ book(id: "7") { title price pages } }')).data).toEqual({
      book: { title: 'a', price: null, pages: null },
    });
  });
});

describe('an annotation', () => {
  const page = () => facadeWith('/v2/book/7/annotations', fixture('oddities/annotations.json'));

  test('has an id that is a text or a number (24)', async () => {
    const { execute, calls } = page();
    const { data } = await execute('{ book(id: 7) { annotations { nodes { id sourceId book { id } } } } }');
    expect(data.book.annotations.nodes).toEqual([
      { id: 'Annotation:501', sourceId: '501', book: { id: 'Book:7' } },
      { id: 'Annotation:502', sourceId: '502', book: { id: 'Book:7' } },
    ]);
    expect(calls).toHaveLength(1);
  });

  test('has the book and the author that it contains, even if their ids stand only beside them', async () => {
    const annotation = {
      id: '5',
      book_id: '7',
      book: { title: '风筝谱' },
      author_id: '901',
      author_user: { id: null, name: '[已注销]' },
    };
    const { execute, calls } = facadeWith('/v2/book/annotation/5', JSON.stringify(annotation));
    expect(await execute('{ annotation(id: 5) { book { id title subtitle } author { id name } authorUid } }')).toEqual({
      data: {
        annotation: {
          book: { id: 'Book:7', title: '风筝谱', subtitle: null },
          author: { id: 'User:901', name: '[已注销]' },
          authorUid: null,
        },
      },
    });
    expect(calls).toHaveLength(1);
  });

  test('has a page if its chapter is empty, and defaults for absent members (12, 23)', async () => {
    const { execute } = page();
    const { data } = await execute(
      '{ book(id: 7) { annotations { nodes { chapter page abstract pictures { number } abstractPhotoUrl hasMath commentsCount lastPhotoNumber privacyLevel } } } }',
    );
    const none = { pictures: [], abstractPhotoUrl: null, hasMath: false, commentsCount: 0, lastPhotoNumber: null };
    expect(data.book.annotations.nodes).toEqual([
      { chapter: null, page: 222, abstract: '风筝线要留三寸。', privacyLevel: 2, ...none },
      { chapter: '扎骨', page: null, abstract: null, privacyLevel: null, ...none },
    ]);
  });

  test('may have an author who has left or who has an empty profile (12, 27)', async () => {
    const { execute, calls } = page();
    const { data } = await execute(
      '{ book(id: 7) { annotations { nodes { authorUid author { id name avatarUrl isSite } } } } }',
    );
    expect(data.book.annotations.nodes).toEqual([
      {
        authorUid: '901',
        author: {
          id: 'User:901',
          name: '[已注销]',
          avatarUrl: 'http://img.example/icon/user_normal.jpg',
          isSite: false,
        },
      },
      { authorUid: null, author: { id: 'User:902', name: '纸鸢', avatarUrl: null, isSite: false } },
    ]);
    expect(calls).toHaveLength(1);
  });
});

test.each([{}, { book_id: null, user_id: null }])(
  'a collection without its key has that of the request: %j',
  async (key) => {
    const { execute } = facadeWith('/v2/book/7/collection', JSON.stringify({ id: 5, ...key, status: 'read' }));
    expect((await execute('{ book(id: 7) { collection(userId: 9) { id status } } }')).data).toEqual({
      book: { collection: { id: 'Collection:9:7', status: 'READ' } },
    });
  },
);

test('a collection in a list needs no number, because no operation accepts it', async () => {
  const collections = [{ status: 'read', user_id: '9', book_id: 7 }, { status: 'wish' }];
  const { execute } = facadeWith('/v2/book/user/9/collections', JSON.stringify({ total: 2, collections }));
  expect(await execute('{ user(id: 9) { bookCollections { nodes { id status } } } }')).toEqual({
    data: { user: { bookCollections: { nodes: [{ id: 'Collection:9:7', status: 'READ' }] } } },
  });
});

describe('an Atom document', () => {
  test('may name its author by the link to the web page only (25)', async () => {
    const event = (href: string) =>
      `<entry xmlns="http://www.w3.org/2005/Atom"><id>https://api.example/event/7</id><author><name>柳</name><link rel="alternate" href="${href}"/></author></entry>`;
    const organizer = async (href: string) => {
      const { data } = await facadeWith('/event/7', event(href), atom).execute(
        '{ event(id: 7) { organizer { id name } } }',
      );
      return data.event.organizer as unknown;
    };
    expect(await organizer('http://www.example/people/willow/')).toEqual({ id: 'User:willow', name: '柳' });
    expect(await organizer('http://site.example/green')).toEqual({ id: 'Organization:green', name: '柳' });
    expect(await organizer('http://www.example/')).toBeNull();
    expect(await organizer('http://site.example/')).toBeNull();
  });

  test.each(['39.9 116.4', '39.9,116.4', ' 39.9,\n116.4 '])('may write a point with a comma: %s', async (point) => {
    const { execute } = facadeWith(
      '/event/7',
      `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss"><id>https://api.example/event/7</id><georss:point>${point}</georss:point></entry>`,
      atom,
    );
    expect((await execute('{ event(id: 7) { coordinates { latitude longitude } } }')).data.event).toEqual({
      coordinates: { latitude: 39.9, longitude: 116.4 },
    });
  });

  test('may have any prefixes, order of elements and white space, and lack elements (25)', async () => {
    const { execute } = facadeWith('/event/77', fixture('atom/event-oddities.xml'), atom);
    const { data, errors } = await execute(
      '{ event(id: 77) { title summary content type startsAt endsAt place viewerRelation organizer { id name } city { id name } webUrl imageUrl participantsCount interestedPeopleCount inviteOnly } }',
      { token: 'somebody' },
    );
    expect(errors).toBeUndefined();
    expect(data.event).toEqual({
      title: 'Tea & <b>Poems</b> &amp; 雨夜 R & D',
      summary: null,
      content: 'one two',
      type: 'EXHIBITION',
      startsAt: '2031-05-01T19:30:00+08:00',
      endsAt: '2031-05-01T21:00:00+08:00',
      place: '星桥 文化馆\n二楼',
      viewerRelation: null,
      organizer: null,
      city: null,
      webUrl: 'https://www.example/event/77/',
      imageUrl: null,
      participantsCount: 0,
      interestedPeopleCount: 123,
      inviteOnly: false,
    });
  });

  test.each(['participate', ' participant '])('may have "%s" as the status of a participant (25)', async (status) => {
    const { execute } = facadeWith(
      '/event/7',
      `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/"><id>https://api.example/event/7</id><db:attribute name="album">5</db:attribute><db:attribute name="status">${status}</db:attribute></entry>`,
      atom,
    );
    expect((await execute('{ event(id: 7) { title viewerRelation } }', { token: 'somebody' })).data.event).toEqual({
      title: '',
      viewerRelation: 'PARTICIPATING',
    });
  });

  test.each(['itemPerPage', 'itemsPerPage'])('may name its page size %s (25)', async (name) => {
    const entries = [1, 2]
      .map((id) => `<entry><id>https://api.example/event/${id}</id><title>${id}</title></entry>`)
      .join('');
    const { execute } = facadeWith(
      '/event/location/beijing',
      `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:openSearch="http://a9.com/-/spec/opensearchrss/1.0/"><openSearch:${name}>2</openSearch:${name}>${entries}</feed>`,
      atom,
    );
    // Without a total, a full page by the service's own page size means that there is a next page.
    expect(
      (
        await execute(
          '{ city(id: "beijing") { events(first: 50) { totalCount nodes { title } pageInfo { hasNextPage } } } }',
        )
      ).data.city.events,
    ).toEqual({
      totalCount: null,
      nodes: [{ title: '1' }, { title: '2' }],
      pageInfo: { hasNextPage: true },
    });
  });

  test.each(['<openSearch:itemsPerPage>100</openSearch:itemsPerPage>', ''])(
    'of fifty entries may go on, although more were requested, whatever it says of its page size: %s (25)',
    async (size) => {
      const entries = Array.from({ length: 50 }, (_, id) => `<entry><id>https://api.example/event/${id}</id></entry>`);
      const { execute } = facadeWith(
        '/people/3/events/initiate',
        `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:openSearch="http://a9.com/-/spec/opensearchrss/1.0/">${size}${entries.join('')}</feed>`,
        atom,
      );
      const { data } = await execute(
        '{ user(id: "3") { events(relation: INITIATED, first: 100) { nodes { id } pageInfo { hasNextPage } } } }',
      );
      expect(data.user.events.nodes).toHaveLength(50);
      expect(data.user.events.pageInfo).toEqual({ hasNextPage: true });
    },
  );

  test('may have users with a city by name or number, or without a city (26)', async () => {
    const { execute, calls } = facadeWith('/event/7/participants', fixture('atom/people-feed.xml'), atom);
    const { data, errors } = await execute(
      '{ event(id: 7) { participants { edges { node { id name } signature city { id name } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(data.event.participants.edges).toEqual([
      {
        node: { id: 'User:00123', name: 'Fern' },
        signature: 'by the river',
        city: { id: 'City:128501', name: 'Rivertown' },
      },
      { node: { id: 'User:9', name: 'Moss' }, signature: null, city: null },
    ]);
  });

  test('may have a city without an id, which keeps its name; films in theaters are loaded by the name', async () => {
    const entry = `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/"><id>https://api.example/event/7</id><db:location>北京</db:location></entry>`;
    const { execute, calls, service } = facadeWith('/event/7', entry, atom);
    service
      .intercept({ path: (path) => decodeURIComponent(path).startsWith('/v2/movie/in_theaters?city=北京') })
      .reply(200, { total: 1, subjects: [{ id: '7', title: '活着' }] }, json);
    const { data, errors } = await execute(
      '{ event(id: 7) { city { __typename id sourceId name events { nodes { id } } inTheaters { nodes { title } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.event.city).toEqual({
      __typename: 'City',
      id: 'City:~%E5%8C%97%E4%BA%AC',
      sourceId: null,
      name: '北京',
      events: { nodes: [] },
      inTheaters: { nodes: [{ title: '活着' }] },
    });
    expect(calls).toHaveLength(2);
    expect((await execute('{ node(id: "City:~%E5%8C%97%E4%BA%AC") { id } }')).data).toEqual({ node: null });
    expect((await execute('{ node(id: "City:~tokyo") { id } }')).data).toEqual({ node: null });
  });
});
