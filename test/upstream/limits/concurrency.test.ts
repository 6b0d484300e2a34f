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

test('a crowd that is let in and leaves at once is let in to the last', () => {
  const gate = createConcurrencyLimiter({ maxConnections: 1, maxBusyConnections: 1 });
  expect(gate.acquire(operation, { begin: () => undefined })).toBeUndefined();
  let begun = 0;
  const begin = () => {
    begun++;
    gate.release(1);
  };
  for (let each = 0; each < CROWD; each++) expect(gate.acquire(operation, { begin })).toBeDefined();
  gate.release(1);
  expect(begun).toBe(CROWD);
  expect(gate.running()).toBe(0);
});

test('a service gets all its connections at once while even its quickest calls take their time, and few while it is quick', () => {
  const [few, all, many] = [4, 12, 1000];
  const gate = createConcurrencyLimiter({ maxConnections: few, maxBusyConnections: all });
  const crowd = 20;
  /** How many of a crowd are let in at once, where each takes so long. */
  const letIn = (tookMs: number): number => {
    let inside = 0;
    for (let each = 0; each < crowd; each++) if (!gate.acquire(operation, { begin: () => inside++ })) inside++;
    const atOnce = inside;
    for (let left = 0; left < crowd; left++) gate.release(tookMs);
    expect(gate.running()).toBe(0);
    return atOnce;
  };
  expect(letIn(20)).toBe(few); // nothing is known yet
  for (let each = 0; each < many; each++) letIn(20);
  expect(letIn(20)).toBe(all);
  letIn(0.5);
  expect(letIn(20)).toBe(few);
  for (let each = 0; each < many; each++) letIn(20);
  expect(letIn(20)).toBe(all);
});

test('a crowd that waits for a service found dead is told so, every one', async () => {
  const pending: Dispatcher.DispatchHandler[] = [];
  const dead = {
    dispatch: (_: object, handler: Dispatcher.DispatchHandler) => pending.push(handler) > 0,
  } as unknown as Dispatcher;
  const settings = { ...readConfig({}), baseUrl: 'http://dead.example', eventBaseUrl: 'http://dead.example' };
  const transport = createTransport({ ...settings, readAttempts: 1, breakerFailures: 1 }, dead);
  const request = {
    service: 'catalog',
    method: 'GET',
    path: '/x',
    headers,
    maxBytes: 1,
    requestLine: 'GET /x',
  } as const;
  const asks = Array.from({ length: CROWD }, () =>
    transport.send(request, createCancellationToken()).catch((error: unknown) => error),
  );
  for (const handler of pending.splice(0))
    handler.onError!(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const told = await Promise.all(asks);
  expect(told.filter((error) => error instanceof UpstreamFailure && error.code === 'UPSTREAM_UNAVAILABLE').length).toBe(
    CROWD,
  );
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('a write that ends before it has a connection is known not to have been sent', async () => {
  let handler: Dispatcher.DispatchHandler | undefined;
  const slow = {
    dispatch: (_: object, given: Dispatcher.DispatchHandler) => (handler = given) !== undefined,
  } as unknown as Dispatcher;
  const settings = { ...readConfig({}), baseUrl: 'http://slow.example', eventBaseUrl: 'http://slow.example' };
  const transport = createTransport(settings, slow);
  const lifetime = createCancellationToken();
  const request = {
    service: 'catalog',
    method: 'POST',
    path: '/x',
    headers,
    maxBytes: 1,
    requestLine: 'POST /x',
  } as const;
  const ask = transport.send(request, lifetime).catch((error: unknown) => error);
  cancel(lifetime, new Error('gone'));
  expect(await ask).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  let aborted: unknown;
  handler!.onConnect!((reason) => (aborted = reason));
  expect(aborted).toMatchObject({ message: 'gone' });
  handler!.onError!(aborted as Error);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('the wait for a connection is no time of the service: a queue of our own is no failure of it', async () => {
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
  const answers = Promise.allSettled(
    Array.from({ length: 10 }, () => transport.send(request, createCancellationToken())),
  );
  await vi.advanceTimersByTimeAsync(20_000);
  expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'fulfilled'));
  expect(transport.state().catalog).toMatchObject({ isOpen: false, running: 0, waiting: 0 });
});

test('attempts have one time together, on the wire', async () => {
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
  while (dispatched < 2) await sleep(5); // the pause between attempts is of real time
  await vi.advanceTimersByTimeAsync(299);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  expect(ended).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});

test('operations take turns, each in its own order, and who gives up is passed over', () => {
  const gate = createConcurrencyLimiter({ maxConnections: 1, maxBusyConnections: 1 });
  expect(gate.acquire({}, { begin: () => undefined })).toBeUndefined();
  const begun: string[] = [];
  const enter = (owner: object, name: string) => gate.acquire(owner, { begin: () => void begun.push(name) })!;
  const [many, few, one] = [{}, {}, {}];
  for (let n = 0; n < 4; n++) enter(many, `many ${n}`);
  const left = enter(few, 'few 0');
  for (let n = 1; n < 3; n++) enter(few, `few ${n}`);
  enter(one, 'one 0');
  expect([gate.cancelWait(left), gate.cancelWait(left)]).toEqual([true, false]);
  expect(gate.waiting()).toBe(7);
  for (let n = 0; n < 8; n++) gate.release(1);
  expect(begun).toEqual(['many 0', 'few 1', 'one 0', 'many 1', 'few 2', 'many 2', 'many 3']);
  expect([gate.running(), gate.waiting()]).toEqual([0, 0]);
});
