import type { GraphQLScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { rfc3339Of, wholeSeconds } from '../../../src/engine/values/iso-time.ts';

const DateTime = schema.getType('DateTime') as GraphQLScalarType<string, string>;

/** One form of every moment, as ISO8601DateFormatter without options and OffsetDateTime read it. */
const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:Z|[+-](?:(?:0\d|1[0-7]):[0-5]\d|18:00))$/;

const written = [
  ['2026-12-18T19:30:00+08:00', '2026-12-18T19:30:00+08:00'],
  ['2026-12-18T11:30:00Z', '2026-12-18T11:30:00Z'],
  ['2026-12-18t11:30:00z', '2026-12-18T11:30:00Z'],
  ['2026-12-18 19:30:00.5+08:00', '2026-12-18T19:30:00+08:00'],
  ['2026-12-18T11:30:00.999999999Z', '2026-12-18T11:30:00Z'],
  ['2026-12-18T19:30:00-18:00', '2026-12-18T19:30:00-18:00'],
] as const;

test.each(written)('each DateTime has one form, in a response and in a request: %s', (given, form) => {
  expect(form).toMatch(FORM);
  expect(wholeSeconds(given)).toBe(form);
  expect(DateTime.serialize(given)).toBe(form);
  expect(DateTime.parseValue(given)).toBe(form);
  expect(DateTime.parseValue(form)).toBe(form);
});

test.each(['+18:01', '-18:30', '+1859'])('a time is null if no OffsetDateTime has its offset: %s', (offset) => {
  expect(rfc3339Of(`2026-12-18T19:30:00${offset}`)).toBeNull();
});
