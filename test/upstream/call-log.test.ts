import { expect, test } from 'vitest';
import { describeCall } from '../../src/upstream/call-log.ts';

test('a call is described with its fields apart from its path, its times in tenths of a millisecond, and the path of its field', () => {
  const path = { prev: { prev: undefined, key: 'book', typename: 'Query' }, key: 'tags', typename: 'Book' };
  const logged = { service: 'catalog', method: 'GET', how: 'sent', startMs: 12.3456, ms: 0.96, field: path } as const;
  expect(describeCall({ ...logged, wirePath: '/v2/book/7?fields=id,title&count=3' })).toEqual({
    service: 'catalog',
    method: 'GET',
    path: '/v2/book/7?count=3',
    fields: 'id,title',
    startMs: 12.3,
    ms: 1,
    how: 'sent',
    field: 'book.tags',
  });
});
