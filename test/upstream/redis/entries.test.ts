import { expect, test } from 'vitest';
import { decodeEntry, encodeEntry } from '../../../src/upstream/redis/entries.ts';

test('a replica reads that the service lacks a member of a record, so it does not ask for it again', () => {
  const now = Math.round(performance.now());
  const times = { since: now, freshUntil: now + 60_000, keptUntil: now + 120_000 };
  const text = encodeEntry({ value: { id: '7', price: undefined }, bytes: 10, ...times });
  const entry = decodeEntry(`stamp ${now + 60_000}\n${now} ${text}`, 0);
  expect(Object.entries(entry!.value)).toEqual([
    ['id', '7'],
    ['price', undefined],
  ]);
});
