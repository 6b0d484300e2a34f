import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeadlineQueue } from '../../src/lib/deadlines.ts';

// Each turn of the event loop takes a millisecond of fake time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('deadlines expire in order, and stopped ones do not', () => {
  const queue = createDeadlineQueue(30);
  const expired: string[] = [];
  const start = (name: string) => queue.start({ onDeadline: () => void expired.push(name) });
  start('first');
  const stopped = start('stopped');
  vi.advanceTimersByTime(10);
  start('second');
  queue.stop(stopped);
  vi.advanceTimersByTime(19);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(6);
  expect(expired).toEqual(['first']);
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(['first', 'second']);
});

test('a deadline that starts while another expires does not delay earlier ones', () => {
  const queue = createDeadlineQueue(40);
  const expired: string[] = [];
  queue.start({
    onDeadline() {
      expired.push('first');
      queue.start({ onDeadline: () => void expired.push('third') });
    },
  });
  vi.advanceTimersByTime(15);
  queue.start({ onDeadline: () => void expired.push('second') });
  vi.advanceTimersByTime(45);
  expect(expired).toEqual(['first', 'second']);
  vi.advanceTimersByTime(30);
  expect(expired).toEqual(['first', 'second', 'third']);
});
