import { expect, test } from 'vitest';
import { RateLimited, UpstreamFailure, UpstreamRejection, withoutStack } from '../../src/upstream/errors.ts';

const word = { service: 'catalog', request: 'GET /v2/book/7' } as const;
const framesOf = ({ stack = '' }: Error) => stack.split('\n').filter((line) => line.startsWith('    at '));

test('what is told of the service is told without a stack, and what happens next keeps its own', () => {
  const told = [
    new UpstreamFailure('UPSTREAM_TIMEOUT', word, 'no answer in time'),
    new UpstreamRejection(word),
    new RateLimited(3),
    withoutStack(() => new TypeError('made elsewhere')),
  ];
  expect(told.flatMap(framesOf)).toEqual([]);
  expect(() =>
    withoutStack(() => {
      throw new Error('thrown');
    }),
  ).toThrow('thrown');
  expect(framesOf(new Error('a defect')).length).toBeGreaterThan(0);
});
