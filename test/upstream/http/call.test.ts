import { expect, test } from 'vitest';
import { createOwnRefusals } from '../../../src/upstream/auth/own-refusals.ts';
import { createCachingWatch } from '../../../src/upstream/cache/caching-watch.ts';
import { readConfig } from '../../../src/config/read.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Tier } from '../../../src/api/endpoint.ts';
import { catalogService } from '../../../src/graph/service/descriptor.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { RateLimiter } from '../../../src/upstream/limits/rate-limiter.ts';
import type { ObservedCall } from '../../../src/upstream/http/call.ts';
import { CallPolicy } from '../../../src/upstream/http/call-policy.ts';
import { type Credential, createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { InFlightRequests } from '../../../src/upstream/http/in-flight.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { type CallLog, createCallLog } from '../../../src/upstream/call-log.ts';
import { type TransportSettings, createTransport } from '../../../src/upstream/http/pool.ts';
import { UNVERIFIED_CALLS } from '../../../src/upstream/limits/unverified.ts';
import type { SharedSlidingWindows, Slot } from '../../../src/upstream/limits/sliding-window.ts';
import { type ApiRequest, createApiRequest } from '../../../src/api/api-request.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { type Behaviour, hostile, inTurn, json, reset, response, silence, until } from '../../support/hostile.ts';

const setup = '127.0.0.1';
const collect = createApiRequest(bookEndpoints.collect, { id: '7', status: 'wish' });
const film = (member: string) => createApiRequest(filmEndpoints.subject, { id: '1' }, [member]);

type Settings = Partial<TransportSettings> & { accessToken?: string };

/** Operations that call one service under one rate limiter. */
async function callsTo(behaviour: Behaviour, shared?: SharedSlidingWindows, more: Settings = {}) {
  const service = await hostile(behaviour);
  const settings = { ...readConfig({}), baseUrl: service.url, eventBaseUrl: service.url };
  const transport = createTransport({ ...settings, ...more });
  const credentials = createCredentials(filmTiers, more.accessToken, undefined);
  const rateLimiter = new RateLimiter({ ...settings, ...catalogService }, shared);
  /** Request lines of the requests passed to the transport. */
  const sent: string[] = [];
  const observed: ObservedCall[] = [];
  const rejected: Credential[] = [];
  const parts = {
    settings,
    service: catalogService,
    tiers: filmTiers,
    credentials,
    rateLimiter,
    inFlight: new InFlightRequests(),
    transport: {
      ...transport,
      send: (...[request, cancellation]: Parameters<typeof transport.send>) => {
        sent.push(`${request.method} ${request.path}`);
        return transport.send(request, cancellation);
      },
    },
    caching: createCachingWatch({ upstreamCache: 'relaxed', recordTtlSeconds: undefined }),
    ownRefusals: createOwnRefusals(),
    onRejected: (credential: Credential) => void rejected.push(credential),
    observe: (call: ObservedCall) => void observed.push(call),
  };
  return {
    service,
    rateLimiter,
    sent,
    observed,
    rejected,
    own: credentials.own,
    unverified: (token: string) => credentials.of(token),
    /** A credential that upstream has accepted. */
    verified: (token: string, possibleTiers: readonly Tier[]) =>
      Object.assign(credentials.of(token), { accepted: true, possibleTiers }),
    operation: (
      credential = credentials.of('alice'),
      cancellation = createCancellationToken(),
      callLog = createCallLog(),
    ) => {
      const calls = new CallPolicy(parts, {
        isUnreadable: false,
        credential,
        callLog,
        cancellation,
        requestId: 'test',
        address: setup,
        span: undefined,
      });
      return { make: (request: ApiRequest) => calls.send(request, undefined) };
    },
    /** Occupies all slots for unverified calls of this address, so that the next unverified call waits. */
    occupySlots: () =>
      Promise.all(
        Array.from({ length: UNVERIFIED_CALLS / 2 }, async (_, n) =>
          rateLimiter.acquire({
            request: createApiRequest(bookEndpoints.byId, { id: '7' }),
            credential: credentials.of(`guess ${n}`),
            address: setup,
            cancellation: createCancellationToken(),
          }),
        ),
      ),
  };
}

test('a write of an operation that is already cancelled fails with a timeout and is not sent', async () => {
  const { operation, unverified, occupySlots, sent } = await callsTo(json('{}', 201));
  await occupySlots(); // the write does not wait for these
  const cancellation = createCancellationToken();
  cancel(cancellation, new Error('left'));
  const write = operation(unverified('alice'), cancellation).make(collect);
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(sent).toEqual([]);
});

test('a write cancelled while it waits for the rate limiter fails with a timeout, is not sent and releases its slot', async () => {
  const { operation, unverified, occupySlots, rateLimiter, sent } = await callsTo(json('{}', 201));
  const [first] = await occupySlots();
  const cancellation = createCancellationToken();
  const write = operation(unverified('alice'), cancellation).make(collect);
  await new Promise((resolve) => setImmediate(resolve)); // without the occupied slots it would have been sent by now
  cancel(cancellation, new Error('left'));
  first!.settle(true);
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(sent).toEqual([]);
  await expect(
    rateLimiter.acquire({
      request: createApiRequest(bookEndpoints.byId, { id: '7' }),
      credential: unverified('bob'),
      address: setup,
      cancellation: createCancellationToken(),
      isRetry: true,
    }),
  ).resolves.toBeDefined();
});

test('a write cancelled after it was sent fails with an unknown result', async () => {
  const { operation, unverified, service, sent } = await callsTo(silence);
  const cancellation = createCancellationToken();
  const write = operation(unverified('alice'), cancellation).make(collect);
  await until(() => service.requests.length > 0);
  cancel(cancellation, new Error('left'));
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
  expect(sent).toEqual(['POST /v2/book/7/collection']);
});

test.each([502, 503, 504])(
  'a write to which a gateway responds %i has an unknown result, and is sent once',
  async (status) => {
    const { operation, verified, sent } = await callsTo(response(status, 'text/html', '<html>'));
    const write = operation(verified('bob', ['basic'])).make(collect);
    await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_RESULT_UNKNOWN' });
    expect(sent).toEqual(['POST /v2/book/7/collection']);
  },
);

test('a write to which the service itself responds 503 was not carried out', async () => {
  const { operation, verified } = await callsTo(json('{"code":999,"msg":"unknown_v2_error","request":"x"}', 503));
  const write = operation(verified('bob', ['basic'])).make(collect);
  await expect(write).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test('calls that the circuit breaker rejects do not count towards the rate limit', async () => {
  const { operation, verified, rateLimiter, service } = await callsTo(reset, undefined, {
    breakerFailures: 2,
    readAttempts: 1,
  });
  const bob = verified('bob', ['basic']);
  const readings = async (ids: readonly string[]) => {
    for (const id of ids) {
      const request = createApiRequest(filmEndpoints.subject, { id }, ['title']);
      await expect(operation(bob).make(request)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    }
  };
  await readings(['1', '2']);
  expect(rateLimiter.used(bob)).toBe(2);
  await readings(['3', '4', '5']);
  expect(service.requests).toHaveLength(2);
  expect(rateLimiter.used(bob)).toBe(2);
});

test('calls that are cancelled while they wait for a connection do not count towards the rate limit', async () => {
  const connections = { maxConnections: 1 };
  const { operation, verified, rateLimiter, service } = await callsTo(silence, undefined, connections);
  const bob = verified('bob', ['basic']);
  const cancellation = createCancellationToken();
  const reads = ['1', '2', '3'].map((id) =>
    operation(bob, cancellation).make(createApiRequest(filmEndpoints.subject, { id }, ['title'])),
  );
  await until(() => service.requests.length === 1);
  expect(rateLimiter.used(bob)).toBe(3);
  cancel(cancellation, new Error('left'));
  for (const read of reads) await expect(read).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  await until(() => rateLimiter.used(bob) === 1);
});

test('a slot acquired for a retry after the call has ended is released', async () => {
  const takes: { slot: Slot; grant: () => void }[] = [];
  const settled: Slot[] = [];
  const released: Slot[] = [];
  const { operation, verified, rateLimiter, service } = await callsTo(json('', 503), {
    take: (slot) => new Promise((resolve) => takes.push({ slot, grant: () => resolve(0) })),
    settle: (slot) => settled.push(slot),
    release: (slot) => released.push(slot),
    state: () => Promise.resolve(undefined),
  });
  const bob = verified('bob', ['basic']);
  const cancellation = createCancellationToken();
  const read = operation(bob, cancellation).make(film('title'));
  await until(() => takes.length === 1);
  takes[0]!.grant();
  await until(() => takes.length === 2);

  cancel(cancellation, new Error('left'));
  await expect(read).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  await until(() => settled.length > 0);
  expect(rateLimiter.used(bob)).toBe(2);
  takes[1]!.grant();
  await until(() => rateLimiter.used(bob) === 1);
  expect(settled).toEqual([takes[0]!.slot]);
  expect(released).toEqual([takes[1]!.slot]);
  expect(service.requests).toHaveLength(1);
});

test('a retry with an unverified token does not wait for the permit that its first attempt holds', async () => {
  const record = json('{"id":"7","title":"活着"}');
  const firstAttempts = Array.from({ length: UNVERIFIED_CALLS / 2 }, () => json('', 503));
  // By token: a retry may come before the first attempt of another call.
  const tried = new Set<string | undefined>();
  const { operation, unverified } = await callsTo((socket, request) => {
    const { authorization } = request.headers;
    const answer = tried.has(authorization) ? record : firstAttempts[0]!;
    tried.add(authorization);
    return answer(socket, request);
  });
  const book = createApiRequest(bookEndpoints.byId, { id: '7' });
  const read = (n: number) => operation(unverified(`guess ${n}`)).make(book);
  const statuses = await Promise.all(firstAttempts.map(async (_, n) => (await read(n)).status));
  expect(statuses).toEqual(firstAttempts.map(() => 200));
});

test('the log of a rejected call names the error', async () => {
  const { operation, unverified } = await callsTo(
    inTurn(json('{"msg":"x","code":1001,"request":"GET /x"}', 403), json('x', 418)),
  );
  const callLog = createCallLog();
  const { make } = operation(unverified('alice'), undefined, callLog);
  for (const fields of ['title', 'summary']) await make(film(fields)).catch(() => undefined);
  expect(callLog.calls).toMatchObject([{ error: 'UpstreamRejection' }, { error: 'UPSTREAM_UNAVAILABLE' }]);
});

test('the log of a call contains when it began and how long it took, and its attempts only if there were several', async () => {
  const record = json('{"title":"活着"}');
  const { operation, verified } = await callsTo(inTurn(json('', 503), record));
  const bob = verified('bob', ['advance']);
  const HOUR_MS = 3_600_000;
  const callLog: CallLog = { calls: [], made: 0, started: performance.now() - HOUR_MS };
  const { make } = operation(bob, undefined, callLog);
  for (const fields of ['title', 'summary,title']) await make(film(fields));
  const [first, second] = callLog.calls;
  for (const { startMs, ms } of [first!, second!]) {
    expect(startMs).toBeGreaterThanOrEqual(HOUR_MS);
    expect(ms).toBeGreaterThan(0);
    expect(ms).toBeLessThan(HOUR_MS);
  }
  expect(first).toMatchObject({ status: 200, attempts: 2, bytes: 18 });
  expect(second).not.toHaveProperty('attempts');
});

test('a credential is accepted once the service has responded to it with a record', async () => {
  const { operation, unverified } = await callsTo(json('{"title":"活着"}'));
  const alice = unverified('alice');
  expect(alice.accepted).toBe(false);
  await operation(alice).make(film('title'));
  expect(alice).toMatchObject({ accepted: true, acceptedBy: { catalog: true, events: false } });
});

test('a read that shares the request of another is logged as such, and the request is observed once', async () => {
  const { operation, observed, verified } = await callsTo(json('{"title":"活着"}'));
  const bob = verified('bob', ['advance']);
  const logs = [createCallLog(), createCallLog()] as const;
  await Promise.all(logs.map((log) => operation(bob, undefined, log).make(film('title'))));
  const [first, second] = logs.map(({ calls }) => calls[0]);
  expect(first).toMatchObject({ status: 200, how: 'sent' });
  expect(second).toMatchObject({ status: 200, how: 'joined' });
  expect(observed).toMatchObject([{ endpoint: filmEndpoints.subject, outcome: '200' }]);
});

test('the rejection of a token is reported, so that nothing read with it is served again', async () => {
  const { operation, verified, rejected } = await callsTo(json('{"msg":"invalid_access_token","code":103}', 401));
  const bob = verified('bob', ['advance']);
  await expect(operation(bob).make(film('title'))).rejects.toMatchObject({ details: { status: 401, code: 103 } });
  expect(rejected).toEqual([bob]);
});

test('an endpoint that was closed to a credential for its tier is called again after a while', async () => {
  const { operation, verified, sent } = await callsTo(json('{"title":"活着"}'));
  const bob = verified('bob', ['advance', 'premium']);
  bob.refusedEndpoints.set(filmEndpoints.subject.path, performance.now() + 60_000);
  await expect(operation(bob).make(film('title'))).rejects.toMatchObject({ name: 'TierRequired' });
  expect(sent).toEqual([]);
  bob.refusedEndpoints.set(filmEndpoints.subject.path, performance.now() - 1);
  expect((await operation(bob).make(film('title'))).value).toEqual({ title: '活着' });
});
