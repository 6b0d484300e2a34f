import { describe, expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const feed = (author: string, entries = '') => `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:db="http://www.douban.com/xmlns/" xmlns:gd="http://schemas.google.com/g/2005">
  <title>活动</title>${author}${entries}</feed>`;
const ann = `<author><link href="http://api.example/people/3" rel="self"/><link href="http://www.example/people/ann/" rel="alternate"/>
  <link href="http://img.example/u3.jpg" rel="icon"/><name>安</name><uri>http://api.example/people/3</uri></author>`;
const shop = ann.replaceAll('http://api.example/people/3', 'http://api.example/site/3');
const expected = { name: '安', avatarUrl: 'http://img.example/u3.jpg', webUrl: 'http://www.example/people/ann/' };
const fields = 'name avatarUrl webUrl';

function facadeWith(text: string, status = 200) {
  const made = facade();
  made.events
    .intercept({ path: /^\/people\/3\/events/ })
    .reply(status, text, { headers: { 'content-type': 'application/atom+xml' } })
    .persist();
  return made;
}

describe('a user selected by id', () => {
  test.each([
    ['user', `{ user(id: 3) { id ${fields} } }`],
    ['node', `{ node(id: "User:3") { id ... on User { ${fields} } } }`],
  ])('has a name, an avatar and a page from one call, in the field %s', async (name, query) => {
    const { execute, calls } = facadeWith(feed(ann));
    expect(await execute(query)).toEqual({ data: { [name]: { id: 'User:3', ...expected } } });
    expect(calls).toEqual(['GET /people/3/events?max-results=1']);
  });

  test('needs no further call beside a call for the events of the user', async () => {
    const { execute, calls } = facadeWith(feed(ann));
    const { data } = await execute(`{ user(id: 3) { ${fields} events { nodes { id } } } }`);
    expect(data.user).toEqual({ ...expected, events: { nodes: [] } });
    expect(calls).toHaveLength(1);
  });

  test('needs no further call beside annotations that embed the user', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/book\/user\/3\/annotations/ }).reply(200, {
      ...{ start: 0, count: 20, total: 1 },
      annotations: [
        {
          id: '1',
          author_id: '3',
          author_user: { id: '3', name: '安', avatar: expected.avatarUrl, alt: expected.webUrl },
        },
      ],
    });
    const { data } = await execute(`{ user(id: 3) { ${fields} annotations { nodes { author { name } } } } }`);
    expect(data.user).toEqual({ ...expected, annotations: { nodes: [{ author: { name: '安' } }] } });
    expect(calls).toHaveLength(1);
  });

  test('needs no further call if one of the lists names the user and another is empty', async () => {
    const { service, execute, calls } = facadeWith(feed(ann));
    service
      .intercept({ path: /^\/v2\/book\/user\/3\/annotations/ })
      .reply(200, { start: 0, count: 20, total: 0, annotations: [] });
    const { data } = await execute(
      `{ user(id: 3) { ${fields} annotations { nodes { id } } events { nodes { id } } } }`,
    );
    expect(data.user).toMatchObject(expected);
    expect(calls).toHaveLength(2);
  });

  test('by uid has the id that its annotations tell', async () => {
    const { service, execute, calls } = facade();
    service.intercept({ path: /^\/v2\/book\/user\/ann\/annotations/ }).reply(200, {
      ...{ start: 0, count: 20, total: 1 },
      annotations: [{ id: '1', author_id: '3', author_user: { id: '3', name: '安' } }],
    });
    const { data } = await execute('{ user(id: "ann") { id name annotations { nodes { author { name } } } } }');
    expect(data.user).toEqual({ id: 'User:3', name: '安', annotations: { nodes: [{ author: { name: '安' } }] } });
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['user', '{ user(id: "ann") { id name } }'],
    ['node', '{ node(id: "User:ann") { id ... on User { name } } }'],
  ])('by uid has the id that the feed of the person tells, in the field %s', async (name, query) => {
    const { events, execute, calls } = facade();
    events
      .intercept({ path: /^\/people\/ann\/events/ })
      .reply(200, feed(ann), { headers: { 'content-type': 'application/atom+xml' } });
    expect((await execute(query)).data).toEqual({ [name]: { id: 'User:3', name: '安' } });
    expect(calls).toHaveLength(1);
  });

  test('by uid is not asked for again by the id that its feed has told', async () => {
    const { service, events, execute, calls } = facade();
    events
      .intercept({ path: /^\/people\/ann\/events/ })
      .reply(200, feed(ann), { headers: { 'content-type': 'application/atom+xml' } });
    const collections = [{ id: 1, user_id: '3', book_id: '7', status: 'wish', updated: '2020-01-01 00:00:00' }];
    service
      .intercept({ path: /^\/v2\/book\/user\/ann\/collections/ })
      .reply(200, { start: 0, count: 20, total: 1, collections })
      .delay(50);
    const { data } = await execute('{ user(id: "ann") { name bookCollections { nodes { user { id name } } } } }');
    expect(data.user.bookCollections.nodes).toEqual([{ user: { id: 'User:3', name: '安' } }]);
    expect(calls).toHaveLength(2);
  });

  test.each<[string, unknown]>([
    ['a text', '安'],
    ['a number', 3],
    ['true', true],
    ['a list', [{ name: '安' }]],
    ['null', null],
    ['an object without the name', { id: '3' }],
  ])('is loaded by its own call if annotations embed the user as %s', async (_, embedded) => {
    const made = facadeWith(feed(ann));
    made.service.intercept({ path: /^\/v2\/book\/user\/3\/annotations/ }).reply(200, {
      ...{ start: 0, count: 20, total: 1 },
      annotations: [{ id: '1', author_id: '3', author_user: embedded }],
    });
    const query = '{ user(id: 3) { name annotations { nodes { id author { id } } } } }';
    const { data, errors } = await made.execute(query);
    expect(errors).toBeUndefined();
    expect(data.user).toEqual({
      name: '安',
      annotations: { nodes: [{ id: 'Annotation:1', author: { id: 'User:3' } }] },
    });
    expect(made.calls).toHaveLength(2);
  });

  test('has the same fields, whichever list names the user first', async () => {
    const lists = ['events { nodes { id } }', 'annotations { nodes { author { id } authorUid } }'];
    const [events, annotations] = lists;
    const queries = [
      `{ user(id: 3) { webUrl name ${events} ${annotations} } }`,
      `{ user(id: 3) { webUrl name ${annotations} ${events} } }`,
      `{ user(id: 3) { webUrl name ${annotations} ... @defer { ${events} } } }`,
      `{ user(id: 3) { ${events} ... @defer { webUrl name ${annotations} } } }`,
      `{ user(id: 3) { name ... @defer { webUrl ${annotations} } } }`,
    ];
    const shown = [];
    for (const query of queries) {
      const made = facadeWith(feed(ann));
      made.service.intercept({ path: /^\/v2\/book\/user\/3\/annotations/ }).reply(200, {
        ...{ start: 0, count: 20, total: 1 },
        annotations: [
          { id: '1', author_id: '3', author_user: { id: '3', uid: 'ann', name: '安', alt: expected.webUrl } },
        ],
      });
      const { data } = await made.execute(query);
      shown.push([data.user.webUrl, data.user.name]);
    }
    expect(shown).toEqual(queries.map(() => [expected.webUrl, '安']));
  });

  test('is null if the user does not exist', async () => {
    const { execute } = facadeWith('', 404);
    expect(await execute(`{ user(id: 3) { id ${fields} } }`)).toEqual({ data: { user: null } });
  });

  test.each([
    ['the feed has no author', feed(''), 200],
    ['the author of the feed is an organisation', feed(shop), 200],
  ])('has null for these fields if %s', async (_, text, status) => {
    const { execute } = facadeWith(text, status);
    expect(await execute(`{ user(id: 3) { id ${fields} } }`)).toEqual({
      data: { user: { id: 'User:3', name: null, avatarUrl: null, webUrl: null } },
    });
  });

  test('has errors at these fields only if the call fails', async () => {
    const { execute } = facadeWith('', 403);
    const { data, errors } = await execute('{ user(id: 3) { id name } }');
    expect(data.user).toEqual({ id: 'User:3', name: null });
    expect(errors).toMatchObject([{ path: ['user', 'name'] }]);
  });
});

describe('an organisation selected by id', () => {
  const organisation = '{ organization(id: 3) { id name } }';

  test('has the name that its feed tells', async () => {
    const { execute, calls } = facadeWith(feed(shop));
    expect((await execute(organisation)).data.organization).toEqual({ id: 'Organization:3', name: '安' });
    expect(calls).toHaveLength(1);
  });

  test('does not have the name of the user with that id', async () => {
    const { execute } = facadeWith(feed(ann));
    expect((await execute(organisation)).data.organization).toEqual({ id: 'Organization:3', name: null });
  });
});

describe('an author', () => {
  test('of whom the response has only the id is loaded', async () => {
    const { service, execute, calls } = facadeWith(feed(ann));
    service.intercept({ path: /^\/v2\/book\/annotation\/11/ }).reply(200, { id: '11', author_id: '3' });
    expect((await execute('{ annotation(id: 11) { author { id name } } }')).data.annotation.author).toEqual({
      id: 'User:3',
      name: '安',
    });
    expect(calls).toHaveLength(2);
  });

  test.each(['id', 'id name'])('of a note has a name, whatever is selected of the user: %s', async (selected) => {
    const { service, execute } = facadeWith(feed(ann));
    service
      .intercept({ path: /^\/v2\/note\/user_created\/3/ })
      .reply(200, { start: 0, count: 20, total: 1, notes: [{ id: '9', author: { id: '3' } }] });
    const { data } = await execute(`{ user(id: 3) { ${selected} notes { nodes { author { id name } } } } }`, {
      token: 'alice',
    });
    expect(data.user.notes.nodes).toEqual([{ author: { id: 'User:3', name: '安' } }]);
  });
});

describe('viewer.user', () => {
  const me = '{ viewer { user { id name } } }';
  const collected = { id: 1, book_id: '7', status: 'wish', user_id: '3' };

  test('is null without a token, and before a response has identified the user of the token', async () => {
    const { execute, calls } = facade();
    expect((await execute(me, { token: 'alice' })).data.viewer).toEqual({ user: null });
    expect((await execute(me)).data.viewer).toEqual({ user: null });
    expect(calls).toEqual([]);
  });

  test('is learned from a response that identifies the user, for the same token only', async () => {
    const { service, execute, calls } = facadeWith(feed(ann));
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7', current_user_collection: collected });
    await execute('{ book(id: 7) { viewerCollection { status } } }', { token: 'alice' });
    expect((await execute(me, { token: 'alice' })).data.viewer.user).toEqual({ id: 'User:3', name: '安' });
    for (const other of [{ token: 'bob' }, {}]) expect((await execute(me, other)).data.viewer).toEqual({ user: null });

    service.intercept({ path: '/v2/book/7/annotations', method: 'POST' }).reply(201, {
      ...{ id: '11', book_id: '7', author_id: '3' },
      author_user: { id: '3', uid: 'ann', name: '安' },
    });
    const input = { bookId: '7', content: '一二三四五六七八九十一二三四五六' };
    await execute(
      'mutation ($input: CreateAnnotationInput!) { createAnnotation(input: $input) { annotation { id } } }',
      {
        token: 'alice',
        variables: { input },
      },
    );
    expect((await execute(me, { token: 'alice' })).data.viewer.user).toEqual({ id: 'User:3', name: '安' });
    expect(calls).toHaveLength(3);
  });

  test('is not learned from the collection of another user', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\/collection\?/ }).reply(200, { ...collected, user_id: '9' });
    await execute('{ book(id: 7) { collection(userId: 9) { status } } }', { token: 'alice' });
    expect((await execute(me, { token: 'alice' })).data.viewer).toEqual({ user: null });
  });

  test('is null again after the service has rejected the token', async () => {
    const { service, execute } = facade();
    service.intercept({ path: /^\/v2\/book\/7\?/ }).reply(200, { id: '7', current_user_collection: collected });
    await execute('{ book(id: 7) { viewerCollection { status } } }', { token: 'alice' });
    service.intercept({ path: /^\/v2\/book\/8\?/ }).reply(401, { code: 103, msg: 'invalid_access_token', request: '' });
    await execute('{ book(id: 8) { viewerCollection { status } } }', { token: 'alice' });
    expect((await execute(me, { token: 'alice' })).data.viewer).toEqual({ user: null });
  });
});
