import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGate } from '../../src/upstream/gate.ts';
import { createLifetime, end } from '../../src/upstream/lifetime.ts';
import { UpstreamFault } from '../../src/upstream/refusal.ts';
import { createTransport } from '../../src/upstream/transport.ts';
import { sent } from '../support/sent.ts';

const CROWD = 20_000;

const headers: string[] = [];

test('a crowd that is let in and leaves at once is let in to the last', () => {
  const gate = createGate({ maxConnections: 1, maxBusyConnections: 1 });
  expect(gate.enter(() => undefined)).toBeUndefined();
  let begun = 0;
  const begin = () => {
    begun++;
    gate.leave(1);
  };
  for (let each = 0; each < CROWD; each++) expect(gate.enter(begin)).toBeDefined();
  gate.leave(1);
  expect(begun).toBe(CROWD);
  expect(gate.running()).toBe(0);
});

test('a service gets all its connections at once while even its quickest calls take their time, and few while it is quick', () => {
  const [few, all, many] = [4, 12, 1000];
  const gate = createGate({ maxConnections: few, maxBusyConnections: all });
  const crowd = 20;
  /** How many of a crowd are let in at once, where each takes so long. */
  const letIn = (tookMs: number): number => {
    let inside = 0;
    for (let each = 0; each < crowd; each++) if (!gate.enter(() => inside++)) inside++;
    const atOnce = inside;
    for (let left = 0; left < crowd; left++) gate.leave(tookMs);
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
  const request = { service: 'catalog', method: 'GET', path: '/x', headers, maxBytes: 1, line: 'GET /x' } as const;
  const asks = Array.from({ length: CROWD }, () =>
    sent(transport, request, createLifetime()).catch((error: unknown) => error),
  );
  for (const handler of pending.splice(0))
    handler.onError!(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const told = await Promise.all(asks);
  expect(told.filter((error) => error instanceof UpstreamFault && error.code === 'UPSTREAM_UNAVAILABLE').length).toBe(
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
  const lifetime = createLifetime();
  const request = {
    service: 'catalog',
    method: 'POST',
    path: '/x',
    headers,
    maxBytes: 1,
    line: 'POST /x',
  } as const;
  const ask = sent(transport, request, lifetime).catch((error: unknown) => error);
  end(lifetime, new Error('gone'));
  expect(await ask).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  let aborted: unknown;
  handler!.onConnect!((reason) => (aborted = reason));
  expect(aborted).toMatchObject({ message: 'gone' });
  handler!.onError!(aborted as Error);
  expect(transport.state().catalog).toMatchObject({ running: 0, waiting: 0 });
});
