import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { withTimeout } from '../../src/upstream/redis-call.ts';

function connected(status = 'ready') {
  const availability = { onSuccess: vi.fn(), onFailure: vi.fn() };
  const call = withTimeout({ status } as Redis, availability, 1);
  const noted = () => [availability.onSuccess.mock.calls.length, availability.onFailure.mock.calls.length];
  return { call, noted };
}

test('a result shows that Redis is reachable', async () => {
  const { call, noted } = connected();
  expect(await call(() => Promise.resolve('x'))).toBe('x');
  expect(noted()).toEqual([1, 0]);
});

test('a call that fails has no result, and shows nothing', async () => {
  const { call, noted } = connected();
  expect(await call(() => Promise.reject(new Error('a script that Redis refuses')))).toBeUndefined();
  expect(noted()).toEqual([0, 0]);
});

test('a call that is late has no result, shows that Redis is unreachable, and for a while no other is made', async () => {
  const { call, noted } = connected();
  expect(await call(() => new Promise(() => undefined))).toBeUndefined();
  expect(noted()).toEqual([0, 1]);
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});

test('without a connection no call is made', async () => {
  const next = vi.fn(() => Promise.resolve('x'));
  expect(await connected('reconnecting').call(next)).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});
