import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { createConcurrencyLimiter } from '../../../src/upstream/limits/concurrency.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { UpstreamFailure } from '../../../src/upstream/errors.ts';
import { createTransport } from '../../../src/upstream/http/pool.ts';

const CROWD = 20_000;

const headers: string[] = [];
const operation = {};

afterEach(() => void vi.useRealTimers());

test('every waiting call is started, even if each one ends as soon as it starts', () => {
  const limiter = createConcurrencyLimiter({ maxConnections: 1, maxBusyConnections: 1 });
  expect(limiter.acquire(operation, { begin: () => undefined })).toBeUndefined();
  let begun = 0;
  const begin = () => {
    begun++;
    limiter.release(1);
  };
  for (let each = 0; each < CROWD; each++) expect(limiter.acquire(operation, { begin })).toBeDefined();
  limiter.release(1);
  expect(begun).toBe(CROWD);
  expect(limiter.running()).toBe(0);
});

test('a service gets all of its connections only while even its fastest calls are slow', () => {
  const [few, all, many] = [4, 12, 1000];
  const limiter = createConcurrencyLimiter({ maxConnections: few, maxBusyConnections: all });
  const crowd = 20;
  /** How many of a crowd of calls start at once if each takes this long. */
  const startedAtOnce = (tookMs: number): number => {
    let started = 0;
    for (let each = 0; each < crowd; each++) if (!limiter.acquire(operation, { begin: () => started++ })) started++;
    const atOnce = started;
    for (let ended = 0; ended < crowd; ended++) limiter.release(tookMs);
    expect(limiter.running()).toBe(0);
    return atOnce;
  };
  expect(startedAtOnce(20)).toBe(few); // the duration of calls is still unknown
  for (let each = 0; each < many; each++) startedAtOnce(20);
  expect(startedAtOnce(20)).toBe(all);
  startedAtOnce(0.5);
  expect(startedAtOnce(20)).toBe(few);
  for (let each = 0; each < many; each++) startedAtOnce(20);
  expect(startedAtOnce(20)).toBe(all);
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
    requestLine: 'GET /x',
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
    requestLine: 'POST /x',
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
  const limits = { maxConnections: 1, maxBusyConnections: 1, callTimeoutMs: 1_000, breakerFailures: 1 };
  const transport = createTransport({ ...readConfig({}), ...address, ...limits }, busy);
  const request = {
    service: 'catalog',
    method: 'GET',
    path: '/x',
    headers,
    maxBytes: 1,
    requestLine: 'GET /x',
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
    requestLine: 'GET /x',
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

test('operations take turns, each in its own order, and cancelled waiters are skipped', () => {
  const limiter = createConcurrencyLimiter({ maxConnections: 1, maxBusyConnections: 1 });
  expect(limiter.acquire({}, { begin: () => undefined })).toBeUndefined();
  const begun: string[] = [];
  const enter = (owner: object, name: string) => limiter.acquire(owner, { begin: () => void begun.push(name) })!;
  const [many, few, one] = [{}, {}, {}];
  for (let n = 0; n < 4; n++) enter(many, `many ${n}`);
  const cancelled = enter(few, 'few 0');
  for (let n = 1; n < 3; n++) enter(few, `few ${n}`);
  enter(one, 'one 0');
  cancelled.cancelWait();
  cancelled.cancelWait();
  expect(limiter.waiting()).toBe(7);
  for (let n = 0; n < 8; n++) limiter.release(1);
  expect(begun).toEqual(['many 0', 'few 1', 'one 0', 'many 1', 'few 2', 'many 2', 'many 3']);
  expect([limiter.running(), limiter.waiting()]).toEqual([0, 0]);
});
