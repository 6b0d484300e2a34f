import { expect, test } from 'vitest';
import { UnusablePath, createApiRequest } from '../../src/api/api-request.ts';
import { bookEndpoints } from '../../src/api/book.ts';
import { toClientError } from '../../src/engine/errors/to-client-error.ts';

const pathFor = (id: unknown) => createApiRequest(bookEndpoints.tags, { id }).wirePath;

test.each([['..'], ['.'], [''], [undefined], [null], [{}], [['1']], [true]])('a path never has %j in it', (id) => {
  expect(() => pathFor(id)).toThrow(UnusablePath);
});

test.each([
  ['a/../b', '/v2/book/a%2F..%2Fb/tags'],
  ['%2e%2e', '/v2/book/%252e%252e/tags'],
  ['...', '/v2/book/.../tags'],
  [7, '/v2/book/7/tags'],
  [7n, '/v2/book/7/tags'],
])('%s is one segment of the path', (id, path) => {
  expect(pathFor(id)).toBe(path);
});

test('a client is told which parameter cannot be used, or that the service lacks it', () => {
  const errorFor = (value: unknown) => toClientError(new UnusablePath('id', value));
  expect(errorFor('..')).toMatchObject({
    message: '`id` cannot be a part of the address that is called.',
    extensions: { code: 'BAD_USER_INPUT', parameter: 'id' },
  });
  expect([errorFor(''), errorFor(undefined), errorFor({})].map((error) => error!.extensions.code)).toEqual(
    Array(3).fill('UPSTREAM_INVALID_RESPONSE'),
  );
});
