import { expect, test } from 'vitest';
import type { Answer } from '../../src/upstream/call.ts';
import { createInFlight } from '../../src/upstream/flight.ts';

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
    signal: undefined as AbortSignal | undefined,
    answer: () => undefined as void,
    fail: (_: Error) => undefined as void,
  };
  const send = (signal: AbortSignal) => {
    read.sent++;
    read.signal = signal;
    return new Promise<Answer>((resolve, reject) => {
      read.answer = () => resolve(answer);
      read.fail = reject;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  return { read, send };
}

test('equal asks are one request', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const asks = Array.from({ length: 100 }, () => inFlight('same', send, new AbortController().signal));
  expect(asks.filter(({ coalesced }) => coalesced).length).toBe(99);
  read.answer();
  expect(new Set(await Promise.all(asks.map((ask) => ask.answer)))).toEqual(new Set([answer]));
  expect(read.sent).toBe(1);
});

test('an answer is not given to who asks after it', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const first = inFlight('same', send, new AbortController().signal);
  read.answer();
  await first.answer;
  expect(inFlight('same', send, new AbortController().signal).coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('it outlives its first asker while others wait', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const leaving = new AbortController();
  const first = inFlight('same', send, leaving.signal);
  const second = inFlight('same', send, new AbortController().signal);
  leaving.abort(new Error('gone'));
  await expect(first.answer).rejects.toThrow('gone');
  expect(read.signal?.aborted).toBe(false);
  read.answer();
  expect(await second.answer).toBe(answer);
});

test('it ends when the last asker leaves, and the next asks anew', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const leaving = [new AbortController(), new AbortController()];
  const asks = leaving.map(({ signal }) => inFlight('same', send, signal));
  for (const each of leaving) each.abort(new Error('gone'));
  for (const ask of asks) await expect(ask.answer).rejects.toThrow('gone');
  expect(read.signal?.aborted).toBe(true);
  expect(inFlight('same', send, new AbortController().signal).coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('who comes too late, being gone already, sends nothing that goes on', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  await expect(inFlight('same', send, AbortSignal.abort(new Error('gone'))).answer).rejects.toThrow('gone');
  expect(read.signal?.aborted).toBe(true);
});

test('a failure is told to all who wait, and not kept', async () => {
  const inFlight = createInFlight();
  const { read, send } = reading();
  const asks = [1, 2, 3].map(() => inFlight('same', send, new AbortController().signal));
  read.fail(new Error('lost'));
  for (const ask of asks) await expect(ask.answer).rejects.toThrow('lost');
  expect(inFlight('same', send, new AbortController().signal).coalesced).toBe(false);
  read.answer();
});
