import { expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { serviceErrors } from '../../src/api/errors.ts';
import { filmEndpoints } from '../../src/api/film.ts';
import { RateLimited, UpstreamFailure, UpstreamRejection, isAbsent, withoutStack } from '../../src/upstream/errors.ts';

const details = { service: 'catalog', request: 'GET /v2/book/7' } as const;
const framesOf = ({ stack = '' }: Error) => stack.split('\n').filter((line) => line.startsWith('    at '));

test('expected errors of the service have no stack trace, and later errors have one again', () => {
  const errors = [
    new UpstreamFailure('UPSTREAM_TIMEOUT', details, 'no answer in time'),
    new UpstreamRejection(details),
    new RateLimited({ service: 'catalog', request: 'GET /' }, 3),
    withoutStack(() => new TypeError('made elsewhere')),
  ];
  expect(errors.flatMap(framesOf)).toEqual([]);
  expect(() =>
    withoutStack(() => {
      throw new Error('thrown');
    }),
  ).toThrow('thrown');
  expect(framesOf(new Error('a defect')).length).toBeGreaterThan(0);
});

test('a missing permission means that there is no record only where the interface says so', () => {
  expect(isAbsent(bookEndpoints.collection, 403, 1001, serviceErrors[1001])).toBe(true);
  expect(isAbsent(bookEndpoints.collection, 403, 1000, serviceErrors[1000])).toBe(false);
  expect(isAbsent(bookEndpoints.byId, 404, 1001, serviceErrors[1001])).toBe(false);
  expect(isAbsent(filmEndpoints.subject, 404, 1000, serviceErrors[1000])).toBe(false);
});
