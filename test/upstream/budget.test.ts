import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bookEndpoints } from '../../src/contract/book.ts';
import type { Tier } from '../../src/contract/endpoint.ts';
import { filmEndpoints } from '../../src/contract/film.ts';
import { NEWCOMERS_CALLS, type Paid, createBudget } from '../../src/upstream/budget.ts';
import { type Credential, createCredentials } from '../../src/upstream/credential.ts';

const settings = { retryAfterSeconds: 5, maxRetryAfterSeconds: 60, callTimeoutMs: 10_000 };
const film = filmEndpoints.subject;
const credentials = createCredentials(undefined, undefined);
const here = '127.0.0.1';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

/** A caller that upstream knows. */
function known(token: string, tiers: readonly Tier[]): Credential {
  return Object.assign(credentials.of(token), { accepted: true, possibleTiers: tiers });
}
const own = (tier?: Tier, token = 'app') => createCredentials(token, tier).own;
const take = (
  budget: ReturnType<typeof createBudget>,
  credential: Credential,
  calls: number,
  from = (call: number) => `10.0.0.${call}`,
) => Promise.allSettled(Array.from({ length: calls }, async (_, call) => budget.take(film, credential, from(call))));
const paid = (results: PromiseSettledResult<Paid>[]) =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

test('a basic token makes forty calls, and a slot comes back a minute after its call was answered', async () => {
  const budget = createBudget(settings);
  const bob = known('bob', ['basic']);
  const calls = paid(await take(budget, bob, 60));
  expect(calls.length).toBe(40);
  later(30);
  calls[0]!.ended(false);
  await expect(budget.take(film, bob, here)).rejects.toMatchObject({ retryAfter: 45 });
  expect(await budget.state(bob)).toMatchObject({ limit: 40, remaining: 0 });
  for (const call of calls) call.ended(false);
  later(59.9);
  await expect(budget.take(film, bob, here)).rejects.toMatchObject({ retryAfter: 1 });
  later(0.2);
  expect(paid(await take(budget, bob, 60)).length).toBe(40);
});

test('no minute holds more than forty calls, however they are spread', async () => {
  const budget = createBudget(settings);
  const bob = known('bob', ['basic']);
  const made: number[] = [];
  for (let second = 0; second < 300; second += 1) {
    for (const call of paid(await take(budget, bob, 1 + (second % 7)))) {
      made.push(Date.now());
      call.ended(false);
    }
    later(1);
  }
  for (const at of made)
    expect(made.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(40);
  expect(made.length).toBe(200);
});

test('books, and the other tiers, are not counted', async () => {
  const budget = createBudget(settings);
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
    Array.from({ length: 100 }, async () => budget.take(bookEndpoints.byId, bob, here)),
  );
  expect(paid(books).length).toBe(100);
  expect(await budget.state(known('alice', ['advance']))).toBeNull();
});

test('a token whose tier is not known is counted as basic', async () => {
  const budget = createBudget(settings);
  const anybody = known('new', ['basic', 'advance', 'premium']);
  for (const call of paid(await take(budget, anybody, 40))) call.ended(false);
  expect(paid(await take(budget, anybody, 20)).length).toBe(0);
});

test('without a token of its own the facade counts as basic, and one address has half', async () => {
  const nobody = createCredentials(undefined, undefined).own;
  const budget = createBudget(settings);
  expect(paid(await take(budget, nobody, 60, () => here)).length).toBe(20);
  expect(paid(await take(budget, nobody, 60)).length).toBe(20);
  expect(
    paid(await take(createBudget(settings), createCredentials(undefined, 'premium').own, 60, () => here)).length,
  ).toBe(60);
});

test('the facade’s own token has no limit until upstream tells one', async () => {
  const budget = createBudget(settings);
  const credential = own();
  for (const call of paid(await take(budget, credential, 100))) call.ended(false);
  credential.hasMetLimit = true;
  for (const call of paid(await take(budget, credential, 40))) call.ended(false);
  expect(paid(await take(budget, credential, 20)).length).toBe(0);
});

test('told by upstream, a credential is quiet for as long as it was told, five seconds without, a minute at most', async () => {
  const budget = createBudget(settings);
  const [alice, bob] = [known('alice', ['advance']), known('bob', ['basic'])];
  expect(budget.refused(alice, 7)).toBe(7);
  await expect(budget.take(film, alice, here)).rejects.toMatchObject({ retryAfter: 7 });
  expect(await budget.take(film, bob, here)).toBeDefined();
  later(7);
  expect(await budget.take(film, alice, here)).toBeDefined();
  expect(budget.refused(alice, undefined)).toBe(5);
  expect(budget.refused(alice, 86_400)).toBe(60);
});

test('tokens that upstream has not accepted share a few calls, which rejected ones keep for a minute', async () => {
  const budget = createBudget(settings);
  const guessed = Array.from({ length: NEWCOMERS_CALLS * 2 }, (_, n) => credentials.of(`guess ${n}`));
  const results = await Promise.allSettled(
    guessed.map(async (credential, n) => {
      const call = await budget.take(bookEndpoints.byId, credential, `10.0.0.${n}`);
      await Promise.resolve();
      call.ended(true);
      return call;
    }),
  );
  expect(paid(results).length).toBe(NEWCOMERS_CALLS);
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { retryAfter: 60 } });
  later(60.1);
  await expect(budget.take(film, guessed[0]!, here)).resolves.toBeDefined();
});

test('one address guesses half of them at most', async () => {
  const budget = createBudget(settings);
  for (let n = 0; n < NEWCOMERS_CALLS / 2; n++)
    (await budget.take(film, credentials.of(`guess ${n}`), here)).ended(true);
  const newcomer = credentials.of('newcomer');
  await expect(budget.take(film, newcomer, here)).rejects.toMatchObject({ retryAfter: 60 });
  await expect(budget.take(film, newcomer, '10.0.0.2')).resolves.toBeDefined();
});

test('newcomers beyond the room wait for the first to be answered, and are not refused', async () => {
  const budget = createBudget(settings);
  const newcomers = Array.from({ length: 500 }, (_, n) => credentials.of(`person ${n}`));
  let running = 0;
  let most = 0;
  await Promise.all(
    newcomers.map(async (credential, n) => {
      const call = await budget.take(bookEndpoints.byId, credential, `10.0.0.${n % 100}`);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      credential.accepted = true;
      call.ended(false);
    }),
  );
  expect(most).toBe(NEWCOMERS_CALLS);
});

test('a token of unknown tier waits for its calls on their way, which may tell that it has no limit', async () => {
  const budget = createBudget(settings);
  const alice = known('alice', ['basic', 'advance']);
  const calls = paid(await take(budget, alice, 40));
  const more = take(budget, alice, 60);
  calls[0]!.ended(false);
  alice.possibleTiers = ['advance'];
  calls[1]!.ended(false);
  expect(paid(await more).length).toBe(60);
});

test('and is refused when they have told nothing', async () => {
  const budget = createBudget(settings);
  const anybody = known('anybody', ['basic', 'advance']);
  const calls = paid(await take(budget, anybody, 40));
  const more = take(budget, anybody, 2);
  for (const call of calls) call.ended(false);
  expect(paid(await more)).toEqual([]);
});

test('another attempt of a call pays at once or not at all', async () => {
  const budget = createBudget(settings);
  const anybody = known('anybody', ['basic', 'advance']);
  await take(budget, anybody, 40);
  await expect(budget.take(film, anybody, here, true)).rejects.toMatchObject({ name: 'RateLimited' });
});
