import { describe, expect, test } from 'vitest';
import { noteMembers } from '../../src/api/note.ts';
import { expectTimeToGrowWith } from '../support/growth.ts';
import { form, picture, rejection, service } from '../support/service.ts';

const origin = await service();
const first = '/v2/note/244600001';
const draft = { title: '午后', content: '第一行\n第二行' };
const written = async (more: object = {}) => (await origin.post('/v2/notes', 'alice', { ...draft, ...more })).body;

describe('a note', () => {
  test('has all members, in the documented order', async () => {
    const { status, body } = await origin.get(first, 'bob');
    expect(status).toBe(200);
    // The documented field table and the sample name one member differently; the name of the sample is used.
    expect(Object.keys(body)).toEqual(noteMembers.filter((name) => name !== 'comment_count'));
    expect(body).toMatchObject({
      id: '244600001',
      privacy: 'public',
      can_reply: true,
      comments_count: 48,
      liked_count: 30,
    });
    expect(Object.keys(body.photos)).toEqual(['1', '2']);
    expect((await origin.get(`${first}?fields=id,title`, 'bob')).body).toEqual({ id: '244600001', title: body.title });
  });

  test('requires a login', async () => {
    for (const path of [first, '/v2/note/user_created/alice', `${first}/comments`, `${first}/comment/1`]) {
      for (const as of [null, 'app'] as const) {
        expect(await origin.get(path, as)).toMatchObject(rejection(403, 1000, 'need_permission', `GET ${path}`));
      }
    }
    expect((await origin.post('/v2/notes', null, draft)).body.code).toBe(1000);
    expect((await origin.post(`${first}/like`, null)).body.code).toBe(1000);
  });

  test('is answered with code 1006 if it does not exist', async () => {
    expect(await origin.get('/v2/note/1', 'alice')).toMatchObject(
      rejection(400, 1006, 'target_not_found', 'GET /v2/note/1'),
    );
  });

  test.each([
    ['public', [200, 200, 200]],
    ['friend', [200, 200, 403]],
    ['private', [200, 403, 403]],
  ])(
    'with privacy "%s" is returned to the author, to a friend and to a stranger with status %j',
    async (privacy, statuses) => {
      const { id } = await written({ privacy });
      const seen = [];
      for (const as of ['alice', 'bob', 'carol'] as const) {
        const { status, body } = await origin.get(`/v2/note/${id}`, as);
        seen.push(status);
        if (status === 403) expect(body.code).toBe(1000);
        const { notes } = (await origin.get('/v2/note/user_created/alice?fields=id&count=1', as)).body;
        expect(notes[0].id === id).toBe(status === 200);
      }
      expect(seen).toEqual(statuses);
    },
  );

  test('is returned as text, as an abstract and as HTML', async () => {
    const content = `${'字'.repeat(190)}\n<b>不是标签</b><a href="https://example.org/?a=1&amp;b=2">看 <i>这里</i></a>${'尾'.repeat(30)}`;
    const { id } = (
      await origin.post(
        '/v2/notes',
        'alice',
        form({
          title: '格式',
          content: `${content}<图片p_1>`,
          pids: 'p_1',
          layout_1: 'L',
          desc_1: '一 & 二',
          image_1: picture(),
        }),
      )
    ).body;
    const as = async (format: string) => (await origin.get(`/v2/note/${id}?format=${format}`, 'alice')).body;
    const { photos } = await as('text');
    expect((await as('text')).content).toContain('[url="https://example.org/?a=1&b=2"]看 这里[/url]');
    expect((await as('text')).content).toContain('[img=1:L]一 & 二[/img]');
    const full = (await as('html_full')).content;
    expect(full).toContain('&lt;b&gt;不是标签&lt;/b&gt;<a href="https://example.org/?a=1&amp;b=2">看 这里</a>');
    expect(full).toContain('<div style="padding-bottom:1em;"></div>');
    expect(full).toContain(`<img src="${photos[1]}" alt="一 &amp; 二" class="L">`);
    const short = (await as('html_short')).content;
    expect(short.length).toBeLessThan(full.length);
    expect(short).toContain('<div style="padding-bottom:1em;"></div>');
    expect(short).not.toContain('<img');
    const { content: abstract, summary } = await as('abstract');
    expect(abstract).toMatch(/^字{190} <b>不是标签.*\.\.\.$/);
    expect(summary).toBe(`${'字'.repeat(100)}...`);
    expect((await as('pdf')).code).toBe(999);
  });
});

describe('the notes of a user', () => {
  test('are listed newest first, in pages, in the requested format', async () => {
    const { body } = await origin.get('/v2/note/user_created/alice?count=100&format=abstract', 'alice');
    expect(body).toMatchObject({ start: 0, count: 100, total: body.notes.length });
    expect(body.total).toBeGreaterThanOrEqual(45);
    const times = body.notes.map((note: { publish_time: string }) => note.publish_time);
    expect(times).toEqual([...times].sort().reverse());
    for (const { content } of body.notes) expect(content).not.toContain('[img=');
    expect((await origin.get('/v2/note/user_created/1000001', 'alice')).body).toMatchObject({ start: 0, count: 20 });
    expect((await origin.get('/v2/note/user_created/nobody', 'alice')).body.code).toBe(6008);
  });

  test('are those that the current user may read', async () => {
    const total = async (as: 'alice' | 'bob' | 'carol') =>
      (await origin.get('/v2/note/user_created/alice?count=1', as)).body.total;
    const [own, friend, stranger] = [await total('alice'), await total('bob'), await total('carol')];
    expect(own).toBeGreaterThan(friend);
    expect(friend).toBeGreaterThan(stranger);
  });
});

describe('writing a note', () => {
  test('responds with 201 and the note, public and open to comments', async () => {
    const { status, body } = await origin.post('/v2/notes', 'alice', draft);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...draft,
      privacy: 'public',
      can_reply: true,
      photos: {},
      comments_count: 0,
      liked_count: 0,
      recs_count: 0,
    });
    expect((await origin.get(`/v2/note/${body.id}`, 'bob')).body).toEqual(body);
  });

  test('accepts a form', async () => {
    const fields = new URLSearchParams({ ...draft, privacy: 'friend', can_reply: 'false' });
    expect((await origin.post('/v2/notes', 'alice', fields)).body).toMatchObject({
      privacy: 'friend',
      can_reply: false,
    });
  });

  test.each([
    [1002, { content: '有' }],
    [1002, { title: '', content: '有' }],
    [1002, { title: ' ', content: '有' }],
    [1002, { title: '有' }],
    [999, { ...draft, privacy: 'secret' }],
    [999, { ...draft, can_reply: 'perhaps' }],
    [999, { ...draft, pids: 'one' }],
    [1002, { ...draft, pids: 'p_1' }],
  ])('is rejected with code %i', async (code, broken) => {
    expect(await origin.post('/v2/notes', 'alice', broken)).toMatchObject({ status: 400, body: { code } });
  });

  test('converts links and plain URLs to the tags of the text format', async () => {
    const { content } = await written({
      content: [
        `看<a class="x" href='http://example.org/a b'>这里</a>，还有https://example.org/c.`,
        '<a href="javascript:alert(1)">不能点</a>',
        '[url="https://example.org/d"]旧的[/url] [img=7:R]图[/img]',
      ].join('\n'),
    });
    expect(content.split('\n')).toEqual([
      '看[url="http://example.org/a%20b"]这里[/url]，还有[url="https://example.org/c"][/url].',
      '不能点',
      '［url="[url="https://example.org/d"][/url]"]旧的［/url] ［img=7:R]图［/img]',
    ]);
  });

  test.each([
    ['<a href="x">', (n: number) => '<a href="x">'.repeat(n)],
    ['<a href=""', (n: number) => '<a href=""'.repeat(n)],
    ['<a with many href=""', (n: number) => `<a${' href=""'.repeat(60)}`.repeat(n / 50)],
    ['[url="', (n: number) => '[url="'.repeat(2 * n)],
    ['http://!', (n: number) => `http://${'!'.repeat(10 * n)}a`],
  ])('parses a long hostile text in linear time: %s', async (_, make) => {
    const write = async (n: number) =>
      expect((await origin.post('/v2/notes', 'alice', { title: '长', content: make(n) })).status).toBe(201);
    await expectTimeToGrowWith(40_000, write, 10);
  });
});

describe('pictures of a note', () => {
  test('replace their placeholders, with layout and caption', async () => {
    const { status, body } = await origin.post(
      '/v2/notes',
      'alice',
      form({
        ...draft,
        content: '前<图片p_2>中<图片p_1>后<图片p_9>',
        pids: 'p_1,p_2',
        layout_1: 'L',
        desc_1: '海\n边',
        image_1: picture('jpg'),
        image_p_2: picture('gif'),
      }),
    );
    expect(status).toBe(201);
    expect(body.content).toBe('前[img=2:C][/img]中[img=1:L]海 边[/img]后<图片p_9>');
    expect((await fetch(body.photos[1])).headers.get('content-type')).toBe('image/jpeg');
  });

  test('are appended, or put where the new content has placeholders', async () => {
    const { id } = (
      await origin.post(
        '/v2/notes',
        'alice',
        form({ ...draft, content: '一<图片p_1>', pids: 'p_1', desc_1: '旧', image_1: picture() }),
      )
    ).body;
    const added = await origin.post(
      `/v2/note/${id}`,
      'alice',
      form({ pids: 'p_2', layout_2: 'R', image_2: picture() }),
    );
    expect(added).toMatchObject({ status: 200, body: { content: '一[img=1:C]旧[/img]\n[img=2:R][/img]' } });
    const placed = await origin.post(
      `/v2/note/${id}`,
      'alice',
      form({ content: '<图片p_3>、<图片p_1>', pids: 'p_3', image_3: picture() }),
    );
    expect(placed.body).toMatchObject({ title: draft.title, content: '[img=3:C][/img]、[img=1:C]旧[/img]' });
    expect(Object.keys(placed.body.photos)).toEqual(['1', '2', '3']);
  });

  test.each([
    [
      'four at once',
      999,
      { pids: 'p_1,p_2,p_3,p_4', image_1: picture(), image_2: picture(), image_3: picture(), image_4: picture() },
    ],
    ['a number twice', 999, { pids: 'p_1,p_1', image_1: picture() }],
    ['a number without a picture', 1002, { pids: 'p_1,p_2', image_1: picture() }],
    ['a picture without a number', 999, { pids: 'p_1', image_1: picture(), image_2: picture() }],
    ['an unknown layout', 999, { pids: 'p_1', layout_1: 'X', image_1: picture() }],
    ['3,000,000 bytes', 1003, { pids: 'p_1', image_1: picture('png', 3_000_000) }],
    ['a file without the signature of a picture', 1009, { pids: 'p_1', image_1: picture('html') }],
  ])('are rejected for %s', async (_, code, parts) => {
    const { id } = await written();
    for (const response of [
      await origin.post('/v2/notes', 'alice', form({ ...draft, ...parts })),
      await origin.put(`/v2/note/${id}`, 'alice', form({ ...draft, ...parts })),
      await origin.post(`/v2/note/${id}`, 'alice', form(parts)),
    ]) {
      expect(response).toMatchObject({ status: 400, body: { code } });
    }
    expect((await origin.get(`/v2/note/${id}`, 'alice')).body.photos).toEqual({});
  });

  test('cannot reuse a number, and a request without a picture is rejected', async () => {
    const { id } = (await origin.post('/v2/notes', 'alice', form({ ...draft, pids: 'p_1', image_1: picture() }))).body;
    expect((await origin.post(`/v2/note/${id}`, 'alice', form({ pids: 'p_1', image_1: picture() }))).body.code).toBe(
      999,
    );
    for (const parts of [{}, { content: '有' }, { title: '有' }, { pids: '' }])
      expect((await origin.post(`/v2/note/${id}`, 'alice', parts)).body.code).toBe(1002);
  });

  test('are required by a POST to a note: without one it is a wrong method', async () => {
    const { id } = await written();
    const path = `/v2/note/${id}`;
    const before = await origin.get(path, 'alice');
    const rejected = rejection(400, 1014, 'wrong_method', `POST ${path}`);
    for (const whole of [{ title: '新', content: '新' }, form({ title: '新', content: '新', privacy: 'private' })])
      expect(await origin.post(path, 'alice', whole)).toMatchObject(rejected);
    expect((await origin.get(path, 'alice')).body).toEqual(before.body);
    // The owner and the existence of the note are checked first.
    expect((await origin.post(path, 'bob', { title: '新', content: '新' })).body.code).toBe(1000);
    expect((await origin.post('/v2/note/1', 'alice', { title: '新', content: '新' })).body.code).toBe(1006);
    const both = await origin.post(path, 'alice', form({ title: '新', pids: 'p_1', image_1: picture() }));
    expect(both).toMatchObject({ status: 200, body: { title: before.body.title } });
  });
});

describe('a note of the user', () => {
  test('is replaced by a PUT and keeps its pictures', async () => {
    const { id } = (
      await origin.post(
        '/v2/notes',
        'alice',
        form({ ...draft, privacy: 'private', can_reply: 'false', pids: 'p_1', image_1: picture() }),
      )
    ).body;
    const { status, body } = await origin.put(`/v2/note/${id}`, 'alice', { title: '傍晚', content: '<图片p_1>' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ id, title: '傍晚', content: '[img=1:C][/img]', privacy: 'public', can_reply: true });
    expect((await origin.put(`/v2/note/${id}`, 'alice', { title: '傍晚' })).body.code).toBe(1002);
  });

  test('is removed by a DELETE together with its pictures', async () => {
    const { id, photos } = (
      await origin.post('/v2/notes', 'alice', form({ ...draft, pids: 'p_1', image_1: picture() }))
    ).body;
    await origin.post(`/v2/note/${id}/comments`, 'bob', { content: '好' });
    await origin.post(`/v2/note/${id}/like`, 'bob');
    expect(await origin.delete(`/v2/note/${id}`, 'alice')).toMatchObject({ status: 200, body: {} });
    expect((await origin.get(`/v2/note/${id}`, 'alice')).body.code).toBe(1006);
    expect((await fetch(photos[1])).status).toBe(404);
  });

  test('cannot be changed or removed by another user', async () => {
    const { id } = await written();
    for (const response of [
      await origin.put(`/v2/note/${id}`, 'bob', draft),
      await origin.delete(`/v2/note/${id}`, 'bob'),
      await origin.post(`/v2/note/${id}`, 'bob', form({ pids: 'p_1', image_1: picture() })),
    ]) {
      expect(response).toMatchObject({ status: 403, body: { code: 1000 } });
    }
  });
});

test('a like counts once, and can be removed', async () => {
  const { id } = await written({ privacy: 'friend' });
  const likes = async () => (await origin.get(`/v2/note/${id}`, 'alice')).body.liked_count;
  const all = Array.from({ length: 10 }, () => origin.post(`/v2/note/${id}/like`, 'bob'));
  for (const response of await Promise.all(all)) expect(response).toMatchObject({ status: 200, body: {} });
  expect(await likes()).toBe(1);
  expect((await origin.post(`/v2/note/${id}/like`, 'carol')).body.code).toBe(1000);
  expect(await origin.delete(`/v2/note/${id}/like`, 'bob')).toMatchObject({ status: 200, body: {} });
  expect((await origin.delete(`/v2/note/${id}/like`, 'bob')).status).toBe(200);
  expect(await likes()).toBe(0);
  expect((await origin.post('/v2/note/1/like', 'bob')).body.code).toBe(1006);
});

describe('comments on a note', () => {
  test('are listed oldest first, in pages', async () => {
    const { body } = await origin.get(`${first}/comments`, 'bob');
    expect(body).toMatchObject({ start: 0, count: 20, total: 48 });
    expect(body.comments).toHaveLength(20);
    const ids = body.comments.map((comment: { id: string }) => Number(comment.id));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(Object.keys(body.comments[0])).toEqual(['id', 'content', 'created', 'author']);
    expect(Object.keys(body.comments[0].author)).toEqual(['id', 'uid', 'name', 'alt', 'avatar']);
    expect((await origin.get(`${first}/comments?start=40`, 'bob')).body.comments).toHaveLength(8);
    expect((await origin.get(`${first}/comment/${ids[0]}`, 'bob')).body).toEqual(body.comments[0]);
    expect((await origin.get(`${first}/comment/1`, 'bob')).body.code).toBe(1006);
  });

  test('can be written, are counted, and can be deleted', async () => {
    const { id } = await written();
    const { status, body } = await origin.post(
      `/v2/note/${id}/comments`,
      'bob',
      new URLSearchParams({ content: '写得好' }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: expect.any(String), content: '写得好', author: { uid: 'bob' } });
    expect((await origin.get(`/v2/note/${id}`, 'alice')).body.comments_count).toBe(1);
    const at = `/v2/note/${id}/comment/${body.id}`;
    expect((await origin.delete(at, 'carol')).body.code).toBe(1000);
    expect(await origin.delete(at, 'bob')).toMatchObject({ status: 200, body: {} });
    expect((await origin.delete(at, 'bob')).body.code).toBe(1006);
    const another = (await origin.post(`/v2/note/${id}/comments`, 'carol', { content: '也好' })).body;
    expect((await origin.delete(`/v2/note/${id}/comment/${another.id}`, 'alice')).status).toBe(200);
    expect((await origin.get(`/v2/note/${id}`, 'alice')).body.comments_count).toBe(0);
  });

  test('require a text, and a note that accepts them', async () => {
    const closed = await written({ can_reply: false });
    const hidden = await written({ privacy: 'private' });
    expect((await origin.post(`${first}/comments`, 'bob', { content: ' ' })).body.code).toBe(1002);
    expect((await origin.post(`${first}/comments`, 'bob')).body.code).toBe(1002);
    expect((await origin.post(`/v2/note/${closed.id}/comments`, 'bob', { content: '好' })).body.code).toBe(1000);
    expect((await origin.post(`/v2/note/${hidden.id}/comments`, 'bob', { content: '好' })).body.code).toBe(1000);
    expect((await origin.get(`/v2/note/${hidden.id}/comments`, 'bob')).body.code).toBe(1000);
    expect((await origin.post('/v2/note/1/comments', 'bob', { content: '好' })).body.code).toBe(1006);
  });
});

test('a text with NUL is rejected in any encoding, and nothing is stored', async () => {
  const total = async () => (await origin.get('/v2/note/user_created/alice?count=0', 'alice')).body.total as number;
  const before = await total();
  const texts = { title: '午\0后', content: 'a' };
  for (const body of [texts, form({ ...texts, pids: 'p_1', image_1: picture('png', 100) })])
    expect(await origin.post('/v2/notes', 'alice', body)).toMatchObject(
      rejection(400, 999, 'invalid_request', 'POST /v2/notes'),
    );
  expect(await total()).toBe(before);
});

test('the texts of a form have a total size limit', async () => {
  const texts = Object.fromEntries(['content', 'a', 'b'].map((name) => [name, 'x'.repeat(700_000)]));
  expect((await origin.post('/v2/notes', 'alice', form({ title: '题', ...texts }))).body.code).toBe(999);
});
