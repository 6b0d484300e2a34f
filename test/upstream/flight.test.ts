import { expect, test } from 'vitest';
import type { Answer } from '../../src/upstream/call.ts';
import { createInFlight } from '../../src/upstream/flight.ts';
import { type Lifetime, createLifetime, end, onEnd } from '../../src/upstream/lifetime.ts';

const answer: Answer = {
  value: { id: '7' },
  bytes: 10,
  status: 200,
  reuse: { noStore: false, isPrivate: false, maxAge: undefined },
};

/** A read that is answered when the test says so. */
function reading() {
  const read = {
    sent: 0,
    lifetime: undefined as Lifetime | undefined,
    answer: () => undefined as void,
    fail: (_: Error) => undefined as void,
  };
  const send = (lifetime: Lifetime) => {
    read.sent++;
    read.lifetime = lifetime;
    return new Promise<Answer>((resolve, reject) => {
      read.answer = () => resolve(answer);
      read.fail = reject;
      onEnd(lifetime, { over: reject });
    });
  };
  return { read, send };
}

test('equal asks are one request', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const asks = Array.from({ length: 100 }, () => inFlight('same', send, createLifetime()));
  expect(asks.filter(({ coalesced }) => coalesced).length).toBe(99);
  read.answer();
  expect(new Set(await Promise.all(asks.map((ask) => ask.answer)))).toEqual(new Set([answer]));
  expect(read.sent).toBe(1);
});

test('an answer is not given to who asks after it', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const first = inFlight('same', send, createLifetime());
  read.answer();
  await first.answer;
  expect(inFlight('same', send, createLifetime()).coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('it outlives its first asker while others wait', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const leaving = createLifetime();
  const first = inFlight('same', send, leaving);
  const second = inFlight('same', send, createLifetime());
  end(leaving, new Error('gone'));
  await expect(first.answer).rejects.toThrow('gone');
  expect(read.lifetime?.ended).toBeUndefined();
  read.answer();
  expect(await second.answer).toBe(answer);
});

test('it ends when the last asker leaves, and the next asks anew', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const leaving = [createLifetime(), createLifetime()];
  const asks = leaving.map((lifetime) => inFlight('same', send, lifetime));
  for (const each of leaving) end(each, new Error('gone'));
  for (const ask of asks) await expect(ask.answer).rejects.toThrow('gone');
  expect(read.lifetime?.ended).toBeDefined();
  expect(inFlight('same', send, createLifetime()).coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('who comes too late, being gone already, sends nothing that goes on', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const over = createLifetime();
  end(over, new Error('gone'));
  await expect(inFlight('same', send, over).answer).rejects.toThrow('gone');
  expect(read.lifetime?.ended).toBeDefined();
});

test('a failure is told to all who wait, and not kept', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const asks = [1, 2, 3].map(() => inFlight('same', send, createLifetime()));
  read.fail(new Error('lost'));
  for (const ask of asks) await expect(ask.answer).rejects.toThrow('lost');
  expect(inFlight('same', send, createLifetime()).coalesced).toBe(false);
  read.answer();
});
