import { type OperationDefinitionNode, parse, print } from 'graphql';
import { expect, test } from 'vitest';
import { deferOf, withoutIncremental } from '../../../src/engine/plan/document.ts';

test('a document without incremental delivery keeps its other directives', () => {
  const document = parse('{ a @skip(if: true) b @stream { c @include(if: false) } ... @defer(label: "x") { d } }');
  const plain = '{ a @skip(if: true) b { c @include(if: false) } ... { d } }';
  expect(print(withoutIncremental(document))).toBe(print(parse(plain)));
});

test.each([
  ['@defer', true],
  ['@defer(if: true)', true],
  ['@defer(if: false)', false],
  ['@defer(if: $no)', false],
  ['@defer(if: $yes)', true],
  ['', false],
])('whether a fragment is deferred by %s: %s', (directive, expected) => {
  const [operation] = parse(`{ ... ${directive} { a } }`).definitions as OperationDefinitionNode[];
  const defer = deferOf(operation!.selectionSet.selections[0]!, { yes: true, no: false });
  expect(defer !== undefined).toBe(expected);
});
