import { expect, test } from 'vitest';
import { celebrityMembers, type filmEndpoints, subjectMembers } from '../../src/api/film.ts';
import { rejection, service } from '../support/service.ts';

// The basic tier may make forty calls a minute: the clock advances with each call, so that tests do not limit each other.
let clock = Date.now();
const origin = await service({ now: () => (clock += 2_000) });
const asTiers = { basic: 'bob', advance: 'alice', premium: 'carol' } as const;
const showcase = '/v2/movie/subject/26266893';
const actor = '/v2/movie/celebrity/1000525';

const simple = ['id', 'title', 'original_title', 'alt', 'images', 'rating', 'year', 'subtype'];
const simpleOfHigherTiers = [...simple, 'pubdates'];

test.each(Object.entries(asTiers))('a subject has exactly the members of the %s tier', async (tier, person) => {
  const { status, body } = await origin.get(showcase, person);
  expect(status).toBe(200);
  const members = Object.entries(subjectMembers).filter(
    ([name, tiers]) => name !== 'douban_site' && (tiers as readonly string[]).includes(tier),
  );
  expect(Object.keys(body).toSorted()).toEqual(members.map(([name]) => name).toSorted());
});

test('a request without a token has the basic tier', async () => {
  const { body } = await origin.get(showcase);
  expect(body).not.toHaveProperty('photos');
  expect(body.casts.length).toBeLessThanOrEqual(4);
});

test('a complete subject has ten photos and reviews in short form, and both forms of the rating', async () => {
  const { body } = await origin.get(showcase, 'alice');
  expect(body).toMatchObject({
    id: '26266893',
    title: '流浪地球',
    year: '2019',
    subtype: 'movie',
    do_count: null,
    seasons_count: null,
    mainland_pubdate: '2019-02-05',
    pubdate: '2019-02-05',
    rating: { min: 0, max: 10, average: 7.9, stars: 40, value: 8 },
  });
  expect(Object.keys(body.photos[0]).toSorted()).toEqual(['alt', 'cover', 'icon', 'id', 'image', 'thumb']);
  expect(Object.keys(body.popular_reviews[0]).toSorted()).toEqual([
    'alt',
    'author',
    'id',
    'rating',
    'subject_id',
    'summary',
    'title',
  ]);
  expect([body.photos.length, body.popular_reviews.length, body.trailer_urls.length, body.genres.length]).toEqual([
    10, 10, 4, 2,
  ]);
});

test('a series has the numbers of its seasons and episodes', async () => {
  const { body } = await origin.get(`/v2/movie/search?q=${encodeURIComponent('70年代秀')}`, 'alice');
  const { body: series } = await origin.get(`/v2/movie/subject/${body.subjects[0].id}`, 'alice');
  expect(series).toMatchObject({ subtype: 'tv', current_season: 1, episodes_count: 25, schedule_url: '' });
  expect(series.do_count).toBeTypeOf('number');
});

test('`fields` selects the members of a record and of the items of a list, not of its envelope', async () => {
  expect((await origin.get(`${showcase}?fields=id,title`, 'alice')).body).toEqual({
    id: '26266893',
    title: '流浪地球',
  });
  const { body } = await origin.get('/v2/movie/top250?count=1&fields=id', 'alice');
  expect(body).toEqual({
    start: 0,
    count: 1,
    total: expect.any(Number),
    title: '电影Top250',
    subjects: [{ id: '1292052' }],
  });
});

test.each([
  '/v2/movie/subject/1',
  '/v2/movie/celebrity/1',
  '/v2/movie/subject/1/photos',
  '/v2/movie/subject/1/reviews',
  '/v2/movie/subject/1/comments',
  '/v2/movie/celebrity/1/works',
  '/v2/movie/celebrity/1/photos',
])('%s is answered with 404', async (path) => {
  expect(await origin.get(path, 'alice')).toMatchObject(rejection(404, 5000, 'movie_not_found', `GET ${path}`));
});

const paths: Record<keyof typeof filmEndpoints, string> = {
  subject: showcase,
  celebrity: actor,
  photos: `${showcase}/photos`,
  reviews: `${showcase}/reviews`,
  comments: `${showcase}/comments`,
  works: `${actor}/works`,
  celebrityPhotos: `${actor}/photos`,
  search: '/v2/movie/search?tag=2019',
  top250: '/v2/movie/top250',
  usBox: '/v2/movie/us_box',
  weekly: '/v2/movie/weekly',
  newMovies: '/v2/movie/new_movies',
  inTheaters: '/v2/movie/in_theaters',
  comingSoon: '/v2/movie/coming_soon',
};
// As documented: the tiers (basic, advance, premium) that may call each endpoint.
const open: Record<keyof typeof filmEndpoints, string> = {
  subject: 'BAP',
  celebrity: 'BA',
  photos: 'AP',
  reviews: 'AP',
  comments: 'AP',
  works: 'AP',
  celebrityPhotos: 'AP',
  search: 'BAP',
  top250: 'BA',
  usBox: 'BA',
  weekly: 'A',
  newMovies: 'A',
  inTheaters: 'AP',
  comingSoon: 'BAP',
};

test.each(Object.keys(paths) as (keyof typeof paths)[])('%s accepts its tiers and rejects the others', async (name) => {
  for (const [tier, person] of Object.entries(asTiers)) {
    const response = await origin.get(paths[name], person);
    const isOpen = open[name].includes(tier[0]!.toUpperCase());
    expect([tier, response.status]).toEqual([tier, isOpen ? 200 : 403]);
    if (!isOpen) expect(response.body).toMatchObject({ code: 1000, msg: 'need_permission' });
  }
});

test('the basic tier is limited to forty calls a minute, and gets a Retry-After header beyond', async () => {
  const now = Date.now();
  const strict = await service({ now: () => now });
  for (let n = 0; n < 40; n++) expect((await strict.get(`${showcase}?fields=id`, 'bob')).status).toBe(200);
  const rejected = await strict.get(showcase, 'bob');
  expect(rejected).toMatchObject({ status: 429, body: { code: 112 } });
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await strict.get(showcase, 'alice')).status).toBe(200);
});

test.each([
  ['advance', 'alice'],
  ['basic', 'bob'],
] as const)('a celebrity has exactly the members of the %s tier', async (tier, person) => {
  const { body } = await origin.get(actor, person);
  const members = Object.entries(celebrityMembers).filter(([, tiers]) => (tiers as readonly string[]).includes(tier));
  expect(Object.keys(body).toSorted()).toEqual(members.map(([name]) => name).toSorted());
  expect(body.works).toHaveLength(5);
  expect(Object.keys(body.works[0]).toSorted()).toEqual(['roles', 'subject']);
  expect(Object.keys(body.works[0].subject).toSorted()).toEqual(
    (tier === 'basic' ? simple : simpleOfHigherTiers).toSorted(),
  );
  if (tier === 'advance') expect(body.photos).toHaveLength(10);
});

test('people without a page have no id, link or avatar', async () => {
  const { body } = await origin.get('/v2/movie/coming_soon?count=100', 'alice');
  const { body: more } = await origin.get('/v2/movie/in_theaters?count=100', 'alice');
  const credited = [...body.subjects, ...more.subjects].flatMap((subject) => [...subject.casts, ...subject.directors]);
  expect(credited.filter((person) => person.id === null).length).toBeGreaterThan(0);
  for (const person of credited.filter((one) => one.id === null)) {
    expect(person).toEqual({ id: null, name: expect.any(String), alt: null, avatars: null });
  }
});

test('photos are paged, and have neighbours and an album', async () => {
  const first = (await origin.get(`${showcase}/photos`, 'carol')).body;
  expect(first).toMatchObject({ start: 0, count: 10, subject: { id: '26266893' } });
  expect(first.total).toBeGreaterThanOrEqual(45);
  expect(first.photos).toHaveLength(10);
  const second = (await origin.get(`${showcase}/photos?start=10&count=100`, 'carol')).body;
  expect(second).toMatchObject({ start: 10, count: 100 });
  expect(second.photos).toHaveLength(first.total - 10);
  expect(first.photos[9].next_photo).toBe(second.photos[0].id);
  expect(first.photos[0]).toMatchObject({
    prev_photo: '',
    position: 0,
    photos_count: first.total,
    subject_id: '26266893',
    author: { uid: expect.any(String), signature: expect.any(String) },
  });
  const past = (await origin.get(`${showcase}/photos?start=900`, 'carol')).body;
  expect(past).toMatchObject({ start: 900, total: first.total, photos: [] });
});

test('a celebrity has paged photos and works', async () => {
  const photos = (await origin.get(`${actor}/photos?start=20`, 'alice')).body;
  expect(photos).toMatchObject({ start: 20, count: 10, celebrity: { id: '1000525', name: '吴京' } });
  expect(photos.total).toBeGreaterThanOrEqual(25);
  expect(Object.keys(photos.celebrity).toSorted()).toEqual(['alt', 'avatars', 'id', 'name']);
  const works = (await origin.get(`${actor}/works`, 'carol')).body;
  expect(works).toMatchObject({ start: 0, count: 5 });
  expect(works.total).toBeGreaterThan(5);
  expect(works.works).toHaveLength(5);
  expect((await origin.get(`${actor}/works?start=5`, 'carol')).body.works).toHaveLength(Math.min(5, works.total - 5));
});

test.each([
  ['reviews', 25],
  ['comments', 45],
])('%s are sorted by usefulness, with at least %i entries and limited texts', async (name, least) => {
  const { body } = await origin.get(`${showcase}/${name}?count=100`, 'alice');
  expect(body.total).toBeGreaterThanOrEqual(least);
  expect(body[name]).toHaveLength(body.total);
  const useful = body[name].map((one: { useful_count: number }) => one.useful_count);
  expect(useful).toEqual(useful.toSorted((a: number, b: number) => b - a));
  for (const one of body[name]) {
    expect([...(one.summary ?? '')].length).toBeLessThanOrEqual(100);
    expect([...(one.content ?? '')].length).toBeLessThanOrEqual(140);
    expect(one.rating).toEqual({ min: 0, max: 5, value: expect.any(Number) });
    expect(Number.isInteger(one.rating.value)).toBe(true);
  }
  expect((await origin.get(`${showcase}/${name}`, 'alice')).body[name]).toHaveLength(10);
});

test('the search finds words of any length and tags, and repeats both', async () => {
  const find = async (query: string) =>
    (await origin.get(`/v2/movie/search?${new URLSearchParams(query)}`, 'alice')).body;
  const byWord = await find('q=流浪地球');
  expect(byWord).toMatchObject({
    start: 0,
    count: 20,
    total: 1,
    query: '流浪地球',
    tag: '',
    subjects: [{ id: '26266893' }],
  });
  expect(Object.keys(byWord.subjects[0]).toSorted()).toEqual(simpleOfHigherTiers.toSorted());
  expect((await find('q=吴京')).subjects.map((one: { id: string }) => one.id)).toContain('26266893');
  expect((await find('q=wandering earth')).total).toBe(1);
  expect((await find('q="%_*')).total).toBe(0);
  const byTag = await find('tag=科幻');
  expect(byTag).toMatchObject({ query: '', tag: '科幻' });
  expect(byTag.total).toBeGreaterThan(1);
  expect((await find('q=流浪地球&tag=喜剧')).total).toBe(0);
});

test('the search requires a text or a tag', async () => {
  for (const path of ['/v2/movie/search', '/v2/movie/search?q=', '/v2/movie/search?q=+&tag=']) {
    expect(await origin.get(path, 'alice')).toMatchObject({ status: 400, body: { code: 1002 } });
  }
});

test('the basic tier gets a total of at most twenty search results, and no page beyond them', async () => {
  const path = `/v2/movie/search?tag=${encodeURIComponent('剧情')}`;
  const all = (await origin.get(`${path}&count=100`, 'alice')).body;
  expect(all.total).toBeGreaterThan(20);
  const basic = (await origin.get(`${path}&count=100`, 'bob')).body;
  expect(basic).toMatchObject({ total: 20, count: 100 });
  expect(basic.subjects).toHaveLength(20);
  expect(Object.keys(basic.subjects[0]).toSorted()).toEqual(simple.toSorted());
  expect((await origin.get(`${path}&start=15`, 'bob')).body.subjects).toHaveLength(5);
  expect((await origin.get(`${path}&start=20`, 'bob')).body).toMatchObject({ total: 20, subjects: [] });
});

test('pages have default and maximum sizes, and invalid parameters are rejected', async () => {
  expect((await origin.get('/v2/movie/top250', 'alice')).body.subjects).toHaveLength(10);
  expect((await origin.get('/v2/movie/top250?count=1000', 'alice')).body.count).toBe(100);
  expect((await origin.get('/v2/movie/coming_soon', 'alice')).body.subjects).toHaveLength(20);
  expect(await origin.get('/v2/movie/top250?start=-1', 'alice')).toMatchObject({ status: 400, body: { code: 999 } });
});

test('the charts are sorted, and their entries have the documented forms', async () => {
  const top = (await origin.get('/v2/movie/top250?start=0&count=100', 'bob')).body;
  expect(top.total).toBeGreaterThanOrEqual(60);
  expect(top.subjects[0]).toMatchObject({ id: '1292052', title: '肖申克的救赎' });
  expect(new Set(top.subjects.map((one: { id: string }) => one.id)).size).toBe(top.subjects.length);
  expect(Object.keys(top.subjects[0]).toSorted()).toEqual(simple.toSorted());

  const box = (await origin.get('/v2/movie/us_box', 'alice')).body;
  expect(Object.keys(box).toSorted()).toEqual(['date', 'subjects', 'title']);
  expect(box.subjects.map((one: { rank: number }) => one.rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(box.subjects[0]).toEqual({
    rank: 1,
    box: expect.any(Number),
    new: true,
    subject: expect.objectContaining({ pubdates: expect.any(Array) }),
  });
  expect(box.subjects[0].box).toBeGreaterThan(box.subjects[10].box);

  const week = (await origin.get('/v2/movie/weekly', 'alice')).body;
  expect(Object.keys(week).toSorted()).toEqual(['subjects', 'title']);
  expect(week.subjects).toHaveLength(10);
  expect(week.subjects[0]).toEqual({ rank: 1, delta: expect.any(Number), subject: expect.any(Object) });
  expect((await origin.get('/v2/movie/new_movies', 'alice')).body.subjects).toHaveLength(12);
});

test('films in theaters are those of a city given by name, by number or by default, as complete subjects', async () => {
  const usual = (await origin.get('/v2/movie/in_theaters?count=100', 'alice')).body;
  expect(usual.title).toMatch(/北京$/);
  expect(usual.total).toBeGreaterThanOrEqual(45);
  expect(usual.subjects[0]).toHaveProperty('popular_reviews');
  const byName = (await origin.get(`/v2/movie/in_theaters?city=${encodeURIComponent('广州')}&count=100`, 'carol')).body;
  const byNumber = (await origin.get('/v2/movie/in_theaters?city=118281&count=100', 'carol')).body;
  expect(byName).toEqual(byNumber);
  expect(byName.title).toMatch(/广州$/);
  expect(byName.subjects.map((one: { id: string }) => one.id)).not.toEqual(
    usual.subjects.map((one: { id: string }) => one.id),
  );
  expect((await origin.get('/v2/movie/in_theaters?city=Atlantis', 'alice')).body).toMatchObject({
    total: 0,
    subjects: [],
  });
});

test('coming films are complete subjects of the tier', async () => {
  const { body } = await origin.get('/v2/movie/coming_soon?start=40', 'bob');
  expect(body.total).toBeGreaterThanOrEqual(45);
  expect(body.subjects[0]).toHaveProperty('summary');
  expect(body.subjects[0]).not.toHaveProperty('pubdates');
});

test('URLs in records belong to no real service', async () => {
  const { text } = await origin.get('/v2/movie/in_theaters', 'alice');
  const hosts = new Set([...text.matchAll(/https?:\/\/([^/"]+)/g)].map(([, host]) => host));
  hosts.delete(new URL(origin.url).host); // this service's own
  expect(hosts.size).toBeGreaterThan(0);
  for (const host of hosts) expect(host).toMatch(/\.example$/);
});
