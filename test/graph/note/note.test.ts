import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const token = 't';
const gone = { code: 1006, msg: 'target_not_found', request: 'GET /v2/note/9' };
const record = {
  id: '9',
  title: '测试',
  summary: '',
  content: 'one[img=2:L]a cat[/img]\r\n[url="http://a.example/"]two[/url]',
  privacy: 'friend',
  can_reply: true,
  publish_time: '2012-12-14 15:14:47',
  update_time: '2012-12-14 15:14:56',
  photos: { 3: 'http://img.example/3.jpg', 2: 'http://img.example/2.jpg' },
  comments_count: 3,
  liked_count: 17,
  recs_count: 10,
};

describe('a note', () => {
  test('is told to callers who are logged in', async () => {
    const { ask, calls } = facade();
    const { data, errors } = await ask('{ note(id: 9) { title } }');
    expect(data).toEqual({ note: null });
    expect(errors).toMatchObject([{ path: ['note'], extensions: { code: 'LOGIN_REQUIRED' } }]);
    expect(calls).toEqual([]);
  });

  test('that is not there is null: code 1006, status 400', async () => {
    const { service, ask } = facade();
    service.intercept({ path: /^\/v2\/note\/9/ }).reply(400, gone);
    expect(await ask('{ note(id: 9) { title } }', { token })).toEqual({ data: { note: null } });
  });

  test('is one call, its pictures in order and its content a tree', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /^\/v2\/note\/9/, headers: { authorization: 'Bearer t' } }).reply(200, record);
    const { data } = await ask(
      `{ note(id: "Note:9") {
        id sourceId title summary privacy canReply publishedAt updatedAt commentsCount likesCount recommendationsCount
        photos { number } author { id }
        blocks { ... on TextBlock { spans { text linkUrl } } ... on PhotoBlock { photo { url } layout caption } }
      } }`,
      { token },
    );
    expect(data.note).toEqual({
      id: 'Note:9',
      sourceId: '9',
      title: '测试',
      summary: null,
      privacy: 'FRIEND',
      canReply: true,
      publishedAt: '2012-12-14T15:14:47',
      updatedAt: '2012-12-14T15:14:56',
      commentsCount: 3,
      likesCount: 17,
      recommendationsCount: 10,
      photos: [{ number: 2 }, { number: 3 }],
      author: null,
      blocks: [
        { spans: [{ text: 'one', linkUrl: null }] },
        { photo: { url: 'http://img.example/2.jpg' }, layout: 'LEFT', caption: 'a cat' },
        { spans: [{ text: 'two', linkUrl: 'http://a.example/' }] },
      ],
    });
    expect(calls).toHaveLength(1);
  });

  test('counts its comments under either spelling', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: '/v2/note/9', query: { fields: 'comment_count,comments_count,id' } })
      .reply(200, { id: '9', comment_count: 4 });
    expect((await ask('{ note(id: 9) { commentsCount } }', { token })).data.note).toEqual({ commentsCount: 4 });
  });

  test('has its text in the record; another format is one call', async () => {
    const { service, ask, calls } = facade();
    service.intercept({ path: /^\/v2\/note\/9\?.*format=html_short/ }).reply(200, { ...record, content: '<p>one</p>' });
    service.intercept({ path: /^\/v2\/note\/9\?fields=content%2Cid/ }).reply(200, { id: '9', content: 'one' });
    const { data } = await ask(
      'query ($as: NoteFormat) { note(id: 9) { text: content(format: TEXT) short: content(format: $as) again: content(format: $as) } }',
      {
        token,
        variables: { as: 'HTML_SHORT' },
      },
    );
    expect(data.note).toEqual({ text: 'one', short: '<p>one</p>', again: '<p>one</p>' });
    expect(calls).toHaveLength(2);
  });

  test('costs an odd member its own field alone', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: /^\/v2\/note\/9/ })
      .reply(200, { id: 9, title: null, privacy: 'nobody', photos: [], content: 5, update_time: 'soon' });
    const { data } = await ask(
      '{ note(id: 9) { id title privacy photos { number } content updatedAt likesCount canReply } }',
      { token },
    );
    expect(data.note).toEqual({
      id: 'Note:9',
      title: '',
      privacy: null,
      photos: [],
      content: '5',
      updatedAt: null,
      likesCount: 0,
      canReply: false,
    });
  });
});

describe('the notes of a person', () => {
  test('name their author, and come without a total where the service gives none', async () => {
    const { service, ask } = facade();
    service
      .intercept({ path: /^\/v2\/note\/user_created\/3\?.*start=0/ })
      .reply(200, { start: 0, count: 20, notes: [record] });
    const { data } = await ask(
      '{ user(id: 3) { notes { totalCount pageInfo { hasNextPage } nodes { title author { id } } } } }',
      { token },
    );
    expect(data.user.notes).toEqual({
      totalCount: null,
      pageInfo: { hasNextPage: false },
      nodes: [{ title: '测试', author: { id: 'User:3' } }],
    });
  });
});
