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
  expect(retryAfterOf(503, { date, 'retry-after': text })).toBe(seconds);
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
    expect(retryAfterOf(503, { date, 'retry-after': text })).toBe(seconds);
  },
);

test('without a Date in the response a date counts from the clock of this machine', () => {
  expect(retryAfterOf(503, { 'retry-after': 'Sun, 06 Nov 1994 09:00:07 GMT' })).toBe(30);
});

const today = 'Thu, 26 Nov 2026 08:49:37 GMT';
const now = Date.parse(today) / 1000;

test.each<[string, number, Record<string, string>, number | undefined]>([
  ['the seconds that are left', 429, { 'x-ratelimit-reset': '30' }, 30],
  ['a time in seconds', 429, { 'x-ratelimit-reset': String(now + 30) }, 30],
  ['a time in milliseconds', 429, { 'x-ratelimit-reset': String((now + 30) * 1000) }, 30],
  ['the header of the standard', 429, { 'ratelimit-reset': '30' }, 30],
  ['a header beside a Retry-After that counts', 429, { 'x-ratelimit-reset': '30', 'retry-after': '7' }, 7],
  ['a header beside a malformed Retry-After', 429, { 'x-ratelimit-reset': '30', 'retry-after': 'soon' }, 30],
  ['a time that is over', 429, { 'x-ratelimit-reset': String(now - 30) }, undefined],
  ['a time in a week', 429, { 'x-ratelimit-reset': String(now + 700_000) }, undefined],
  ['a word', 429, { 'x-ratelimit-reset': 'soon' }, undefined],
  ['a header of another refusal', 403, { 'x-ratelimit-reset': '30', 'x-ratelimit-remaining': '12' }, undefined],
  ['a 403 that nothing is left', 403, { 'x-ratelimit-reset': '30', 'x-ratelimit-remaining': '0' }, 30],
])('X-RateLimit-Reset is read if it is sensible: %s', (_, status, headers, seconds) => {
  expect(retryAfterOf(status, { date: today, ...headers })).toBe(seconds);
});
