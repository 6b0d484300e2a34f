import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startFacade, codesIn } from '../../support/start-facade.ts';
import { json, xml } from '../../support/hostile.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const alice = { headers: { authorization: 'Bearer alice' } };
const entry = (id: string) =>
  `<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/${id}</id><title>t</title></entry>`;
const feed = '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title></feed>';
const error = (code: number) => ({ msg: 'x', code, request: 'GET /x' });

/** A facade with the record cache turned on, which asks again for what was absent. */
const facade = () => startFacade({ recordTtlSeconds: undefined, absentTtlSeconds: '0' });

/** A query of one field, and a valid response of the service to it. */
const reads: Record<string, { query: string; valid: unknown; token?: boolean }> = {
  book: { query: '{ book(id: "7") { title } }', valid: { id: '7', title: 'x' } },
  bookByIsbn: { query: '{ bookByIsbn(isbn: "9787544253994") { title } }', valid: { id: '7', title: 'x' } },
  annotation: { query: '{ annotation(id: "7") { chapter } }', valid: { id: '7', chapter: 'x' } },
  subject: { query: '{ subject(id: "7") { title } }', valid: { id: '7', title: 'x' } },
  celebrity: { query: '{ celebrity(id: "7") { name } }', valid: { id: '7', name: 'x' } },
  node: {
    query: '{ node(id: "Collection:1000001:7") { ... on Collection { comment } } }',
    valid: { id: 1, book_id: '7', user_id: '1000001', comment: 'x' },
  },
  note: { query: '{ note(id: "7") { title } }', valid: { id: '7', title: 'x' }, token: true },
  searchBooks: {
    query: '{ searchBooks(query: "x") { nodes { title } } }',
    valid: { books: [{ id: '7', title: 'x' }] },
  },
  top250: { query: '{ top250 { nodes { title } } }', valid: { subjects: [{ id: '7', title: 'x' }] } },
  usBoxOffice: { query: '{ usBoxOffice { title } }', valid: { title: 'x', subjects: [] } },
};

const invalidBodies: [what: string, body: unknown][] = [
  ['an empty object', {}],
  ['a string', 'OK'],
  ['unknown fields', { a: 1 }],
  ['an error code without its message', { code: 6000 }],
  ['a null key', { id: null, title: 'x' }],
  ['a list as key', { id: ['7'], title: 'x' }],
  ['an empty key', { id: '', title: 'x' }],
  ['a list under another name', { items: [] }],
  ['an object instead of a list', { books: {}, subjects: {}, id: null }],
  ['null instead of a list', { books: null, subjects: null }],
];

describe.each(Object.entries(reads))('%s', (field, { query, valid, token }) => {
  const headers = token ? alice : {};
  const isAlwaysThere = ['searchBooks', 'top250', 'usBoxOffice'].includes(field);

  test.each(invalidBodies)('%s as response is an invalid response, and is not cached', async (_, body) => {
    const { books, execute } = await facade();
    books.behave(json(JSON.stringify(body)));
    const result = await execute(query, headers);
    expect([result.data, codesIn(result)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
    books.behave(json(JSON.stringify(valid)));
    const again = await execute(query, headers);
    expect(again.errors).toBeUndefined();
    expect(JSON.stringify(again.data)).toContain('"x"');
  });

  test('an error under status 200 is that error, and is not cached', async () => {
    const { books, execute } = await facade();
    books.behave(json(JSON.stringify(error(999))));
    expect(codesIn(await execute(query, headers))).toEqual(['UPSTREAM_REFUSED']);
    books.behave(json(JSON.stringify(error(6000))));
    const absent = await execute(query, headers);
    // A search or a chart is always there: that it is not is no answer.
    expect([absent.data, codesIn(absent)]).toEqual([{ [field]: null }, isAlwaysThere ? ['BOOK_NOT_FOUND'] : []]);
    books.behave(json(JSON.stringify(error(112))));
    expect(codesIn(await execute(query, headers))).toEqual(['RATE_LIMITED']);
    vi.advanceTimersByTime(120_000);
    books.behave(json(JSON.stringify(valid)));
    expect((await execute(query, headers)).errors).toBeUndefined();
  });
});

test.each([{}, { book_id: null, user_id: null }])(
  'a record whose key is absent or null is the requested one: %j',
  async (key) => {
    const { books, execute } = await facade();
    books.behave(json(JSON.stringify({ id: 1, ...key, comment: 'x' })));
    expect(await execute('{ node(id: "Collection:1000001:7") { id ... on Collection { comment } } }')).toEqual({
      data: { node: { id: 'Collection:1000001:7', comment: 'x' } },
    });
  },
);

test('the code of an error may be a text', async () => {
  const { books, execute } = await facade();
  books.behave(json(JSON.stringify({ ...error(0), code: '6000' })));
  expect(await execute(reads.book!.query)).toEqual({ data: { book: null } });
  books.behave(json(JSON.stringify({ ...error(0), code: '112' }), 400));
  expect(codesIn(await execute(reads.book!.query))).toEqual(['RATE_LIMITED']);
});

test.each([
  ['book', '{ book(id: "7") { title } }', { id: '8', title: 'x' }],
  ['book', '{ book(id: "7") { title } }', { id: 8, title: 'x' }],
  ['book', '{ book(id: "007") { title } }', { id: '7', title: 'x' }],
  ['subject', '{ subject(id: "7") { title } }', { id: '70', title: 'x' }],
  ['node', reads.node!.query, { id: 1, book_id: '8', user_id: '1000001', comment: 'x' }],
  ['node', reads.node!.query, { id: 1, book_id: '7', user_id: '1000002', comment: 'x' }],
])('a %s with another key than the requested one is an invalid response: %s', async (field, query, body) => {
  const { books, execute } = await facade();
  books.behave(json(JSON.stringify(body)));
  const result = await execute(query);
  expect([result.data, codesIn(result)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
});

test('an id may be a number, a user may be requested by uid, and a book by ISBN', async () => {
  const { books, execute } = await facade();
  books.behave(json('{"id":7,"title":"x"}'));
  expect(await execute(reads.book!.query)).toEqual({ data: { book: { title: 'x' } } });
  expect(await execute(reads.bookByIsbn!.query)).toEqual({ data: { bookByIsbn: { title: 'x' } } });
  books.behave(json('{"id":1,"book_id":"7","user_id":"1000001","comment":"x"}'));
  expect(await execute('{ node(id: "Collection:alice:7") { ... on Collection { comment } } }')).toEqual({
    data: { node: { comment: 'x' } },
  });
});

test('a record other than the requested one is not cached under either id', async () => {
  const { books, execute } = await facade();
  books.behave(json('{"id":"8","title":"eight"}'));
  await execute('{ book(id: "7") { title } }');
  books.behave(json('{"id":"7","title":"seven"}'));
  expect(await execute('{ book(id: "7") { title } }')).toEqual({ data: { book: { title: 'seven' } } });
});

test('an error code for an unknown token under status 200 is UNAUTHENTICATED', async () => {
  const { books, execute } = await facade();
  books.behave(json(JSON.stringify(error(103))));
  const result = await execute('{ subject(id: "7") { title } }', alice);
  expect(codesIn(result)).toEqual(['UNAUTHENTICATED']);
});

test('an error under status 200 also removes the expired record that would be served on failures', async () => {
  const { books, execute } = await facade();
  books.behave(json('{"id":"7","title":"x"}'));
  await execute('{ book(id: "7") { title } }');
  vi.advanceTimersByTime(4_000_000);
  books.behave(json(JSON.stringify(error(1000))));
  expect(codesIn(await execute('{ book(id: "7") { title } }'))).toEqual(['FORBIDDEN']);
  books.behave(json('', 500));
  expect(codesIn(await execute('{ book(id: "7") { title } }'))).toEqual(['UPSTREAM_UNAVAILABLE']);
});

describe('event', () => {
  const query = '{ event(id: "7") { title } }';
  const list = '{ searchEvents(query: "x") { nodes { title } } }';

  test.each([
    ['another event', entry('8')],
    ['a feed', feed],
  ])('%s is an invalid response, and is not cached', async (_, body) => {
    const { events, execute } = await facade();
    events.behave(xml(body));
    expect(codesIn(await execute(query))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    events.behave(xml(entry('7')));
    expect(await execute(query)).toEqual({ data: { event: { title: 't' } } });
  });

  test('an event instead of a feed is an invalid response', async () => {
    const { events, execute } = await facade();
    events.behave(xml(entry('7')));
    expect(codesIn(await execute(list))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    events.behave(xml(feed));
    expect(await execute(list)).toEqual({ data: { searchEvents: { nodes: [] } } });
  });

  test('an error under status 200 is that error', async () => {
    const { events, execute } = await facade();
    events.behave(json(JSON.stringify(error(1001))));
    expect(await execute(query)).toEqual({ data: { event: null } });
    events.behave(json(JSON.stringify(error(1000))));
    expect(codesIn(await execute(query))).toEqual(['FORBIDDEN']);
  });
});

describe('write', () => {
  const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
  const update =
    'mutation { replaceAnnotation(input: { id: "7", content: "0123456789012345", isPrivate: false }) { annotation { id } } }';
  const remove = 'mutation { deleteReview(input: { id: "7" }) { deletedId } }';
  const like = 'mutation { likeNote(input: { id: "7" }) { note { id } } }';
  const comment = 'mutation { createNoteComment(input: { noteId: "7", content: "x" }) { comment { id } } }';
  const uncomment = 'mutation { deleteNoteComment(input: { noteId: "7", commentId: "8" }) { deletedId } }';
  const join = 'mutation { joinEvent(input: { id: "7" }) { event { id } } }';

  test.each([
    ['collectBook', collect, {}],
    ['collectBook', collect, 'OK'],
    ['collectBook', collect, { id: 1, book_id: '8', status: 'read' }],
    ['replaceAnnotation', update, { id: '8' }],
  ])('%s whose response should be a record is rejected as invalid if it is not', async (field, query, body) => {
    const { books, execute } = await facade();
    books.behave(json(JSON.stringify(body)));
    const result = await execute(query, alice);
    expect([result.data, codesIn(result)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
  });

  const unread = [
    remove,
    like,
    join,
    'mutation { deleteCollection(input: { bookId: "7" }) { book { id } } }',
    'mutation { deleteEvent(input: { id: "7", reason: "rain" }) { deletedId } }',
  ];

  test.each([
    ['a string', '"OK"'],
    ['an empty object', '{}'],
    ['unknown fields', '{"r":0}'],
    ['no body', ''],
    ['plain text', 'OK'],
  ])('a write without a response record succeeds, whatever the body: %s', async (_, body) => {
    const { books, events, execute } = await facade();
    for (const service of [books, events]) service.behave(json(body));
    for (const query of unread) expect((await execute(query, alice)).errors).toBeUndefined();
  });

  test.each([
    ['HTML', ' <!DOCTYPE html><html><body>Log in</body></html>'],
    ['XHTML', '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" ""><html></html>'],
    ['comments and HTML', '<!-- Proxy -->\n<!-- Log in --><HTML><body>Log in</body></HTML>'],
  ])(
    'a write without a response record fails if the body is a web page, such as the login page of a proxy: %s',
    async (_, page) => {
      const { books, events, execute } = await facade();
      for (const service of [books, events]) service.behave(json(page));
      for (const query of unread) expect(codesIn(await execute(query, alice))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    },
  );

  test.each([
    ['collectBook', collect, 6011, 'COLLECTION_EXISTS'],
    ['deleteReview', remove, 6006, 'REVIEW_NOT_FOUND'],
    ['likeNote', like, 1006, 'NOTE_NOT_FOUND'],
    ['createNoteComment', comment, 1000, 'COMMENT_NOT_ALLOWED'],
    ['createNoteComment', comment, 1006, 'NOTE_NOT_FOUND'],
    ['deleteNoteComment', uncomment, 1006, 'COMMENT_NOT_FOUND'],
    ['deleteNoteComment', uncomment, 1000, 'FORBIDDEN'],
    ['joinEvent', join, 1001, 'EVENT_NOT_FOUND'],
  ])('%s with an error under status 200 fails with its code', async (field, query, code, name) => {
    const { books, events, execute } = await facade();
    for (const service of [books, events]) service.behave(json(JSON.stringify(error(code))));
    const result = await execute(query, alice);
    expect([result.data, codesIn(result)]).toEqual([{ [field]: null }, [name]]);
  });
});

describe('characters that the format forbids cost no more than themselves', () => {
  const event = (title: string) =>
    `<entry xmlns="http://www.w3.org/2005/Atom"><id>7</id><title>${title}</title></entry>`;

  test.each([
    ['a control character', 'a\u000bb', 'ab'],
    ['U+FFFE', 'a\ufffeb', 'ab'],
    ['a reference to a control character', 'a&#1;b&#x1F;c', 'abc'],
    ['a reference to half of a character', 'a&#xD83D;b', 'ab'],
    ['references to both halves of a character', 'a&#xD83D;&#56832;b', 'a\u{1f600}b'],
    ['a reference beyond all characters', 'a&#1114112;b&amp;&#38;&#x26;', 'ab&&&'],
  ])('Atom: %s', async (_, written, title) => {
    const { events, execute } = await facade();
    events.behave(xml(event(written)));
    expect(await execute('{ event(id: "7") { title } }')).toEqual({ data: { event: { title } } });
  });

  test('JSON: line feeds and other control characters in a text are read as spaces', async () => {
    const { books, execute } = await facade();
    books.behave(json('{\n\t"id": "7",\r\n"title": "a\nb\u0001c"}'));
    expect(await execute('{ book(id: "7") { title } }')).toEqual({ data: { book: { title: 'a b c' } } });
  });

  test('a document that is broken otherwise too is an invalid response', async () => {
    const { events, execute } = await facade();
    events.behave(xml(event('a\u000bb').slice(0, -3)));
    expect(codesIn(await execute('{ event(id: "7") { title } }'))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});
