import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { record } from './record.ts';

const token = 't';

describe('comments on a note', () => {
  const comment = {
    id: '104',
    content: '童年呀',
    created: '2012-05-19 21:52:48',
    author: { id: '5', name: '用户', uid: 'five' },
  };
  const expected = {
    id: 'NoteComment:9:104',
    sourceId: '104',
    content: '童年呀',
    createdAt: '2012-05-19T21:52:48',
    author: { name: '用户' },
  };
  const selection = 'id sourceId content createdAt author { name }';

  test('have ids that contain the ids of the note and the comment', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/note\/9\/comments\?/ })
      .reply(200, { start: 0, count: 20, total: 1, comments: [comment] });
    service.intercept({ path: /^\/v2\/note\/9(\?|$)/ }).reply(200, record);
    const { data } = await execute(`{ note(id: 9) { title comments { totalCount nodes { ${selection} } } } }`, {
      token,
    });
    expect(data.note.comments).toEqual({ totalCount: 1, nodes: [expected] });
  });

  test('can be loaded by their global id', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/note\/9\/comment\/104/ }).reply(200, comment);
    const { data } = await execute(`{ node(id: "NoteComment:9:104") { ... on NoteComment { ${selection} } } }`, {
      token,
    });
    expect(data.node).toEqual(expected);
  });

  test('can be selected by a global or bare id, on their own note only', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/note\/9(\?|$)/ }).reply(200, record);
    service
      .intercept({ path: /^\/v2\/note\/9\/comment\/104/ })
      .reply(200, comment)
      .times(2);
    const { data, errors } = await execute(
      `{ note(id: 9) { title a: noteComment(id: 104) { ${selection} } b: noteComment(id: "NoteComment:9:104") { id } c: noteComment(id: "NoteComment:8:104") { id } } }`,
      { token },
    );
    expect(data.note).toMatchObject({ a: expected, b: { id: expected.id }, c: null });
    expect(errors).toMatchObject([{ path: ['note', 'c'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

test('a comment has its note, whose id costs no call', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: /\/v2\/note\/9\/comment\/3/ }).reply(200, { id: '3', content: 'so' });
  service.intercept({ path: /\/v2\/note\/9\?/ }).reply(200, { id: '9', title: 'T' });
  const query = (fields: string) =>
    `{ node(id: "NoteComment:9:3") { ... on NoteComment { content note { ${fields} } } } }`;
  expect((await execute(query('id'), { token: 'own' })).data.node).toEqual({ content: 'so', note: { id: 'Note:9' } });
  expect(calls).toHaveLength(1);
  service.intercept({ path: /\/v2\/note\/9\/comment\/3/ }).reply(200, { id: '3', content: 'so' });
  expect((await execute(query('title'), { token: 'own' })).data.node.note).toEqual({ title: 'T' });
});
