import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Tier } from '../../../src/api/endpoint.ts';
import { BASIC_CALLS_A_MINUTE, filmEndpoints } from '../../../src/api/film.ts';
import { createRateLimiter } from '../../../src/upstream/limits/rate-limiter.ts';
import { Calls } from '../../../src/upstream/http/calls.ts';
import { createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { createInFlightRequests } from '../../../src/upstream/http/in-flight.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { createCallLog } from '../../../src/upstream/call-log.ts';
import { createTransport } from '../../../src/upstream/http/pool.ts';
import { UNVERIFIED_CALLS } from '../../../src/upstream/limits/unverified.ts';
import type { SharedSlidingWindows, Slot } from '../../../src/upstream/limits/sliding-window.ts';
import { type ApiRequest, createApiRequest } from '../../../src/upstream/http/request.ts';
import { type Behaviour, hostile, json, silence, until } from '../../support/hostile.ts';

const here = '127.0.0.1';
const collecting = createApiRequest(bookEndpoints.collect, { id: '7', status: 'wish' });
const film = (fields: string) => createApiRequest(filmEndpoints.subject, { id: '1', fields });

/** Operations that call one service, out of one budget. */
async function over(behaviour: Behaviour, shared?: SharedSlidingWindows) {
  const service = await hostile(behaviour);
  const settings = { ...readConfig({}), baseUrl: service.url, eventBaseUrl: service.url };
  const transport = createTransport(settings);
  const credentials = createCredentials(undefined, undefined);
  const budget = createRateLimiter(settings, shared);
  /** Request lines of what was handed to the transport. */
  const sent: string[] = [];
  const parts = {
    settings,
    credentials,
    rateLimiter: budget,
    inFlight: createInFlightRequests(),
    transport: {
      ...transport,
      send: (...[request, asker]: Parameters<typeof transport.send>) => {
        sent.push(request.requestLine);
        return transport.send(request, asker);
      },
    },
    onRejected: () => undefined,
    observe: () => undefined,
  };
  return {
    service,
    budget,
    sent,
    newcomer: (token: string) => credentials.of(token),
    /** A caller that upstream knows. */
    known: (token: string, possibleTiers: readonly Tier[]) =>
      Object.assign(credentials.of(token), { accepted: true, possibleTiers }),
    operation: (credential = credentials.of('alice'), lifetime = createCancellationToken()) => {
      const calls = new Calls(parts, {
        isUnreadable: false,
        credential,
        callLog: createCallLog(),
        cancellation: lifetime,
        requestId: 'test',
        address: here,
        span: undefined,
      });
      return { make: (request: ApiRequest) => calls.send(request, undefined) };
    },
    /** Calls of others on their way, so many that a newcomer of this address waits for one of them to end. */
    crowd: () =>
      Promise.all(
        Array.from({ length: UNVERIFIED_CALLS / 2 }, async (_, n) =>
          budget.acquire(bookEndpoints.byId, credentials.of(`guess ${n}`), here, createCancellationToken()),
        ),
      ),
  };
}

test('a write of an operation that is over already is told at once to have timed out, and is not sent', async () => {
  const { operation, newcomer, crowd, sent } = await over(json('{}', 201));
  await crowd(); // it does not wait for these
  const lifetime = createCancellationToken();
  cancel(lifetime, new Error('left'));
  const write = operation(newcomer('alice'), lifetime).make(collecting);
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(sent).toEqual([]);
});

test('a write whose operation ends while it waits for the budget has timed out, is not sent, and keeps no slot', async () => {
  const { operation, newcomer, crowd, budget, sent } = await over(json('{}', 201));
  const [first] = await crowd();
  const lifetime = createCancellationToken();
  const write = operation(newcomer('alice'), lifetime).make(collecting);
  await new Promise((resolve) => setImmediate(resolve)); // without the crowd it would be sent by now
  cancel(lifetime, new Error('left'));
  first!.settle(false);
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(sent).toEqual([]);
  await expect(
    budget.acquire(bookEndpoints.byId, newcomer('bob'), here, createCancellationToken(), true),
  ).resolves.toBeDefined();
});

test('of a write whose operation ends when it is sent already, the outcome is unknown', async () => {
  const { operation, newcomer, service, sent } = await over(silence);
  const lifetime = createCancellationToken();
  const write = operation(newcomer('alice'), lifetime).make(collecting);
  await until(() => service.heard.length > 0);
  cancel(lifetime, new Error('left'));
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  expect(sent).toEqual(['POST /v2/book/7/collection']);
});

test('who wants the names that tell a tier does not share the answer of one for whom they are struck', async () => {
  const record = { durations: ['132分钟'], languages: ['汉语'], title: '活着' };
  const { durations, languages, title } = record;
  const { operation, known, budget, service } = await over(json(JSON.stringify(record)));
  const alice = known('alice', ['basic', 'advance']);
  for (let call = 0; call < BASIC_CALLS_A_MINUTE / 4; call++)
    await budget.acquire(filmEndpoints.subject, alice, here, createCancellationToken());

  const wanted = ['title', 'durations,languages,title', 'languages,title', 'durations,title', 'title'];
  const answers = await Promise.all(wanted.map((fields) => operation(alice).make(film(fields))));
  expect(answers.map(({ value }) => value)).toEqual([
    { title },
    { durations, languages, title },
    { languages, title },
    { durations, title },
    { title },
  ]);
  // Four requests for five asks, which the wire does not tell apart: the last shares the answer of the first.
  const path = '/v2/movie/subject/1?fields=durations,languages,title';
  expect(service.heard.map((request) => request.path)).toEqual([path, path, path, path]);
});

test('a slot that is paid for another attempt when the call has ended is given back', async () => {
  const asked: { slot: Slot; grant: () => void }[] = [];
  const answered: Slot[] = [];
  const released: Slot[] = [];
  const { operation, known, budget, service } = await over(json('', 503), {
    take: (slot) => new Promise((resolve) => asked.push({ slot, grant: () => resolve(0) })),
    settle: (slot) => answered.push(slot),
    release: (slot) => released.push(slot),
    state: () => Promise.resolve(undefined),
  });
  const bob = known('bob', ['basic']);
  const lifetime = createCancellationToken();
  const read = operation(bob, lifetime).make(film('title'));
  await until(() => asked.length === 1);
  asked[0]!.grant();
  await until(() => asked.length === 2);

  cancel(lifetime, new Error('left'));
  await expect(read).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  await until(() => answered.length > 0);
  expect(budget.used(bob)).toBe(2);
  asked[1]!.grant();
  await until(() => budget.used(bob) === 1);
  expect(answered).toEqual([asked[0]!.slot]);
  expect(released).toEqual([asked[1]!.slot]);
  expect(service.heard).toHaveLength(1);
});
