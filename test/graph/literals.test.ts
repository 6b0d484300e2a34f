import { expect, test } from 'vitest';
import { startFacade } from '../support/start-facade.ts';

const alice = { headers: { authorization: 'Bearer alice' } };

/** A document with an invalid literal, and the argument and field that have it. */
const wrong: [document: string, argument: string, coordinate: string][] = [
  [
    '{ user(id: "a") { bookCollections(updatedFrom: "2015-01-01") { totalCount } } }',
    'updatedFrom',
    'User.bookCollections',
  ],
  ['{ user(id: "a") { bookCollections(updatedTo: 5) { totalCount } } }', 'updatedTo', 'User.bookCollections'],
  ['{ user(id: "a") { bookCollections(status: LENT) { totalCount } } }', 'status', 'User.bookCollections'],
  ['{ book(id: 1.5) { title } }', 'id', 'Query.book'],
  ['{ nodes(ids: ["Book:1", true]) { id } }', 'ids', 'Query.nodes'],
  ['{ top250(first: "3") { totalCount } }', 'first', 'Query.top250'],
  ['{ searchBooks(query: 5) { totalCount } }', 'query', 'Query.searchBooks'],
  [
    'mutation { updateEvent(input: { id: 7, startsAt: "tomorrow" }) { event { id } } }',
    'input',
    'Mutation.updateEvent',
  ],
  [
    'mutation { addNotePictures(input: { id: 7, pictures: [{ number: 1, file: "x" }] }) { note { id } } }',
    'input',
    'Mutation.addNotePictures',
  ],
];

test.each(wrong)(
  'a literal that its type refuses is named by line, argument and field: %s',
  async (document, argument, coordinate) => {
    const { execute } = await startFacade();
    const { errors } = await execute(`\n${document}`, alice);
    expect(errors).toHaveLength(1);
    expect(errors![0]).toMatchObject({
      locations: [{ line: 2, column: expect.any(Number) as number }],
      extensions: { argument, coordinate },
    });
    const [{ column }] = (errors![0] as unknown as { locations: [{ column: number }] }).locations;
    expect(document.slice(column - 1)).not.toMatch(/^[{(]/);
  },
);
