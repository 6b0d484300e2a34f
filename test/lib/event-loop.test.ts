import { expect, test } from 'vitest';
import { afterPendingReads, atEndOfTick } from '../../src/lib/event-loop.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items added in one tick run together, in order, each step for all before the next step', async () => {
  const done: string[] = [];
  const ending = atEndOfTick<string>((items) => {
    for (const item of items) {
      done.push(`first ${item}`);
      void Promise.resolve().then(() => done.push(`then ${item}`));
    }
  });
  expect(ending.size()).toBe(0);
  ending.add('a');
  ending.add('b');
  expect(ending.size()).toBe(2);
  await Promise.resolve();
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual(['first a', 'first b', 'then a', 'then b']);
});

test('items added while others are passed on are passed on at the next tick', async () => {
  const done: number[] = [];
  const ending = atEndOfTick<number>(([item]) => {
    done.push(item!);
    if (item! < 3) ending.add(item! + 1);
  });
  ending.add(1);
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
