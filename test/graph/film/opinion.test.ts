import type { Interceptable } from 'undici';
import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

/** Replies to requests with exactly this path and query. */
function replyTo(service: Interceptable, path: string, body: object, status = 200) {
  service
    .intercept({ path: (requested) => decodeURIComponent(requested) === path })
    .reply(status, body, { headers: { 'content-type': 'application/json' } });
}

describe('photos and reviews of a film', () => {
  const photo = {
    id: '2',
    icon: 'http://img.example/icon.jpg',
    next_photo: '3',
    prev_photo: '',
    album_id: '9',
    position: 6,
    subject_id: '7',
  };

  test('are embedded in the record if that has enough of them', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,photos,title', {
      id: '7',
      title: '活着',
      photos: [photo, { ...photo, id: undefined }],
    });
    expect(await execute('{ subject(id: 7) { title photos(first: 5) { nodes { id iconUrl } } } }')).toEqual({
      data: {
        subject: { title: '活着', photos: { nodes: [{ id: 'Photo:2', iconUrl: 'http://img.example/icon.jpg' }] } },
      },
    });
    expect(calls).toHaveLength(1);
  });

  test('are loaded by a list call if the record does not embed them, in parallel to the record', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id,title', { id: '7', title: '活着' });
    replyTo(
      service,
      '/v2/movie/subject/7/photos?count=10&fields=album_id,album_title,album_url,created_at,id,position,subject_id&start=0',
      { total: 12, photos: [{ ...photo, created_at: '2016-12-18 20:14:19' }] },
    );
    expect(
      await execute(
        '{ subject(id: 7) { title photos { totalCount nodes { createdAt position album { title } subject { id } } } } }',
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
                album: { title: null },
                subject: { id: 'Subject:7' },
              },
            ],
          },
        },
      },
    });
    expect(calls).toHaveLength(2);
  });

  test('that are popular are embedded in the record, or loaded by the list if other fields are selected', async () => {
    const { service, execute, calls } = facade();
    const review = {
      id: 5,
      title: '好',
      rating: { value: 4.0, max: 5, min: 0 },
      author: { id: '1', name: '甲', uid: 'jia' },
      useful_count: 3,
    };
    replyTo(service, '/v2/movie/subject/7?fields=id,popular_reviews', { id: '7', popular_reviews: [review, null] });
    expect(
      await execute('{ subject(id: 7) { reviews { nodes { id title rating { value } author { name } } } } }'),
    ).toEqual({
      data: {
        subject: {
          reviews: { nodes: [{ id: 'FilmReview:5', title: '好', rating: { value: 4 }, author: { name: '甲' } }] },
        },
      },
    });
    service.intercept({ path: /reviews\?/ }).reply(200, { total: 1, reviews: [review] });
    expect((await execute('{ subject(id: 7) { reviews { nodes { usefulCount } } } }')).data).toEqual({
      subject: { reviews: { nodes: [{ usefulCount: 3 }] } },
    });
    expect(calls).toHaveLength(2);
  });

  test('are loaded once for two selections of the first page', async () => {
    const { service, execute, calls } = facade();
    replyTo(service, '/v2/movie/subject/7/reviews?count=10&fields=id,useful_count&start=0', {
      total: 1,
      reviews: [{ id: 5, useful_count: 3 }],
    });
    const query =
      '{ subject(id: 7) { id a: reviews { nodes { id usefulCount } } reviews(first: 10) { nodes { id usefulCount } } } }';
    const { data, errors } = await execute(query);
    expect(errors).toBeUndefined();
    const review = { id: 'FilmReview:5', usefulCount: 3 };
    expect(data.subject).toEqual({ id: 'Subject:7', a: { nodes: [review] }, reviews: { nodes: [review] } });
    expect(calls).toHaveLength(1);
  });

  test('have a null rating if it is 0, and a null author if the account is gone', async () => {
    const { service, execute } = facade();
    replyTo(service, '/v2/movie/subject/7?fields=id', { id: '7' });
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
      (await execute('{ subject(id: 7) { comments { nodes { content rating { value } author { id } createdAt } } } }'))
        .data,
    ).toEqual({
      subject: { comments: { nodes: [{ content: 'x'.repeat(352), rating: null, author: null, createdAt: null }] } },
    });
  });
});

describe('the next and previous photos', () => {
  const url = (id: number) => `http://img.example/${id}.jpg`;
  const photos = [
    { id: 1, subject_id: '7', image: url(1), next_photo: '2', prev_photo: '' },
    { id: '2', subject_id: '7', image: url(2), next_photo: '3', prev_photo: '1' },
  ];
  const beyond = { id: '3', subject_id: '7', image: url(3), next_photo: '99', prev_photo: '2' };

  test('are known by their ids, without a call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /photos/ }).reply(200, { start: 0, count: 20, total: 3, photos });
    expect(
      await execute('{ subject(id: 7) { photos(first: 2) { nodes { next { id sourceId } previous { id } } } } }'),
    ).toEqual({
      data: {
        subject: {
          photos: {
            nodes: [
              { next: { id: 'Photo:2', sourceId: '2' }, previous: null },
              { next: { id: 'Photo:3', sourceId: '3' }, previous: { id: 'Photo:1' } },
            ],
          },
        },
      },
    });
    expect(calls).toEqual([
      'GET /v2/movie/subject/7/photos?count=2&fields=id,next_photo,prev_photo,subject_id&start=0',
    ]);
  });

  test.each([
    ['subject', 'of a film'],
    ['celebrity', 'of a person'],
  ])('%s: are those of the page, or loaded by one list call of the photos %s', async (owner) => {
    const { service, execute, calls } = facade();
    const reply = (path: RegExp, some: object[]) =>
      service.intercept({ path }).reply(200, { start: 0, count: 20, total: 3, photos: some });
    reply(/count=2&/, photos);
    reply(/count=100&/, [...photos, beyond]);
    const { data, errors } = await execute(
      `{ ${owner}(id: 7) { photos(first: 2) { nodes { next { imageUrl } previous { imageUrl } } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data[owner].photos.nodes).toEqual([
      { next: { imageUrl: url(2) }, previous: null },
      { next: { imageUrl: url(3) }, previous: { imageUrl: url(1) } },
    ]);
    expect(calls).toEqual([
      `GET /v2/movie/${owner}/7/photos?count=2&fields=id,image,next_photo,prev_photo,subject_id&start=0`,
      `GET /v2/movie/${owner}/7/photos?count=100&fields=id,image&start=0`,
    ]);
  });

  test('that no list shows have their id, and an error in every other field', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /photos/ })
      .reply(200, { start: 0, count: 20, total: 1, photos: [beyond] })
      .persist();
    const { data, errors } = await execute(
      '{ subject(id: 7) { photos(first: 20) { nodes { next { id imageUrl } previous { id } } } } }',
    );
    expect(data.subject.photos.nodes).toEqual([
      { next: { id: 'Photo:99', imageUrl: null }, previous: { id: 'Photo:2' } },
    ]);
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['subject.photos.nodes.0.next.imageUrl', 'PHOTO_NOT_LISTED'],
    ]);
  });
});

test('the film of a photo of a person is not the person', async () => {
  const { service, execute } = facade();
  const photos = [
    { id: '1', subject_id: '9' },
    { id: '2', subject_id: '7' },
  ];
  service.intercept({ path: /celebrity\/9\/photos/ }).reply(200, { start: 0, count: 20, total: 30, photos });
  const { data } = await execute('{ celebrity(id: 9) { photos(first: 20) { nodes { subject { id } } } } }');
  expect(data.celebrity.photos.nodes).toEqual([{ subject: null }, { subject: { id: 'Subject:7' } }]);
});

describe('the person of a photo', () => {
  const person = { id: '9', name: '吴京', birthday: '1974-04-03', photos: [{ id: '1', icon: '' }] };

  test('is the one in whose list it is, and is loaded with it', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /celebrity\/9\?/ }).reply(200, person);
    const query = '{ celebrity(id: 9) { photos(first: 5) { nodes { id celebrity { id name birthday } } } } }';
    expect(await execute(query)).toEqual({
      data: {
        celebrity: {
          photos: {
            nodes: [{ id: 'Photo:1', celebrity: { id: 'Celebrity:9', name: '吴京', birthday: '1974-04-03' } }],
          },
        },
      },
    });
    expect(calls).toEqual(['GET /v2/movie/celebrity/9?fields=birthday,id,name,photos']);
  });

  test('comes with the list if that has all that is selected, for the neighbours too', async () => {
    const { service, execute, calls } = facade();
    const photos = [{ id: '1', next_photo: '2' }, { id: '2' }];
    service.intercept({ path: /9\/photos/ }).reply(200, { total: 2, celebrity: person, photos });
    const query =
      '{ celebrity(id: 9) { photos(first: 20) { totalCount nodes { celebrity { name } next { celebrity { id } } } } } }';
    const { data, errors } = await execute(query);
    expect(errors).toBeUndefined();
    expect(data.celebrity.photos.nodes).toEqual([
      { celebrity: { name: '吴京' }, next: { celebrity: { id: 'Celebrity:9' } } },
      { celebrity: { name: '吴京' }, next: null },
    ]);
    expect(calls).toHaveLength(1);
  });

  test('is null in the list of a film, without a call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /subject\/7\?/ }).reply(200, { id: '7', photos: [{ id: '2' }] });
    expect(await execute('{ subject(id: 7) { photos(first: 5) { nodes { celebrity { name } } } } }')).toEqual({
      data: { subject: { photos: { nodes: [{ celebrity: null }] } } },
    });
    expect(calls).toEqual(['GET /v2/movie/subject/7?fields=id,photos']);
  });

  test('costs nothing in the list of a film, and in that of a person what the person costs', async () => {
    const { execute } = facade();
    const mostOf = async (list: string, fields: string) => {
      const query = `{ ${list} { photos(first: 50) { nodes { ${fields} } } } }`;
      return ((await execute(query, { explain: 'plan' })).extensions?.upstream as { max: number }).max;
    };
    const film = await mostOf('subject(id: 7)', 'id');
    expect(await mostOf('subject(id: 7)', 'celebrity { name works { totalCount } }')).toBe(film);
    const person = await mostOf('celebrity(id: 9)', 'id');
    expect(await mostOf('celebrity(id: 9)', 'celebrity { name birthday }')).toBeLessThanOrEqual(person + 1);
  });
});
