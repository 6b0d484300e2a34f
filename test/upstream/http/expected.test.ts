import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { besieged, codesIn } from '../../support/besieged.ts';
import { json, xml } from '../../support/hostile.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const alice = { headers: { authorization: 'Bearer alice' } };
const entry = (id: string) =>
  `<entry xmlns="http://www.w3.org/2005/Atom"><id>http://x/event/${id}</id><title>t</title></entry>`;
const feed = '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title></feed>';
const error = (code: number) => ({ msg: 'x', code, request: 'GET /x' });

/** A facade with its record cache on. */
const facade = () => besieged({ recordTtlSeconds: undefined });

/** A query of one field, and what the service answers to it when it is well. */
const reads: Record<string, { query: string; well: unknown; token?: boolean }> = {
  book: { query: '{ book(id: "7") { title } }', well: { id: '7', title: 'x' } },
  bookByIsbn: { query: '{ bookByIsbn(isbn: "9787544253994") { title } }', well: { id: '7', title: 'x' } },
  annotation: { query: '{ annotation(id: "7") { chapter } }', well: { id: '7', chapter: 'x' } },
  subject: { query: '{ subject(id: "7") { title } }', well: { id: '7', title: 'x' } },
  celebrity: { query: '{ celebrity(id: "7") { name } }', well: { id: '7', name: 'x' } },
  node: {
    query: '{ node(id: "Collection:1000001:7") { ... on Collection { comment } } }',
    well: { id: 1, book_id: '7', user_id: '1000001', comment: 'x' },
  },
  note: { query: '{ note(id: "7") { title } }', well: { id: '7', title: 'x' }, token: true },
  searchBooks: { query: '{ searchBooks(query: "x") { nodes { title } } }', well: { books: [{ id: '7', title: 'x' }] } },
  top250: { query: '{ top250 { nodes { title } } }', well: { subjects: [{ id: '7', title: 'x' }] } },
  usBoxOffice: { query: '{ usBoxOffice { title } }', well: { title: 'x', subjects: [] } },
};

const strangers: [what: string, body: unknown][] = [
  ['an object with nothing in it', {}],
  ['a text', 'OK'],
  ['members that it does not have', { a: 1 }],
  ['a key that is null', { id: null, title: 'x' }],
  ['a key that is a list', { id: ['7'], title: 'x' }],
  ['a key that is empty', { id: '', title: 'x' }],
  ['a list under another name', { items: [] }],
  ['a list that is none', { books: {}, subjects: {}, id: null }],
  ['a list that is null', { books: null, subjects: null }],
];

describe.each(Object.entries(reads))('%s', (field, { query, well, token }) => {
  const asking = token ? alice : {};

  test.each(strangers)('answered with %s is an invalid response, and nothing of it is kept', async (_, body) => {
    const { books, ask } = await facade();
    books.behave(json(JSON.stringify(body)));
    const answered = await ask(query, asking);
    expect([answered.data, codesIn(answered)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
    books.behave(json(JSON.stringify(well)));
    const again = await ask(query, asking);
    expect(again.errors).toBeUndefined();
    expect(JSON.stringify(again.data)).toContain('"x"');
  });

  test('answered with an error under status 200 is that error, and nothing of it is kept', async () => {
    const { books, ask } = await facade();
    books.behave(json(JSON.stringify(error(999))));
    expect(codesIn(await ask(query, asking))).toEqual(['UPSTREAM_REFUSED']);
    books.behave(json(JSON.stringify(error(6000))));
    expect(await ask(query, asking)).toEqual({ data: { [field]: null } });
    books.behave(json(JSON.stringify(error(112))));
    expect(codesIn(await ask(query, asking))).toEqual(['RATE_LIMITED']);
    vi.advanceTimersByTime(120_000);
    books.behave(json(JSON.stringify(well)));
    expect((await ask(query, asking)).errors).toBeUndefined();
  });
});

test.each([
  ['book', '{ book(id: "7") { title } }', { id: '8', title: 'x' }],
  ['book', '{ book(id: "7") { title } }', { id: 8, title: 'x' }],
  ['book', '{ book(id: "007") { title } }', { id: '7', title: 'x' }],
  ['subject', '{ subject(id: "7") { title } }', { id: '70', title: 'x' }],
  ['node', reads.node!.query, { id: 1, book_id: '8', user_id: '1000001', comment: 'x' }],
  ['node', reads.node!.query, { id: 1, book_id: '7', user_id: '1000002', comment: 'x' }],
])('a %s with another key than the one asked for is an invalid response: %s', async (field, query, body) => {
  const { books, ask } = await facade();
  books.behave(json(JSON.stringify(body)));
  const answered = await ask(query);
  expect([answered.data, codesIn(answered)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
});

test('an id may be a number, a person may be asked for by uid, and a book by ISBN', async () => {
  const { books, ask } = await facade();
  books.behave(json('{"id":7,"title":"x"}'));
  expect(await ask(reads.book!.query)).toEqual({ data: { book: { title: 'x' } } });
  expect(await ask(reads.bookByIsbn!.query)).toEqual({ data: { bookByIsbn: { title: 'x' } } });
  books.behave(json('{"id":1,"book_id":"7","user_id":"1000001","comment":"x"}'));
  expect(await ask('{ node(id: "Collection:alice:7") { ... on Collection { comment } } }')).toEqual({
    data: { node: { comment: 'x' } },
  });
});

test('another record than the one asked for is kept for neither', async () => {
  const { books, ask } = await facade();
  books.behave(json('{"id":"8","title":"eight"}'));
  await ask('{ book(id: "7") { title } }');
  books.behave(json('{"id":"7","title":"seven"}'));
  expect(await ask('{ book(id: "7") { title } }')).toEqual({ data: { book: { title: 'seven' } } });
});

test('a token that is unknown by the body alone is not taken for known', async () => {
  const { books, ask } = await facade();
  books.behave(json(JSON.stringify(error(103))));
  const answered = await ask('{ subject(id: "7") { title } }', alice);
  expect(codesIn(answered)).toEqual(['UNAUTHENTICATED']);
});

test('an error under status 200 also ends what was kept for the time that the service fails', async () => {
  const { books, ask } = await facade();
  books.behave(json('{"id":"7","title":"x"}'));
  await ask('{ book(id: "7") { title } }');
  vi.setSystemTime(Date.now() + 4_000_000);
  books.behave(json(JSON.stringify(error(1000))));
  expect(codesIn(await ask('{ book(id: "7") { title } }'))).toEqual(['FORBIDDEN']);
  books.behave(json('', 500));
  expect(codesIn(await ask('{ book(id: "7") { title } }'))).toEqual(['UPSTREAM_UNAVAILABLE']);
});

describe('an event', () => {
  const query = '{ event(id: "7") { title } }';
  const list = '{ searchEvents(query: "x") { nodes { title } } }';

  test.each([
    ['that is another', entry('8')],
    ['that is a feed', feed],
  ])('%s is an invalid response, and is not kept', async (_, body) => {
    const { events, ask } = await facade();
    events.behave(xml(body));
    expect(codesIn(await ask(query))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    events.behave(xml(entry('7')));
    expect(await ask(query)).toEqual({ data: { event: { title: 't' } } });
  });

  test('in place of a feed is an invalid response', async () => {
    const { events, ask } = await facade();
    events.behave(xml(entry('7')));
    expect(codesIn(await ask(list))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    events.behave(xml(feed));
    expect(await ask(list)).toEqual({ data: { searchEvents: { nodes: [] } } });
  });

  test('whose error comes under status 200 is that error', async () => {
    const { events, ask } = await facade();
    events.behave(json(JSON.stringify(error(1001))));
    expect(await ask(query)).toEqual({ data: { event: null } });
    events.behave(json(JSON.stringify(error(1000))));
    expect(codesIn(await ask(query))).toEqual(['FORBIDDEN']);
  });
});

describe('a write', () => {
  const collect = 'mutation { collectBook(input: { bookId: "7", status: READ }) { collection { status } } }';
  const update =
    'mutation { updateAnnotation(input: { id: "7", content: "0123456789012345", private: false }) { annotation { id } } }';
  const remove = 'mutation { deleteReview(input: { id: "7" }) { deletedId } }';
  const like = 'mutation { likeNote(input: { id: "7" }) { note { id } } }';
  const join = 'mutation { joinEvent(input: { id: "7" }) { event { id } } }';

  test.each([
    ['collectBook', collect, {}],
    ['collectBook', collect, 'OK'],
    ['collectBook', collect, { id: 1, book_id: '8', status: 'read' }],
    ['updateAnnotation', update, { id: '8' }],
  ])('%s that is to tell a record, answered otherwise, is an invalid response', async (field, query, body) => {
    const { books, ask } = await facade();
    books.behave(json(JSON.stringify(body)));
    const answered = await ask(query, alice);
    expect([answered.data, codesIn(answered)]).toEqual([{ [field]: null }, ['UPSTREAM_INVALID_RESPONSE']]);
  });

  test.each([
    ['a text', '"OK"'],
    ['nothing', '{}'],
    ['anything', '{"r":0}'],
  ])('that has nothing to tell is done, answered with %s', async (_, body) => {
    const { books, ask } = await facade();
    books.behave(json(body));
    expect((await ask(remove, alice)).errors).toBeUndefined();
    expect((await ask(like, alice)).errors).toBeUndefined();
  });

  test.each([
    ['collectBook', collect, 6011, 'COLLECTION_EXISTS'],
    ['deleteReview', remove, 6006, 'REVIEW_NOT_FOUND'],
    ['likeNote', like, 1006, 'NOTE_NOT_FOUND'],
    ['joinEvent', join, 1001, 'EVENT_NOT_FOUND'],
  ])('%s answered with an error under status 200 is refused', async (field, query, code, name) => {
    const { books, events, ask } = await facade();
    for (const service of [books, events]) service.behave(json(JSON.stringify(error(code))));
    const answered = await ask(query, alice);
    expect([answered.data, codesIn(answered)]).toEqual([{ [field]: null }, [name]]);
  });
});
