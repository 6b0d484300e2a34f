import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { cancel, createCancellationToken } from '../../src/lib/cancellation.ts';
import { type ChangeLocks, type Changing, type Lease, createChangeLocks } from '../../src/upstream/change-locks.ts';

const [her, stranger] = [{ id: 'her token' }, { id: 'a stranger' }];
const changing = (more: Partial<Changing> = {}): Changing => ({
  ...{ record: 'Note 7', owner: 'alice', credential: her, readAt: performance.now() },
  ...{ cancellation: createCancellationToken(), slot: undefined },
  ...more,
});
const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  for (let turns = 0; turns < 5; turns++) await setImmediate();
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
};

/** Those that still wait at the end of the test are cancelled: a rejection in five seconds would be one of the next test file. */
function takeMany(locks: ChangeLocks, count: number, more: (at: number) => Partial<Changing>) {
  const cancellation = createCancellationToken();
  const taken = Array.from({ length: count }, (_, at) => locks.take(changing({ ...more(at), cancellation })));
  onTestFinished(async () => {
    cancel(cancellation, new Error('the test is over'));
    await Promise.allSettled(taken);
  });
  return taken;
}

test('an update waits for another one of the record, and is told that it was overtaken', async () => {
  const locks = createChangeLocks();
  const first = await locks.take(changing());
  const second = locks.take(changing());
  expect([first.isOvertaken, await isPending(second)]).toEqual([false, true]);
  first.leave();
  expect((await second).isOvertaken).toBe(true);
});

test('updates of another record, or of the record of another owner, do not wait', async () => {
  const locks = createChangeLocks();
  await locks.take(changing());
  expect(await locks.take(changing({ record: 'Note 8' }))).toMatchObject({ isOvertaken: false });
  expect(await locks.take(changing({ owner: 'bob' }))).toMatchObject({ isOvertaken: false });
});

test('an update that ended before the read began overtakes nothing', async () => {
  const locks = createChangeLocks();
  (await locks.take(changing())).leave();
  expect((await locks.take(changing({ readAt: performance.now() + 1 }))).isOvertaken).toBe(false);
});

test('a token whose updates wait lets another one through after one of them', async () => {
  const locks = createChangeLocks();
  const held = await locks.take(changing({ credential: stranger }));
  const many = takeMany(locks, 16, () => ({ credential: stranger }));
  await expect(locks.take(changing({ credential: stranger }))).rejects.toMatchObject({ code: 'CHANGE_IN_PROGRESS' });
  const own = locks.take(changing());
  held.leave();
  (await many[0]!).leave();
  expect((await own).isOvertaken).toBe(true);
  expect(await isPending(many[1]!)).toBe(true);
});

test('the updates that wait for one owner are bounded', async () => {
  const locks = createChangeLocks();
  for (let record = 0; record < 4; record++) await locks.take(changing({ record: `Note ${record}` }));
  void takeMany(locks, 64, (at) => ({ record: `Note ${at % 4}` }));
  await expect(locks.take(changing({ record: 'Note 0', credential: { id: 'another' } }))).rejects.toMatchObject({
    code: 'CHANGE_IN_PROGRESS',
  });
});

test('an update whose client leaves waits no longer, and lets the next one through', async () => {
  const locks = createChangeLocks();
  const first = await locks.take(changing());
  const cancellation = createCancellationToken();
  const left = locks.take(changing({ cancellation }));
  const next = locks.take(changing());
  cancel(cancellation, new Error('left'));
  await expect(left).rejects.toMatchObject({ code: 'CHANGE_IN_PROGRESS' });
  first.leave();
  expect((await next).isOvertaken).toBe(true);
});

test('an update holds no slot while it waits, and gives the lock back if it gets none after', async () => {
  const locks = createChangeLocks();
  const first = await locks.take(changing());
  const events: string[] = [];
  const slot = { release: () => void events.push('release'), enter: () => Promise.reject(new Error('overloaded')) };
  const second = locks.take(changing({ slot }));
  const third = locks.take(changing());
  expect(events).toEqual(['release']);
  first.leave();
  await expect(second).rejects.toThrow('overloaded');
  expect(await third).toMatchObject({ isOvertaken: true });
});

test('what another process changed since the read overtakes an update, by the clock of the store', async () => {
  const locks = createChangeLocks();
  let lease: Lease | 'held' | undefined = 'held';
  locks.share(async () => lease);
  const now = 5_000_000;
  const waiting = locks.take(changing({ readAt: performance.now() - 100 }));
  expect(await isPending(waiting)).toBe(true);
  lease = { now, endedAt: now - 50, leave: () => undefined };
  const first = await waiting;
  expect(first.isOvertaken).toBe(true);
  first.leave();
  lease = { now, endedAt: now - 50, leave: () => undefined };
  expect((await locks.take(changing({ record: 'Note 8' }))).isOvertaken).toBe(false);
  lease = undefined; // it cannot be reached: the process has locks of its own
  expect((await locks.take(changing({ record: 'Note 9' }))).isOvertaken).toBe(false);
});
