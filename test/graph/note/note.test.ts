import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { record } from './record.ts';

const token = 't';

describe('a note', () => {
  test('requires a login', async () => {
    const { execute, calls } = facade();
    const { data, errors } = await execute('{ note(id: 9) { title } }');
    expect(data).toEqual({ note: null });
    expect(errors).toMatchObject([{ path: ['note'], extensions: { code: 'LOGIN_REQUIRED' } }]);
    expect(calls).toEqual([]);
  });

  test('is loaded by one call, with its photos in order and its content as blocks', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/note\/9/, headers: { authorization: 'Bearer t' } }).reply(200, record);
    const { data } = await execute(
      `{ note(id: "Note:9") {
        id sourceId title summary privacy canReply createdAt updatedAt commentsCount likesCount recommendationsCount
        pictures { number } author { id }
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
      createdAt: '2012-12-14T15:14:47',
      updatedAt: '2012-12-14T15:14:56',
      commentsCount: 3,
      likesCount: 17,
      recommendationsCount: 10,
      pictures: [{ number: 2 }, { number: 3 }],
      author: null,
      blocks: [
        { spans: [{ text: 'one', linkUrl: null }] },
        { photo: { url: 'http://img.example/2.jpg' }, layout: 'LEFT', caption: 'a cat' },
        { spans: [{ text: 'two', linkUrl: 'http://a.example/' }] },
      ],
    });
    expect(calls).toHaveLength(1);
  });

  test('has the author that the real service returns, in a list', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: '/v2/note/9', query: { fields: 'author,id' } })
      .reply(200, { id: '9', author: [{ id: '3', name: '作者', uid: 'writer', avatar: 'http://img.example/3.jpg' }] });
    const { data } = await execute('{ note(id: 9) { author { id name avatarUrl } } }', { token });
    expect(data.note.author).toEqual({
      id: 'User:3',
      name: '作者',
      avatarUrl: 'http://img.example/3.jpg',
    });
    expect(calls).toHaveLength(1);
  });

  test('has its number of comments under either wire name', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: '/v2/note/9', query: { fields: 'comment_count,comments_count,id' } })
      .reply(200, { id: '9', comment_count: 4 });
    expect((await execute('{ note(id: 9) { commentsCount } }', { token })).data.note).toEqual({ commentsCount: 4 });
  });

  test('has its text in the record; another format costs one call', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/note\/9\?.*format=html_short/ }).reply(200, { ...record, content: '<p>one</p>' });
    service.intercept({ path: /^\/v2\/note\/9\?fields=content%2Cid/ }).reply(200, { id: '9', content: 'one' });
    const { data } = await execute(
      'query ($as: NoteFormat) { note(id: 9) { text: content(format: TEXT) short: content(format: $as) again: content(format: $as) } }',
      {
        token,
        variables: { as: 'HTML_SHORT' },
      },
    );
    expect(data.note).toEqual({ text: 'one', short: '<p>one</p>', again: '<p>one</p>' });
    expect(calls).toHaveLength(2);
  });

  test('has a default or null for each malformed member, and no error', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/note\/9/ })
      .reply(200, { id: 9, title: null, privacy: 'nobody', photos: [], content: 5, update_time: 'soon' });
    const { data } = await execute(
      '{ note(id: 9) { id title privacy pictures { number } content updatedAt likesCount canReply } }',
      { token },
    );
    expect(data.note).toEqual({
      id: 'Note:9',
      title: '',
      privacy: null,
      pictures: [],
      content: '5',
      updatedAt: null,
      likesCount: 0,
      canReply: false,
    });
  });
});

describe('the notes of a user', () => {
  test('have a null total if the service sends none, and the author that the note has by its id', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/note\/user_created\/3\?.*start=0/ })
      .reply(200, { start: 0, count: 20, notes: [record] });
    const { data } = await execute(
      '{ user(id: 3) { notes { totalCount pageInfo { hasNextPage } nodes { title author { id } } } } }',
      { token },
    );
    expect(data.user.notes).toEqual({
      totalCount: null,
      pageInfo: { hasNextPage: false },
      nodes: [{ title: '测试', author: null }],
    });
  });

  test('have the author that the service returns with each', async () => {
    const { service, execute, calls } = facade();
    const author = [{ id: '3', name: '作者', uid: 'writer', avatar: 'http://img.example/3.jpg' }];
    service
      .intercept({ path: '/v2/note/user_created/writer', query: { start: '0', count: '20', fields: 'author,id' } })
      .reply(200, {
        start: 0,
        count: 20,
        notes: [
          { id: '9', author },
          { id: '8', author: [] },
          { id: '7', author: 'writer' },
        ],
      });
    const { data } = await execute('{ user(id: "writer") { notes { nodes { author { id } } } } }', { token });
    expect(data.user.notes.nodes.map((note: { author: unknown }) => note.author)).toEqual([
      { id: 'User:3' },
      null,
      null,
    ]);
    expect(calls).toHaveLength(1);
  });
});

describe('a format of the notes of a user', () => {
  const list = (contents: Record<string, string>, listed = ['1', '2']) => {
    const here = facade();
    here.service
      .intercept({ path: /user_created/ })
      .reply(200, ({ path }) => {
        const format = new URL(path, 'http://service').searchParams.get('format') ?? 'text';
        return { start: 0, count: 20, notes: listed.map((id) => ({ id, title: `T${id}`, content: contents[format] })) };
      })
      .persist();
    return here;
  };
  const token = { token: 'own' };
  const lines = (calls: readonly string[]) => calls.filter((call) => call.includes('/note/')).sort();

  test('is requested with the list if it is the only one selected', async () => {
    const { execute, calls } = list({ abstract: 'short' });
    const { data, errors } = await execute(
      '{ user(id: 7) { notes(first: 2) { nodes { title content(format: ABSTRACT) } } } }',
      token,
    );
    expect(errors).toBeUndefined();
    expect(data.user.notes.nodes).toEqual([
      { title: 'T1', content: 'short' },
      { title: 'T2', content: 'short' },
    ]);
    expect(lines(calls)).toEqual([
      'GET /v2/note/user_created/7?count=2&fields=content,id,title&format=abstract&start=0',
    ]);
  });

  test('costs one more list call beside the text, whatever the length of the list', async () => {
    const { execute, calls } = list({ text: 'T', html_short: '<p>', abstract: 'A' });
    const { data } = await execute(
      '{ user(id: 7) { notes { nodes { content blocks { __typename } short: content(format: HTML_SHORT) again: content(format: HTML_SHORT) abstract: content(format: ABSTRACT) } } } }',
      token,
    );
    expect(data.user.notes.nodes[1]).toEqual({
      content: 'T',
      blocks: [{ __typename: 'TextBlock' }],
      short: '<p>',
      again: '<p>',
      abstract: 'A',
    });
    expect(lines(calls)).toHaveLength(3);
  });

  test('does not replace the text that another selection of the same nodes needs', async () => {
    const { execute, calls } = list({ text: 'T', abstract: 'A' });
    const { data } = await execute(
      '{ user(id: 7) { notes { edges { node { content(format: ABSTRACT) } } nodes { blocks { ... on TextBlock { spans { text } } } } } } }',
      token,
    );
    expect(data.user.notes.edges[0].node).toEqual({ content: 'A' });
    expect(data.user.notes.nodes[0].blocks).toEqual([{ spans: [{ text: 'T' }] }]);
    expect(lines(calls)).toHaveLength(2);
  });

  test('can be given by a variable', async () => {
    const { execute, calls } = list({ text: 'T', abstract: 'A' });
    const query = 'query ($f: NoteFormat) { user(id: 7) { notes { nodes { content(format: $f) } } } }';
    for (const [f, content] of [
      ['ABSTRACT', 'A'],
      ['TEXT', 'T'],
      [null, 'T'],
      ['ABSTRACT', 'A'],
    ] as const) {
      const { data } = await execute(query, { ...token, variables: { f } });
      expect(data.user.notes.nodes[0]).toEqual({ content });
    }
    expect(lines(calls)).toHaveLength(4);
  });

  test('is an error if the note is missing in the second list call', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /format=/ }).reply(200, { start: 0, count: 20, notes: [] });
    service.intercept({ path: /user_created/ }).reply(200, { start: 0, count: 20, notes: [{ id: '1', content: 'T' }] });
    const { data, errors } = await execute(
      '{ user(id: 7) { notes { nodes { content short: content(format: HTML_SHORT) } } } }',
      token,
    );
    expect(data.user.notes.nodes).toEqual([{ content: 'T', short: null }]);
    expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});
