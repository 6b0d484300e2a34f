import { randomUUID } from 'node:crypto';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { noteEndpoints } from '../../../../src/api/note.ts';
import { readConfig } from '../../../../src/config/read.ts';
import { noteWrites } from '../../../../src/graph/note/note.settling.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { createKeyedRunner } from '../../../../src/server/features/idempotency/keyed-run.ts';
import type { WriteGuard, WriteRule } from '../../../../src/upstream/write-guard.ts';

const document = parse('mutation { likeNote(input: { id: "7" }) { note { id } } }');
const prepared = { ready: { document, operation: document.definitions[0] } };

/** Runs requests of one person. `run`: what is run of each. */
function runnerOver(run: (guard: WriteGuard) => Promise<object>) {
  const upstream = {
    keyConnection: undefined,
    service: { errors: {} },
    senderOf: () => ({ credential: 'token', isAccepted: true, person: 'alice' }),
  };
  const runOperation = (_: unknown, __: unknown, guard: WriteGuard) => run(guard);
  const config = readConfig({ BASE_URL: 'http://127.0.0.1:9', EVENT_BASE_URL: 'http://127.0.0.1:9' });
  const runner = createKeyedRunner(config, upstream as never, runOperation as never);
  return async (idempotencyKey: string) => {
    const request = { authorization: 'Bearer token', cancellation: createCancellationToken(), variables: {} };
    return runner.run(prepared as never, { ...request, idempotencyKey } as never);
  };
}

const likeOnce = (guard: WriteGuard) =>
  guard.write({
    endpoint: noteEndpoints.like,
    input: { id: '7' },
    rule: noteWrites.like as WriteRule<object>,
    field: 'likeNote',
    files: undefined,
    cancellation: createCancellationToken(),
    person: () => 'alice',
    send: async () => ({}),
    read: () => Promise.reject(new Error('not expected')),
    onLate: () => undefined,
  });

test('of requests that come in one moment, no more run than a caller may have', async () => {
  const ends: (() => void)[] = [];
  const send = runnerOver(() => new Promise((resolve) => ends.push(() => resolve({ result: { data: null } }))));
  const all = Promise.allSettled(Array.from({ length: 80 }, () => send(randomUUID())));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toHaveLength(64);
  for (const end of ends) end();
  const refused = (await all).filter((each) => each.status === 'rejected');
  expect(refused).toHaveLength(16);
  expect(refused[0]!.reason).toMatchObject({ code: 'TOO_MANY_KEYED_WRITES' });
});

test.each([
  ['REQUEST_TIMEOUT', false],
  ['UPSTREAM_TIMEOUT', false],
  ['UPSTREAM_INVALID_RESPONSE', false],
  ['INTERNAL_SERVER_ERROR', false],
  ['NOT_OWNER', true],
  ['UPSTREAM_REFUSED', true],
])('a response with %s is kept: %s', async (code, isKept) => {
  let runs = 0;
  const send = runnerOver(async (guard) => {
    runs++;
    await likeOnce(guard);
    return { result: { data: null, errors: [{ message: 'x', extensions: { code } }] } };
  });
  const key = randomUUID();
  await send(key);
  const { isReplayed = false } = await send(key);
  expect(isReplayed).toBe(isKept);
  expect(runs).toBe(isKept ? 1 : 2);
});
