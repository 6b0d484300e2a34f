import { isObjectType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createDocumentCheck } from '../../../src/engine/documents/check-document.ts';
import { readConfig } from '../../../src/config/read.ts';
import { expectedFields } from '../../../src/graph/service/expected-fields.ts';
import { schema } from '../../../src/graph/schema.ts';

const messagesOf = (document: string, introspection = 'on') =>
  createDocumentCheck(schema, readConfig({}, { introspection }))
    .check(document, undefined)
    .errors?.map(({ message }) => message);

describe.each(Object.entries(expectedFields))('what %s has instead of', (typeName, words) => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
  const fields = type.getFields();

  test.each(Object.entries(words))('%s exists', (word, instead) => {
    expect(fields[word], 'the type has the field').toBeUndefined();
    if (typeof instead !== 'string') return expect(instead.filter((name) => !fields[name])).toEqual([]);
    expect(instead).toMatch(/\.$/);
    const example = /: `(.* .*)`\.$/.exec(instead)?.[1];
    if (example) expect(validate(schema, parse(`{ ${example.replaceAll('(id:)', '(id: "1")')} }`))).toEqual([]);
  });
});

test('a field that is selected by another name gets its name here as advice', () => {
  expect(messagesOf('{ movie(id: "1") { title } }')).toEqual([
    'Cannot query field "movie" on type "Query". Did you mean "subject" or "searchSubjects"?',
  ]);
});

test('what the service does not have is a sentence', () => {
  expect(messagesOf('{ book(id: "1") { reviews { title } } }')).toEqual([
    'Cannot query field "reviews" on type "Book". The service has no list of the reviews of a book: a review can be written, not read.',
  ]);
});

test('a field of the items of a connection is named with its path', () => {
  expect(messagesOf('{ top250 { year } }')).toEqual([
    'Cannot query field "year" on type "SubjectConnection". Its items have it: select `nodes { year }`.',
  ]);
});

test.each([
  [
    '{ book(id: "1") { annotations { edges { page } } } }',
    'page',
    'AnnotationEdge',
    'Its node has it: select `node { page }`.',
  ],
  ['{ newMovies { year } }', 'year', 'SubjectChart', 'Its items have it: select `subjects { year }`.'],
  [
    'mutation { likeNote(input: { id: "1" }) { likesCount } }',
    'likesCount',
    'LikeNotePayload',
    'Its note has it: select `note { likesCount }`.',
  ],
  [
    '{ user(id: "a") { bookCollections { nodes { book { reviews { title } } } } } }',
    'reviews',
    'Book',
    'The service has no list of the reviews of a book: a review can be written, not read.',
  ],
])('a field of what an edge, a chart or a payload holds is named with its path: %s', (document, name, type, advice) => {
  expect(messagesOf(document)).toEqual([`Cannot query field "${name}" on type "${type}". ${advice}`]);
});

test.each(['film', 'movie', 'person', 'me', 'search', 'books', 'events', 'reviews', 'users', 'shelf', 'actor', 'isbn'])(
  'at the root, %s is answered with what there is',
  (word) => {
    expect(messagesOf(`{ ${word} }`)).toEqual([
      expect.stringMatching(
        /^Cannot query field "\w+" on type "Query"\. (?:Did you mean "\w+"|Select (?:it|them) in )/,
      ),
    ]);
  },
);

test('without introspection no name of the schema is shown', () => {
  expect(messagesOf('{ movie(id: "1") { title } top250 { year } }', 'off')).toEqual([
    'Cannot query field "movie" on type "Query".',
    'Cannot query field "year" on type "SubjectConnection".',
  ]);
});
