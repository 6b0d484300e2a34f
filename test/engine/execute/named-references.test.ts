import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { type Bodies, serve } from '../../support/serve.ts';

const nobody = { status: 404, body: { code: 6008, msg: 'people_not_found', request: 'GET /v2' } };
const noSeries = { status: 404, body: { code: 6014, msg: 'series_not_found', request: 'GET /v2' } };
const refused = { status: 403, body: { code: 1000, msg: 'need_permission', request: 'GET /v2' } };
const shelf = { list: 'collections', body: { start: 0, count: 20, total: 0, collections: [] } };
const feed =
  '<feed xmlns="http://www.w3.org/2005/Atom"><title>活动</title><author><name>安</name><uri>http://a.example/people/3</uri></author></feed>';

function facadeWith(bodies: Bodies, feeds: Record<string, number | string> = {}) {
  const made = facade();
  serve(made.service, bodies);
  for (const [path, reply] of Object.entries(feeds))
    made.events
      .intercept({ path: (requested) => requested.startsWith(path) })
      .reply(typeof reply === 'number' ? reply : 200, typeof reply === 'number' ? '' : reply, {
        headers: { 'content-type': 'application/atom+xml' },
      })
      .persist();
  return made;
}

const tags = '/v2/book/user/3/tags';
const collections = '/v2/book/user/3/collections';
const events = '/people/3/events';

describe('a reference that the client named', () => {
  test.each([
    [
      'user',
      '{ user(id: 3) { id name bookTags { totalCount } bookCollections { totalCount } events { totalCount } } }',
    ],
    ['node', '{ node(id: "User:3") { id ... on User { name bookTags { totalCount } } } }'],
    ['user', '{ user(id: 3) { id bookTags { totalCount } } }'],
    ['user', '{ user(id: 3) { name } }'],
    ['city', '{ city(id: "atlantis") { id name events { totalCount } } }'],
    ['node', '{ node(id: "City:atlantis") { ... on City { name } } }'],
    ['series', '{ series(id: 9) { id title } }'],
    ['series', '{ series(id: 9) { id books { totalCount } } }'],
  ])('is null if every call made for it says that there is none: %s in %s', async (name, query) => {
    const { execute } = facadeWith(
      { [tags]: nobody, [collections]: nobody, '/v2/book/series/9/books': noSeries },
      { [events]: 404, '/event/location/atlantis': 404 },
    );
    expect(await execute(query)).toEqual({ data: { [name]: null } });
  });

  test('of several in `nodes` is null at its own place', async () => {
    const { execute } = facadeWith({}, { [events]: 404, '/people/4/events': feed.replace('people/3', 'people/4') });
    expect((await execute('{ nodes(ids: ["User:3", "User:4"]) { id ... on User { name } } }')).data).toEqual({
      nodes: [null, { id: 'User:4', name: '安' }],
    });
  });

  test('is there if one call says so', async () => {
    const { execute } = facadeWith({ [tags]: nobody, [collections]: shelf }, { [events]: 404 });
    const query = '{ user(id: 3) { id name bookTags { totalCount } bookCollections { totalCount } } }';
    expect(await execute(query)).toEqual({
      data: { user: { id: 'User:3', name: null, bookTags: null, bookCollections: { totalCount: 0 } } },
    });
  });

  test.each([
    ['its list', { [tags]: refused }, { [events]: 404 }, 'bookTags'],
    ['its own call', { [tags]: nobody }, { [events]: 403 }, 'name'],
  ])('is there, with an error, if %s is refused', async (_, bodies, feeds, field) => {
    const { execute } = facadeWith(bodies, feeds);
    const { data, errors } = await execute('{ user(id: 3) { id name bookTags { totalCount } } }');
    expect(data.user).toEqual({ id: 'User:3', name: null, bookTags: null });
    expect(errors).toMatchObject([{ path: ['user', field] }]);
  });

  test.each([
    '{ user(id: 3) { id sourceId isSite } }',
    '{ node(id: "User:3") { __typename id } }',
    '{ user(id: "User:site~3") { bookTags { totalCount } } }',
  ])('is claimed neither to be there nor to be absent if no call is made: %s', async (query) => {
    const { execute, calls } = facadeWith({});
    const { data } = await execute(query);
    expect(Object.values(data)).not.toContain(null);
    expect(calls).toEqual([]);
  });

  test.each([
    'a: user(id: 3) { name } b: user(id: 3) { bookCollection(bookId: 7) { status } } c: user(id: 3) { id }',
    'a: user(id: 3) { id } b: user(id: 3) { notes { totalCount } } c: node(id: "User:3") { ... on User { name } }',
    'a: user(id: 3) { bookTags(offset: -1) { totalCount } } b: user(id: 3) { bookTags { totalCount } } c: user(id: 3) { isSite }',
  ])('is null wherever a response names it, if one place says so and no call shows it: %s', async (places) => {
    const noCollection = { ...nobody, body: { ...nobody.body, code: 1001 } };
    const { execute } = facadeWith({ [tags]: nobody, '/v2/book/7/collection': noCollection }, { [events]: 404 });
    expect(await execute(`{ ${places} }`)).toEqual({ data: { a: null, b: null, c: null } });
  });

  test('is there wherever a response names it, if a call for it is refused at one place', async () => {
    const { execute } = facadeWith({ [tags]: refused, [collections]: nobody }, { [events]: 404 });
    const { data, errors } = await execute(`{
      a: user(id: 3) { bookCollections { totalCount } }
      b: user(id: 3) { bookTags { totalCount } }
      c: user(id: 3) { name }
    }`);
    expect(data).toEqual({ a: { bookCollections: null }, b: { bookTags: null }, c: { name: null } });
    expect(errors).toMatchObject([{ path: ['b', 'bookTags'] }]);
  });

  test('is there while a deferred list is not', async () => {
    const { execute } = facadeWith({ [tags]: nobody });
    expect((await execute('{ user(id: 3) { id ... @defer { bookTags { totalCount } } } }')).data).toEqual({
      user: { id: 'User:3', bookTags: null },
    });
  });
});
