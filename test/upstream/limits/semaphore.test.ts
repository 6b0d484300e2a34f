import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { createSemaphore } from '../../../src/upstream/limits/semaphore.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { UpstreamFailure } from '../../../src/upstream/errors.ts';
import { createTransport } from '../../../src/upstream/http/pool.ts';

const CROWD = 20_000;

const headers: string[] = [];
const operation = {};

afterEach(() => void vi.useRealTimers());

test('everything that waits is begun, even if each ends as soon as it begins', () => {
  const semaphore = createSemaphore(() => 1);
  expect(semaphore.enter()).toBe(true);
  let begun = 0;
  const begin = () => {
    begun++;
    semaphore.leave();
  };
  for (let each = 0; each < CROWD; each++) semaphore.wait(operation, begin);
  semaphore.leave();
  expect(begun).toBe(CROWD);
  expect(semaphore.running()).toBe(0);
});

test('all calls that wait for a service are rejected when its circuit breaker opens', async () => {
  const pending: Dispatcher.DispatchHandler[] = [];
  const dead = {
    dispatch: (_: object, handler: Dispatcher.DispatchHandler) => pending.push(handler) > 0,
  } as unknown as Dispatcher;
  const settings = { ...readConfig({}), baseUrl: 'http://dead.example', eventBaseUrl: 'http://dead.example' };
  // No call may become a trial, however long this takes.
  const breaker = { breakerFailures: 1, breakerPauseMs: 600_000 };
  const transport = createTransport({ ...settings, ...breaker, readAttempts: 1 }, dead);
  const request = {
    service: 'catalog',
    method: 'GET',
    path: '/x',
    headers,
    maxBytes: 1,
  } as const;
  const calls = Array.from({ length: CROWD }, () =>
    transport.send(request, createCancellationToken()).catch((error: unknown) => error),
  );
  for (const handler of pending.splice(0))
    handler.onError!(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const results = await Promise.all(calls);
  expect(
    results.filter((error) => error instanceof UpstreamFailure && error.code === 'UPSTREAM_UNAVAILABLE').length,
  ).toBe(CROWD);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('a write that is cancelled before it has a connection is known not to have been sent', async () => {
  let handler: Dispatcher.DispatchHandler | undefined;
  const slow = {
    dispatch: (_: object, given: Dispatcher.DispatchHandler) => (handler = given) !== undefined,
  } as unknown as Dispatcher;
  const settings = { ...readConfig({}), baseUrl: 'http://slow.example', eventBaseUrl: 'http://slow.example' };
  const transport = createTransport(settings, slow);
  const cancellation = createCancellationToken();
  const request = {
    service: 'catalog',
    method: 'POST',
    path: '/x',
    headers,
    maxBytes: 1,
  } as const;
  const call = transport.send(request, cancellation).catch((error: unknown) => error);
  cancel(cancellation, new Error('gone'));
  expect(await call).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  let aborted: unknown;
  handler!.onConnect!((reason) => (aborted = reason));
  expect(aborted).toMatchObject({ message: 'gone' });
  handler!.onError!(aborted as Error);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('the wait for a connection does not count towards the timeout of a call, nor as a failure of the service', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate'] });
  const answerAfterMs = (ms: number) => (_: object, handler: Dispatcher.DispatchHandler) => {
    handler.onConnect?.(() => undefined);
    setTimeout(() => {
      handler.onHeaders?.(200, [], () => undefined, 'OK');
      handler.onComplete?.([]);
    }, ms);
    return true;
  };
  const busy = { dispatch: answerAfterMs(900) } as unknown as Dispatcher;
  const address = { baseUrl: 'http://busy.example', eventBaseUrl: 'http://busy.example' };
  const limits = { maxConnections: 1, callTimeoutMs: 1_000, breakerFailures: 1 };
  const transport = createTransport({ ...readConfig({}), ...address, ...limits }, busy);
  const request = {
    service: 'catalog',
    method: 'GET',
    path: '/x',
    headers,
    maxBytes: 1,
  } as const;
  const responses = Promise.allSettled(
    Array.from({ length: 10 }, () => transport.send(request, createCancellationToken())),
  );
  await vi.advanceTimersByTimeAsync(20_000);
  expect((await responses).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'fulfilled'));
  expect(transport.state().catalog).toMatchObject({ isOpen: false, running: 0, waiting: 0 });
});

test('all attempts of a call share one timeout', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate'] });
  let dispatched = 0;
  const failing = {
    dispatch: (_: object, handler: Dispatcher.DispatchHandler) => {
      dispatched++;
      handler.onConnect?.((reason) => {
        clearTimeout(timer);
        handler.onError?.(reason!);
      });
      const timer = setTimeout(() => handler.onError?.(Object.assign(new Error('reset'), { code: 'ECONNRESET' })), 700);
      return true;
    },
  } as unknown as Dispatcher;
  const address = { baseUrl: 'http://failing.example', eventBaseUrl: 'http://failing.example' };
  const transport = createTransport({ ...readConfig({}), ...address, callTimeoutMs: 1_000, readAttempts: 5 }, failing);
  const request = {
    service: 'catalog',
    method: 'GET',
    path: '/x',
    headers,
    maxBytes: 1,
  } as const;
  let ended: unknown;
  transport.send(request, createCancellationToken()).catch((error: unknown) => (ended = error));
  await vi.advanceTimersByTimeAsync(700);
  while (dispatched < 2) await sleep(5); // the pause between attempts uses real time
  await vi.advanceTimersByTimeAsync(299);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  expect(ended).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('owners take turns, each in its own order, and cancelled waits are skipped', () => {
  const semaphore = createSemaphore(() => 1);
  expect(semaphore.enter()).toBe(true);
  const begun: string[] = [];
  const wait = (owner: object, name: string) => semaphore.wait(owner, () => void begun.push(name));
  const [many, few, one] = [{}, {}, {}];
  for (let n = 0; n < 4; n++) wait(many, `many ${n}`);
  const cancelled = wait(few, 'few 0');
  for (let n = 1; n < 3; n++) wait(few, `few ${n}`);
  wait(one, 'one 0');
  expect([semaphore.cancelWait(cancelled), semaphore.cancelWait(cancelled)]).toEqual([true, false]);
  expect(semaphore.waiting()).toBe(7);
  for (let n = 0; n < 8; n++) semaphore.leave();
  expect(begun).toEqual(['many 0', 'few 1', 'one 0', 'many 1', 'few 2', 'many 2', 'many 3']);
  expect([semaphore.running(), semaphore.waiting()]).toEqual([0, 0]);
});
