import { expect, test } from 'vitest';
import type { LoadContext } from '../../../src/upstream/loading/load-context.ts';
import { createRefreshQueue } from '../../../src/upstream/loading/refresh-queue.ts';
import { until } from '../../support/redis.ts';

/** A queue whose service may be busy, and the order in which it refreshes. */
function queueOf() {
  const state = { isBusy: false };
  const made: string[] = [];
  const queue = createRefreshQueue(() => state.isBusy);
  const open = () => ({ context: {} as LoadContext, hasFailed: () => false });
  const add = (id: string, credential = 'own') =>
    queue.add(credential, { id, service: 'catalog', run: () => made.push(`${credential} ${id}`) }, open);
  return { state, made, queue, add };
}

test('the most read entries are refreshed first, and each once', async () => {
  const { made, queue, add } = queueOf();
  for (const id of ['a', 'b', 'c', 'b', 'c', 'c', 'd']) add(id);
  await until(() => queue.size() === 0);
  expect(made).toEqual(['own c', 'own b', 'own a', 'own d']);
});

test('nothing is refreshed while a call of the service waits', async () => {
  const { state, made, queue, add } = queueOf();
  state.isBusy = true;
  add('a');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([made, queue.size()]).toEqual([[], 1]);
  state.isBusy = false;
  await until(() => queue.size() === 0);
});

test('entries of different credentials are refreshed separately', async () => {
  const { made, queue, add } = queueOf();
  add('a', 'alice');
  add('a', 'bob');
  await until(() => queue.size() === 0);
  expect(made).toEqual(['alice a', 'bob a']);
});

test('the number of waiting entries is bounded, and none is left at the end', () => {
  const { queue, add } = queueOf();
  for (let id = 0; id < 5_000; id++) add(String(id));
  expect(queue.size()).toBe(1_000);
  queue.close();
  add('late');
  expect(queue.size()).toBe(0);
});
