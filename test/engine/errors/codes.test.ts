import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeGroups, notesOn } from '../../../src/engine/errors/codes.ts';

const rows = codeGroups.flatMap(({ codes }) => Object.entries(codes));

/** Codes that some requests get with another status, as their rows say. */
const several = [
  'BAD_REQUEST',
  'HEADERS_TOO_LARGE',
  'INVALID_TEXT',
  'BAD_UPLOAD',
  'UPLOAD_TOO_LARGE',
  'BATCHING_OFF',
  'INTERNAL_SERVER_ERROR',
  'UNAUTHENTICATED',
  'FORBIDDEN',
];

test('the status with which the server rejects a request is that of the table', () => {
  const files = readdirSync('src/server', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const rejections = files.flatMap((file) =>
    [
      ...readFileSync(join('src/server', file), 'utf8').matchAll(/(?:HttpError|refused)\(\s*(\d{3}),\s*'([A-Z_]+)'/g),
    ].map(([, status, code]) => [code!, Number(status)] as const),
  );
  expect(rejections.length).toBeGreaterThan(20);
  const others = rejections.filter(([code, status]) => notesOn(code)?.status?.graphql !== status);
  expect(others.filter(([code]) => !several.includes(code))).toEqual([]);
});

test('no text repeats the status of its row', () => {
  for (const [code, { what, status }] of rows)
    if (status && !several.includes(code)) expect([code, what]).toEqual([code, expect.not.stringMatching(/HTTP \d/)]);
});

test('only requests of which nothing was done, or whose write has a key, may be sent again', () => {
  const retried = rows.filter(([, { retry }]) => retry === 'later').map(([code]) => code);
  expect(retried).toEqual(
    expect.arrayContaining(['RATE_LIMITED', 'OVERLOADED', 'UPSTREAM_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS']),
  );
  expect(notesOn('UPSTREAM_RESULT_UNKNOWN')?.retry).toBe('key');
});
