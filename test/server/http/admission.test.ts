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
const entrant = () => ({ lifetime: createCancellationToken(), onOverdue: () => undefined });

test('a slot that is given back twice counts once', () => {
  const admission = new Admission({ ...small, maxRunningOperations: 2 });
  const [first] = [admission.enter(entrant()) as OperationSlot, admission.enter(entrant())];
  first.release();
  first.release();
  expect([admission.running(), admission.timers()]).toEqual([1, 1]);
});

test('a slot is revoked some time after the deadline, and goes to the next waiting operation', async () => {
  const admission = new Admission({ ...small, operationTimeoutMs: 1_000 });
  const overdue: string[] = [];
  void admission.enter({ ...entrant(), onOverdue: () => overdue.push('first') });
  await vi.advanceTimersByTimeAsync(500);
  await vi.advanceTimersByTimeAsync(2_000);
  const second = admission.enter({ ...entrant(), onOverdue: () => overdue.push('second') });
  expect(overdue).toEqual([]);
  await vi.advanceTimersByTimeAsync(600);
  expect(overdue).toEqual(['first']);
  await second;
  expect([admission.running(), admission.waiting()]).toEqual([1, 0]);
});

test('the time of an upload is measured from when its last byte has come', async () => {
  const admission = new Admission({ ...small, uploadTimeoutMs: 1_000 });
  let arrive = () => undefined as void;
  const uploadEnd = new Promise<void>((resolve) => (arrive = resolve));
  let isOverdue = false;
  void admission.enter({ ...entrant(), uploadEnd, onOverdue: () => (isOverdue = true) });
  await vi.advanceTimersByTimeAsync(600_000);
  expect([isOverdue, admission.running()]).toEqual([false, 1]);
  arrive();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([isOverdue, admission.running(), admission.timers()]).toEqual([true, 0, 0]);
});

test('it is stuck when there is no room and no slot is released for long, and not while slots are released', async () => {
  const admission = new Admission(small);
  const leaving = createCancellationToken();
  let slot = admission.enter(entrant()) as OperationSlot;
  let waiting = admission.enter(entrant());
  for (let turn = 0; turn < 20; turn++) {
    await vi.advanceTimersByTimeAsync(1_000);
    expect(admission.isStuck()).toBe(false);
    slot.release();
    slot = await waiting;
    waiting = admission.enter({ ...entrant(), lifetime: leaving });
  }
  await vi.advanceTimersByTimeAsync(31_000);
  expect(admission.isStuck()).toBe(true);
  const left = expect(waiting).rejects.toMatchObject({ code: 'CLIENT_LEFT' });
  cancel(leaving, new Error('left'));
  await left;
  expect(admission.isStuck()).toBe(false);
});
