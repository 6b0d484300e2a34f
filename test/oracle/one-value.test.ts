/** What counts as two values of one field in a response. */
import { type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { requireOneValue, takeConflicts } from '../support/one-value.ts';

function conflictsIn(query: string, data: object, errors: { path: (string | number)[]; message: string }[] = []) {
  const document = parse(query);
  requireOneValue(document, document.definitions[0] as OperationDefinitionNode, {}, { data, errors });
  return takeConflicts().map(({ key, value, before }) => [key, before.value, value]);
}

test('a field of one object has one value, under whatever names the response has it', () => {
  const query =
    '{ a: book(id: 1) { id title } b: nodes(ids: ["Book:1"]) { ... on Book { __typename id name: title } } }';
  const data = (title: string | null) => ({
    a: { id: 'Book:1', title: '一' },
    b: [{ __typename: 'Book', id: 'Book:1', name: title }],
  });
  expect(conflictsIn(query, data('一'))).toEqual([]);
  expect(conflictsIn(query, data('二'))).toEqual([['Book:1.title', '"一"', '"二"']]);
  expect(conflictsIn(query, data(null))).toEqual([['Book:1.title', '"一"', 'null']]);
  expect(conflictsIn(query, data(null), [{ path: ['b', 0, 'name'], message: '' }])).toEqual([]);
});

test('so has each field below it that belongs to no other object', () => {
  const query = '{ a: book(id: 1) { id rating { average } } b: book(id: "Book:1") { id rating { average } } }';
  const of = (average: number) => ({ id: 'Book:1', rating: { average } });
  expect(conflictsIn(query, { a: of(8), b: of(8) })).toEqual([]);
  expect(conflictsIn(query, { a: of(8), b: of(9) })).toEqual([['Book:1.rating.average', '8', '9']]);
});

test('other arguments are another field, but the total is that of the list', () => {
  const query = `{ book(id: 1) { id a: annotations(first: 2) { totalCount nodes { id } } b: annotations(first: 3) { totalCount nodes { id } }
    c: annotations(order: PAGE) { totalCount } } }`;
  const page = (totalCount: number, ids: number[]) => ({
    totalCount,
    nodes: ids.map((id) => ({ id: `Annotation:${id}` })),
  });
  const of = (total: number) => ({
    book: { id: 'Book:1', a: page(9, [1, 2]), b: page(total, [1, 2, 3]), c: { totalCount: 5 } },
  });
  expect(conflictsIn(query, of(9))).toEqual([]);
  expect(conflictsIn(query, of(8))).toEqual([[expect.stringContaining('totalCount'), '9', '8']]);
});

test('a neighbour that one path knows is known by every path', () => {
  const query =
    '{ celebrity(id: 1) { id a: photos(first: 1) { nodes { id next { id } } } b: photos(first: 2) { nodes { id next { id } } } } }';
  const photo = (next: string | null) => ({ id: 'Photo:1', next: next && { id: next } });
  const of = (next: string | null) => ({
    celebrity: { id: 'Celebrity:1', a: { nodes: [photo(next)] }, b: { nodes: [photo('Photo:2')] } },
  });
  expect(conflictsIn(query, of('Photo:2'))).toEqual([]);
  expect(conflictsIn(query, of(null))).toEqual([['Photo:1.next by its id', 'null', '→Photo:2']]);
});

test('the caller is the same for all objects of a response', () => {
  const query = '{ a: event(id: 1) { id viewerCanUpdate } b: event(id: "Event:1") { id viewerCanUpdate } }';
  const of = (viewerCanUpdate: boolean | null) => ({ id: 'Event:1', viewerCanUpdate });
  expect(conflictsIn(query, { a: of(null), b: of(null) })).toEqual([]);
  expect(conflictsIn(query, { a: of(null), b: of(true) })).toEqual([['Event:1.viewerCanUpdate', 'null', 'true']]);
});
