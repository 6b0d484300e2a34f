import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { serve } from '../../support/serve.ts';

const basic = { id: '7', title: '活着', casts: [] };
const advance = { ...basic, durations: ['132分钟'], photos: [], website: '' };

const over = (film: Record<string, unknown>, settings: Parameters<typeof facade>[0] = {}) => {
  const made = facade(settings);
  serve(made.service, {
    '/v2/movie/subject/7': { body: film },
    '/v2/movie/celebrity/9': { body: { id: '9', ...film } },
  });
  return made;
};
const codes = (errors: { path?: (string | number)[]; extensions: Record<string, unknown> }[] | undefined) =>
  errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]);

describe('a member that not every tier gets, asked with a token whose tier is not known', () => {
  test.each([
    ['{ subject(id: 7) { durations } }', 'durations'],
    ['{ subject(id: 7) { websiteUrl } }', 'websiteUrl'],
    ['{ subject(id: 7) { writers { name } } }', 'writers'],
    ['{ subject(id: 7) { photos { nodes { id } } } }', 'photos'],
    ['{ node(id: "Subject:7") { ... on Subject { trailerUrls } } }', 'trailerUrls'],
  ])('is refused where nothing of its kind came, in one call: %s', async (query, name) => {
    const made = over(basic);
    const of = query.includes('node(') ? 'node' : 'subject';
    for (let round = 0; round < 2; round++) {
      const { data, errors } = await made.ask(query, { token: 'alice' });
      expect(data).toEqual({ [of]: { [name]: null } });
      expect(codes(errors)).toEqual([[`${of}.${name}`, 'TIER_REQUIRED']]);
    }
    expect(made.calls).toHaveLength(1);
  });

  test('is a default where anything of its kind came', async () => {
    const made = over(advance);
    const query = '{ subject(id: 7) { websiteUrl trailerUrls writers { name } photos { nodes { id } } } }';
    for (let round = 0; round < 2; round++)
      expect(await made.ask(query, { token: 'bob' })).toEqual({
        data: { subject: { websiteUrl: null, trailerUrls: [], writers: [], photos: { nodes: [] } } },
      });
    expect(made.calls).toHaveLength(1);
  });

  test('is told of also where nearly the whole record was asked for', async () => {
    const made = over(basic);
    const { data, errors } = await made.ask('{ subject(id: 7) { title durations year } }', { token: 'alice' });
    expect(data.subject).toMatchObject({ title: '活着', durations: null });
    expect(codes(errors)).toEqual([['subject.durations', 'TIER_REQUIRED']]);
  });

  test('of a person: the same', async () => {
    const query = '{ celebrity(id: 9) { summary nameEn } }';
    const refused = await over({ name: '葛优' }).ask(query, { token: 'alice' });
    expect(refused.data).toEqual({ celebrity: { summary: null, nameEn: null } });
    expect(codes(refused.errors)).toEqual([['celebrity.summary', 'TIER_REQUIRED']]);
    expect(await over({ name: '葛优', birthday: '1957-04-19' }).ask(query, { token: 'bob' })).toEqual({
      data: { celebrity: { summary: null, nameEn: null } },
    });
  });
});

test('nothing is asked beside where the tier is known, or every tier gets what is selected', async () => {
  const made = over(basic, { accessToken: 'x', filmTier: 'advance' });
  expect((await made.ask('{ subject(id: 7) { durations } }')).data).toEqual({ subject: { durations: [] } });
  await made.ask('{ subject(id: 7) { title } }', { token: 'alice' });
  expect(made.calls).toEqual([
    'GET /v2/movie/subject/7?fields=durations,id',
    'GET /v2/movie/subject/7?fields=id,title',
  ]);
});

test('a member of a person who is refused as a whole names the tiers of that member, not those of the whole record', async () => {
  const made = facade();
  const refused = { status: 403, body: { code: 1000, msg: 'need_permission', request: 'GET /v2/movie/celebrity/9' } };
  serve(made.service, {
    '/v2/movie/subject/7': { body: { ...advance, casts: [{ id: '9', name: '葛优' }] } },
    '/v2/movie/celebrity/9': refused,
    '/v2/movie/us_box': refused,
  });
  // A refused chart proves the premium tier.
  await made.ask('{ usBoxOffice { title } }', { token: 'carol' });
  const { data, errors } = await made.ask('{ subject(id: 7) { casts { name birthday gender } } }', { token: 'carol' });
  expect(data).toEqual({ subject: { casts: [{ name: '葛优', birthday: null, gender: null }] } });
  expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code, extensions.tiers])).toEqual([
    ['birthday', 'TIER_REQUIRED', ['ADVANCE']],
    ['gender', 'TIER_REQUIRED', ['BASIC', 'ADVANCE']],
  ]);
});

test('a field that is selected in two places is told of in both, and once for all items of a list', async () => {
  const made = facade();
  const refused = { status: 403, body: { code: 1000, msg: 'need_permission', request: '' } };
  serve(made.service, {
    '/v2/movie/weekly': refused,
    '/v2/movie/subject/7': { body: basic },
    '/v2/movie/subject/8': { body: { ...basic, id: '8' } },
  });
  const query =
    '{ a: weeklyChart { title } b: weeklyChart { title } nodes(ids: ["Subject:7", "Subject:8"]) { ... on Subject { durations } } }';
  const { data, errors } = await made.ask(query, { token: 'alice' });
  expect(data).toEqual({ a: null, b: null, nodes: [{ durations: null }, { durations: null }] });
  expect(codes(errors)).toEqual([
    ['a', 'TIER_REQUIRED'],
    ['b', 'TIER_REQUIRED'],
    ['nodes.0.durations', 'TIER_REQUIRED'],
  ]);
});
