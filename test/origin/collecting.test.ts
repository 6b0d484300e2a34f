import { describe, expect, test } from 'vitest';
import { rejection, service } from '../support/service.ts';

const origin = await service();
const book = '/v2/book/25862578';
const path = `${book}/collection`;

/** Books that alice has not collected, one for each test. */
const free = (async () => {
  const { books } = (await origin.get('/v2/book/search?q=出版&count=100', 'alice')).body;
  const ids: string[] = [];
  for (const { id, current_user_collection } of books) if (!current_user_collection) ids.push(id);
  return ids;
})();
async function freeBook(): Promise<string> {
  const id = (await free).pop();
  if (!id) throw new Error('no book is left');
  return id;
}

describe('collecting a book', () => {
  test('responds with 201 and the collection, which is then listed everywhere', async () => {
    const draft = { status: 'read', tags: '科幻  重读 科幻', comment: '慢慢读完', rating: 4 };
    const { status, body } = await origin.post(path, 'carol', draft);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      book: expect.objectContaining({ id: '25862578' }),
      book_id: '25862578',
      comment: '慢慢读完',
      rating: { max: 5, min: 0, value: '4' },
      status: 'read',
      tags: ['科幻', '重读'],
      updated: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      user_id: '1000003',
    });
    expect((await origin.get(path, 'carol')).body).toEqual(body);
    expect((await origin.get(`${path}?user_id=carol`)).body).toEqual(body);
    expect((await origin.get('/v2/book/user/carol/collections?count=1')).body.collections).toEqual([body]);
    expect((await origin.get(book, 'carol')).body.current_user_collection.id).toBe(body.id);
  });

  test('twice is a conflict and changes nothing', async () => {
    const before = (await origin.get(path, 'carol')).body;
    expect(await origin.post(path, 'carol', { status: 'wish' })).toMatchObject(
      rejection(409, 6011, 'collection_exist (try PUT if you want to update)', `POST ${path}`),
    );
    expect((await origin.get(path, 'carol')).body).toEqual(before);
  });

  test.each([2, 50])('%i times concurrently succeeds once', async (times) => {
    const id = await freeBook();
    const all = Array.from({ length: times }, () =>
      origin.post(`/v2/book/${id}/collection`, 'alice', { status: 'wish', tags: '同时', rating: 5 }),
    );
    const statuses = (await Promise.all(all)).map((response) => response.status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(times - 1);
    const { tags } = (await origin.get(`/v2/book/${id}/tags`)).body;
    expect(tags.find((tag: { title: string }) => tag.title === '同时')).toEqual({ count: 1, title: '同时' });
  });

  test('accepts a form, and the old names of a status', async () => {
    for (const [word, status] of [
      ['doing', 'reading'],
      ['done', 'read'],
      ['wish', 'wish'],
      ['reading', 'reading'],
      ['read', 'read'],
    ] as const) {
      const id = await freeBook();
      const { body } = await origin.post(
        `/v2/book/${id}/collection`,
        'alice',
        new URLSearchParams({ status: word, rating: '3' }),
      );
      expect(body).toMatchObject({ status, rating: { value: '3' } });
    }
  });

  test('stores no rating, tags or comment if they are empty', async () => {
    const { body } = await origin.post(`/v2/book/${await freeBook()}/collection`, 'alice', {
      status: 'wish',
      comment: '',
      tags: ' ',
    });
    for (const name of ['rating', 'tags', 'comment']) expect(body).not.toHaveProperty(name);
  });

  test.each([0, 6, -1, 4.5, 'abc', '5 stars', true])('stores no rating for the invalid value %j', async (rating) => {
    const at = `/v2/book/${await freeBook()}/collection`;
    const { status, body } = await origin.post(at, 'alice', { status: 'read', rating });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('rating');
    await origin.put(at, 'alice', { status: 'read', rating: 3 });
    expect((await origin.put(at, 'alice', { status: 'read', rating })).status).toBe(202);
    expect((await origin.get(at, 'alice')).body).not.toHaveProperty('rating');
  });

  test.each([
    [400, 1002, {}],
    [400, 1002, { status: '' }],
    [400, 999, { status: 'lost' }],
    [400, 6010, { status: 'wish', comment: '字'.repeat(351) }],
    [400, 6010, { status: 'wish', comment: `${'👩‍👩‍👧'.repeat(70)}!` }],
    [400, 6010, { status: 'wish', comment: `e${'\u0301'.repeat(440_000)}` }],
  ])('is rejected with status %i and code %i if a rule is violated', async (status, code, draft) => {
    const id = '26340138';
    await origin.delete(`/v2/book/${id}/collection`, 'alice');
    expect(await origin.post(`/v2/book/${id}/collection`, 'alice', draft)).toMatchObject({ status, body: { code } });
    expect((await origin.get(`/v2/book/${id}/collection`, 'alice')).status).toBe(404);
  });

  test.each(['字', '𠮷', 'e\u0301', '👩‍👩‍👧'])('accepts a comment of 350 code points: %s', async (character) => {
    const comment = character.repeat(350 / [...character].length);
    const { status, body } = await origin.post(`/v2/book/${await freeBook()}/collection`, 'alice', {
      status: 'wish',
      comment,
    });
    expect({ status, comment: body.comment }).toEqual({ status: 201, comment });
  });

  test('requires a book and a user', async () => {
    expect((await origin.post('/v2/book/0/collection', 'alice', { status: 'wish' })).body.code).toBe(6000);
    expect((await origin.post(path, null, { status: 'wish' })).body.code).toBe(1000);
  });
});

describe('updating a collection', () => {
  test('responds with 202 and replaces all members', async () => {
    const at = `/v2/book/${await freeBook()}/collection`;
    const { body: first } = await origin.post(at, 'alice', {
      status: 'wish',
      tags: '甲 乙',
      comment: '想读',
      rating: 2,
      privacy: 'private',
    });
    const { status, body } = await origin.put(at, 'alice', { status: 'done' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ id: first.id, status: 'read' });
    for (const name of ['rating', 'tags', 'comment']) expect(body).not.toHaveProperty(name);
    expect((await origin.get(`${at}?user_id=alice`)).body).toEqual(body); // no longer private
  });

  test('has the rules of collecting, and requires an existing collection', async () => {
    const id = await freeBook();
    const at = `/v2/book/${id}/collection`;
    expect(await origin.put(at, 'alice', { status: 'wish' })).toMatchObject(
      rejection(404, 1001, 'uri_not_found', `PUT ${at}`),
    );
    await origin.post(at, 'alice', { status: 'wish', comment: '原样' });
    expect((await origin.put(at, 'alice', {})).body.code).toBe(1002);
    expect((await origin.put(at, 'alice', { status: 'wish', comment: 'x'.repeat(351) })).body.code).toBe(6010);
    expect((await origin.put('/v2/book/0/collection', 'alice', { status: 'wish' })).body.code).toBe(6000);
    expect((await origin.get(at, 'alice')).body.comment).toBe('原样');
  });
});

describe('removing a collection', () => {
  test('responds with 204 without a body, once', async () => {
    const at = `/v2/book/${await freeBook()}/collection`;
    await origin.post(at, 'alice', { status: 'wish' });
    expect(await origin.delete(at, 'alice')).toMatchObject({ status: 204, text: '' });
    expect(await origin.delete(at, 'alice')).toMatchObject(rejection(404, 1001, 'uri_not_found', `DELETE ${at}`));
    expect((await origin.get(at, 'alice')).status).toBe(404);
    expect((await origin.post(at, 'alice', { status: 'wish' })).status).toBe(201);
  });
});

describe('counts', () => {
  const countOf = async (id: string, name: string) => {
    const { tags } = (await origin.get(`/v2/book/${id}/tags`)).body;
    return tags.find((tag: { title: string; count: number }) => tag.title === name)?.count ?? 0;
  };
  const usedBy = async (as: 'alice' | null) => {
    const { tags } = (await origin.get('/v2/book/user/alice/tags?count=100', as)).body;
    return tags.some((tag: { title: string }) => tag.title === '独一无二');
  };

  test('of tags change with every write, and so do the search and the tags of the user', async () => {
    const id = await freeBook();
    const at = `/v2/book/${id}/collection`;
    await origin.post(at, 'alice', { status: 'wish', tags: '独一无二' });
    expect([await countOf(id, '独一无二'), await usedBy(null)]).toEqual([1, true]);
    for (const query of ['tag=独一无二', 'q=独一无二']) {
      expect((await origin.get(`/v2/book/search?${query}&fields=id`)).body.books).toEqual([{ id }]);
    }
    await origin.put(at, 'alice', { status: 'wish', tags: '独一无二', privacy: 'private' });
    expect([await countOf(id, '独一无二'), await usedBy(null), await usedBy('alice')]).toEqual([0, false, true]);
    await origin.put(at, 'alice', { status: 'wish', tags: '独一无二' });
    expect(await countOf(id, '独一无二')).toBe(1);
    await origin.delete(at, 'alice');
    expect([await countOf(id, '独一无二'), await usedBy('alice')]).toEqual([0, false]);
    expect((await origin.get('/v2/book/search?q=独一无二')).body.total).toBe(0);
  });

  test('of raters change with every write', async () => {
    const id = await freeBook();
    const raters = async () => (await origin.get(`/v2/book/${id}`)).body.rating.numRaters;
    const before = await raters();
    await origin.post(`/v2/book/${id}/collection`, 'alice', { status: 'read', rating: 5 });
    expect(await raters()).toBe(before + 1);
    await origin.put(`/v2/book/${id}/collection`, 'alice', { status: 'read', rating: 1 });
    expect(await raters()).toBe(before + 1);
    await origin.delete(`/v2/book/${id}/collection`, 'alice');
    expect(await raters()).toBe(before);
  });
});
