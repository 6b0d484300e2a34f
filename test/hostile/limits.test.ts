import { expect, test } from 'vitest';
import { startFacade, codesIn } from '../support/start-facade.ts';
import { type Behaviour, type ReceivedRequest, json, until } from '../support/hostile.ts';

const rejected = json('{"msg":"invalid_access_token","code":103,"request":"GET /v2/book/7"}', 401);
const forbidden = json('{"msg":"need_permission","code":1000,"request":"GET /v2/movie/celebrity/1"}', 403);
const tooMany = json('{"msg":"rate_limit_exceeded2","code":112,"request":"GET /v2/movie/subject/1"}', 429);
const entry =
  '<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/7</id><title>a concert</title><summary>x</summary></entry>';

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const book = (id = '7') => `{ book(id: "${id}") { title } }`;

/** Responds by request, with 404 for all others. */
const service =
  (response: (request: ReceivedRequest) => Behaviour | undefined): Behaviour =>
  (socket, request) =>
    (response(request) ?? json('{}', 404))(socket, request);

test('rejected tokens do not affect others: a new token is accepted after any number of them', async () => {
  const { books, execute } = await startFacade();
  books.behave(
    service(({ headers }) => (headers.authorization === 'Bearer good' ? json('{"id":"7","title":"x"}') : rejected)),
  );
  for (let n = 0; n < 100; n++) expect(codesIn(await execute(book(), as(`expired-${n}`)))).toEqual(['UNAUTHENTICATED']);
  expect(await execute(book(), as('good'))).toEqual({ data: { book: { title: 'x' } } });
});

test('a token that was just rejected is rejected again without an upstream call', async () => {
  const { books, execute } = await startFacade();
  books.behave(rejected);
  for (let n = 0; n < 20; n++) expect(codesIn(await execute(book(), as('made-up')))).toEqual(['UNAUTHENTICATED']);
  expect(books.requests).toHaveLength(1);
});

test('calls that wait while their token is unverified are rejected together with the first one', async () => {
  const { books, execute } = await startFacade();
  const held: (() => void)[] = [];
  books.behave((socket, request) => void held.push(() => void rejected(socket, request)));
  const query = (n: number) =>
    `{ ${Array.from({ length: 15 }, (_, k) => `b${k}: book(id: "${n}-${k}") { title }`).join(' ')} }`;
  const responses = Promise.all(Array.from({ length: 4 }, (_, n) => execute(query(n), as('made-up'))));
  await until(() => held.length === 30);
  for (const respond of held.splice(0)) respond();
  for (const each of await responses) expect(new Set(codesIn(each))).toEqual(new Set(['UNAUTHENTICATED']));
  expect(books.requests).toHaveLength(30);
});

test('an accepted token is sent again after its first rejection', async () => {
  const { books, execute } = await startFacade();
  books.behave(json('{"id":"7","title":"x"}'));
  await execute(book(), as('alice'));
  books.behave(rejected);
  expect(codesIn(await execute(book(), as('alice')))).toEqual(['UNAUTHENTICATED']);
  books.behave(json('{"id":"7","title":"y"}'));
  expect(await execute(book(), as('alice'))).toEqual({ data: { book: { title: 'y' } } });
});

test('a token rejected by one service is still accepted by the other', async () => {
  const { books, events, execute } = await startFacade();
  events.behave(rejected);
  books.behave(json('{"id":"7","title":"x"}'));
  for (let n = 0; n < 3; n++)
    expect(codesIn(await execute('{ event(id: "7") { title } }', as('alice')))).toEqual(['UNAUTHENTICATED']);
  expect(await execute(book(), as('alice'))).toEqual({ data: { book: { title: 'x' } } });
});

test.each([
  ['the facade', {}],
  ['the client', as('alice')],
])(
  'a 429 for a film pauses film calls only, not books, events and collections, with the token of %s',
  async (_, options) => {
    const { books, events, execute } = await startFacade({ accessToken: 'own' });
    books.behave(
      service(({ path }) =>
        path.startsWith('/v2/movie/')
          ? tooMany
          : json('{"id":"7","title":"x","status":"read"}', path.endsWith('/collection') ? 201 : 200),
      ),
    );
    events.behave((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/atom+xml\r\ncontent-length: ${Buffer.byteLength(entry)}\r\n\r\n${entry}`,
      );
    });
    const film = '{ subject(id: "1") { title } }';
    expect(codesIn(await execute(film, options))).toEqual(['RATE_LIMITED']);
    const request = books.requests.length;
    expect(codesIn(await execute(film, options))).toEqual(['RATE_LIMITED']);
    expect(books.requests).toHaveLength(request);
    expect(await execute(book(), options)).toEqual({ data: { book: { title: 'x' } } });
    expect(await execute('{ event(id: "7") { title } }', options)).toEqual({ data: { event: { title: 'a concert' } } });
    if (!('headers' in options)) return;
    const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
    expect((await execute(collect, options)).errors).toBeUndefined();
  },
);

test.each([
  ['no token', {}],
  ['the facade’s token of unknown tier', { accessToken: 'own' }],
  ['the facade’s token', { accessToken: 'own', filmTier: 'advance' }],
])(
  'one rejected celebrity blocks no other for clients without a token, and the error names no tier: %s',
  async (_, own) => {
    const { books, execute } = await startFacade(own);
    books.behave(
      service(({ path }) => (path.startsWith('/v2/movie/celebrity/1?') ? forbidden : json('{"id":"2","name":"y"}'))),
    );
    for (let n = 0; n < 4; n++) {
      const { data, errors } = await execute('{ celebrity(id: "1") { name } }');
      expect([data, codesIn({ errors: errors ?? [] })]).toEqual([{ celebrity: null }, ['FORBIDDEN']]);
      expect(await execute('{ celebrity(id: "2") { name } }')).toEqual({ data: { celebrity: { name: 'y' } } });
    }
  },
);

test('a default value that upstream leaves out is null, and not an error about a tier that the client has', async () => {
  const { books, execute } = await startFacade({ accessToken: 'own', filmTier: 'advance' });
  books.behave(json('{"id":"7","title":"x"}'));
  const query = '{ subject(id: "7") { title websiteUrl languages durations } }';
  const defaults = { subject: { title: 'x', websiteUrl: null, languages: [], durations: [] } };
  expect(await execute(query)).toEqual({ data: defaults });
  // The client’s own token, whose tier is known from another film.
  books.behave(json('{"id":"8","title":"x","languages":["y"]}'));
  await execute('{ subject(id: "8") { title languages } }', as('alice'));
  books.behave(json('{"id":"7","title":"x"}'));
  expect(await execute(query, as('alice'))).toEqual({ data: defaults });
  // A token of unknown tier: the other fields of the response show its tier.
  books.behave(json('{"id":"7","title":"x","languages":["y"]}'));
  expect(await execute('{ subject(id: "7") { title websiteUrl } }', as('stranger'))).toEqual({
    data: { subject: { title: 'x', websiteUrl: null } },
  });
});

test('a field that is missing in a whole record proves nothing about the tier', async () => {
  const { books, execute } = await startFacade();
  books.behave(json('{"id":"7","title":"x"}'));
  const all =
    '{ subject(id: "7") { title originalTitle alternativeTitles webUrl mobileUrl summary countries genres year subjectType languages } viewer { filmTier } }';
  const { data, errors } = await execute(all, as('alice'));
  expect([data?.viewer, codesIn({ errors: errors ?? [] })]).toEqual([{ filmTier: null }, ['TIER_REQUIRED']]);
  books.behave(json('{"id":"8","title":"x","durations":["90"]}'));
  expect(await execute('{ subject(id: "8") { durations } }', as('alice'))).toEqual({
    data: { subject: { durations: ['90'] } },
  });
  expect((await execute('{ viewer { filmTier } }', as('alice'))).data).toEqual({ viewer: { filmTier: null } });
});

test('operations take turns for connections: one with many calls does not delay one with a single call', async () => {
  const { books, upstream, execute } = await startFacade({ maxConnections: '2' });
  const held: (() => void)[] = [];
  const idIn = (path: string) => path.split(/[/?]/)[3]!;
  books.behave(
    (socket, request) => void held.push(() => void json(`{"id":"${idIn(request.path)}","title":"x"}`)(socket, request)),
  );
  const many = execute(
    `{ ${Array.from({ length: 30 }, (_, n) => `b${n}: book(id: "many-${n}") { title }`).join(' ')} }`,
  );
  await until(() => upstream.state().catalog.waiting === 28);
  const one = execute(book('one'));
  await until(() => upstream.state().catalog.waiting === 29);
  const other = execute(book('other'));
  await until(() => upstream.state().catalog.waiting === 30);
  for (let result = 0; result < 32; result++) {
    await until(() => held.length > 0);
    held.shift()!();
  }
  expect((await Promise.all([one, other])).map(({ errors }) => errors)).toEqual([undefined, undefined]);
  expect((await many).errors).toBeUndefined();
  const order = books.requests.map(({ path }) => idIn(path));
  expect(order.indexOf('one')).toBeLessThan(6);
  expect(order.indexOf('other')).toBeLessThan(6);
  expect(upstream.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});
