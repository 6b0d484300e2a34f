import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Admission, type AdmissionSettings, type OperationSlot } from '../../../src/server/http/admission.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const small: AdmissionSettings = {
  maxRunningOperations: 1,
  maxWaitingOperations: 1,
  operationTimeoutMs: 60_000,
  uploadTimeoutMs: 60_000,
};
const operation = () => ({ lifetime: createCancellationToken(), onOverdue: () => undefined });

test('releasing a slot twice counts once', () => {
  const admission = new Admission({ ...small, maxRunningOperations: 2 });
  const [first] = [admission.enter(operation()) as OperationSlot, admission.enter(operation())];
  first.release();
  first.release();
  expect([admission.running(), admission.timers()]).toEqual([1, 1]);
});

test('the slot of an overdue operation is revoked some time after its deadline, and goes to the next waiting one', async () => {
  const admission = new Admission({ ...small, operationTimeoutMs: 1_000 });
  const overdue: string[] = [];
  void admission.enter({ ...operation(), onOverdue: () => overdue.push('first') });
  await vi.advanceTimersByTimeAsync(500);
  await vi.advanceTimersByTimeAsync(2_000);
  const second = admission.enter({ ...operation(), onOverdue: () => overdue.push('second') });
  expect(overdue).toEqual([]);
  await vi.advanceTimersByTimeAsync(600);
  expect(overdue).toEqual(['first']);
  await second;
  expect([admission.running(), admission.waiting()]).toEqual([1, 0]);
});

test('the deadline of an upload is measured from its last byte', async () => {
  const admission = new Admission({ ...small, uploadTimeoutMs: 1_000 });
  let arrive = () => undefined as void;
  const uploadEnd = new Promise<void>((resolve) => (arrive = resolve));
  let isOverdue = false;
  void admission.enter({ ...operation(), uploadEnd, onOverdue: () => (isOverdue = true) });
  await vi.advanceTimersByTimeAsync(600_000);
  expect([isOverdue, admission.running()]).toEqual([false, 1]);
  arrive();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([isOverdue, admission.running(), admission.timers()]).toEqual([true, 0, 0]);
});

test('admission is stuck if all slots are taken and none is released for long', async () => {
  const admission = new Admission(small);
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
