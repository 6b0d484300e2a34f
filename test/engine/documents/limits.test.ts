import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { codesIn, startFacade } from '../../support/start-facade.ts';

/** Levels of `ofType`, as a fragment of its own in each of the ways. */
const nested = (levels: number) => 'ofType { name '.repeat(levels) + '}'.repeat(levels);

describe('MAX_DEPTH', async () => {
  const { execute } = await startFacade({ maxDepth: '3' });

  test.each([
    ['graphql-js', getIntrospectionQuery()],
    ['graphql-js with deep types', getIntrospectionQuery({ typeDepth: 15 })],
    [
      'graphql-js with all options',
      getIntrospectionQuery({
        oneOf: true,
        inputValueDeprecation: true,
        specifiedByUrl: true,
        schemaDescription: true,
      }),
    ],
    ['a fragment on __Type', `{ __type(name: "Book") { ...T } } fragment T on __Type { name ${nested(8)} }`],
    [
      'fragments in fragments',
      `{ __schema { ...S } } fragment S on __Schema { types { fields { ...F } } } fragment F on __Field { args { type { ...T } } } fragment T on __Type { ${nested(5)} }`,
    ],
    ['an inline fragment', `{ __schema { types { ... on __Type { ${nested(8)} } } } }`],
    [
      'a fragment on the root type',
      `{ ...Q } fragment Q on Query { __schema { types { ...T } } } fragment T on __Type { ${nested(6)} }`,
    ],
    ['no fragment', `{ __type(name: "Book") { ${nested(10)} } }`],
  ])('does not count introspection, as %s writes it', async (_, query) => {
    const response = await execute(query);
    expect(response.errors?.map(({ message }) => message)).toBeUndefined();
    expect(response.data).toBeTruthy();
  });

  test.each([
    ['a field', '{ book(id: 7) { series { books { nodes { title } } } } }'],
    ['a fragment', '{ book(id: 7) { ...B } } fragment B on Book { series { books { nodes { title } } } }'],
    ['an inline fragment', '{ book(id: 7) { ... on Book { series { ... { books { nodes { title } } } } } } }'],
    [
      'data beside introspection',
      '{ __schema { types { ...T } } book(id: 7) { series { books { nodes { title } } } } } fragment T on __Type { name }',
    ],
  ])('counts %s of data', async (_, query) => {
    expect(codesIn(await execute(query))).toEqual(['TOO_DEEP']);
  });
});
