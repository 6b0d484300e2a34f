import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { retryAfterOf } from '../../../src/upstream/http/retry-after.ts';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(date) + 600_000 }));
afterEach(() => void vi.useRealTimers());

test.each<[string, number | undefined]>([
  ['30', 30],
  ['0', 0],
  ['120.5', 121],
  ['.5', 1],
  ['+30', 30],
  [' 30 ', 30],
  ['"30"', 30],
  ['30 s', 30],
  ['30 seconds', 30],
  ['30, 30', 30],
  ['30, 120', 30],
  ['30;comment', 30],
  ['99999999999', 99_999_999_999],
  ['9'.repeat(400), Infinity],
  ['-5', undefined],
  ['-5, 30', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['soon 1', undefined],
  ['', undefined],
])('Retry-After: %s is read as a number of seconds', (text, seconds) => {
  expect(retryAfterOf({ date, 'retry-after': text })).toBe(seconds);
});

test.each<[string, number | undefined]>([
  ['Sun, 06 Nov 1994 08:50:17 GMT', 40],
  ['Sunday, 06-Nov-94 08:50:17 GMT', 40],
  ['Sun Nov  6 08:50:17 1994', 40],
  ['Sun, 06 Nov 1994 08:50:17', 40],
  ['Sun, 06 Nov 1994 16:50:17 +0800', 40],
  ['1994-11-06T08:50:17Z', 40],
  ['1994-11-06T16:50:17+08:00', 40],
  ['Sun, 06 Nov 1994 08:50:17 GMT, Sun, 06 Nov 1994 09:50:17 GMT', 40],
  ['Sun, 06 Nov 1994 08:40:17 GMT', 0],
  ['Sun, 06 Foo 1994 08:40:17 GMT', undefined],
])(
  'Retry-After: %s is a time after the Date of the response, whatever the clock of this machine says',
  (text, seconds) => {
    expect(retryAfterOf({ date, 'retry-after': text })).toBe(seconds);
  },
);

test('without a Date in the response a date counts from the clock of this machine', () => {
  expect(retryAfterOf({ 'retry-after': 'Sun, 06 Nov 1994 09:00:07 GMT' })).toBe(30);
});
