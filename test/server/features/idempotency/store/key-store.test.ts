import { expect, onTestFinished, test, vi } from 'vitest';
import { createCancellationToken } from '../../../../../src/lib/cancellation.ts';
import {
  type TargetState,
  freshState,
  joinStates,
} from '../../../../../src/server/features/idempotency/store/entries.ts';
import { createMemoryStore } from '../../../../../src/server/features/idempotency/store/key-store.ts';
import { targetsOf } from '../../../../../src/server/features/idempotency/store/names.ts';

const waiting = { cancellation: createCancellationToken(), begin: () => undefined };

test('a caller who writes to many things does not make the store forget what another wrote to', async () => {
  const store = createMemoryStore(60_000);
  const ofBob = targetsOf(['bob'], 'annotations');
  (await store.takeTurn(ofBob, waiting))!.leave({ ...freshState, last: 'of bob' });
  void store.noteChange(ofBob, 'an id');
  for (let at = 0; at < 20_001; at++) {
    const target = targetsOf(['alice'], `note ${at}`);
    (await store.takeTurn(target, waiting))!.leave({ ...freshState, last: 'of alice' });
    void store.noteChange(target, undefined);
  }
  const turn = await store.takeTurn(ofBob, waiting);
  expect(turn!.state.last).toBe('of bob');
  expect(turn!.changes).toMatchObject([{ id: 'an id' }]);
});

test('what came of a key is kept for its whole time after the last run, not after the first', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = createMemoryStore(60_000);
  const key = { owners: ['alice'], ids: ['a'], key: 'a', fingerprint: 'f' };
  for (let at = 0; at < 3; at++) {
    const claim = await store.claim(key);
    if (claim?.kind !== 'run') throw new Error('not expected');
    expect(claim.run.journal).toBe(at === 0 ? undefined : 'a write');
    await claim.run.end({ kind: 'journal', text: 'a write' });
    vi.advanceTimersByTime(40_000);
  }
});

test('what is known of a target under two names counts once, however often it is joined', () => {
  const open = { name: 'lost', until: 9, input: 'x' };
  const ofCredential = { open: [open], created: [{ name: 'a', id: '1', at: 1 }], createdSince: 0 };
  let ofPerson: TargetState = { ...freshState, created: [{ name: 'b', id: '2', at: 2 }] };
  for (let at = 0; at < 30; at++) ofPerson = { ...freshState, ...joinStates([ofPerson, ofCredential]) };
  expect(ofPerson).toEqual({
    last: undefined,
    open: [open],
    created: [
      { name: 'a', id: '1', at: 1 },
      { name: 'b', id: '2', at: 2 },
    ],
    createdSince: 0,
  });
});
