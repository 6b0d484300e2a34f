import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClock } from '../../src/upstream/clock.ts';

test('each is over in its turn, and who was stopped is not', async () => {
  const clock = createClock(30);
  const over: string[] = [];
  const start = (name: string) => clock.start({ overdue: () => void over.push(name) });
  start('first');
  const stopped = start('stopped');
  await sleep(10);
  start('second');
  clock.stop(stopped);
  while (over.length < 2) await sleep(5);
  expect(over).toEqual(['first', 'second']);
});

test('one that starts while another is over does not hold up those before it', async () => {
  const clock = createClock(40);
  const over: string[] = [];
  clock.start({
    overdue() {
      over.push('first');
      clock.start({ overdue: () => void over.push('third') });
    },
  });
  await sleep(15);
  clock.start({ overdue: () => void over.push('second') });
  while (over.length < 3) await sleep(5);
  expect(over).toEqual(['first', 'second', 'third']);
});
