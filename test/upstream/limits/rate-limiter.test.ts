import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApiRequest } from '../../../src/api/api-request.ts';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Tier } from '../../../src/api/endpoint.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { filmTiers } from '../../../src/api/film-tiers.ts';
import { type RateLimitPermit, RateLimiter } from '../../../src/upstream/limits/rate-limiter.ts';
import { type Credential, createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { learnFromResponse } from '../../../src/upstream/auth/tiers.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import type { RateLimited } from '../../../src/upstream/errors.ts';
import { UNVERIFIED_CALLS } from '../../../src/upstream/limits/unverified.ts';

const settings = {
  retryAfterSeconds: 5,
  maxRetryAfterSeconds: 60,
  callTimeoutMs: 10_000,
  operationTimeoutMs: 15_000,
  basicCallsAMinute: 40,
};
const film = filmEndpoints.subject;
const filmRead = createApiRequest(film, { id: '1' });
const bookRead = createApiRequest(bookEndpoints.byId, { id: '7' });
const credentials = createCredentials(filmTiers, undefined, undefined);
const setup = '127.0.0.1';

const neverCancelled = createCancellationToken();

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

/** A credential that upstream has accepted. */
function verified(token: string, tiers: readonly Tier[]): Credential {
  return Object.assign(credentials.of(token), { accepted: true, possibleTiers: tiers });
}
const own = (tier?: Tier, token = 'app') => createCredentials(filmTiers, token, tier).own;
const take = (
  rateLimiter: RateLimiter,
  credential: Credential,
  calls: number,
  from = (call: number) => `10.0.0.${call}`,
) =>
  Promise.allSettled(
    Array.from({ length: calls }, async (_, call) =>
      rateLimiter.acquire({ request: filmRead, credential, address: from(call), cancellation: neverCancelled }),
    ),
  );
const permitsOf = (results: PromiseSettledResult<RateLimitPermit>[]) =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

test('a basic token gets forty calls, and a slot is free again a minute after the response to its call', async () => {
  const rateLimiter = new RateLimiter(settings);
  const bob = verified('bob', ['basic']);
  const calls = permitsOf(await take(rateLimiter, bob, 60));
  expect(calls.length).toBe(40);
  later(30);
  calls[0]!.settle(true);
  await expect(
    rateLimiter.acquire({ request: filmRead, credential: bob, address: setup, cancellation: neverCancelled }),
  ).rejects.toMatchObject({ retryAfter: 55 });
  expect(await rateLimiter.state(bob)).toMatchObject({ limit: 40, remaining: 0 });
  for (const call of calls) call.settle(true);
  later(59.9);
  await expect(
    rateLimiter.acquire({ request: filmRead, credential: bob, address: setup, cancellation: neverCancelled }),
  ).rejects.toMatchObject({ retryAfter: 1 });
  later(0.2);
  expect(permitsOf(await take(rateLimiter, bob, 60)).length).toBe(40);
});

test('no window of a minute contains more than forty calls, however they are distributed', async () => {
  const rateLimiter = new RateLimiter(settings);
  const bob = verified('bob', ['basic']);
  const made: number[] = [];
  for (let second = 0; second < 300; second += 1) {
    for (const call of permitsOf(await take(rateLimiter, bob, 1 + (second % 7)))) {
      made.push(Date.now());
      call.settle(true);
    }
    later(1);
  }
  for (const at of made)
    expect(made.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(40);
  expect(made.length).toBe(200);
});

test('book calls, and calls of other tiers, are not limited', async () => {
  const rateLimiter = new RateLimiter(settings);
  for (const credential of [
    verified('alice', ['advance']),
    verified('carol', ['premium']),
    verified('either', ['advance', 'premium']),
    own('advance'),
  ])
    expect(permitsOf(await take(rateLimiter, credential, 100)).length).toBe(100);
  const bob = verified('bob', ['basic']);
  const books = await Promise.allSettled(
    Array.from({ length: 100 }, async () =>
      rateLimiter.acquire({
        request: bookRead,
        credential: bob,
        address: setup,
        cancellation: neverCancelled,
      }),
    ),
  );
  expect(permitsOf(books).length).toBe(100);
  expect(await rateLimiter.state(verified('alice', ['advance']))).toBeNull();
});

test('a token of unknown tier is limited like basic', async () => {
  const rateLimiter = new RateLimiter(settings);
  const unknownTier = verified('new', ['basic', 'advance', 'premium']);
  for (const call of permitsOf(await take(rateLimiter, unknownTier, 40))) call.settle(true);
  expect(permitsOf(await take(rateLimiter, unknownTier, 20)).length).toBe(0);
});

test('without a token of its own the facade is limited like basic, and one address gets half of it', async () => {
  const noToken = createCredentials(filmTiers, undefined, undefined).own;
  const rateLimiter = new RateLimiter(settings);
  expect(permitsOf(await take(rateLimiter, noToken, 60, () => setup)).length).toBe(20);
  expect(permitsOf(await take(rateLimiter, noToken, 60)).length).toBe(20);
  expect(
    permitsOf(
      await take(new RateLimiter(settings), createCredentials(filmTiers, undefined, 'premium').own, 60, () => setup),
    ).length,
  ).toBe(60);
});

test('the facade’s own token of an unknown tier is limited like basic until a response shows more', async () => {
  const rateLimiter = new RateLimiter(settings);
  const credential = own();
  for (const call of permitsOf(await take(rateLimiter, credential, 100))) call.settle(true);
  expect(rateLimiter.used(credential)).toBe(40);
  learnFromResponse(filmTiers, credential, film, { id: '1', languages: ['x'] });
  expect(permitsOf(await take(rateLimiter, credential, 100)).length).toBe(100);
});

test('after a 429 a credential is paused as long as Retry-After says, five seconds without it, a minute at most', async () => {
  const rateLimiter = new RateLimiter(settings);
  const [alice, bob] = [verified('alice', ['advance']), verified('bob', ['basic'])];
  const pause = (asked: number | undefined) => rateLimiter.pauses.begin(film, alice, 'group', asked);
  expect(pause(7)).toBe(7);
  await expect(
    rateLimiter.acquire({ request: filmRead, credential: alice, address: setup, cancellation: neverCancelled }),
  ).rejects.toMatchObject({ retryAfter: 7 });
  expect(
    await rateLimiter.acquire({ request: filmRead, credential: bob, address: setup, cancellation: neverCancelled }),
  ).toBeDefined();
  later(7);
  expect(
    await rateLimiter.acquire({ request: filmRead, credential: alice, address: setup, cancellation: neverCancelled }),
  ).toBeDefined();
  rateLimiter.pauses.end(film, alice);
  expect(pause(undefined)).toBe(5);
  expect(pause(86_400)).toBe(60);
});

test('calls with unverified tokens wait for a slot, and are not rejected', async () => {
  const rateLimiter = new RateLimiter(settings);
  const unverified = Array.from({ length: 500 }, (_, n) => credentials.of(`person ${n}`));
  let running = 0;
  let most = 0;
  await Promise.all(
    unverified.map(async (credential, n) => {
      const call = await rateLimiter.acquire({
        request: bookRead,
        credential,
        address: `10.0.0.${n % 100}`,
        cancellation: neverCancelled,
      });
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      credential.accepted = true;
      call.settle(true);
    }),
  );
  expect(most).toBe(UNVERIFIED_CALLS);
});

test('a token of unknown tier waits for its calls in flight, which may prove that it has no limit', async () => {
  const rateLimiter = new RateLimiter(settings);
  const alice = verified('alice', ['basic', 'advance']);
  const calls = permitsOf(await take(rateLimiter, alice, 40));
  const more = take(rateLimiter, alice, 60);
  calls[0]!.settle(true);
  alice.possibleTiers = ['advance'];
  calls[1]!.settle(true);
  expect(permitsOf(await more).length).toBe(60);
});

test('a token of unknown tier is rejected if its calls in flight prove nothing', async () => {
  const rateLimiter = new RateLimiter(settings);
  const unknownTier = verified('anybody', ['basic', 'advance']);
  const calls = permitsOf(await take(rateLimiter, unknownTier, 40));
  const more = take(rateLimiter, unknownTier, 2);
  for (const call of calls) call.settle(true);
  expect(permitsOf(await more)).toEqual([]);
});

test('a retry gets a slot at once or is rejected', async () => {
  const rateLimiter = new RateLimiter(settings);
  const unknownTier = verified('anybody', ['basic', 'advance']);
  await take(rateLimiter, unknownTier, 40);
  await expect(
    rateLimiter.acquire({
      request: filmRead,
      credential: unknownTier,
      address: setup,
      cancellation: neverCancelled,
      isRetry: true,
    }),
  ).rejects.toMatchObject({
    name: 'RateLimited',
  });
});

test.each([
  ['a token', verified('retrying', ['basic']), 0, 10],
  ['the facade’s own token, of the share of an address', own('basic', 'retrying'), 0, 5],
  ['the facade’s own token, of what all addresses use', own('basic', 'shared'), 20, 0],
])('a retry of %s is made only while half of the window is left', async (_, credential, others, retries) => {
  const rateLimiter = new RateLimiter(settings);
  await take(rateLimiter, credential, others, () => 'another address');
  const attempt = async (isRetry: boolean) => {
    await rateLimiter.acquire({
      request: filmRead,
      credential,
      address: setup,
      cancellation: neverCancelled,
      isRetry,
    });
    return 1;
  };
  let retried = 0;
  for (let call = 0; call < 15; call++) {
    await attempt(false);
    retried += await attempt(true).catch(() => 0);
  }
  expect(retried).toBe(retries);
});

test('setting the clock back keeps no window full and no pause active', async () => {
  const rateLimiter = new RateLimiter(settings);
  const bob = verified('bob', ['basic']);
  for (const call of permitsOf(await take(rateLimiter, bob, 40))) call.settle(true);
  rateLimiter.pauses.begin(bookEndpoints.byId, bob, 'group', 7);
  vi.setSystemTime(Date.now() - 3_600_000);
  later(60.1);
  expect(permitsOf(await take(rateLimiter, bob, 60)).length).toBe(40);
  expect(
    await rateLimiter.acquire({
      request: bookRead,
      credential: bob,
      address: setup,
      cancellation: neverCancelled,
    }),
  ).toBeDefined();
});

describe('calls with unverified tokens', () => {
  const newCredential = (name: string) => credentials.of(`${name} ${Math.random()}`);
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  /** Requests calls; returns the permits in order of admission, and the state. */
  function setUp() {
    const rateLimiter = new RateLimiter(settings);
    const admitted: { credential: Credential; permitsOf: RateLimitPermit }[] = [];
    return {
      rateLimiter,
      admitted,
      request: (credential: Credential, calls = 1, address = setup, cancellation = neverCancelled) => {
        const acquired = Array.from({ length: calls }, async () => {
          const permitsOf = await rateLimiter.acquire({ request: bookRead, credential, address, cancellation });
          admitted.push({ credential, permitsOf });
        });
        return { settled: Promise.allSettled(acquired) };
      },
    };
  }

  /** How many calls of two other addresses may begin; they end. */
  async function room({ request, admitted }: ReturnType<typeof setUp>): Promise<number> {
    const before = admitted.length;
    const cancellation = createCancellationToken();
    for (const address of ['10.1.0.1', '10.1.0.2'])
      request(newCredential('x'), UNVERIFIED_CALLS / 2, address, cancellation);
    await tick();
    cancel(cancellation, new Error('left'));
    const begun = admitted.splice(before);
    for (const { permitsOf } of begun) permitsOf.settle(false);
    return begun.length;
  }

  test('a fixed number of them runs at once, half of it for one address', async () => {
    const { request, admitted } = setUp();
    for (let n = 0; n < 40; n++) request(newCredential('x'), 2);
    await tick();
    expect(admitted).toHaveLength(UNVERIFIED_CALLS / 2);
    for (let n = 0; n < 80; n++) request(newCredential('x'), 1, `10.0.0.${n}`);
    await tick();
    expect(admitted).toHaveLength(UNVERIFIED_CALLS);
  });

  test('addresses take turns, and so do the tokens of an address', async () => {
    const { request, admitted } = setUp();
    const crowd = Array.from({ length: 50 }, () => newCredential('crowd'));
    for (let address = 0; address < 2; address++)
      for (const each of crowd.slice(address * 25, address * 25 + 25)) request(each, 30, `10.0.0.${address}`);
    const [one, other] = [newCredential('one'), newCredential('other')];
    request(one, 1, '10.0.0.0');
    request(other, 1, '10.0.0.9');
    await tick();
    const before = admitted.length;
    for (let ended = 0; ended < 60; ended++) {
      admitted[ended]!.permitsOf.settle(false);
      await tick();
    }
    const order = admitted.slice(before).map(({ credential }) => credential);
    expect(order.indexOf(other)).toBeLessThan(3);
    expect(order.indexOf(one)).toBeLessThan(60);
  });

  test('waiting calls of a token start together once one call was accepted', async () => {
    const limits = setUp();
    const { request, admitted } = limits;
    const alice = newCredential('alice');
    request(alice, 100);
    request(newCredential('bob'), 1);
    await tick();
    expect(admitted).toHaveLength(30);
    alice.accepted = true;
    admitted[0]!.permitsOf.settle(true);
    await tick();
    expect(admitted).toHaveLength(101);
    for (const { permitsOf } of admitted.slice(1)) permitsOf.settle(true);
    expect(await room(limits)).toBe(UNVERIFIED_CALLS);
  });

  test('waiting calls of a token start together once the service has rejected it; the caller rejects them', async () => {
    const limits = setUp();
    const { request, admitted } = limits;
    const guess = newCredential('guess');
    request(guess, 100);
    await tick();
    credentials.reject(guess, { service: 'catalog', status: 401, request: 'GET /' });
    admitted[0]!.permitsOf.settle(false);
    await tick();
    expect(admitted).toHaveLength(100);
    expect(await room(limits)).toBe(UNVERIFIED_CALLS - 29);
  });

  test('waiting calls are removed when their operation is cancelled', async () => {
    const { request, admitted } = setUp();
    request(newCredential('crowd'), 30);
    const cancellation = createCancellationToken();
    const waiting = request(newCredential('left'), 50, setup, cancellation);
    request(newCredential('last'), 1);
    await tick();
    cancel(cancellation, new Error('left'));
    for (const each of await waiting.settled) expect(each).toMatchObject({ reason: { message: 'left' } });
    admitted[0]!.permitsOf.settle(false);
    await tick();
    expect(admitted).toHaveLength(31);
  });

  test('each waiting call is examined a few times only: 250 operations of 30 calls', async () => {
    const limits = setUp();
    const { request, admitted } = limits;
    let reads = 0;
    const cancellations = Array.from({ length: 250 }, () => createCancellationToken());
    const all = cancellations.map((cancellation, n) => {
      const credential = newCredential(`person ${n}`);
      let accepted = false;
      Object.defineProperty(credential, 'accepted', {
        get: () => (reads++, accepted),
        set: (is: boolean) => void (accepted = is),
      });
      return request(credential, 30, `10.0.0.${n % 5}`, cancellation).settled;
    });
    await tick();
    // Cancelling some of them leaves no trace.
    for (let n = 200; n < 250; n++) cancel(cancellations[n]!, new Error('left'));
    for (let ended = 0; ended < admitted.length; ended++) {
      admitted[ended]!.credential.accepted = true;
      admitted[ended]!.permitsOf.settle(true);
      await tick();
    }
    await Promise.all(all);
    expect(admitted.length).toBeGreaterThanOrEqual(200 * 30);
    expect(reads).toBeLessThan(250 * 30 * 8);
    expect(await room(limits)).toBe(UNVERIFIED_CALLS);
  });
});

test('waiting film calls are removed with their operation, and the others are examined in order', async () => {
  const rateLimiter = new RateLimiter(settings);
  const alice = verified('alice', ['basic', 'advance']);
  const calls = permitsOf(await take(rateLimiter, alice, 40));
  const cancellation = createCancellationToken();
  const cancelledCalls = Promise.allSettled(
    Array.from({ length: 500 }, async () =>
      rateLimiter.acquire({ request: filmRead, credential: alice, address: setup, cancellation }),
    ),
  );
  const otherCalls = take(rateLimiter, alice, 500);
  await Promise.resolve();
  cancel(cancellation, new Error('left'));
  for (const each of await cancelledCalls) expect(each).toMatchObject({ reason: { message: 'left' } });
  let reads = 0;
  Object.defineProperty(alice, 'possibleTiers', { get: () => (reads++, ['basic', 'advance']) });
  for (const call of calls) call.settle(true);
  expect(permitsOf(await otherCalls)).toEqual([]);
  expect(reads).toBeLessThan(10 * 500);
});

test('once agents have used up their share, the state of the share names when they get a slot, not when a person does', async () => {
  const rateLimiter = new RateLimiter(settings);
  const bob = verified('bob', ['basic']);
  for (const call of permitsOf(await take(rateLimiter, bob, 1))) call.settle(true);
  later(30);
  const share = 0.25;
  const calls = Array.from({ length: 10 }, async () =>
    rateLimiter.acquire({
      request: filmRead,
      credential: bob,
      address: setup,
      cancellation: neverCancelled,
      rateShare: share,
    }),
  );
  for (const call of permitsOf(await Promise.allSettled(calls))) call.settle(true);
  // In whole seconds, and not before the slot is free.
  const inSeconds = (seconds: number) =>
    `${new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000).toISOString().slice(0, 19)}Z`;
  expect(await rateLimiter.state(bob, share)).toEqual({ limit: 10, remaining: 0, resetsAt: inSeconds(60) });
  expect(await rateLimiter.state(bob)).toEqual({ limit: 40, remaining: 29, resetsAt: inSeconds(30) });
});

describe('a refusal says whose share is used up, and nothing if all of the limit is', () => {
  async function refused(rateLimiter: RateLimiter, credential: Credential, address: string, rateShare?: number) {
    try {
      await rateLimiter.acquire({ request: filmRead, credential, address, cancellation: neverCancelled, rateShare });
      return 'granted';
    } catch (error) {
      return (error as RateLimited).share;
    }
  }

  test('of the facade’s own token', async () => {
    const rateLimiter = new RateLimiter(settings);
    await take(rateLimiter, own('basic'), 20, () => 'one');
    expect(await refused(rateLimiter, own('basic'), 'one')).toBe('this address');
    expect(await refused(rateLimiter, own('basic'), 'other')).toBe('granted');
    await take(rateLimiter, own('basic'), 19, () => 'other');
    for (const address of ['one', 'other', 'third'])
      expect(await refused(rateLimiter, own('basic'), address)).toBeUndefined();
  });

  test.each([own('basic'), verified('bob', ['basic'])])('of agents ($id)', async (credential) => {
    const rateLimiter = new RateLimiter(settings);
    for (let at = 0; at < 4; at++) expect(await refused(rateLimiter, credential, setup, 0.1)).toBe('granted');
    expect(await refused(rateLimiter, credential, setup, 0.1)).toBe('all agents');
    expect(permitsOf(await take(rateLimiter, credential, 60))).toHaveLength(36);
    expect(await refused(rateLimiter, credential, setup, 0.1)).toBeUndefined();
  });

  test.each([
    [20, 'this address'],
    [40, undefined],
  ])('where Redis refuses, which has counted %i', async (taken, share) => {
    const rateLimiter = new RateLimiter(settings, {
      take: async () => 30_000,
      settle: () => undefined,
      release: () => undefined,
      state: async () => ({ taken, backInMs: 30_000 }),
    });
    expect(await refused(rateLimiter, own('basic'), setup)).toBe(share);
  });
});

test('10,500 made-up tokens push no window of the facade’s own token out, and asking makes none', async () => {
  const rateLimiter = new RateLimiter(settings);
  const app = own('basic');
  expect(permitsOf(await take(rateLimiter, app, 60)).length).toBe(40);
  for (let n = 0; n < 10_500; n++) {
    const stranger = verified(`made up ${n}`, ['basic']);
    rateLimiter.used(stranger);
    await rateLimiter.acquire({
      request: filmRead,
      credential: stranger,
      address: setup,
      cancellation: neverCancelled,
    });
  }
  expect(rateLimiter.used(app)).toBe(40);
  expect(permitsOf(await take(rateLimiter, app, 60)).length).toBe(0);
  const bob = verified('bob', ['basic']);
  await rateLimiter.acquire({ request: filmRead, credential: bob, address: setup, cancellation: neverCancelled });
  for (let n = 0; n < 10_500; n++) rateLimiter.used(verified(`another ${n}`, ['basic']));
  expect(rateLimiter.used(bob)).toBe(1);
});
