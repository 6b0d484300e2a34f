import { expect, test } from 'vitest';
import { createDocumentCheck } from '../../../src/engine/documents/check-document.ts';
import { readConfig } from '../../../src/config/read.ts';
import { schema } from '../../../src/graph/schema.ts';

const { check } = createDocumentCheck(schema, readConfig({}));

test.each([
  ['a DateTime', 'updatedFrom: "2015-01-01"', 'BAD_USER_INPUT', 'updatedFrom'],
  ['an enum', 'status: READING_IT', 'GRAPHQL_VALIDATION_FAILED', 'status'],
  ['an Int', 'first: "3"', 'GRAPHQL_VALIDATION_FAILED', 'first'],
])('a literal that %s refuses has its line, argument and field', (_, argument, code, name) => {
  const { errors = [] } = check(
    `{\n  user(id: "alice") {\n    bookCollections(${argument}) { totalCount }\n  }\n}`,
    undefined,
  );
  expect(errors.map((error) => error.toJSON())).toMatchObject([
    {
      locations: [{ line: 3, column: 21 + name.length + 2 }],
      extensions: { code, argument: name, coordinate: 'User.bookCollections' },
    },
  ]);
});

test('a literal within an input has the argument of the field', () => {
  const { errors = [] } = check(
    'mutation { collectBook(input: { bookId: "1", status: NOPE }) { created } }',
    undefined,
  );
  expect(errors.map((error) => error.toJSON())).toMatchObject([
    { locations: [{ line: 1 }], extensions: { argument: 'input', coordinate: 'Mutation.collectBook' } },
  ]);
});

test('a literal of a directive has no argument of a field', () => {
  const { errors = [] } = check('{ book(id: "1") { title @include(if: "yes") } }', undefined);
  expect(errors.map(({ extensions }) => extensions)).toMatchObject([{ code: 'GRAPHQL_VALIDATION_FAILED' }]);
  expect(errors[0]!.extensions).not.toHaveProperty('argument');
});
