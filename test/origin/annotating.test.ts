import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { form, picture, rejection, service } from '../support/service.ts';

const origin = await service();
const path = '/v2/book/6082808/annotations';
const content = '这一段写得真好，值得一个字一个字地抄下来。';
const written = async (draft: object = {}) => (await origin.post(path, 'alice', { content, ...draft })).body;
const stored = () =>
  readdirSync(join(origin.dataDir, 'pictures'), { recursive: true }).filter((name) => /\./.test(String(name))).length;

describe('annotating a book', () => {
  test('responds with 201 and the annotation, which is listed everywhere', async () => {
    const { status, body } = await origin.post(path, 'alice', { content, page: 12 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      book_id: '6082808',
      author_id: '1000001',
      author_user: { uid: 'alice' },
      chapter: '',
      page_no: 12,
      privacy: 2,
      abstract: content,
      content,
      photos: {},
      last_photo: 0,
      comments_count: 0,
      hasmath: false,
    });
    expect((await origin.get(`/v2/book/annotation/${body.id}`)).body).toEqual(body);
    expect((await origin.get(`${path}?order=collect&count=1`)).body.annotations).toEqual([body]);
    expect((await origin.get('/v2/book/user/alice/annotations?count=1')).body.annotations).toEqual([body]);
  });

  test('accepts a form, a chapter instead of a page, and formulas', async () => {
    const draft = new URLSearchParams({ content: `${content}\n$$a^2 + b^2$$`, chapter: '第一章' });
    const { body } = await origin.post(path, 'alice', draft);
    expect(body).toMatchObject({ chapter: '第一章', hasmath: true });
    expect(body).not.toHaveProperty('page_no');
  });

  test('with privacy "private" hides it from other users', async () => {
    const { id, privacy } = await written({ privacy: 'private' });
    expect(privacy).toBe(0);
    expect((await origin.get(`/v2/book/annotation/${id}`, 'bob')).status).toBe(404);
    expect((await origin.put(`/v2/book/annotation/${id}`, 'bob', { content })).body.code).toBe(1001);
    expect((await written({ privacy: 'friends' })).privacy).toBe(2);
  });

  test.each([
    ['content that is too short', 1005, { content: '字'.repeat(15) }],
    ['emoji that are too few', 1005, { content: '👩‍👩‍👧'.repeat(3) }],
    ['no content', 1002, { page: 1 }],
    ['a page and a chapter', 999, { content, page: 1, chapter: '一' }],
    ['page 0', 6012, { content, page: 0 }],
    ['page 1000000', 6012, { content, page: 1_000_000 }],
    ['a page that is no number', 6012, { content, page: 'xii' }],
    ['a negative page', 6012, { content, page: -3 }],
    ['a chapter that is too long', 6013, { content, chapter: '章'.repeat(101) }],
  ])('is rejected for %s', async (_, code, draft) => {
    const { total } = (await origin.get('/v2/book/user/alice/annotations?count=0', 'alice')).body;
    expect(await origin.post(path, 'alice', draft)).toMatchObject({ status: 400, body: { code } });
    expect((await origin.get('/v2/book/user/alice/annotations?count=0', 'alice')).body.total).toBe(total);
  });

  test.each([
    { content: '字'.repeat(16) },
    { content: '👩‍👩‍👧'.repeat(16) },
    { content, page: 999_999 },
    { content, chapter: '章'.repeat(100) },
  ])('accepts values at the limits', async (draft) => {
    expect((await origin.post(path, 'alice', draft)).status).toBe(201);
  });

  test('requires an existing book and a user', async () => {
    expect((await origin.post('/v2/book/0/annotations', 'alice', { content })).body.code).toBe(6000);
    expect((await origin.post(path, null, { content })).body.code).toBe(1000);
  });
});

describe('pictures of an annotation', () => {
  test('are stored with it and served', async () => {
    const body = form({ content: `${content}<图片1>又<图片2>`, 1: picture('jpg'), pic2: picture('webp', 5000) });
    const { status, body: annotation } = await origin.post(path, 'alice', body);
    expect(status).toBe(201);
    expect(Object.keys(annotation.photos)).toEqual(['1', '2']);
    expect(annotation).toMatchObject({ last_photo: 2, abstract_photo: annotation.photos[1], abstract: `${content}又` });
    const served = await fetch(annotation.photos[2]);
    expect(served.headers.get('content-type')).toBe('image/webp');
    expect((await served.arrayBuffer()).byteLength).toBe(5000);
    expect((await origin.get(`/v2/book/annotation/${annotation.id}?format=html`)).body.content).toContain(
      `<img src="${annotation.photos[1]}">`,
    );
  });

  test('are kept if they are no longer referenced, and their numbers cannot be reused', async () => {
    const first = (await origin.post(path, 'alice', form({ content: `${content}<图片1>`, 1: picture() }))).body;
    const at = `/v2/book/annotation/${first.id}`;
    expect(await origin.put(at, 'alice', form({ content: `${content}<图片1>`, 1: picture('gif') }))).toMatchObject(
      rejection(400, 999, 'invalid_request', `PUT ${at}`),
    );
    const { status, body } = await origin.put(at, 'alice', form({ content: `${content}<图片2>`, 2: picture('gif') }));
    expect(status).toBe(202);
    expect(body.photos).toEqual({ ...first.photos, 2: expect.any(String) });
    expect(body.abstract_photo).toBe(body.photos[2]);
  });

  test.each([
    ['3,000,000 bytes', 1003, { 1: picture('png', 3_000_000) }],
    ['a file without the signature of a picture', 1009, { 1: picture('html') }],
    ['an empty file', 1009, { 1: new Blob([]) }],
    ['a name that is no number', 999, { cover: picture() }],
    ['the number 0', 999, { 0: picture() }],
    ['one number twice', 999, { 1: picture(), pic1: picture() }],
  ])('are rejected for %s, and nothing is stored', async (_, code, parts) => {
    const before = stored();
    expect((await origin.post(path, 'alice', form({ content, ...parts }))).body.code).toBe(code);
    expect(stored()).toBe(before);
  });

  test('may have 2,999,999 bytes', async () => {
    const { body } = await origin.post(path, 'alice', form({ content, 1: picture('png', 2_999_999) }));
    expect((await (await fetch(body.photos[1])).arrayBuffer()).byteLength).toBe(2_999_999);
  });

  test('of a rejected annotation are not stored', async () => {
    const before = stored();
    expect((await origin.post(path, 'alice', form({ content: 'short', 1: picture() }))).body.code).toBe(1005);
    expect((await origin.post(path, 'app', form({ content, 1: picture() }))).body.code).toBe(1000);
    expect((await origin.post(path, 'alice', form({ content, start: 'x', 1: picture() }))).body.code).toBe(999);
    expect(stored()).toBe(before);
    expect(readdirSync(join(origin.dataDir, 'pictures', 'arriving'))).toEqual([]);
  });

  test('whose upload is cut off are removed, and the service continues', async () => {
    const before = stored();
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'multipart/form-data; boundary=x' };
    const cut = request(origin.url + path, { method: 'POST', headers });
    const closed = new Promise((done) => cut.on('error', () => {}).on('close', done));
    const part = '--x\r\ncontent-disposition: form-data; name="1"; filename="1.png"\r\n\r\n\x89PNG\r\n\x1a\n';
    await new Promise((sent) => cut.write(Buffer.from(part + 'x'.repeat(200_000), 'latin1'), sent));
    const arriving = join(origin.dataDir, 'pictures', 'arriving');
    await vi.waitFor(() => expect(readdirSync(arriving)).toHaveLength(1), { timeout: 60_000 });
    cut.destroy();
    await closed;
    await vi.waitFor(() => expect(readdirSync(arriving)).toEqual([]), { timeout: 60_000 });
    expect(stored()).toBe(before);
    expect((await origin.get('/v2/book/6082808')).status).toBe(200);
  });

  test.each(['nothing.png', '..%2Forigin.db', '00000000-0000-0000-0000-000000000000.png'])(
    'that were not uploaded are answered with 404: %s',
    async (name) => {
      expect((await origin.get(`/pictures/${name}`)).status).toBe(404);
    },
  );
});

describe('an annotation of the user', () => {
  test('is replaced by a PUT', async () => {
    const { id } = await written({ page: 5, privacy: 'private' });
    const { status, body } = await origin.put(`/v2/book/annotation/${id}`, 'alice', { content: `${content}改了` });
    expect(status).toBe(202);
    expect(body).toMatchObject({ id, content: `${content}改了`, privacy: 2, chapter: '' });
    expect(body).not.toHaveProperty('page_no');
    expect((await origin.put(`/v2/book/annotation/${id}`, 'alice', { content: 'short' })).body.code).toBe(1005);
    expect((await origin.put(`/v2/book/annotation/${id}`, 'alice', { content, page: 1_000_000 })).body.code).toBe(6012);
  });

  test('is removed by a DELETE together with its pictures', async () => {
    const { id, photos } = (await origin.post(path, 'alice', form({ content, 1: picture() }))).body;
    expect(await origin.delete(`/v2/book/annotation/${id}`, 'alice')).toMatchObject({ status: 204, text: '' });
    expect((await origin.get(`/v2/book/annotation/${id}`, 'alice')).body.code).toBe(1001);
    expect((await origin.delete(`/v2/book/annotation/${id}`, 'alice')).body.code).toBe(1001);
    expect((await fetch(photos[1])).status).toBe(404);
  });

  test('cannot be changed or removed by another user', async () => {
    const { id } = await written();
    const at = `/v2/book/annotation/${id}`;
    expect(await origin.put(at, 'bob', { content })).toMatchObject(
      rejection(403, 6002, 'unauthorized_error', `PUT ${at}`),
    );
    expect(await origin.delete(at, 'bob')).toMatchObject(rejection(403, 6002, 'unauthorized_error', `DELETE ${at}`));
    expect((await origin.get(at)).status).toBe(200);
  });
});

describe('a review', () => {
  const path = '/v2/book/reviews';
  const draft = { book: '6082808', title: '重读', content: '好'.repeat(151) };

  test('is created with 201, updated with 202 and deleted with 200', async () => {
    const { status, body } = await origin.post(path, 'alice', { ...draft, rating: 5 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.any(Number),
      title: '重读',
      author: { uid: 'alice' },
      book: { id: '6082808' },
      rating: { max: 5, min: 0, value: '5' },
      votes: 0,
      useless: 0,
      comments: 0,
      content: draft.content,
    });
    expect(body).not.toHaveProperty('summary');
    const updated = await origin.put(
      `/v2/book/review/${body.id}`,
      'alice',
      new URLSearchParams({ title: '再读', content: '更好'.repeat(80) }),
    );
    expect(updated).toMatchObject({ status: 202, body: { id: body.id, title: '再读', published: body.published } });
    expect(updated.body).not.toHaveProperty('rating');
    expect(await origin.delete(`/v2/book/review/${body.id}`, 'alice')).toMatchObject({ status: 200, body: 'OK' });
    expect(await origin.delete(`/v2/book/review/${body.id}`, 'alice')).toMatchObject(
      rejection(404, 6006, 'review_not_found', `DELETE /v2/book/review/${body.id}`),
    );
  });

  test.each([0, 6, 4.5, 'abc'])('stores no rating for the invalid value %j', async (rating) => {
    const { status, body } = await origin.post(path, 'alice', { ...draft, rating });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('rating');
    const at = `/v2/book/review/${body.id}`;
    expect((await origin.put(at, 'alice', { ...draft, rating: 4 })).body.rating.value).toBe('4');
    const updated = await origin.put(at, 'alice', { ...draft, rating });
    expect(updated.status).toBe(202);
    expect(updated.body).not.toHaveProperty('rating');
  });

  test.each([
    [6004, { ...draft, content: '好'.repeat(150) }],
    [6004, { ...draft, content: '👩‍👩‍👧'.repeat(30) }],
    [1002, { ...draft, title: '' }],
    [1002, { ...draft, title: '  ' }],
    [1002, { book: '6082808', title: '重读' }],
    [1002, { title: '重读', content: draft.content }],
  ])('is rejected with code %i', async (code, broken) => {
    expect(await origin.post(path, 'alice', broken)).toMatchObject({ status: 400, body: { code } });
  });

  test('requires a book, and can be changed by its author only', async () => {
    expect((await origin.post(path, 'alice', { ...draft, book: '0' })).body.code).toBe(6000);
    const { id } = (await origin.post(path, 'alice', draft)).body;
    for (const response of [
      await origin.put(`/v2/book/review/${id}`, 'bob', draft),
      await origin.delete(`/v2/book/review/${id}`, 'bob'),
    ]) {
      expect(response).toMatchObject({ status: 403, body: { code: 6002 } });
    }
    expect((await origin.put(`/v2/book/review/${id}`, 'alice', { ...draft, content: 'short' })).body.code).toBe(6004);
    expect((await origin.put('/v2/book/review/0', 'alice', draft)).body.code).toBe(6006);
  });
});
