import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Replies to requests with exactly this path and query. */
function replyTo(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

describe('charts', () => {
  test('have rank, gross and film from one call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /us_box/ }).reply(200, {
      title: '豆瓣电影北美票房榜',
      date: '7月27日 - 7月29日',
      subjects: [
        { rank: 1, box: 62000000, new: true, subject: { id: '7', title: '活着', rating: { average: 8, stars: '40' } } },
        { rank: 2, box: null, new: false, subject: { title: 'no id' } },
      ],
    });
    expect(
      await execute(
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

  test('have a negative delta in the weekly chart, and new films in their order', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /weekly/ })
      .reply(200, { subjects: [{ rank: 1, delta: -3, subject: { id: '7', title: '活着' } }] });
    service
      .intercept({ path: /new_movies/ })
      .reply(200, { title: '新片榜', subjects: [{ id: '8', title: '乙' }, {}, { id: '7', title: '甲' }] });
    expect(
      (
        await execute(
          '{ weeklyChart { entries { rank delta subject { title } } } newMovies { title subjects { title } entries { rank subject { title } } } }',
        )
      ).data,
    ).toEqual({
      weeklyChart: { entries: [{ rank: 1, delta: -3, subject: { title: '活着' } }] },
      newMovies: {
        title: '新片榜',
        subjects: [{ title: '乙' }, { title: '甲' }],
        entries: [
          { rank: 1, subject: { title: '乙' } },
          { rank: 2, subject: { title: '甲' } },
        ],
      },
    });
  });

  test('load missing fields with one call per item', async () => {
    const { service, execute, calls } = facade();
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
    replyTo(service, '/v2/movie/subject/1?fields=id,summary', { id: '1', summary: 'y' });
    expect(
      (await execute('{ top250(first: 2) { title totalCount nodes { title summary } pageInfo { hasNextPage } } }'))
        .data,
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
