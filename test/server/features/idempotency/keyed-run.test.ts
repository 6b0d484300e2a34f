import { randomUUID } from 'node:crypto';
import { parse } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { noteEndpoints } from '../../../../src/api/note.ts';
import { readConfig } from '../../../../src/config/read.ts';
import { noteWrites } from '../../../../src/graph/note/note.settling.ts';
import { createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { createKeyedRunner } from '../../../../src/server/features/idempotency/keyed-run.ts';
import { TEXT_MAX } from '../../../../src/server/features/idempotency/store/key-store.ts';
import { type RedisConnection, openRedis } from '../../../../src/upstream/redis/connection/connection.ts';
import type { GuardedWrite, WriteGuard, WriteRule } from '../../../../src/upstream/write-guard.ts';
import { hasRedis, redisServer, until } from '../../../support/redis.ts';

const document = parse('mutation { likeNote(input: { id: "7" }) { note { id } } }');
const prepared = { ready: { document, operation: document.definitions[0] } };

/** Runs requests of one person. `run`: what is run of each. */
function runnerOver(run: (guard: WriteGuard) => Promise<object>, keyConnection?: RedisConnection) {
  const upstream = {
    keyConnection,
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

const likeOnce = (guard: WriteGuard, more: Partial<GuardedWrite> = {}) =>
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
    ...more,
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

/** Nothing shows what came of it. */
const unshown: WriteRule<object> = { lookAt: () => 'GET /v2/note/7', reads: [0, 0] };
const isUnknown = { result: { errors: [{ message: 'x', extensions: { code: 'UPSTREAM_RESULT_UNKNOWN' } }] } };

test.skipIf(!hasRedis)(
  'a write that a restored Redis may have lost is not sent, however often it is asked for',
  async () => {
    const connection = openRedis({ url: (await redisServer()).url, namespace: randomUUID() });
    onTestFinished(() => connection.close());
    await until(() => connection.redis.status === 'ready');
    let sent = 0;
    const send = runnerOver(async (guard) => {
      await likeOnce(guard);
      if (sent++ > 0) await likeOnce(guard, { field: 'second', rule: unshown, send: never });
      return isUnknown;
    }, connection);
    const key = randomUUID();
    await send(key);
    const [row] = await connection.redis.keys(connection.key('key:*'));
    await connection.redis.hset(row!, 'run', 'another');
    for (let retries = 2; retries > 0; retries--)
      await expect(send(key)).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  },
);

test('of writes whose journal is too large to be kept none is sent again', async () => {
  const content = 'x'.repeat(TEXT_MAX);
  let runs = 0;
  const send = runnerOver(async (guard) => {
    const first = runs++ === 0;
    await likeOnce(guard, { rule: unshown, send: first ? async () => ({ content }) : never });
    return isUnknown;
  });
  const key = randomUUID();
  await send(key);
  for (let retries = 2; retries > 0; retries--)
    await expect(send(key)).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
});

const never = () => Promise.reject(new Error('it was sent again'));
