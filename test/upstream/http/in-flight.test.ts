import { expect, test } from 'vitest';
import { unspecified } from '../../../src/upstream/cache/caching-header.ts';
import { RateLimited } from '../../../src/upstream/errors.ts';
import type { ApiResponse } from '../../../src/upstream/http/response.ts';
import { InFlightRequests } from '../../../src/upstream/http/in-flight.ts';
import { type CancellationToken, createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';

const answer: ApiResponse = {
  value: { id: '7' },
  bytes: 10,
  status: 200,
  reuse: unspecified,
};

/** A read whose response the test controls, and a function that requests it. */
function setUp() {
  const inFlight = new InFlightRequests();
  const credential = {};
  const read = {
    sent: 0,
    token: undefined as CancellationToken | undefined,
    answer: () => undefined as void,
    fail: (_: Error) => undefined as void,
  };
  const fetch = (token: CancellationToken) => {
    read.sent++;
    read.token = token;
    return new Promise<ApiResponse>((resolve, reject) => {
      read.answer = () => resolve(answer);
      read.fail = reject;
    });
  };
  const request = (token = createCancellationToken(), key = 'same', may: boolean | Promise<boolean> = true) => {
    const { sent } = read;
    const answer = inFlight.share(credential, key, token, { fetch }, { mayJoin: () => may });
    return { answer, coalesced: read.sent === sent };
  };
  return { read, request, inFlight };
}

test('equal concurrent requests are sent once', async () => {
  const { read, request } = setUp();
  const requests = Array.from({ length: 100 }, () => request());
  expect(requests.filter(({ coalesced }) => coalesced).length).toBe(99);
  read.answer();
  expect(new Set(await Promise.all(requests.map((each) => each.answer)))).toEqual(new Set([answer]));
  expect(read.sent).toBe(1);
});

test('a refused permit is the refusal of one caller: the next one asks for itself', async () => {
  const inFlight = new InFlightRequests();
  const credential = {};
  const asked: string[] = [];
  const ask = (address: string) =>
    inFlight.share(credential, 'same', createCancellationToken(), {
      async fetch() {
        asked.push(address);
        await Promise.resolve();
        if (address.startsWith('full')) throw new RateLimited({ service: 'catalog', request: 'GET /' }, 59);
        return answer;
      },
    });
  const outcomes = await Promise.allSettled(['full 1', 'free 1', 'full 2', 'free 2'].map(ask));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(asked).toEqual(['full 1', 'free 1']);
  expect((await Promise.allSettled(['full 1', 'full 2'].map(ask))).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(inFlight.size()).toBe(0);
});

test('any other error is that of all who share the request', async () => {
  const { read, request } = setUp();
  const all = [request(), request()];
  read.fail(new Error('503'));
  expect((await Promise.allSettled(all.map((each) => each.answer))).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(read.sent).toBe(1);
});

test('a request in flight is found however many others were sent since, and no longer after its response', async () => {
  const { read, request } = setUp();
  const { answer: first } = request();
  const { answer: respond } = read;
  for (let other = 0; other < 2_000; other++) {
    const { answer: response } = request(undefined, `other ${other}`);
    read.answer();
    await response;
  }
  expect(request().coalesced).toBe(true);
  respond();
  await first;
  expect(request().coalesced).toBe(false);
});

test('a request after the response is sent again', async () => {
  const { read, request } = setUp();
  const first = request();
  read.answer();
  await first.answer;
  expect(request().coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('a shared request survives the cancellation of its first requester while others wait', async () => {
  const { read, request } = setUp();
  const cancellation = createCancellationToken();
  const first = request(cancellation);
  const second = request();
  cancel(cancellation, new Error('gone'));
  await expect(first.answer).rejects.toThrow('gone');
  expect(read.token?.reason).toBeUndefined();
  read.answer();
  expect(await second.answer).toBe(answer);
});

test('a shared request is cancelled when all of its requesters are, and the next one is sent again', async () => {
  const { read, request } = setUp();
  const cancellation = [createCancellationToken(), createCancellationToken()];
  const requests = cancellation.map((token) => request(token));
  for (const each of cancellation) cancel(each, new Error('gone'));
  for (const each of requests) await expect(each.answer).rejects.toThrow('gone');
  expect(read.token?.reason).toBeDefined();
  expect(request().coalesced).toBe(false);
  expect(read.sent).toBe(2);
  read.answer();
});

test('a request that is already cancelled cancels its upstream call', async () => {
  const { read, request } = setUp();
  const cancelled = createCancellationToken();
  cancel(cancelled, new Error('gone'));
  await expect(request(cancelled).answer).rejects.toThrow('gone');
  expect(read.token?.reason).toBeDefined();
});

test('a failure is passed to all requesters, and the next request is sent again', async () => {
  const { read, request } = setUp();
  const requests = [1, 2, 3].map(() => request());
  read.fail(new Error('lost'));
  for (const each of requests) await expect(each.answer).rejects.toThrow('lost');
  expect(request().coalesced).toBe(false);
  read.answer();
});

test('readers that may not join wait for the next request, which they send together', async () => {
  const { read, request, inFlight } = setUp();
  const first = request();
  const others = Array.from({ length: 3 }, () => request(createCancellationToken(), 'same', false));
  const gone = createCancellationToken();
  const leaver = request(gone, 'same', false).answer.catch(() => 'gone');
  expect(read.sent).toBe(1);
  cancel(gone, new Error('gone'));
  expect(await leaver).toBe('gone');
  read.answer();
  expect(await first.answer).toBe(answer);
  expect(read.sent).toBe(2);
  others.push(request(), request(createCancellationToken(), 'same', Promise.resolve(true)));
  await Promise.resolve();
  read.answer();
  for (const each of others) expect(await each.answer).toBe(answer);
  expect(read.sent).toBe(2);
  expect(inFlight.size()).toBe(0);
});

test('if all who wait for the next request leave, it is not sent; nor for one who left while it was not known', async () => {
  const { read, request, inFlight } = setUp();
  const first = request();
  const gone = createCancellationToken();
  const leavers = [false, Promise.resolve(true)].map((may) => request(gone, 'same', may).answer.catch(() => 'gone'));
  cancel(gone, new Error('gone'));
  expect(await Promise.all(leavers)).toEqual(['gone', 'gone']);
  read.answer();
  await first.answer;
  expect([read.sent, inFlight.size()]).toEqual([1, 0]);
});
