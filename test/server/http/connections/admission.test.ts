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
const open = (settings: Partial<AdmissionSettings> = {}) => new Admission({ ...small, ...settings });

test('releasing a slot twice counts once', () => {
  const admission = open({ maxRunningOperations: 2 });
  const [first] = [admission.enter(operation()) as OperationSlot, admission.enter(operation())];
  first.release();
  first.release();
  expect(admission.running()).toBe(1);
});

test('an operation is cancelled at its deadline, and its slot goes to the next waiting one', async () => {
  const admission = open({ operationTimeoutMs: 1_000 });
  const first = operation();
  const slot = admission.enter(first) as OperationSlot;
  await vi.advanceTimersByTimeAsync(900);
  expect(first.lifetime.reason).toBe(undefined);
  const second = admission.enter(operation());
  await vi.advanceTimersByTimeAsync(200);
  expect(first.lifetime.reason?.message).toBe('The operation took too long.');
  await second;
  slot.release();
  expect([admission.running(), admission.waiting()]).toEqual([1, 0]);
});

test('an operation that ends before its deadline is not cancelled', async () => {
  const admission = open({ operationTimeoutMs: 1_000 });
  const first = operation();
  (admission.enter(first) as OperationSlot).release();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(first.lifetime.reason).toBe(undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('an operation with files has more time', async () => {
  const admission = open({ operationTimeoutMs: 100, uploadTimeoutMs: 1_000 });
  const upload = { ...operation(), hasFiles: true };
  void admission.enter(upload);
  await vi.advanceTimersByTimeAsync(900);
  expect([upload.lifetime.reason, admission.running()]).toEqual([undefined, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([upload.lifetime.reason?.message, admission.running()]).toEqual(['The operation took too long.', 0]);
});

test('an operation that waits as long as one may take is rejected', async () => {
  const admission = open({ operationTimeoutMs: 100, uploadTimeoutMs: 1_000 });
  void admission.enter({ ...operation(), hasFiles: true });
  const rejected = expect(admission.enter(operation())).rejects.toMatchObject({ code: 'OVERLOADED' });
  await vi.advanceTimersByTimeAsync(200);
  await rejected;
  expect([admission.running(), admission.waiting()]).toEqual([1, 0]);
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
