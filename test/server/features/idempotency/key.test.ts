import { parse } from 'graphql';
import { expect, test } from 'vitest';
import type { ExecutableDocument } from '../../../../src/engine/documents/prepare.ts';
import '../../../../src/graph/schema.ts';
import { identify } from '../../../../src/server/features/idempotency/key.ts';

function identityOf(source: string, variables: Record<string, unknown> = {}) {
  const document = parse(source);
  const ready = { document, operation: document.definitions[0] } as ExecutableDocument;
  return identify('a key', ready, variables);
}

const LIKE = 'mutation { likeNote(input: { id: "7" }) { note { id } } }';

/** Each object nested in the one before. */
function nested(depth: number): object {
  let value: object = {};
  for (let at = 0; at < depth; at++) value = { value };
  return value;
}

test('members of variables may come in any order, also those of nested objects', () => {
  const [one, other] = [
    { a: 1, b: [{ c: 2, 10: 3 }] },
    { b: [{ 10: 3, c: 2 }], a: 1 },
  ];
  expect(identityOf(LIKE, one).fingerprint).toBe(identityOf(LIKE, other).fingerprint);
  expect(identityOf(LIKE, one).fingerprint).not.toBe(identityOf(LIKE, { a: 1, b: [{ c: 2, 10: 4 }] }).fingerprint);
});

test('variables that nest more deeply than any input are refused, whoever declares them', () => {
  expect(identityOf(LIKE, { more: nested(100) }).fingerprint).toBeTypeOf('string');
  expect(() => identityOf(LIKE, { more: nested(10_000) })).toThrow('The variables nest too deeply.');
});
