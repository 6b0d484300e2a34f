import { parse } from 'graphql';
import { expect, test } from 'vitest';
import type { ExecutableDocument } from '../../../../src/engine/documents/prepare.ts';
import '../../../../src/graph/schema.ts';
import { identify } from '../../../../src/server/features/idempotency/key.ts';

function identityOf(source: string, variables: Record<string, unknown> = {}, events = 'a service of events') {
  const document = parse(source);
  const ready = { document, operation: document.definitions[0] } as ExecutableDocument;
  return identify('a key', ready, variables, events);
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

test.each([
  ['mutation { joinEvent(input: { id: "7" }) { event { id } } }', true],
  ['mutation { ... { ... on Mutation { joinEvent(input: { id: "7" }) { event { id } } } } }', true],
  ['mutation { ...Rest } fragment Rest on Mutation { joinEvent(input: { id: "7" }) { event { id } } }', true],
  ['mutation { likeNote(input: { id: "7" }) { note { id } } }', false],
])('the row of %s is one of its service of events: %s', (source, isOfEvents) => {
  const [own, other] = ['one service', 'another service'].map((events) => identityOf(source, undefined, events).name);
  expect(own !== other).toBe(isOfEvents);
});
