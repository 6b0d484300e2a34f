import { expect, onTestFinished, test, vi } from 'vitest';
import { createCancellationToken } from '../../../../../src/lib/cancellation.ts';
import { addEvent, noteChangeAt } from '../../../../../src/server/features/idempotency/store/entries.ts';
import { createMemoryStore } from '../../../../../src/server/features/idempotency/store/key-store.ts';
import { targetsOf } from '../../../../../src/server/features/idempotency/store/names.ts';

const waiting = { cancellation: createCancellationToken(), begin: () => undefined };

test('a caller who writes to many things does not make the store forget what another wrote to', async () => {
  const store = createMemoryStore(60_000);
  const ofBob = targetsOf(['bob'], 'annotations');
  (await store.takeTurn(ofBob, waiting))!.leave((target) => addEvent(target, { at: 1, name: 'of bob' }));
  void store.changeTargets(ofBob, (each, at) => addEvent(each, { at, id: 'an id' }));
  for (let at = 0; at < 20_001; at++) {
    const target = targetsOf(['alice'], `note ${at}`);
    (await store.takeTurn(target, waiting))!.leave((entry) => addEvent(entry, { at: 1, name: 'of alice' }));
    void store.changeTargets(target, noteChangeAt);
  }
  const turn = await store.takeTurn(ofBob, waiting);
  expect(turn!.events).toMatchObject([{ name: 'of bob' }, { id: 'an id' }]);
});

test('what came of a key is kept for its whole time after the last run, not after the first', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = createMemoryStore(60_000);
  const key = { credential: 'alice', person: undefined, key: 'a', fingerprint: 'f' };
  for (let at = 0; at < 3; at++) {
    const claim = await store.claim(key, waiting);
    if (claim?.kind !== 'run') throw new Error('not expected');
    expect(claim.run.journal).toBe(at === 0 ? undefined : 'a write');
    await claim.run.end({ kind: 'journal', text: 'a write' });
    vi.advanceTimersByTime(40_000);
  }
});
