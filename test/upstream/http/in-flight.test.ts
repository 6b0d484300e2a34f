import { expect, test } from 'vitest';
import type { ApiResponse } from '../../../src/upstream/http/response.ts';
import { createInFlightRequests } from '../../../src/upstream/http/in-flight.ts';
import { type CancellationToken, createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';

const answer: ApiResponse = {
  value: { id: '7' },
  bytes: 10,
  status: 200,
  reuse: { noStore: false, isPrivate: false, maxAge: undefined },
};

/** A read that is answered when the test says so, and those who ask for it. */
function reading() {
  const inFlight = createInFlightRequests();
  const credential = {};
  const read = {
    sent: 0,
    lifetime: undefined as CancellationToken | undefined,
    answer: () => undefined as void,
    fail: (_: Error) => undefined as void,
  };
  const send = (lifetime: CancellationToken) => {
    read.sent++;
    read.lifetime = lifetime;
    return new Promise<ApiResponse>((resolve, reject) => {
      read.answer = () => resolve(answer);
      read.fail = reject;
    });
  };
  const ask = (lifetime = createCancellationToken(), key = 'same') => {
    const shared = inFlight.join(credential, key, lifetime);
    return { answer: shared ?? inFlight.start(credential, key, lifetime, send), coalesced: shared !== undefined };
  };
  return { read, ask };
}

test('equal asks are one request', async () => {
  const { read, ask } = reading();
  const asks = Array.from({ length: 100 }, () => ask());
  expect(asks.filter(({ coalesced }) => coalesced).length).toBe(99);
  read.answer();
  expect(new Set(await Promise.all(asks.map((each) => each.answer)))).toEqual(new Set([answer]));
  expect(read.sent).toBe(1);
});

test('a request on its way is found however many were made since, and not when it has landed', async () => {
  const { read, ask } = reading();
  const { answer: first } = ask();
  const { answer: land } = read;
  for (let other = 0; other < 2_000; other++) {
    const { answer: came } = ask(undefined, `other ${other}`);
    read.answer();
    await came;
  }
  expect(ask().coalesced).toBe(true);
  land();
  await first;
  expect(ask().coalesced).toBe(false);
});

test('an answer is not given to who asks after it', async () => {
  const { read, ask } = reading();
  const first = ask();
  read.answer();
  await first.answer;
  expect(ask().coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('it outlives its first asker while others wait', async () => {
  const { read, ask } = reading();
  const leaving = createCancellationToken();
  const first = ask(leaving);
  const second = ask();
  cancel(leaving, new Error('gone'));
  await expect(first.answer).rejects.toThrow('gone');
  expect(read.lifetime?.reason).toBeUndefined();
  read.answer();
  expect(await second.answer).toBe(answer);
});

test('it ends when the last asker leaves, and the next asks anew', async () => {
  const { read, ask } = reading();
  const leaving = [createCancellationToken(), createCancellationToken()];
  const asks = leaving.map((lifetime) => ask(lifetime));
  for (const each of leaving) cancel(each, new Error('gone'));
  for (const each of asks) await expect(each.answer).rejects.toThrow('gone');
  expect(read.lifetime?.reason).toBeDefined();
  expect(ask().coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('who comes too late, being gone already, sends nothing that goes on', async () => {
  const { read, ask } = reading();
  const over = createCancellationToken();
  cancel(over, new Error('gone'));
  await expect(ask(over).answer).rejects.toThrow('gone');
  expect(read.lifetime?.reason).toBeDefined();
});

test('a failure is told to all who wait, and not kept', async () => {
  const { read, ask } = reading();
  const asks = [1, 2, 3].map(() => ask());
  read.fail(new Error('lost'));
  for (const each of asks) await expect(each.answer).rejects.toThrow('lost');
  expect(ask().coalesced).toBe(false);
  read.answer();
});
