import { expect, test } from 'vitest';
import { RateLimited, UpstreamFault, UpstreamRefusal, stackless } from '../../src/upstream/errors.ts';

const word = { service: 'catalog', request: 'GET /v2/book/7' } as const;
const framesOf = ({ stack = '' }: Error) => stack.split('\n').filter((line) => line.startsWith('    at '));

test('what is told of the service is told without a stack, and what happens next keeps its own', () => {
  const told = [
    new UpstreamFault('UPSTREAM_TIMEOUT', word, 'no answer in time'),
    new UpstreamRefusal(word),
    new RateLimited(3),
    stackless(() => new TypeError('made elsewhere')),
  ];
  expect(told.flatMap(framesOf)).toEqual([]);
  expect(() =>
    stackless(() => {
      throw new Error('thrown');
    }),
  ).toThrow('thrown');
  expect(framesOf(new Error('a defect')).length).toBeGreaterThan(0);
});
