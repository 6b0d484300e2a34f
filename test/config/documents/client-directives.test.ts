import { parse, print, validate } from 'graphql';
import { expect, test } from 'vitest';
import { asSent } from '../../../src/config/documents/client-directives.ts';
import { schema } from '../../../src/graph/schema.ts';

const asPrinted = (document: string) => print(parse(document)).replaceAll(/\s+/g, ' ').trim();

/** Each with what is sent. */
const cases: [what: string, document: string, expected: string][] = [
  ['nothing of clients', '{ book(id: 1) { id } }', '{ book(id: 1) { id } }'],
  [
    'directives of the cache of Apollo Client',
    'query A { top250(first: 2) @connection(key: "top") { nodes { ...F @nonreactive @unmask } } } fragment F on Subject { id }',
    'query A { top250(first: 2) { nodes { ...F } } } fragment F on Subject { id }',
  ],
  [
    'directives of the cache of urql',
    '{ book(id: 1) { id @_required title @_optional } }',
    '{ book(id: 1) { id title } }',
  ],
  [
    'directives of the server',
    '{ book(id: 1) { id @include(if: true) } }',
    '{ book(id: 1) { id @include(if: true) } }',
  ],
];

test.each(cases)('of %s, what clients send is kept', (_, document, expected) => {
  const sent = asSent(parse(document));
  expect(asPrinted(print(sent))).toBe(asPrinted(expected));
  expect(validate(schema, sent)).toEqual([]);
});
