import { expect, test } from 'vitest';
import { sha256Of } from '../../../../src/config/documents/trusted-documents.ts';
import { json, reset, titledX } from '../../../support/hostile.ts';
import { startFacade } from '../../../support/start-facade.ts';

const SECRETS = ['secret-token', 'secret-variable', 'secret-text'];

/** The lines of the request log. */
async function openFacade(mode: string, settings = {}) {
  const facade = await startFacade({ recordTtlSeconds: '60', ...settings }, { REQUEST_LOG: mode });
  facade.books.behave(titledX);
  const lines = () =>
    facade.logged.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === 'operation');
  return { ...facade, lines };
}

test('each operation is a line with its names, codes, calls, bytes and time, without variables, token or text', async () => {
  const { execute, books, lines, logged } = await openFacade('all');
  const query = 'query Shelf($id: ID!) { book(id: $id) { title } aliasOfSecret: book(id: "secret-text") { title } }';
  const headers = {
    authorization: 'Bearer secret-token',
    'graphql-client-name': 'web',
    'graphql-client-version': 'v'.repeat(500),
  };
  for (const id of ['secret-variable', 'secret-variable']) await execute(query, { variables: { id }, headers });
  books.behave(reset);
  await execute(query, { variables: { id: '9' }, headers });
  expect(lines()).toHaveLength(3);
  const [first, again, failed] = lines();
  expect(first).toMatchObject({
    level: 30,
    type: 'query',
    operation: 'Shelf',
    document: sha256Of(query),
    client: 'web',
    clientVersion: 'v'.repeat(100),
    calls: 2,
    cached: 0,
    requestId: expect.stringMatching(/^[\w-]{36}$/) as string,
    ms: expect.any(Number) as number,
  });
  expect(first!.bytes).toBe('{"id":"secret-variable","title":"x"}{"id":"secret-text","title":"x"}'.length);
  expect(again).toMatchObject({ calls: 0, cached: 2, bytes: 0 });
  expect(first).not.toHaveProperty('codes');
  expect(failed).toMatchObject({ codes: ['UPSTREAM_UNAVAILABLE'] });
  const text = logged.filter((line) => line.includes('"operation"')).join('');
  for (const secret of SECRETS) expect(text).not.toContain(secret);
  expect(text).not.toContain('aliasOfSecret');
});

test.each([
  ['a stored response', '{ book(id: "7") { title } }', { type: 'query', calls: 0 }],
  ['an invalid document', '{ nothing }', { codes: ['GRAPHQL_VALIDATION_FAILED'] }],
  [
    'a rejected operation',
    'query Q($id: ID!) { book(id: $id) { title } }',
    { operation: 'Q', codes: ['BAD_USER_INPUT'] },
  ],
])('%s is a line too', async (_, query, expected) => {
  const { execute, lines } = await openFacade('all');
  await execute('{ book(id: "7") { title } }');
  await execute(query);
  expect(lines().at(-1)).toMatchObject(expected);
  expect(lines()).toHaveLength(2);
});

test('an operation that is delivered in parts is one line, with the errors of all parts', async () => {
  const { url, books, lines } = await openFacade('all');
  books.behave(json('{}', 500));
  const body = JSON.stringify({ query: 'query Late { __typename ... @defer { book(id: "7") { title } } }' });
  const headers = { 'content-type': 'application/json', accept: 'multipart/mixed' };
  await (await fetch(url, { method: 'POST', headers, body })).text();
  expect(lines()).toMatchObject([{ operation: 'Late', codes: ['UPSTREAM_UNAVAILABLE'] }]);
});

test('sampled is one operation in a hundred, and off is none', async () => {
  const sampled = await openFacade('sampled');
  for (let n = 0; n < 201; n++) await sampled.execute('{ __typename }');
  expect(sampled.lines()).toMatchObject([{ every: 100 }, { every: 100 }, { every: 100 }]);
  const off = await openFacade('off');
  await off.execute('{ __typename }');
  expect(off.lines()).toEqual([]);
});
