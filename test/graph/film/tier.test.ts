import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { serve } from '../../support/serve.ts';

const basic = { id: '7', title: '活着', casts: [] };
const advance = { ...basic, durations: ['132分钟'], photos: [], website: '' };

const facadeWith = (film: Record<string, unknown>, settings: Parameters<typeof facade>[0] = {}) => {
  const made = facade(settings);
  serve(made.service, {
    '/v2/movie/subject/7': { body: film },
    '/v2/movie/celebrity/9': { body: { id: '9', ...film } },
  });
  return made;
};
const codes = (errors: { path?: (string | number)[]; extensions: Record<string, unknown> }[] | undefined) =>
  errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]);

describe('a field that requires a tier, selected with a token of unknown tier', () => {
  test.each([
    ['{ subject(id: 7) { durations } }', 'durations'],
    ['{ subject(id: 7) { websiteUrl } }', 'websiteUrl'],
    ['{ subject(id: 7) { writers { name } } }', 'writers'],
    ['{ subject(id: 7) { photos { nodes { id } } } }', 'photos'],
    ['{ node(id: "Subject:7") { ... on Subject { trailerUrls } } }', 'trailerUrls'],
  ])(
    'is a TIER_REQUIRED error if the response contains no member of that tier, after one call: %s',
    async (query, name) => {
      const made = facadeWith(basic);
      const of = query.includes('node(') ? 'node' : 'subject';
      for (let round = 0; round < 2; round++) {
        const { data, errors } = await made.execute(query, { token: 'alice' });
        expect(data).toEqual({ [of]: { [name]: null } });
        expect(codes(errors)).toEqual([[`${of}.${name}`, 'TIER_REQUIRED']]);
      }
      expect(made.calls).toHaveLength(1);
    },
  );

  test('has its default value if the response contains any member of that tier', async () => {
    const made = facadeWith(advance);
    const query = '{ subject(id: 7) { websiteUrl trailerUrls writers { name } photos { nodes { id } } } }';
    for (let round = 0; round < 2; round++)
      expect(await made.execute(query, { token: 'bob' })).toEqual({
        data: { subject: { websiteUrl: null, trailerUrls: [], writers: [], photos: { nodes: [] } } },
      });
    expect(made.calls).toHaveLength(1);
  });

  test('is a TIER_REQUIRED error also if nearly the whole record is requested', async () => {
    const made = facadeWith(basic);
    const { data, errors } = await made.execute('{ subject(id: 7) { title durations year } }', { token: 'alice' });
    expect(data.subject).toMatchObject({ title: '活着', durations: null });
    expect(codes(errors)).toEqual([['subject.durations', 'TIER_REQUIRED']]);
  });

  test('behaves the same for a celebrity', async () => {
    const query = '{ celebrity(id: 9) { summary nameEn } }';
    const rejected = await facadeWith({ name: '葛优' }).execute(query, { token: 'alice' });
    expect(rejected.data).toEqual({ celebrity: { summary: null, nameEn: null } });
    expect(codes(rejected.errors)).toEqual([['celebrity.summary', 'TIER_REQUIRED']]);
    expect(await facadeWith({ name: '葛优', birthday: '1957-04-19' }).execute(query, { token: 'bob' })).toEqual({
      data: { celebrity: { summary: null, nameEn: null } },
    });
  });
});

test('no further fields are requested if the tier is known or every tier gets the selected fields', async () => {
  const made = facadeWith(basic, { accessToken: 'x', filmTier: 'advance' });
  expect((await made.execute('{ subject(id: 7) { durations } }')).data).toEqual({ subject: { durations: [] } });
  await made.execute('{ subject(id: 7) { title } }', { token: 'alice' });
  expect(made.calls).toEqual([
    'GET /v2/movie/subject/7?fields=durations,id',
    'GET /v2/movie/subject/7?fields=id,title',
  ]);
});

describe('once a quarter of the rate limit is used with a token of unknown tier', () => {
  const films = (record: object) => {
    const made = facade();
    const ids = Array.from({ length: 60 }, (_, id) => String(id));
    serve(made.service, Object.fromEntries(ids.map((id) => [`/v2/movie/subject/${id}`, { body: { ...record, id } }])));
    const load = async (id: string, field = 'title') =>
      made.execute(`{ subject(id: ${id}) { ${field} } }`, { token: 'alice' });
    return { ...made, ids, load };
  };
  const evidence = (id: string) => `GET /v2/movie/subject/${id}?fields=durations,id,languages,pubdates,title`;

  test('fields that show the tier are requested too, and a tier without a rate limit has none from then on', async () => {
    const { ids, load, calls } = films(advance);
    for (const id of ids.slice(0, 10)) await load(id, 'originalTitle');
    expect(calls.some((call) => call.includes('durations'))).toBe(false);
    await load('10');
    expect(calls[10]).toBe(evidence('10'));
    for (const id of ids.slice(11)) expect((await load(id)).errors).toBeUndefined();
    expect(calls.slice(11).some((call) => call.includes('durations'))).toBe(false);
  });

  test('they are not requested again with the same film', async () => {
    const { ids, load, calls } = films(basic);
    for (const id of ids.slice(0, 11)) await load(id);
    expect(calls[10]).toBe(evidence('10'));
    const { errors } = await load('10', 'durations');
    expect(codes(errors)).toEqual([['subject.durations', 'TIER_REQUIRED']]);
    expect(calls).toHaveLength(11);
  });
});

test('a field of a celebrity whose record is rejected reports the tiers of that field, not those of the whole record', async () => {
  const made = facade();
  const rejected = { status: 403, body: { code: 1000, msg: 'need_permission', request: 'GET /v2/movie/celebrity/9' } };
  serve(made.service, {
    '/v2/movie/subject/7': { body: { ...advance, casts: [{ id: '9', name: '葛优' }] } },
    '/v2/movie/celebrity/9': rejected,
    '/v2/movie/us_box': rejected,
  });
  // A rejected chart means that the tier is premium.
  await made.execute('{ usBoxOffice { title } }', { token: 'carol' });
  const { data, errors } = await made.execute('{ subject(id: 7) { casts { name birthday gender } } }', {
    token: 'carol',
  });
  expect(data).toEqual({ subject: { casts: [{ name: '葛优', birthday: null, gender: null }] } });
  expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code, extensions.tiers])).toEqual([
    ['birthday', 'TIER_REQUIRED', ['ADVANCE']],
    ['gender', 'TIER_REQUIRED', ['BASIC', 'ADVANCE']],
  ]);
});
