import { expect, test } from 'vitest';
import { bookEndpoints } from '../../../src/api/book.ts';
import { filmEndpoints } from '../../../src/api/film.ts';
import { createOwnRefusals } from '../../../src/upstream/auth/own-refusals.ts';

test('a refusal of the facade’s own token is reported once for a service, and once that it is accepted again', () => {
  const told: unknown[] = [];
  const refusals = createOwnRefusals((...report) => void told.push(report));
  const details = { service: 'catalog', status: 401, code: 103, request: 'GET /x' };
  const { byId, search, tags } = bookEndpoints;
  for (const endpoint of [byId, search, filmEndpoints.subject]) refusals.add(endpoint, details, true);
  expect([refusals.has('catalog'), refusals.has('events')]).toEqual([true, false]);
  for (const endpoint of [tags, filmEndpoints.subject]) refusals.end(endpoint);
  expect(refusals.has('catalog')).toBe(false);
  refusals.add(byId, details, true);
  refusals.clear();
  expect(refusals.has('catalog')).toBe(false);
  expect(told).toEqual([
    ['catalog', 103, true],
    ['catalog', undefined, true],
    ['catalog', 103, true],
  ]);
});
