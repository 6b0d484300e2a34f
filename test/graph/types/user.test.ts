import { describe, expect, test } from 'vitest';
import { atomUser } from '../../../src/graph/types/user.ts';
import { facade } from '../../support/facade.ts';

describe('a user', () => {
  test('is a reference type: an id or a uid is enough, without an upstream call', async () => {
    const { execute, calls } = facade();
    const { data } = await execute(
      '{ a: user(id: "User:3") { id sourceId isSite } b: user(id: "ann.lee") { id } c: node(id: "User:3") { id } }',
    );
    expect(data).toEqual({
      a: { id: 'User:3', sourceId: '3', isSite: false },
      b: { id: 'User:ann.lee' },
      c: { id: 'User:3' },
    });
    expect(calls).toEqual([]);
  });

  test('has the fields that the response with the reference provides', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/annotation\/11/ }).reply(200, {
      id: '11',
      author_id: '3',
      author_user: {
        id: '3',
        uid: '',
        name: '[已注销]',
        alt: 'http://www.example.com/people/3/',
        avatar: 'http://img.example/3.jpg',
        signature: '',
        desc: '读书人',
        type: 'user',
        is_suicide: true,
        is_banned: true,
      },
    });
    const { data } = await execute('{ annotation(id: 11) { authorUid author { id name avatarUrl webUrl isSite } } }');
    expect(data.annotation).toEqual({
      authorUid: null,
      author: {
        id: 'User:3',
        name: '[已注销]',
        avatarUrl: 'http://img.example/3.jpg',
        webUrl: 'http://www.example.com/people/3/',
        isSite: false,
      },
    });
  });

  test('that is an organisation has empty lists of collections, tags, annotations and notes, without an upstream call', async () => {
    const { service, execute, calls } = facade();
    service
      .intercept({ path: /^\/v2\/book\/annotation\/11/ })
      .reply(200, { id: '11', author_id: '3', author_user: { id: '3', name: '书店', type: 'site' } });
    const { data } = await execute(`{ annotation(id: 11) { author { isSite
      bookCollections { totalCount nodes { id } } bookTags { nodes { name } } annotations { nodes { id } } notes { nodes { id } }
    } } }`);
    expect(data.annotation.author).toEqual({
      isSite: true,
      bookCollections: { totalCount: 0, nodes: [] },
      bookTags: { nodes: [] },
      annotations: { nodes: [] },
      notes: { nodes: [] },
    });
    expect(calls).toHaveLength(1);
  });

  test('has tags, whose name is the title of the upstream record', async () => {
    const { service, execute } = facade();
    service
      .intercept({ path: /^\/v2\/book\/user\/3\/tags\?/ })
      .reply(200, { start: 0, count: 20, total: 2, tags: [{ count: 9, title: '小说' }, null] });
    expect((await execute('{ user(id: 3) { bookTags { nodes { name count } } } }')).data.user.bookTags.nodes).toEqual([
      { name: '小说', count: 9 },
    ]);
  });
});

describe('an Atom person', () => {
  test('is mapped to the fields of a user', () => {
    expect(
      atomUser({
        id: 'ann',
        uid: 'ann',
        name: 'Ann',
        content: 'hello',
        links: { alternate: 'http://a.example/', icon: 'http://a.example/i.jpg', homepage: 'http://h.example/' },
        location: { id: 'beijing', name: '北京' },
      }),
    ).toEqual({
      id: 'ann',
      uid: 'ann',
      name: 'Ann',
      desc: 'hello',
      alt: 'http://a.example/',
      avatar: 'http://a.example/i.jpg',
      homepage: 'http://h.example/',
      loc_id: 'beijing',
      loc_name: '北京',
    });
  });

  test('is null without an id', () => {
    expect(atomUser({ name: 'Ann', links: {} })).toBeNull();
    expect(atomUser(undefined)).toBeNull();
  });
});
