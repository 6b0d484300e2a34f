import { expect, test } from 'vitest';
import { longestPauseMs } from '../../../src/upstream/http/attempts.ts';

test('the pause before a retry doubles with each attempt', () => {
  expect([1, 2, 3].map(longestPauseMs)).toEqual([120, 240, 480]);
});
