import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';

const fragment = (on: string, fields: string) => `{ node(id: "Note:1") { ... on ${on} { ${fields} } } }`;

test.each([
  ['Content', 'id sourceId revision viewerDidAuthor viewerCanUpdate viewerCanDelete content'],
  ['Actor', 'id sourceId name'],
])('a component that shows any %s can select its key, and what its types have in common', (on, fields) => {
  expect(validate(schema, parse(fragment(on, fields)))).toEqual([]);
});

test('a local time is not specified by RFC 3339, which demands an offset', () => {
  expect(schema.getType('LocalDateTime')).toMatchObject({
    specifiedByURL: expect.stringContaining('local-dates-and-times'),
  });
});
