import { expect, test } from 'vitest';
import type { Intention } from './intentions.ts';
import { judge } from './verdict.ts';

/** What came of one write that was carried out so many times, and whose client was told the code. */
function verdictOf(effects: number, code: string | undefined, { isOfOneKey = false, isOverdue = false } = {}) {
  const intention: Intention = { kind: 'x', body: () => '', effects: async () => effects, isOwn: () => true };
  const pursued = { code, data: {}, attempts: 1, isSettledInTime: true, refusals: 0 };
  return judge('a row', [intention], [pursued], { reachedOf: () => effects, times: [effects], isOfOneKey, isOverdue });
}

test('to be told that it is not known is right of a write that was made, and of one that was not', async () => {
  expect(await verdictOf(1, 'IDEMPOTENCY_KEY_UNKNOWN')).toMatchObject({ notKept: 1, failed: 0, lost: 0 });
  expect(await verdictOf(0, 'IDEMPOTENCY_KEY_UNKNOWN')).toMatchObject({ notKept: 1, failed: 0, lost: 0 });
  expect(await verdictOf(1, 'BAD_USER_INPUT')).toMatchObject({ notKept: 0, failed: 1, lost: 0 });
});

test('to be told that a key is of somebody else is right where two persons have it, and nowhere else', async () => {
  expect(await verdictOf(1, 'IDEMPOTENCY_KEY_REUSED', { isOfOneKey: true })).toMatchObject({ notKept: 1, failed: 0 });
  expect(await verdictOf(1, 'IDEMPOTENCY_KEY_REUSED')).toMatchObject({ notKept: 0, failed: 1 });
});

test('a write that the service carried out when nothing of it could come any more is counted apart', async () => {
  expect(await verdictOf(2, undefined)).toMatchObject({ doubled: 1, resent: 1, overdue: 0 });
  expect(await verdictOf(2, undefined, { isOverdue: true })).toMatchObject({ doubled: 0, resent: 0, overdue: 1 });
});
