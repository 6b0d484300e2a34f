import { expect, test } from 'vitest';
import { journey } from '../../support/journey.ts';
import { facade } from '../../support/facade.ts';

const query = '{ book(id: "1003078") { viewerCollection { id isPrivate } } }';
const token = 'demo-alice';

test('a collection of the caller is private or not, for one call or two without the token, as its price says', async () => {
  const here = await journey();
  for (const isPrivate of [true, false]) {
    const input = `bookId: "1003078", status: READ, isPrivate: ${isPrivate}, onConflict: UPDATE`;
    const written = await here.execute(`mutation { collectBook(input: { ${input} }) { created } }`, { token });
    expect(written.errors).toBeUndefined();
    const { response, passed } = await here.cost(query, { token });
    expect(response.errors).toBeUndefined();
    expect(response.data.book.viewerCollection.isPrivate).toBe(isPrivate);
    const own = passed.filter(({ line }) => /\/collection/.test(line));
    expect(own.map(({ line }) => line.replace(/\?.*/, ''))).toEqual([
      'GET /v2/book/1003078/collection',
      ...(isPrivate ? ['GET /v2/book/user/1000001/collections'] : []),
    ]);
  }
  const { response } = await here.cost(query, { token, headers: { 'x-explain': 'plan' } });
  expect(response.extensions).toMatchObject({ upstream: { max: 3 } });
  // Everybody else is told nothing, without a call.
  const others = '{ book(id: "1003078") { collection(userId: "1000001") { status isPrivate } } }';
  for (const other of ['demo-bob', undefined]) {
    const { response: seen, passed } = await here.cost(others, { ...(other && { token: other }) });
    expect(seen.data.book.collection).toEqual({ status: 'READ', isPrivate: null });
    expect(passed.filter(({ line }) => line.includes('/collection'))).toHaveLength(1);
  }
});

const shelved = { id: 1, book_id: '7', user_id: '3', status: 'wish' };
test.each([
  ['the service refuses all reads without a token', 401, { code: 103, msg: 'invalid_access_token' }, null, undefined],
  ['the service does not say', 200, { ...shelved, id: 2 }, null, undefined],
  ['the service is out', 502, {}, null, 'UPSTREAM_UNAVAILABLE'],
] as const)('it is null if %s, with an error only for an outage', async (_, status, body, expected, code) => {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/7(\?|$)/ }).reply(200, { id: '7', current_user_collection: shelved });
  service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(status, body);
  const { data, errors } = await execute('{ book(id: "7") { viewerCollection { id isPrivate } } }', { token: 'a' });
  expect(data.book.viewerCollection).toEqual({ id: 'Collection:3:7', isPrivate: expected });
  expect(errors?.[0]?.extensions.code).toBe(code);
  expect(calls).toHaveLength(2);
});

/** A shelf of so many entries, newest first, of which every tenth is private; it takes filters by status. */
function shelfOf(count: number, hidden: (at: number) => boolean = (at) => at % 10 === 9, more = {}) {
  const made = facade();
  const all = Array.from({ length: count }, (_, at) => ({
    id: at,
    book_id: String(1_000 + at),
    user_id: '3',
    status: at % 2 === 0 ? 'read' : 'wish',
    updated: new Date(Date.UTC(2020, 0, 1) - at * 60_000).toISOString().slice(0, 19).replace('T', ' '),
    isHidden: hidden(at),
  }));
  const asNobody: string[] = [];
  const reply = (path: string, headers: unknown) => {
    const { pathname, searchParams: query } = new URL(path, 'http://catalog.example');
    const isOwner = JSON.stringify(headers).includes('Bearer');
    if (!isOwner) asNobody.push(path);
    const shown = all.filter(({ isHidden, status }) => {
      const wanted = query.get('status');
      return (isOwner || !isHidden) && (wanted === null || wanted === status);
    });
    const ofBook = /\/book\/(\d+)/.exec(pathname)?.[1];
    const entry = shown.find(({ book_id }) => book_id === ofBook);
    if (/\/collection$/.test(pathname)) return entry ? { data: entry } : { status: 404, data: { code: 1001 } };
    if (ofBook !== undefined) return { data: { id: ofBook, current_user_collection: entry } };
    const books = all.map(({ book_id: id }) => ({ id, current_user_collection: all[Number(id) - 1_000] }));
    if (pathname.endsWith('/search')) return { data: { start: 0, count: 20, total: count, books: books.slice(0, 20) } };
    const [start, size] = [Number(query.get('start') ?? 0), Number(query.get('count') ?? 20)];
    const collections = shown.slice(start, start + size);
    return { data: { start, count: size, total: shown.length, collections, ...(!isOwner && more) } };
  };
  made.service
    .intercept({ path: () => true })
    .reply(({ path, headers }) => {
      const { status = 200, data } = reply(path, headers);
      return { statusCode: status, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
    })
    .persist();
  made.service
    .intercept({ path: () => true, method: 'PUT' })
    .reply(202, all[9])
    .persist();
  return { ...made, isPrivate: all.map(({ isHidden }) => isHidden), asNobody };
}

/** What a query shows, its calls without `fields`, and whether as many were told. */
async function told({ execute, calls, asNobody }: ReturnType<typeof shelfOf>, query: string) {
  // A first response names the caller.
  await execute('{ book(id: "1000") { viewerCollection { status } } }', { token: 'a' });
  const { upstream } = (await execute(query, { token: 'a', explain: 'plan' })).extensions as {
    upstream: { likely: number; max: number };
  };
  const before = calls.length;
  const { data, errors } = await execute(query, { token: 'a' });
  expect(errors).toBeUndefined();
  const made = calls.slice(before);
  for (const line of asNobody) expect(line).toContain('fields=book_id,id,updated');
  expect(made.length).toBeLessThanOrEqual(upstream.max);
  return { data, made: made.map((line) => line.replace(/fields=[\w,]*&?/, '')), likely: upstream.likely };
}

const entries = (args: string) => `{ user(id: "3") { bookCollections(${args}) { nodes { isPrivate } } } }`;
const shownIn = (data: { user: { bookCollections: { nodes: { isPrivate: boolean }[] } } }) =>
  data.user.bookCollections.nodes.map((node) => node.isPrivate);

test.each([
  ['the first page', 'first: 60', 0, 'count=100&start=0'],
  ['a later page', 'first: 60, offset: 60', 60, 'count=100&start=40'],
])('the public shelf tells of sixty entries whether they are private: %s', async (_, args, from, part) => {
  const shelf = shelfOf(150);
  const { data, made, likely } = await told(shelf, entries(args));
  expect(shownIn(data)).toEqual(shelf.isPrivate.slice(from, from + 60));
  expect(made).toEqual([
    `GET /v2/book/user/3/collections?count=60&start=${from}`,
    `GET /v2/book/user/3/collections?${part}`,
  ]);
  expect(likely).toBe(2);
});

test('the public shelf is read with the filters of the page, once for pages that it has together', async () => {
  const shelf = shelfOf(150);
  const page = (name: string, args: string) =>
    `${name}: bookCollections(status: READ, ${args}) { nodes { isPrivate } edges { node { isPrivate } } }`;
  const { data, made } = await told(
    shelf,
    `{ user(id: "3") { ${page('a', 'first: 20')} ${page('b', 'first: 3, offset: 5')} } }`,
  );
  const read = shelf.isPrivate.filter((_, at) => at % 2 === 0);
  expect(data.user.a.nodes.map((node: { isPrivate: boolean }) => node.isPrivate)).toEqual(read.slice(0, 20));
  expect(data.user.b.nodes.map((node: { isPrivate: boolean }) => node.isPrivate)).toEqual(read.slice(5, 8));
  expect(made).toEqual([
    'GET /v2/book/user/3/collections?count=20&start=0&status=read',
    'GET /v2/book/user/3/collections?count=100&start=0&status=read',
  ]);
});

test('an entry that the part of the public shelf may not reach is asked for by itself', async () => {
  // A hundred private ones before the page: the public ones of it are further in front.
  const shelf = shelfOf(150, (at) => at < 100 || at === 149);
  const { data, made } = await told(shelf, entries('first: 3, offset: 147'));
  expect(shownIn(data)).toEqual([false, false, true]);
  expect(made.slice(2)).toEqual([1147, 1148, 1149].map((id) => `GET /v2/book/${id}/collection?user_id=3`));
});

test('a public shelf that leaves out entries tells nothing of those that it lacks', async () => {
  const shelf = shelfOf(8, (at) => at === 7, { next_start: 9 });
  const { data, made } = await told(shelf, entries('first: 8'));
  expect(shownIn(data)).toEqual(shelf.isPrivate);
  expect(made).toHaveLength(3);
});

test.each([{ total: { toString: 1 } }, { start: { toString: 1 } }])(
  'a public shelf that says %j does not tell where it ends, and the entry is asked for by itself',
  async (more) => {
    const shelf = shelfOf(8, (at) => at === 7, more);
    const { data, made } = await told(shelf, entries('first: 8'));
    expect(shownIn(data)).toEqual(shelf.isPrivate);
    expect(made).toHaveLength(3);
  },
);

test('entries of books that are listed need one call together', async () => {
  const shelf = shelfOf(20);
  const { data, made, likely } = await told(
    shelf,
    '{ searchBooks(query: "x") { nodes { viewerCollection { isPrivate } } } }',
  );
  const shown = (data.searchBooks.nodes as { viewerCollection: { isPrivate: boolean } }[]).map(
    ({ viewerCollection }) => viewerCollection.isPrivate,
  );
  expect(shown).toEqual(shelf.isPrivate);
  expect([made.length, likely]).toEqual([2, 2]);
});

test('one entry that two fields show is asked for once', async () => {
  const shelf = shelfOf(20);
  const both = 'viewerCollection { isPrivate } collection(userId: "3") { isPrivate }';
  for (const [id, isPrivate, lines] of [
    [1000, false, 3],
    [1009, true, 4],
  ] as const) {
    const { data, made } = await told(shelf, `{ book(id: "${id}") { ${both} } }`);
    expect(data.book).toEqual({ viewerCollection: { isPrivate }, collection: { isPrivate } });
    expect(made).toHaveLength(lines);
  }
});

test('an update that leaves out who may see the entry reads that as a field does, anew for each update', async () => {
  const { execute, asNobody } = shelfOf(20);
  const update = (name: string) =>
    `${name}: updateCollection(input: { bookId: "1009", comment: "${name}" }) { collection { isPrivate } }`;
  const { data, errors } = await execute(`mutation { ${update('a')} ${update('b')} }`, { token: 'a' });
  expect(errors).toBeUndefined();
  expect(data).toEqual({ a: { collection: { isPrivate: true } }, b: { collection: { isPrivate: true } } });
  const [entry, shelf] = [
    '/v2/book/1009/collection?fields=book_id,id,updated&user_id=3',
    '/v2/book/user/3/collections?count=100&fields=book_id,id,updated&start=0',
  ];
  expect(asNobody).toEqual([entry, shelf, entry, shelf, entry, shelf, entry, shelf]);
});
