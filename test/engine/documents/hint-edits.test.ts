import { getOperationAST, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { editsOfHint, withEdits } from '../../../src/engine/documents/hint-edits.ts';
import { hintText, hintsFor } from '../../../src/engine/documents/hints.ts';
import { schema } from '../../../src/graph/schema.ts';
import { worstWith } from '../../support/worst-with.ts';

const variables = { n: 50, tag: 'a' };
const worstOf = worstWith(variables);
const after = (text: string, hint: Parameters<typeof editsOfHint>[1]) => withEdits(text, editsOfHint(text, hint));

const dear = [
  '{ top250(first: 60) { nodes { title, summary } } }',
  `# the films
query Films(
  $n: Int!
) {
  # the list
  top250(first: $n) {
    nodes { title summary }
  }
}
`,
  'query ($n: Int, $tag: String) { searchBooks(tag: $tag, first: $n) { nodes { title ...Series } } }\nfragment Series on Book { series { title books(first: 5) { nodes { title } } } }\n',
  '{ event(id: 1) { title participants { nodes { name notes { nodes { title } } } } } }',
  '{ city(id: "beijing") { events(first: 40) { nodes { organizer { name } participants { totalCount } } } } }',
];

test.each(dear)('the edits of each hint make a valid document of the calls that the hint tells: %s', (text) => {
  expect(validate(schema, parse(text))).toEqual([]);
  const hints = hintsFor(schema, parse(text), undefined, worstOf);
  expect(hints.length).toBeGreaterThan(0);
  for (const hint of hints) {
    const changed = after(text, hint);
    const document = parse(changed);
    expect([hintText(hint), validate(schema, document)]).toEqual([hintText(hint), []]);
    expect([hintText(hint), worstOf(document, getOperationAST(document)!).calls.max]).toEqual([
      hintText(hint),
      hint.calls,
    ]);
  }
});

test('a page size is written in the place of the old one, of a variable, or as the first argument', () => {
  expect(after('{ a(first: 5) { b } }', { path: 'a', first: 2 })).toBe('{ a(first: 2) { b } }');
  expect(after('query Q($n: Int) { a(x: 1, first: $n) { b } }', { path: 'a', first: 2 })).toBe(
    'query Q { a(x: 1, first: 2) { b } }',
  );
  expect(after('{ k: a(x: 1) { b } }', { path: 'k', first: 2 })).toBe('{ k: a(first: 2, x: 1) { b } }');
  expect(after('{ a { b { c } } }', { path: 'a.b', first: 2 })).toBe('{ a { b(first: 2) { c } } }');
  expect(after('query Q($n: Int) { a(first: $n) { b(first: $n) } }', { path: 'a', first: 2 })).toBe(
    'query Q($n: Int) { a(first: 2) { b(first: $n) } }',
  );
});

test('a field is removed with its line, and with the variables and fragments that only it uses', () => {
  const text = `query Q($x: Int, $y: Int) {
  a(y: $y) {
    b # stays
    c(x: $x) {
      ...F
    }
  }
}

fragment F on C { ...G }
fragment G on C { d }
`;
  expect(after(text, { path: 'a', without: ['c'] })).toBe(`query Q($y: Int) {
  a(y: $y) {
    b # stays
  }
}

`);
});

test('an object of which all fields are removed is still asked for', () => {
  expect(after('{ a { b, c } }', { path: 'a', without: ['b', 'c'] })).toBe('{ a { __typename, } }');
});

test('of several operations only the named one changes, and a path that is not there changes nothing', () => {
  const text = 'query A { a { b } } query B { a { b } }';
  expect(withEdits(text, editsOfHint(text, { path: 'a', first: 2 }, 'B'))).toBe(
    'query A { a { b } } query B { a(first: 2) { b } }',
  );
  expect(editsOfHint(text, { path: 'z', first: 2 }, 'A')).toEqual([]);
  expect(editsOfHint(text, { path: 'a', without: ['z'] }, 'A')).toEqual([]);
});
