import { expect, test } from 'vitest';
import { afterPendingReads, createBatch } from '../../src/lib/event-loop.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items added in one turn run together, in order, each step for all before the next step', async () => {
  const done: string[] = [];
  const batch = createBatch<string>((item) => {
    done.push(`first ${item}`);
    void Promise.resolve().then(() => done.push(`then ${item}`));
  });
  expect(batch.size()).toBe(0);
  batch.add('a');
  batch.add('b');
  expect(batch.size()).toBe(2);
  await Promise.resolve();
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual(['first a', 'first b', 'then a', 'then b']);
});

test('items added while a batch runs are in the next batch', async () => {
  const done: number[] = [];
  const batch = createBatch<number>((item) => {
    done.push(item);
    if (item < 3) batch.add(item + 1);
  });
  batch.add(1);
  await turn();
  expect(done).toEqual([1]);
  await turn();
  await turn();
  expect(done).toEqual([1, 2, 3]);
});

test('what has arrived is read before a deadline counts', async () => {
  const steps: string[] = [];
  const late = new Promise<void>((resolve) => {
    afterPendingReads(() => {
      steps.push('late');
      resolve();
    });
  });
  setImmediate(() => {
    steps.push('read');
    setImmediate(() => steps.push('read after that'));
  });
  await late;
  expect(steps).toEqual(['read', 'late']);
});
