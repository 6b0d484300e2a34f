import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  Admission,
  type AdmissionSettings,
  type OperationSlot,
} from '../../../../src/server/http/connections/admission.ts';
import type { Exchange } from '../../../../src/server/http/exchange.ts';
import { createCancellationToken, cancel } from '../../../../src/lib/cancellation.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const small: AdmissionSettings = {
  maxRunningOperations: 1,
  maxWaitingOperations: 1,
  operationTimeoutMs: 60_000,
  uploadTimeoutMs: 60_000,
};
const exchange = {} as Exchange;
const operation = () => ({ exchange, lifetime: createCancellationToken() });
const open = (settings: Partial<AdmissionSettings> = {}, onOverdue: (holder: Exchange) => void = () => undefined) =>
  new Admission({ ...small, ...settings }, onOverdue);

test('releasing a slot twice counts once', () => {
  const admission = open({ maxRunningOperations: 2 });
  const [first] = [admission.enter(operation()) as OperationSlot, admission.enter(operation())];
  first.release();
  first.release();
  expect([admission.running(), admission.timers()]).toEqual([1, 1]);
});

test('an operation is cancelled at its deadline; some time later its slot goes to the next waiting one', async () => {
  const overdue: Exchange[] = [];
  const admission = open({ operationTimeoutMs: 1_000 }, (late) => overdue.push(late));
  const first = { ...operation(), exchange: {} as Exchange };
  void admission.enter(first);
  await vi.advanceTimersByTimeAsync(900);
  expect(first.lifetime.reason).toBe(undefined);
  await vi.advanceTimersByTimeAsync(1_600);
  expect(first.lifetime.reason?.message).toBe('The operation took too long.');
  const second = admission.enter(operation());
  expect(overdue).toEqual([]);
  await vi.advanceTimersByTimeAsync(600);
  expect(overdue).toEqual([first.exchange]);
  await second;
  expect([admission.running(), admission.waiting()]).toEqual([1, 0]);
});

test('an operation that ends after its deadline keeps no deadline', async () => {
  const admission = open({ operationTimeoutMs: 1_000 }, () => expect.unreachable());
  const slot = admission.enter(operation()) as OperationSlot;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(admission.timers()).toBe(1);
  slot.release();
  expect(admission.timers()).toBe(0);
  await vi.advanceTimersByTimeAsync(5_000);
});

test('an operation with files has more time', async () => {
  let isOverdue = false;
  const admission = open({ uploadTimeoutMs: 1_000 }, () => (isOverdue = true));
  void admission.enter({ ...operation(), hasFiles: true });
  await vi.advanceTimersByTimeAsync(900);
  expect([isOverdue, admission.running()]).toEqual([false, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([isOverdue, admission.running(), admission.timers()]).toEqual([true, 0, 0]);
});

test('admission is stuck if all slots are taken and none is released for long', async () => {
  const admission = open();
  const leaving = createCancellationToken();
  let slot = admission.enter(operation()) as OperationSlot;
  let waiting = admission.enter(operation());
  for (let turn = 0; turn < 20; turn++) {
    await vi.advanceTimersByTimeAsync(1_000);
    expect(admission.isStuck()).toBe(false);
    slot.release();
    slot = await waiting;
    waiting = admission.enter({ ...operation(), lifetime: leaving });
  }
  await vi.advanceTimersByTimeAsync(31_000);
  expect(admission.isStuck()).toBe(true);
  const left = expect(waiting).rejects.toMatchObject({ code: 'CLIENT_LEFT' });
  cancel(leaving, new Error('left'));
  await left;
  expect(admission.isStuck()).toBe(false);
});
