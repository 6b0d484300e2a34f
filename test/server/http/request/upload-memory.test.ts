import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cancel, createCancellationToken } from '../../../../src/lib/cancellation.ts';
import { type MemoryHold, UploadMemory } from '../../../../src/server/http/request/upload-memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MAX = 100;
const open = (maxWaitingOperations = 40) =>
  new UploadMemory({ maxHeldUploadBytes: MAX, maxWaitingOperations, uploadTimeoutMs: 1_000 });

/** Reserves, and notes in `begun` when the form may be read. */
function forms(memory: UploadMemory) {
  const begun: string[] = [];
  return {
    begun,
    reserve: async (name: string, sender: string | undefined, bytes: number): Promise<MemoryHold> => {
      const hold = await memory.reserve(sender, bytes, createCancellationToken());
      begun.push(name);
      return hold;
    },
  };
}
const pass = () => vi.advanceTimersByTimeAsync(0);

test('one sender holds a quarter of the memory, or one form, and delays nobody else', async () => {
  const { reserve, begun } = forms(open());
  const first = await reserve('first of a', 'a', 20);
  void reserve('second of a', 'a', 6);
  void reserve('of b', 'b', 60);
  void reserve('third of a', 'a', 5);
  await pass();
  expect(begun).toEqual(['first of a', 'of b', 'third of a']);
  first.release();
  await pass();
  expect(begun.at(-1)).toBe('second of a');
});

test('senders whose tokens are not accepted hold one such part together', async () => {
  const { reserve, begun } = forms(open());
  await reserve('one', undefined, 15);
  void reserve('two', undefined, 15);
  void reserve('known', 'a', 80);
  await pass();
  expect(begun).toEqual(['one', 'known']);
});

test('a large form is not overtaken by small ones that come after it', async () => {
  const { reserve, begun } = forms(open());
  const [first, second] = [await reserve('first', 'a', 60), await reserve('second', 'b', 20)];
  void reserve('large', 'c', 70);
  for (let at = 0; at < 5; at++) void reserve('small', `other ${at}`, 1);
  await pass();
  expect(begun).toEqual(['first', 'second']);
  second.release();
  await pass();
  expect(begun).toEqual(['first', 'second']);
  first.release();
  await pass();
  expect(begun.slice(2)).toEqual(['large', ...Array.from({ length: 5 }, () => 'small')]);
});

test('a form that gets no memory in time is refused with Retry-After, and those behind it begin', async () => {
  const memory = open();
  const { reserve, begun } = forms(memory);
  await reserve('first', 'a', 90);
  const late = expect(reserve('late', 'b', 20)).rejects.toMatchObject({
    code: 'OVERLOADED',
    headers: { 'retry-after': '1' },
  });
  await vi.advanceTimersByTimeAsync(500);
  void reserve('small', 'c', 10);
  await pass();
  expect(begun).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(500);
  await late;
  expect(begun).toEqual(['first', 'small']);
});

test('a client that leaves while its form waits makes room for those behind it', async () => {
  const memory = open();
  const { reserve, begun } = forms(memory);
  await reserve('first', 'a', 90);
  const lifetime = createCancellationToken();
  const left = expect(memory.reserve('b', 20, lifetime)).rejects.toMatchObject({ code: 'CLIENT_LEFT' });
  void reserve('small', 'c', 10);
  cancel(lifetime, new Error('gone'));
  await left;
  expect(begun).toEqual(['first', 'small']);
  expect(() => memory.reserve('b', 1, lifetime)).toThrow(expect.objectContaining({ code: 'CLIENT_LEFT' }));
});

test('a sender has a quarter of the forms that may wait', async () => {
  const memory = open(8);
  const { reserve } = forms(memory);
  await reserve('first', 'a', 100);
  const wait = (sender: string | undefined) => memory.reserve(sender, 10, createCancellationToken());
  const waiting = [wait('a'), wait('a'), wait(undefined), wait('b')].map((each) =>
    Promise.resolve(each).catch(() => 0),
  );
  expect(() => wait('a')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await Promise.all(waiting)).toEqual([0, 0, 0, 0]);
});

test('memory is free again when the request has ended and its files are used no more', async () => {
  const memory = open();
  const { reserve } = forms(memory);
  const hold = await reserve('first', 'a', 30);
  const ends = [hold.keep(), hold.keep()];
  hold.release();
  hold.release();
  ends[0]!();
  expect(memory.bytes).toBe(30);
  ends[1]!();
  expect(memory.bytes).toBe(0);
  hold.keep()();
  expect(memory.bytes).toBe(0);
});

test('whatever comes and ends, no more is held than there is, and every form begins or is refused', async () => {
  const step = fc.record({
    sender: fc.constantFrom(undefined, 'a', 'b', 'c'),
    bytes: fc.integer({ min: 0, max: MAX }),
    ends: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const memory = open(1_000);
      const held: MemoryHold[] = [];
      let settled = 0;
      for (const { sender, bytes, ends } of steps) {
        void Promise.resolve(memory.reserve(sender, bytes, createCancellationToken()))
          .then(
            (hold) => void held.push(hold),
            () => undefined,
          )
          .finally(() => settled++);
        await pass();
        expect(memory.bytes).toBeLessThanOrEqual(MAX);
        for (let at = 0; at < ends; at++) held.shift()?.release();
      }
      while (settled < steps.length) {
        for (const hold of held.splice(0)) hold.release();
        await vi.advanceTimersByTimeAsync(100);
      }
      for (const hold of held) hold.release();
      await pass();
      expect(memory.bytes).toBe(0);
    }),
    { numRuns: 100 },
  );
});
