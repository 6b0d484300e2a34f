import { expect, test } from 'vitest';
import { endpoint, gives, service, takes } from '../../src/extend.ts';
import { serviceProblems } from '../../src/extension/service.ts';

const problemsOf = (line: string): string[] =>
  serviceProblems([
    service({
      name: 'shop',
      baseUrl: 'http://127.0.0.1:1',
      endpoints: { stock: endpoint(line as 'GET /', null, takes(), gives(200)) },
    }),
  ]);

test.each(['GET stock/:isbn', 'GET https://other.example/stock', 'GET /stock?isbn=:isbn', 'GET /stock#all', 'GET '])(
  'an endpoint of a service has a path below its address, and nothing else: not %j',
  (line) => {
    expect(problemsOf(line)).toEqual([
      `the service shop: ${line} must have a path that begins with /, without query or fragment`,
    ]);
  },
);

test.each(['GET /', 'GET /stock/:isbn', 'GET /stock/:isbn/of/:shop', 'GET /书/:isbn'])('a path may be %j', (line) => {
  expect(problemsOf(line)).toEqual([]);
});
