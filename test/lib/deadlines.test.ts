import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeadlineQueue } from '../../src/lib/deadlines.ts';

// A turn of the event loop takes a millisecond of this time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('each is over in its turn, and who was stopped is not', () => {
  const clock = createDeadlineQueue(30);
  const over: string[] = [];
  const start = (name: string) => clock.start({ onDeadline: () => void over.push(name) });
  start('first');
  const stopped = start('stopped');
  vi.advanceTimersByTime(10);
  start('second');
  clock.stop(stopped);
  vi.advanceTimersByTime(19);
  expect(over).toEqual([]);
  vi.advanceTimersByTime(6);
  expect(over).toEqual(['first']);
  vi.advanceTimersByTime(10);
  expect(over).toEqual(['first', 'second']);
});

test('one that starts while another is over does not hold up those before it', () => {
  const clock = createDeadlineQueue(40);
  const over: string[] = [];
  clock.start({
    onDeadline() {
      over.push('first');
      clock.start({ onDeadline: () => void over.push('third') });
    },
  });
  vi.advanceTimersByTime(15);
  clock.start({ onDeadline: () => void over.push('second') });
  vi.advanceTimersByTime(45);
  expect(over).toEqual(['first', 'second']);
  vi.advanceTimersByTime(30);
  expect(over).toEqual(['first', 'second', 'third']);
});
