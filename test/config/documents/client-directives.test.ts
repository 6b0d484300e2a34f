import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type DocumentNode, parse, print, validate } from 'graphql';
import { expect, test } from 'vitest';
import { asSent } from '../../../src/config/documents/client-directives.ts';
import { schema } from '../../../src/graph/schema.ts';

const sent = (document: string): string | undefined => {
  const made = asSent(parse(document));
  return made && print(made).replaceAll(/\s+/g, ' ').trim();
};
const asPrinted = (document: string) => print(parse(document)).replaceAll(/\s+/g, ' ').trim();

/** Each with what is sent; none: nothing is. */
const cases: [what: string, document: string, expected?: string][] = [
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
  [
    'local fields with the variables and fragments that only they use',
    'query A($id: ID!, $local: Int, $both: Boolean!) { book(id: $id) { id cart(n: $local) @client { ...G } title @include(if: $both) } } fragment G on Cart { n }',
    'query A($id: ID!, $both: Boolean!) { book(id: $id) { id title @include(if: $both) } }',
  ],
  ['a selection of local fields only', '{ book(id: 1) { isOpen @client } }', '{ book(id: 1) { __typename } }'],
  [
    'a fragment of local fields only',
    '{ book(id: 1) { id ...L } } fragment L on Book { isOpen @client }',
    '{ book(id: 1) { id } }',
  ],
  [
    'a local spread and a local inline fragment',
    '{ book(id: 1) { id ...L @client ... @client { x } } } fragment L on Book { y }',
    '{ book(id: 1) { id } }',
  ],
  ['an operation of local fields only', '{ isOpen @client }'],
  ['an operation of a fragment of local fields only', '{ ...L } fragment L on Query { isOpen @client }'],
];

test.each(cases)('of %s, what clients send is kept', (_, document, expected) => {
  expect(sent(document)).toBe(expected && asPrinted(expected));
  if (expected !== undefined) expect(validate(schema, asSent(parse(document))!)).toEqual([]);
});

const apollo = 'test/clients/node_modules/@apollo/client/utilities/internal/removeDirectivesFromDocument.js';

test.skipIf(!existsSync(apollo))('it is what Apollo Client sends', async () => {
  const require = createRequire(import.meta.resolve(`../../../${apollo}`));
  const utilities = (await import(require.resolve('@apollo/client/utilities/internal'))) as {
    removeDirectivesFromDocument: (directives: object[], document: DocumentNode) => DocumentNode | null;
  };
  const { addTypenameToDocument } = (await import(require.resolve('@apollo/client/utilities'))) as {
    addTypenameToDocument: (document: DocumentNode) => DocumentNode;
  };
  const removed = [
    { name: 'client', remove: true },
    { name: 'connection' },
    { name: 'nonreactive' },
    { name: 'unmask' },
  ];
  const normal = (document: DocumentNode | null | undefined) =>
    document &&
    print(document)
      .split(/\n\n(?=\S)/)
      .sort();
  let compared = 0;
  for (const [, text] of cases.filter(([what]) => !what.includes('urql'))) {
    const document = addTypenameToDocument(parse(text));
    expect([text, normal(asSent(document)) ?? null]).toEqual([
      text,
      normal(utilities.removeDirectivesFromDocument(removed, document)),
    ]);
    compared++;
  }
  expect(compared).toBeGreaterThan(5);
});
