import { expect, test } from 'vitest';
import { notesOn } from '../../../src/engine/errors/codes.ts';
import { startFacade } from '../../support/start-facade.ts';

const limits = {
  maxUpstreamCalls: '3',
  maxItems: '150',
  maxValues: '600',
  maxDepth: '6',
  maxFields: '100',
  maxRootFields: '5',
  maxMutations: '1',
  maxAliases: '6',
  maxFragments: '1',
  maxDirectives: '2',
  maxTokens: '400',
  maxDocumentCharacters: '2000',
};
const { url, books } = await startFacade(limits);
const likes = 'likeNote(input: { id: "1" }) { note { id } }';

/** A request for each code of an operation that is rejected before it runs. */
const rejected: [code: string, request: Record<string, unknown>][] = [
  ['GRAPHQL_PARSE_FAILED', { query: '{' }],
  ['GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }],
  ['OPERATION_RESOLUTION_FAILURE', { query: 'query A { __typename } query B { __typename }' }],
  ['BAD_USER_INPUT', { query: 'query ($id: ID!) { book(id: $id) { title } }', variables: {} }],
  ['PERSISTED_QUERY_NOT_FOUND', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }],
  ['PERSISTED_QUERY_HASH_MISMATCH', { query: '{ a }', documentId: 'x' }],
  [
    'TOO_MANY_CALLS',
    {
      query: '{ a: book(id: 1) { title } b: book(id: 2) { title } c: book(id: 3) { title } d: book(id: 4) { title } }',
    },
  ],
  [
    'TOO_MANY_ITEMS',
    {
      query:
        '{ user(id: "a") { bookCollections(first: 100) { nodes { status } } annotations(first: 100) { nodes { id } } } }',
    },
  ],
  ['TOO_MANY_VALUES', { query: '{ __schema { types { fields { name } } } }' }],
  ['TOO_DEEP', { query: '{ book(id: 1) { series { books { nodes { series { books { nodes { title } } } } } } } }' }],
  ['TOO_MANY_FIELDS', { query: `{ book(id: 1) { ${'title '.repeat(120)} } }` }],
  ['TOO_MANY_ROOT_FIELDS', { query: `{ ${'__typename '.repeat(6)} }` }],
  ['TOO_MANY_MUTATIONS', { query: `mutation { ${likes} ${likes} }` }],
  ['TOO_MANY_ALIASES', { query: `{ book(id: 1) { ${'a: title '.repeat(7)} } }` }],
  [
    'TOO_MANY_FRAGMENTS',
    { query: '{ ...A ...B } fragment A on Query { __typename } fragment B on Query { __typename }' },
  ],
  [
    'TOO_MANY_DIRECTIVES',
    { query: '{ a: __typename @skip(if: false) b: __typename @skip(if: false) c: __typename @skip(if: false) }' },
  ],
  ['TOO_MANY_TOKENS', { query: `{ book(id: 1) { ${'id '.repeat(450)} } }` }],
  ['DOCUMENT_TOO_LONG', { query: `{ __typename } #${'x'.repeat(2000)}` }],
  ['BAD_REQUEST', {}],
  ['BATCHING_OFF', [] as unknown as Record<string, unknown>],
];

/** Of invalid variables: otherwise the error is beside data, so that its row has no status. */
const ofVariables = { graphql: 422, json: 200 };

/** The statuses that the page of the codes promises. */
function promised(code: string, accept: string): number {
  const { status = ofVariables } = notesOn(code)!;
  return accept === 'application/json' ? status.json : status.graphql;
}

const ACCEPTED = ['application/json', 'application/graphql-response+json'];

test.each(rejected)('%s is a request error with the documented status, in every media type', async (code, request) => {
  for (const accept of ACCEPTED) {
    for (const more of [{}, { onError: 'NULL' }, { unknown: 1 }]) {
      const body = JSON.stringify(Array.isArray(request) ? request : { ...request, ...more });
      const headers = { 'content-type': 'application/json', accept };
      for (const method of ['POST', 'QUERY']) {
        if (method === 'QUERY' && code === 'TOO_MANY_MUTATIONS') continue;
        const response = await fetch(url, { method, headers, body });
        const result = (await response.json()) as { errors: { extensions: { code: string } }[] };
        expect(result.errors[0]!.extensions.code).toBe(code);
        expect(result).not.toHaveProperty('data');
        expect([accept, response.status]).toEqual([accept, promised(code, accept)]);
      }
    }
  }
  expect(books.requests).toEqual([]);
});
