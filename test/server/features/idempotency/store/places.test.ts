/** Two processes over one store, of which one stops renewing what it holds. */
import { expect, test } from 'vitest';
import { createCancellationToken } from '../../../../../src/lib/cancellation.ts';
import {
  type StoreLimits,
  STORE_LIMITS,
  addEvent,
} from '../../../../../src/server/features/idempotency/store/entries.ts';
import type { Swap, Swapped } from '../../../../../src/server/features/idempotency/store/swap.ts';
import { createKeyStore } from '../../../../../src/server/features/idempotency/store/key-store.ts';
import { createSwappedEntries } from '../../../../support/swapped-entries.ts';
import { targetsOf } from '../../../../../src/server/features/idempotency/store/names.ts';
import { createRemoteEntries } from '../../../../../src/server/features/idempotency/store/remote-entries.ts';

const TTL_MS = 60_000;
const waiting = { cancellation: createCancellationToken(), begin: () => undefined };
const keyOf = (key: string) => ({ credential: 'alice', person: undefined, key, fingerprint: 'same' });
const notWaiting = {
  ...waiting,
  begin() {
    throw new Error('busy');
  },
};

/** A store that processes share, whose clock the test moves on. */
function sharedStore(limits: StoreLimits = STORE_LIMITS) {
  const kept = createSwappedEntries();
  let passedMs = 0;
  let isAway = false;
  const swap = async (swap: Swap): Promise<Swapped | undefined> => {
    if (isAway) return undefined;
    const now = performance.now() + passedMs;
    const isLate = Math.abs(now - swap.at) > 500;
    return { ...kept({ ...swap, at: isLate ? -Infinity : performance.now() }), now };
  };
  return {
    process: () => createKeyStore(createRemoteEntries(TTL_MS, swap), TTL_MS, limits),
    /** As if no process had renewed its places meanwhile. */
    pass: (ms: number) => void (passedMs += ms),
    away: (is: boolean) => void (isAway = is),
  };
}

type Process = ReturnType<ReturnType<typeof sharedStore>['process']>;

async function claimed(store: Process, id: string) {
  const claim = await store.claim(keyOf(id), waiting);
  if (claim?.kind !== 'run') throw new Error(`not run: ${claim?.kind}`);
  return claim.run;
}

test('a turn whose holder was paused is taken by another, and the first can record no write any more', async () => {
  const shared = sharedStore();
  const [one, two] = [shared.process(), shared.process()];
  const targets = targetsOf(['alice'], 'note 7');
  const first = (await one.takeTurn(targets, waiting))!;
  shared.pass(5_000);
  const run = await claimed(one, 'a');
  const second = (await two.takeTurn(targets, waiting))!;
  expect(await run.save({ journal: () => '[]', turn: first, event: { name: 'first' } })).toBeUndefined();
  const other = await claimed(two, 'b');
  expect(await other.save({ journal: () => '[]', turn: second, event: { name: 'second' } })).toBeGreaterThan(0);
  first.leave((target) => addEvent(target, { at: 1, name: 'first' }));
  second.leave();
  expect((await one.takeTurn(targets, waiting))!.events).toMatchObject([{ name: 'second' }]);
});

test('a run whose key another process has claimed records nothing and keeps nothing', async () => {
  const shared = sharedStore();
  const [one, two] = [shared.process(), shared.process()];
  const run = await claimed(one, 'a');
  const turn = (await one.takeTurn(targetsOf(['alice'], 'note 7'), waiting))!;
  expect(await run.save({ journal: () => 'of the first', turn, event: { name: 'a' } })).toBeGreaterThan(0);
  shared.pass(5_000);
  const second = await claimed(two, 'a');
  expect(second.journal).toBe('of the first');
  expect(await run.save({ journal: () => 'again', turn, event: { name: 'a' } })).toBeUndefined();
  await run.end({ kind: 'nothing' });
  await expect(one.claim(keyOf('a'), notWaiting)).rejects.toThrow('busy');
  await second.end({ kind: 'response', text: 'of the second' });
  expect(await two.claim(keyOf('a'), waiting)).toEqual({ kind: 'replay', response: 'of the second' });
});

test('a turn of a credential and one of its person exclude each other', async () => {
  const shared = sharedStore();
  const [one, two] = [shared.process(), shared.process()];
  const ofCredential = (await one.takeTurn(targetsOf(['credential'], 'note 7'), waiting))!;
  let hasTurn = false;
  const ofPerson = two.takeTurn(targetsOf(['person', 'credential'], 'note 7'), waiting).then((turn) => {
    hasTurn = true;
    return turn!;
  });
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(hasTurn).toBe(false);
  ofCredential.leave();
  (await ofPerson).leave();
  expect(hasTurn).toBe(true);
});

test('what a process could not store at the end of a run is what it answers with', async () => {
  const shared = sharedStore();
  const store = shared.process();
  const run = await claimed(store, 'a');
  shared.away(true);
  await run.end({ kind: 'response', text: 'kept' });
  shared.away(false);
  expect(await store.claim(keyOf('a'), waiting)).toEqual({ kind: 'replay', response: 'kept' });
});

test('what a process could not store does not mix with what another one stores meanwhile', async () => {
  const shared = sharedStore();
  const [one, two] = [shared.process(), shared.process()];
  const run = await claimed(one, 'a');
  shared.away(true);
  await run.end({ kind: 'response', text: 'of a' });
  shared.away(false);
  await (await claimed(two, 'b')).end({ kind: 'response', text: 'of b' });
  expect(await one.claim(keyOf('a'), waiting)).toEqual({ kind: 'replay', response: 'of a' });
  expect(await one.claim(keyOf('b'), waiting)).toEqual({ kind: 'replay', response: 'of b' });
});

test('a key is counted as one of its owner until it is found that nothing was written', async () => {
  const shared = sharedStore({ keys: 2, open: 100, kept: 10, keptCharacters: 1_000 });
  const [one, two] = [shared.process(), shared.process()];
  const first = await claimed(one, 'a');
  await claimed(two, 'b');
  expect(await one.claim(keyOf('c'), waiting)).toEqual({ kind: 'full' });
  await first.end({ kind: 'nothing' });
  expect(await two.claim(keyOf('c'), waiting)).toMatchObject({ kind: 'run' });
});
