import { buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createLostFinder } from '../../src/check/lost.ts';

const base = (part: { field?: string; input?: string; directive?: string }) =>
  buildSchema(`
    directive @page(size: Int${part.directive ?? ''}) on FIELD
    enum Conflict { KEEP FAIL UPDATE }
    input Inner { depth: Int = 1 }
    input In { id: ID, onConflict: Conflict${part.input ?? ''}, inner: Inner = {} }
    type Item { name(long: Boolean = false): String }
    type Query { list(first: Int${part.field ?? ''}, after: String): [Item], save(in: In, more: [In!]): Int }
  `);

/** What a document is told when the schema changes from the first to the second. */
function told(was: Parameters<typeof base>[0], is: Parameters<typeof base>[0], document: string): string[] {
  const lost = createLostFinder(base(was), base(is))(parse(document))!;
  for (const { severity } of lost) expect(severity).toBe('warning');
  return lost.map(({ message }) => message);
}

const first = [{ field: ' = 50' }, { field: ' = 10' }] as const;

test('of an argument that the document does not give it says that its default is another', () => {
  const was = 'The default of Query.list(first:) was 50 and is 10';
  expect(told(...first, '{ list { name } }')).toEqual([`${was}, which the document does not give.`]);
  expect(told(...first, 'query A($first: Int) { list(first: $first) { name } }')).toEqual([
    `${was}, where $first is absent.`,
  ]);
  expect(told(...first, 'query A($first: Int) { ...L } fragment L on Query { list(first: $first) { name } }')).toEqual([
    `${was}, where $first is absent.`,
  ]);
  for (const given of [
    '{ list(first: 3) { name } }',
    '{ list(first: null) { name } }',
    'query A($first: Int!) { list(first: $first) { name } }',
    'query A($first: Int = 7) { list(first: $first) { name } }',
    '{ save }',
  ])
    expect([given, told(...first, given)]).toEqual([given, []]);
});

test('a default that is gone is reported too; one that is new or in another form is not', () => {
  expect(told({ field: ' = 10' }, {}, '{ list { name } }')[0]).toMatch(/was 10 and there is none any more,/);
  expect(told({}, { field: ' = 10' }, '{ list { name } }')).toEqual([]);
  expect(told({ field: ' = 10' }, { field: ' =    10' }, '{ list { name } }')).toEqual([]);
});

const conflict = [{ input: ' = KEEP' }, { input: ' = FAIL' }] as const;

test('of an input field it says so for literals that do not give it, at any depth, and for variables', () => {
  const was = 'The default of In.onConflict was KEEP and is FAIL';
  expect(told(...conflict, '{ save(in: { id: 1 }) }')).toEqual([`${was}, which the document does not give.`]);
  expect(told(...conflict, '{ save(more: [{ id: 1 }]) }')).toHaveLength(1);
  expect(told(...conflict, 'query A($c: Conflict) { save(in: { onConflict: $c }) }')).toEqual([
    `${was}, where $c is absent.`,
  ]);
  expect(told(...conflict, 'query A($in: In) { save(in: $in) }')).toEqual([`${was}, where clients do not send it.`]);
  expect(told(...conflict, '{ save(in: { onConflict: UPDATE }) }')).toEqual([]);
});

test('of a directive it says so too', () => {
  expect(told({ directive: ' = 1' }, { directive: ' = 2' }, '{ list @page { name } }')).toEqual([
    'The default of @page(size:) was 1 and is 2, which the document does not give.',
  ]);
  expect(told({ directive: ' = 1' }, { directive: ' = 2' }, '{ list @page(size: 5) { name } }')).toEqual([]);
});
