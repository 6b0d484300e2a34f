import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import type { Tier } from '../../../src/api/endpoint.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { type RateLimitPermit, createRateLimiter } from '../../../src/upstream/limits/rate-limiter.ts';
import { type Credential, createCredentials } from '../../../src/upstream/auth/credentials.ts';
import { createCancellationToken, cancel } from '../../../src/lib/cancellation.ts';
import { UNVERIFIED_CALLS } from '../../../src/upstream/limits/unverified.ts';

const settings = { retryAfterSeconds: 5, maxRetryAfterSeconds: 60, callTimeoutMs: 10_000, operationTimeoutMs: 15_000 };
const film = filmEndpoints.subject;
const credentials = createCredentials(undefined, undefined);
const here = '127.0.0.1';

/** Goes on as long as the test. */
const forEver = createCancellationToken();

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

/** A caller that upstream knows. */
function known(token: string, tiers: readonly Tier[]): Credential {
  return Object.assign(credentials.of(token), { accepted: true, possibleTiers: tiers });
}
const own = (tier?: Tier, token = 'app') => createCredentials(token, tier).own;
const take = (
  budget: ReturnType<typeof createRateLimiter>,
  credential: Credential,
  calls: number,
  from = (call: number) => `10.0.0.${call}`,
) =>
  Promise.allSettled(
    Array.from({ length: calls }, async (_, call) => budget.acquire(film, credential, from(call), forEver)),
  );
const paid = (results: PromiseSettledResult<RateLimitPermit>[]) =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

test('a basic token makes forty calls, and a slot comes back a minute after its call was answered', async () => {
  const budget = createRateLimiter(settings);
  const bob = known('bob', ['basic']);
  const calls = paid(await take(budget, bob, 60));
  expect(calls.length).toBe(40);
  later(30);
  calls[0]!.settle(false);
  await expect(budget.acquire(film, bob, here, forEver)).rejects.toMatchObject({ retryAfter: 55 });
  expect(await budget.state(bob)).toMatchObject({ limit: 40, remaining: 0 });
  for (const call of calls) call.settle(false);
  later(59.9);
  await expect(budget.acquire(film, bob, here, forEver)).rejects.toMatchObject({ retryAfter: 1 });
  later(0.2);
  expect(paid(await take(budget, bob, 60)).length).toBe(40);
});

test('no minute holds more than forty calls, however they are spread', async () => {
  const budget = createRateLimiter(settings);
  const bob = known('bob', ['basic']);
  const made: number[] = [];
  for (let second = 0; second < 300; second += 1) {
    for (const call of paid(await take(budget, bob, 1 + (second % 7)))) {
      made.push(Date.now());
      call.settle(false);
    }
    later(1);
  }
  for (const at of made)
    expect(made.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(40);
  expect(made.length).toBe(200);
});

test('books, and the other tiers, are not counted', async () => {
  const budget = createRateLimiter(settings);
  for (const credential of [
    known('alice', ['advance']),
    known('carol', ['premium']),
    known('either', ['advance', 'premium']),
    own('advance'),
    own(),
  ])
    expect(paid(await take(budget, credential, 100)).length).toBe(100);
  const bob = known('bob', ['basic']);
  const books = await Promise.allSettled(
    Array.from({ length: 100 }, async () => budget.acquire(bookEndpoints.byId, bob, here, forEver)),
  );
  expect(paid(books).length).toBe(100);
  expect(await budget.state(known('alice', ['advance']))).toBeNull();
});

test('a token whose tier is not known is counted as basic', async () => {
  const budget = createRateLimiter(settings);
  const anybody = known('new', ['basic', 'advance', 'premium']);
  for (const call of paid(await take(budget, anybody, 40))) call.settle(false);
  expect(paid(await take(budget, anybody, 20)).length).toBe(0);
});

test('without a token of its own the facade counts as basic, and one address has half', async () => {
  const nobody = createCredentials(undefined, undefined).own;
  const budget = createRateLimiter(settings);
  expect(paid(await take(budget, nobody, 60, () => here)).length).toBe(20);
  expect(paid(await take(budget, nobody, 60)).length).toBe(20);
  expect(
    paid(await take(createRateLimiter(settings), createCredentials(undefined, 'premium').own, 60, () => here)).length,
  ).toBe(60);
});

test('the facade’s own token has no limit until upstream tells one', async () => {
  const budget = createRateLimiter(settings);
  const credential = own();
  for (const call of paid(await take(budget, credential, 100))) call.settle(false);
  credential.hasMetLimit = true;
  for (const call of paid(await take(budget, credential, 40))) call.settle(false);
  expect(paid(await take(budget, credential, 20)).length).toBe(0);
});

test('told by upstream, a credential is quiet for as long as it was told, five seconds without, a minute at most', async () => {
  const budget = createRateLimiter(settings);
  const [alice, bob] = [known('alice', ['advance']), known('bob', ['basic'])];
  expect(budget.pause(film, alice, 7)).toBe(7);
  await expect(budget.acquire(film, alice, here, forEver)).rejects.toMatchObject({ retryAfter: 7 });
  expect(await budget.acquire(film, bob, here, forEver)).toBeDefined();
  later(7);
  expect(await budget.acquire(film, alice, here, forEver)).toBeDefined();
  expect(budget.pause(film, alice, undefined)).toBe(5);
  expect(budget.pause(film, alice, 86_400)).toBe(60);
});

test('tokens that are not known yet wait for room, and are not refused', async () => {
  const budget = createRateLimiter(settings);
  const newcomers = Array.from({ length: 500 }, (_, n) => credentials.of(`person ${n}`));
  let running = 0;
  let most = 0;
  await Promise.all(
    newcomers.map(async (credential, n) => {
      const call = await budget.acquire(bookEndpoints.byId, credential, `10.0.0.${n % 100}`, forEver);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      credential.accepted = true;
      call.settle(false);
    }),
  );
  expect(most).toBe(UNVERIFIED_CALLS);
});

test('a token of unknown tier waits for its calls on their way, which may tell that it has no limit', async () => {
  const budget = createRateLimiter(settings);
  const alice = known('alice', ['basic', 'advance']);
  const calls = paid(await take(budget, alice, 40));
  const more = take(budget, alice, 60);
  calls[0]!.settle(false);
  alice.possibleTiers = ['advance'];
  calls[1]!.settle(false);
  expect(paid(await more).length).toBe(60);
});

test('and is refused when they have told nothing', async () => {
  const budget = createRateLimiter(settings);
  const anybody = known('anybody', ['basic', 'advance']);
  const calls = paid(await take(budget, anybody, 40));
  const more = take(budget, anybody, 2);
  for (const call of calls) call.settle(false);
  expect(paid(await more)).toEqual([]);
});

test('another attempt of a call pays at once or not at all', async () => {
  const budget = createRateLimiter(settings);
  const anybody = known('anybody', ['basic', 'advance']);
  await take(budget, anybody, 40);
  await expect(budget.acquire(film, anybody, here, forEver, true)).rejects.toMatchObject({ name: 'RateLimited' });
});

test('a clock that is set back keeps no window full and no pause going', async () => {
  const budget = createRateLimiter(settings);
  const bob = known('bob', ['basic']);
  for (const call of paid(await take(budget, bob, 40))) call.settle(false);
  budget.pause(bookEndpoints.byId, bob, 7);
  vi.setSystemTime(Date.now() - 3_600_000);
  later(60.1);
  expect(paid(await take(budget, bob, 60)).length).toBe(40);
  expect(await budget.acquire(bookEndpoints.byId, bob, here, forEver)).toBeDefined();
});

describe('calls with tokens that upstream has not accepted yet', () => {
  const book = bookEndpoints.byId;
  const stranger = (name: string) => credentials.of(`${name} ${Math.random()}`);
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  /** Asks for calls; those that were let in, in order, and the state. */
  function world(isRejected: (credential: Credential) => boolean = () => false) {
    const budget = createRateLimiter(settings, undefined, isRejected);
    const letIn: { credential: Credential; paid: RateLimitPermit }[] = [];
    return {
      budget,
      letIn,
      ask: (credential: Credential, calls = 1, address = here, lifetime = forEver) => {
        const asked = Array.from({ length: calls }, async () => {
          const paid = await budget.acquire(book, credential, address, lifetime);
          letIn.push({ credential, paid });
        });
        return { settled: Promise.allSettled(asked) };
      },
      state: () => budget.calls().unverified,
    };
  }

  test('run so many at once, half of them for one address', async () => {
    const { ask, letIn, state } = world();
    for (let n = 0; n < 40; n++) ask(stranger('x'), 2);
    await tick();
    expect(letIn).toHaveLength(UNVERIFIED_CALLS / 2);
    for (let n = 0; n < 80; n++) ask(stranger('x'), 1, `10.0.0.${n}`);
    await tick();
    expect(letIn).toHaveLength(UNVERIFIED_CALLS);
    expect(state()).toEqual({ running: UNVERIFIED_CALLS, waiting: 160 - UNVERIFIED_CALLS });
  });

  test('are let in by turns: of each address, and of each token of an address', async () => {
    const { ask, letIn } = world();
    const crowd = Array.from({ length: 50 }, () => stranger('crowd'));
    for (let address = 0; address < 2; address++)
      for (const each of crowd.slice(address * 25, address * 25 + 25)) ask(each, 30, `10.0.0.${address}`);
    const [one, other] = [stranger('one'), stranger('other')];
    ask(one, 1, '10.0.0.0');
    ask(other, 1, '10.0.0.9');
    await tick();
    const before = letIn.length;
    for (let ended = 0; ended < 60; ended++) {
      letIn[ended]!.paid.settle(true);
      await tick();
    }
    const order = letIn.slice(before).map(({ credential }) => credential);
    expect(order.indexOf(other)).toBeLessThan(3);
    expect(order.indexOf(one)).toBeLessThan(60);
  });

  test('go on together, once one of them has been accepted', async () => {
    const { ask, letIn, state } = world();
    const alice = stranger('alice');
    ask(alice, 100);
    ask(stranger('bob'), 1);
    await tick();
    expect(letIn).toHaveLength(30);
    alice.accepted = true;
    letIn[0]!.paid.settle(false);
    await tick();
    expect(letIn).toHaveLength(101);
    for (const { paid } of letIn.slice(1)) paid.settle(false);
    expect(state()).toEqual({ running: 0, waiting: 0 });
  });

  test('no longer wait, once the service has rejected the token: whoever makes the call tells so', async () => {
    const rejected = new Set<Credential>();
    const { ask, letIn, state } = world((credential) => rejected.has(credential));
    const guess = stranger('guess');
    ask(guess, 100);
    await tick();
    rejected.add(guess);
    letIn[0]!.paid.settle(true);
    await tick();
    expect(letIn).toHaveLength(100);
    expect(state()).toEqual({ running: 29, waiting: 0 });
  });

  test('are not there any more when their operation is over', async () => {
    const { ask, letIn, state } = world();
    ask(stranger('crowd'), 30);
    const lifetime = createCancellationToken();
    const waiting = ask(stranger('left'), 50, here, lifetime);
    ask(stranger('last'), 1);
    await tick();
    expect(state()).toEqual({ running: 30, waiting: 51 });
    cancel(lifetime, new Error('left'));
    expect(state()).toEqual({ running: 30, waiting: 1 });
    for (const each of await waiting.settled) expect(each).toMatchObject({ reason: { message: 'left' } });
    letIn[0]!.paid.settle(true);
    await tick();
    expect(letIn).toHaveLength(31);
  });

  test('are looked at a few times each, however many wait: 250 operations of 30 calls', async () => {
    const { ask, letIn, state } = world();
    let looks = 0;
    const lifetimes = Array.from({ length: 250 }, () => createCancellationToken());
    const all = lifetimes.map((lifetime, n) => {
      const credential = stranger(`person ${n}`);
      let accepted = false;
      Object.defineProperty(credential, 'accepted', {
        get: () => (looks++, accepted),
        set: (is: boolean) => void (accepted = is),
      });
      return ask(credential, 30, `10.0.0.${n % 5}`, lifetime).settled;
    });
    await tick();
    // A part of them leaves, and nothing is to be seen of it.
    for (let n = 200; n < 250; n++) cancel(lifetimes[n]!, new Error('left'));
    for (let ended = 0; ended < letIn.length; ended++) {
      letIn[ended]!.credential.accepted = true;
      letIn[ended]!.paid.settle(false);
      await tick();
    }
    await Promise.all(all);
    expect(letIn.length).toBeGreaterThanOrEqual(200 * 30);
    expect(looks).toBeLessThan(250 * 30 * 8);
    expect(state()).toEqual({ running: 0, waiting: 0 });
  });
});

test('film calls that wait leave with their operation, and the rest are looked at in order', async () => {
  const budget = createRateLimiter(settings);
  const alice = known('alice', ['basic', 'advance']);
  const calls = paid(await take(budget, alice, 40));
  const lifetime = createCancellationToken();
  const left = Promise.allSettled(Array.from({ length: 500 }, async () => budget.acquire(film, alice, here, lifetime)));
  const stay = take(budget, alice, 500);
  await Promise.resolve();
  expect(budget.calls().film).toEqual({ running: 40, waiting: 1000 });
  cancel(lifetime, new Error('left'));
  expect(budget.calls().film).toEqual({ running: 40, waiting: 500 });
  for (const each of await left) expect(each).toMatchObject({ reason: { message: 'left' } });
  let looks = 0;
  Object.defineProperty(alice, 'possibleTiers', { get: () => (looks++, ['basic', 'advance']) });
  for (const call of calls) call.settle(false);
  expect(paid(await stay)).toEqual([]);
  expect(looks).toBeLessThan(10 * 500);
  expect(budget.calls().film).toEqual({ running: 0, waiting: 0 });
});
