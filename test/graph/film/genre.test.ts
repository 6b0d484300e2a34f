import { expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

test('the genres of a film lead to other films of each, one call a genre', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: /subject\/7\?/ }).reply(200, { id: '7', genres: ['剧情', '犯罪'] });
  service
    .intercept({ path: /search/ })
    .reply(({ path }) => {
      const tag = new URL(path, 'http://x').searchParams.get('tag');
      const data = { start: 0, count: 2, total: 200, subjects: [{ id: tag === '剧情' ? '8' : '9', title: tag }] };
      return { statusCode: 200, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  const query =
    '{ subject(id: 7) { genres genreTags { name films(first: 2) { totalCount totalIsCapped nodes { id title } } } } }';
  const films = (id: string, title: string) => ({
    totalCount: 200,
    totalIsCapped: true,
    nodes: [{ id, title }],
  });
  expect(await execute(query)).toEqual({
    data: {
      subject: {
        genres: ['剧情', '犯罪'],
        genreTags: [
          { name: '剧情', films: films('Subject:8', '剧情') },
          { name: '犯罪', films: films('Subject:9', '犯罪') },
        ],
      },
    },
  });
  expect(calls.map((call) => decodeURIComponent(call))).toEqual([
    'GET /v2/movie/subject/7?fields=genres,id',
    'GET /v2/movie/search?count=2&fields=id,title&start=0&tag=剧情',
    'GET /v2/movie/search?count=2&fields=id,title&start=0&tag=犯罪',
  ]);
});

test('the films of a genre cost at most a call for each of the three genres that a film may have', async () => {
  const { execute } = facade();
  const { extensions } = await execute('{ subject(id: 7) { genreTags { films { nodes { title } } } } }', {
    explain: 'plan',
  });
  expect(extensions?.upstream).toMatchObject({ min: 1, max: 4 });
});

test('a film without genres has no tags', async () => {
  const { service, execute } = facade();
  service.intercept({ path: /subject\/7\?/ }).reply(200, { id: '7', genres: ['', null] });
  expect(await execute('{ subject(id: 7) { genreTags { name } } }')).toEqual({ data: { subject: { genreTags: [] } } });
});
