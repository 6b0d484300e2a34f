import type { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { recordDocument } from '../../../../../src/server/features/mcp/documents/record-document.ts';
import { schema } from '../../../../../src/graph/schema.ts';

const namesIn = (type: string) => recordDocument(schema.getType(type) as GraphQLObjectType).match(/\w+/g);

test('the document of a record has its own values and those of objects in it', () => {
  expect(namesIn('Subject')).toEqual(expect.arrayContaining(['title', 'mainlandReleaseDate', 'rating', 'average']));
});

test('it has no deprecated fields, none that cost a call, none with other records, and none of the caller', () => {
  for (const name of ['pubdate', 'comments', 'directors']) expect(namesIn('Subject')).not.toContain(name);
  for (const name of ['annotations', 'viewerCollection']) expect(namesIn('Book')).not.toContain(name);
  expect(namesIn('Event')).not.toContain('viewerRelation');
});
