import { expect, test } from 'vitest';
import { price } from '../../../src/price.ts';
import { facade } from '../../support/facade.ts';

const callsOf = (document: string) => price(document, {}).cost!.calls;

test('a record that the list of the service holds beside its id is likely to be there', () => {
  const shelf = '{ user(id: "1") { bookCollections(first: 100) { nodes { status book { title } } } } }';
  expect(callsOf(shelf)).toEqual({ least: 1, likely: 1, most: 101 });
});

test('a record of which the list holds the id alone is likely to be loaded', () => {
  const readers = '{ book(id: "1") { title collection(userId: "2") { status user { name } } } }';
  expect(callsOf(readers).likely).toBe(callsOf(readers).most);
});

test('a list without a size of its own has as many items as there usually are', () => {
  const works = '{ top250(first: 20) { nodes { directors { name works(first: 5) { nodes { roles } } } } } }';
  expect(callsOf(works)).toMatchObject({ likely: 1 + 20 + 20 });
});

test('what is selected of one record at several places is likely to be loaded once', () => {
  const once = '{ top250(first: 10) { nodes { summary } } }';
  const twice = '{ top250(first: 10) { nodes { summary } edges { node { durations } } } }';
  const other = '{ top250(first: 10) { nodes { summary } } again: top250(first: 20) { nodes { summary } } }';
  expect(callsOf(twice)).toMatchObject({ likely: callsOf(once).likely, most: 21 });
  expect(callsOf(other)).toMatchObject({ likely: 32, most: 32 });
});

test('calls with other arguments below one record, which is named twice, are all likely', () => {
  const comment = (id: number) => `note(id: "502") { noteComment(id: "${id}") { content } }`;
  expect(callsOf(`{ a: ${comment(2)} b: ${comment(9)} }`).likely).toBe(2);
  expect(callsOf(`{ a: ${comment(2)} b: ${comment(2)} }`).likely).toBe(1);
});

test('of a reference that the client names nothing is likely to be known: over the limit, nothing is called', async () => {
  const { execute } = facade({ maxUpstreamCalls: 1 });
  const { errors } = await execute('{ user(id: "1") { name bookTags { totalCount } } }');
  expect(errors![0]!.extensions).toMatchObject({ code: 'TOO_MANY_CALLS', actual: 2 });
});

test('what a list tells of its parent is likely not to be loaded', () => {
  const city = '{ city(id: "beijing") { name events(first: 5) { nodes { title } } } }';
  expect(callsOf(city).likely).toBe(1);
});

test.each([
  ['{ event(id: "1") { id participants { totalCount } } }', 1],
  ['{ node(id: "Subject:1") { ... on Subject { id photos(first: 20) { nodes { imageUrl } } } } }', 1],
  ['{ book(id: "1") { tagsCount } }', 1],
  ['{ annotation(id: "1") { page content(format: HTML) } }', 1],
  ['{ event(id: "1") { title participants { totalCount } } }', 2],
])('a record that the client named is likely to be loaded unless a call below it shows it: %s', (document, likely) => {
  expect(callsOf(document)).toMatchObject({ likely, most: 2 });
});

test('what a list selects of its parent again is likely to be loaded with the parent', () => {
  const film = '{ subject(id: "1") { comments { nodes { content subject { countries } } } } }';
  expect(callsOf(film)).toMatchObject({ likely: 2, most: 3 });
});

test('a feed is likely to have an author if it is that of a person', () => {
  const notesOf = (feed: string) => `${feed} { author { ... on User { notes { totalCount } } } }`;
  expect(callsOf(`{ ${notesOf('searchEvents')} }`)).toMatchObject({ likely: 1, most: 2 });
  expect(callsOf(`{ city(id: "beijing") { ${notesOf('events')} } }`)).toMatchObject({ likely: 1, most: 2 });
  expect(callsOf(`{ event(id: "1") { ${notesOf('participants')} } }`)).toMatchObject({ likely: 1, most: 3 });
  expect(callsOf(`{ user(id: "alice") { ${notesOf('events')} } }`)).toMatchObject({ likely: 2, most: 2 });
});

test('a deferred part of a record is likely to be loaded later', () => {
  expect(callsOf('{ book(id: "1") { title ... @defer { summary } } }')).toMatchObject({ likely: 2, most: 2 });
});

test('a write is likely to be made once, and shows its record if its response has it', () => {
  const note = 'mutation { createNote(input: { title: "A", content: "B" }) { note { title } } }';
  const like = 'mutation { likeNote(input: { id: "1" }) { note { title } } }';
  const collect = 'mutation { collectBook(input: { bookId: "1", status: READ }) { book { title } } }';
  expect([note, like, collect].map((each) => callsOf(each).likely)).toEqual([1, 2, 1]);
});

test('the ids of several lists may be variables', () => {
  const two = 'query Q($a: [ID!]!, $b: [ID!]!) { a: nodes(ids: $a) { id } b: nodes(ids: $b) { id } }';
  expect(price(two).cost!.calls.most).toBe(200);
});

test.each([
  'query Q($n: Int) { subject(id: "1") { directors { sourceId works(first: $n) { nodes { roles } } } } }',
  'query Q($n: Int) { celebrity(id: "1") { name works(first: $n) { nodes { roles } } photos(last: $n) { nodes { id } } } }',
])('no number costs more than what is told of all: %s', (document) => {
  const { most } = price(document).cost!.calls;
  for (let n = 1; n <= 100; n++) expect(price(document, { n }).cost!.calls.most).toBeLessThanOrEqual(most);
});

/** A page that the record of a person has, if nothing more is selected of it than these. */
const worksOf = (more: string) => `subject(id: "1") { casts { works(first: 3) { nodes { roles } ${more} } } }`;

test('a selection that the document itself leaves out is not in its price, whatever the variables are', () => {
  const always = price(`{ ${worksOf('totalCount @include(if: false)')} }`);
  expect(always.cost!.calls).toEqual(price(`{ ${worksOf('')} }`).cost!.calls);
});

test('the price of all variables contains that of each, also where fewer fields need more calls', () => {
  const text = `query Q($some: Boolean!) { ${worksOf('totalCount @include(if: $some)')} }`;
  const most = (some: boolean) => price(text, { some }).cost!.calls.most;
  expect(most(false)).toBeGreaterThan(most(true));
  expect(price(text).cost!.calls.most).toBe(most(false));
});
