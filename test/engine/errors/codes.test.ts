import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceErrors } from '../../../src/api/errors.ts';
import { type ClientCode, codeGroups, messageOf, notesOn } from '../../../src/engine/errors/codes.ts';
import { adviceByCode } from '../../../client/src/errors.ts';
import { HttpError } from '../../../src/server/http/response/http-error.ts';

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
  // Of a tool of agents, whose result has no status.
  'ANSWER_TOO_LARGE',
];

test('a rejection gives a status only where it is not that of the table', () => {
  const files = readdirSync('src/server', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const rejections = files.flatMap((file) =>
    [
      ...readFileSync(join('src/server', file), 'utf8').matchAll(
        /(?:new HttpError|refused)\(\s*'([A-Z_]+)'([^;]*?status:? ?(\d{3})?)?/g,
      ),
    ].map(([, code, , status]) => ({ code: code!, status: status && Number(status) })),
  );
  expect(rejections.length).toBeGreaterThan(40);
  expect(rejections.filter(({ code, status }) => status && notesOn(code)?.status?.graphql === status)).toEqual([]);
  const others = rejections.filter(({ code, status }) => status || !notesOn(code)?.status).map(({ code }) => code);
  expect([...new Set(others)].filter((code) => !several.includes(code))).toEqual([]);
});

test('the status of an error is that of the table, or the one that it is given', () => {
  for (const [code, { status }] of rows)
    expect([code, new HttpError(code as ClientCode, '').status]).toEqual([code, status?.graphql ?? 500]);
  expect(new HttpError('BAD_REQUEST', '', { status: 417 }).status).toBe(417);
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

test.each([...new Set(Object.values(serviceErrors).map(({ client }) => client))])(
  'the message of %s is one sentence without alternatives and names of members',
  (code) => {
    const message = messageOf(code)!;
    expect(message).toMatch(/^[A-Z][^.;`]*\.$/);
    expect(notesOn(code)!.what.startsWith(message)).toBe(true);
    expect(message.length).toBeLessThan(100);
  },
);

test('what may be sent again is advised to be, and nothing else', () => {
  const advised = { later: ['retry-later'], login: ['log-in'], text: ['retry'], key: ['look-first'] } as const;
  for (const [code, { retry, advice }] of rows)
    expect([code, advice], code).toEqual([
      code,
      retry === 'no'
        ? expect.stringMatching(/^(?:fix-input|hide|look-first|report)$/)
        : expect.toBeOneOf([...advised[retry]]),
    ]);
});

test('every code has an advice, and tells a client in one paragraph what to do', () => {
  expect(rows.length).toBeGreaterThan(80);
  for (const [code, { advice, client }] of rows) {
    expect([code, advice]).toEqual([
      code,
      expect.stringMatching(/^(?:fix-input|log-in|hide|retry|retry-later|look-first|report)$/),
    ]);
    expect([code, client]).toEqual([code, expect.stringMatching(/^[A-Z`][^\n]{10,}\.$/)]);
    expect([code, adviceByCode[code]]).toEqual([code, advice]);
  }
  expect(Object.keys(adviceByCode).sort()).toEqual(rows.map(([code]) => code).sort());
});
