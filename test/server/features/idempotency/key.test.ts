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

test('each value of the variables is read once, however deep it nests', () => {
  let reads = 0;
  let more: unknown = {
    get value() {
      reads++;
      return 'x';
    },
  };
  for (let depth = 0; depth < 100; depth++) more = [{ more }];
  identityOf('mutation { likeNote(input: { id: "7" }) { note { id } } }', { more });
  expect(reads).toBe(1);
});
