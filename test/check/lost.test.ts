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
async function told(was: Parameters<typeof base>[0], is: Parameters<typeof base>[0], document: string) {
  const lost = (await createLostFinder(base(was), base(is)))(parse(document))!;
  for (const { severity } of lost) expect(severity).toBe('warning');
  return lost.map(({ message }) => message);
}

const first = [{ field: ' = 50' }, { field: ' = 10' }] as const;

test('of an argument that the document does not give it says that its default is another', async () => {
  const was = "Default value for argument 'first' on field 'Query.list' changed from '50' to '10'.";
  for (const relying of [
    '{ list { name } }',
    'query A($first: Int) { list(first: $first) { name } }',
    'query A($first: Int) { ...L } fragment L on Query { list(first: $first) { name } }',
  ])
    expect(await told(...first, relying)).toEqual([was]);
  for (const given of [
    '{ list(first: 3) { name } }',
    '{ list(first: null) { name } }',
    'query A($first: Int!) { list(first: $first) { name } }',
    'query A($first: Int = 7) { list(first: $first) { name } }',
    '{ save }',
  ])
    expect([given, await told(...first, given)]).toEqual([given, []]);
});

test('a default that is gone is reported too; one in another form is not', async () => {
  expect((await told({ field: ' = 10' }, {}, '{ list { name } }'))[0]).toMatch(/from '10' to 'undefined'/);
  expect(await told({ field: ' = 10' }, { field: ' =    10' }, '{ list { name } }')).toEqual([]);
});

const conflict = [{ input: ' = KEEP' }, { input: ' = FAIL' }] as const;

test('of an input field it says so for literals that do not give it, at any depth, and for variables', async () => {
  const was = ["Input field 'In.onConflict' default value changed from '\"KEEP\"' to '\"FAIL\"'."];
  for (const relying of [
    '{ save(in: { id: 1 }) }',
    '{ save(more: [{ id: 1 }]) }',
    'query A($c: Conflict) { save(in: { onConflict: $c }) }',
    'query A($in: In) { save(in: $in) }',
    'query A($more: [In!]) { save(more: $more) }',
  ])
    expect([relying, await told(...conflict, relying)]).toEqual([relying, was]);
  expect(await told(...conflict, '{ save(in: { onConflict: UPDATE }) }')).toEqual([]);
});

test('of a directive it says so too', async () => {
  expect(await told({ directive: ' = 1' }, { directive: ' = 2' }, '{ list @page { name } }')).toEqual([
    "Default value for argument 'size' on directive 'page' changed from '1' to '2'.",
  ]);
  expect(await told({ directive: ' = 1' }, { directive: ' = 2' }, '{ list @page(size: 5) { name } }')).toEqual([]);
});

test('a field that is required because its default is gone fails a document whose variable may lack it', async () => {
  const find = await createLostFinder(base({ input: '! = KEEP' }), base({ input: '!' }));
  const lost = find(parse('query A($in: In) { save(in: $in) }'))!;
  expect(lost.map(({ severity, coordinate }) => [severity, coordinate])).toEqual([['error', 'In.onConflict']]);
  const optional = await createLostFinder(base({ input: ' = KEEP' }), base({}));
  expect(optional(parse('query A($in: In) { save(in: $in) }'))![0]!.severity).toBe('warning');
});
