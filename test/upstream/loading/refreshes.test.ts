import { setImmediate as afterTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type CallLog, createCallLog } from '../../../src/upstream/call-log.ts';
import type { LoadContext } from '../../../src/upstream/loading/load-context.ts';
import { createRefreshes } from '../../../src/upstream/loading/refreshes.ts';

type Opened = LoadContext & { callLog: CallLog };

/** Refreshes of a service that may be busy, and those that are made: each runs until it is ended, with an error or without. */
function refreshesOf() {
  const state = { isBusy: false };
  const made: string[] = [];
  const ends = new Map<string, (error?: string) => void>();
  const refresh = createRefreshes(() => state.isBusy);
  const read = async (id: string, credential = 'own') => {
    const callLog = createCallLog();
    const run = () =>
      new Promise<void>((resolve) => {
        made.push(`${credential} ${id}`);
        ends.set(id, (error) => {
          if (error !== undefined) callLog.calls.push({ error } as never);
          resolve();
        });
      });
    void refresh(credential, { id, service: 'catalog', run }, () => ({ callLog }) as unknown as Opened);
    await afterTurn();
    await afterTurn();
  };
  const end = async (id: string, error?: string) => {
    ends.get(id)!(error);
    await afterTurn();
  };
  return { state, made, read, end };
}

test('an entry is refreshed once at a time, however often it is read meanwhile', async () => {
  const { made, read, end } = refreshesOf();
  for (const id of ['a', 'a', 'a']) await read(id);
  expect(made).toEqual(['own a']);
  await end('a');
  await read('a');
  expect(made).toEqual(['own a', 'own a']);
});

test('nothing is refreshed while a call of the service waits; a later reader refreshes it', async () => {
  const { state, made, read } = refreshesOf();
  state.isBusy = true;
  await read('a');
  expect(made).toEqual([]);
  state.isBusy = false;
  await read('a');
  expect(made).toEqual(['own a']);
});

test('entries of different credentials are refreshed separately', async () => {
  const { made, read } = refreshesOf();
  await read('a', 'alice');
  await read('a', 'bob');
  expect(made).toEqual(['alice a', 'bob a']);
});

test('four entries at most are refreshed at once', async () => {
  const { made, read, end } = refreshesOf();
  for (let id = 0; id < 100; id++) await read(String(id));
  expect(made).toEqual(['own 0', 'own 1', 'own 2', 'own 3']);
  await end('2');
  await read('7');
  expect(made.slice(4)).toEqual(['own 7']);
});

test('an entry whose refresh failed is not refreshed again at once', async () => {
  const { made, read, end } = refreshesOf();
  await read('a');
  await end('a', 'UpstreamFailure');
  await read('a');
  expect(made).toEqual(['own a']);
});
