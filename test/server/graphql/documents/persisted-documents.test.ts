import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Flags } from '../../../../src/config/read.ts';
import { startFacade } from '../../../support/start-facade.ts';
import type { GraphQLResponse } from '../../../support/facade.ts';
import { json } from '../../../support/hostile.ts';
import { temporaryDirectory } from '../../../support/service.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const directory = temporaryDirectory();

const bookQuery = 'query Book($id: ID!) { book(id: $id) { title } }';
const twoQueries = 'query A { book(id: 7) { title } } query B { book(id: 7) { id } }';
const write = 'mutation Write { deleteNote(input: { id: "1" }) { __typename } }';
const deferred = 'query Pieces { book(id: 7) { id ... @defer { title } } }';
const trusted = [bookQuery, twoQueries, write, deferred];
const manifest = join(directory, 'manifest.json');
writeFileSync(manifest, JSON.stringify(Object.fromEntries(trusted.map((text) => [sha256(text), text]))));

const answer = { data: { book: { title: '活着' } } };
const persistedQuery = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

/** The hash as GraphQL Code Generator writes it. */
const prefixed = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: `sha256:${sha256(text)}` } });

/** A facade that trusts the documents of the manifest, unless other settings are given. */
async function facade(settings: Flags = {}) {
  const setup = await startFacade({ persistedOperations: manifest, ...settings });
  setup.books.behave(json(JSON.stringify({ id: '7', title: '活着' })));
  const resultOf = async (response: Response) => {
    const { data, errors } = (await response.json()) as GraphQLResponse;
    return {
      status: response.status,
      ...(data === undefined ? {} : { data: data as unknown }),
      ...(errors ? { codes: errors.map(({ extensions }) => extensions.code) } : {}),
    };
  };
  const post = async (body: object, headers: Record<string, string> = {}) =>
    resultOf(
      await fetch(setup.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
  const fetchGet = (request: Record<string, unknown>, headers: Record<string, string> = {}) =>
    fetch(
      `${setup.url}?${new URLSearchParams(
        Object.entries(request).map(([name, value]): [string, string] => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ).toString()}`,
      { headers },
    );
  const get = async (...request: Parameters<typeof fetchGet>) => resultOf(await fetchGet(...request));
  return { ...setup, post, get, fetchGet, resultOf };
}

const notFound = { status: 200, codes: ['PERSISTED_QUERY_NOT_FOUND'] };
const success = { status: 200, ...answer };
const variables = { id: '7' };

describe('trusted document', async () => {
  const { post, get, url, resultOf, fetchGet } = await facade();
  const names: [string, object][] = [
    ['its documentId', { documentId: `sha256:${sha256(bookQuery)}` }],
    ['the bare hash', { documentId: sha256(bookQuery) }],
    ['the extension of Apollo', { extensions: persistedQuery(bookQuery) }],
    ['the extension with a prefix', { extensions: prefixed(bookQuery) }],
  ];

  test.each(names)('%s selects the document, by POST and GET', async (_, name) => {
    expect(await post({ ...name, variables })).toEqual(success);
    expect(await get({ ...name, variables })).toEqual(success);
  });

  test('a request may contain its text beside the id, come as a form, or contain the text alone', async () => {
    const documentId = sha256(bookQuery);
    expect(await post({ documentId, query: bookQuery, variables })).toEqual(success);
    expect(await post({ documentId, query: null, variables })).toEqual(success);
    expect(await post({ query: bookQuery, variables })).toEqual(success);
    const form = new URLSearchParams({ documentId, variables: JSON.stringify(variables) });
    expect(
      await resultOf(await fetch(url, { method: 'POST', headers: { 'x-graphql-csrf': '1' }, body: form })),
    ).toEqual(success);
  });

  test('a document may contain several operations, and its response may be incremental', async () => {
    const documentId = sha256(twoQueries);
    expect(await post({ documentId, operationName: 'A' })).toEqual(success);
    expect(await get({ documentId, operationName: 'A' })).toEqual(success);
    expect(await post({ documentId })).toMatchObject({ codes: ['OPERATION_RESOLUTION_FAILURE'] });
    const answer = await fetchGet({ documentId: sha256(deferred) }, { accept: 'multipart/mixed' });
    expect(answer.headers.get('content-type')).toContain('multipart/mixed');
    expect(await answer.text()).toContain('活着');
  });

  test('a mutation is rejected by GET and runs by POST', async () => {
    const documentId = sha256(write);
    expect((await get({ documentId })).status).toBe(405);
    expect(await post({ documentId })).toMatchObject({ status: 200, codes: ['LOGIN_REQUIRED'] });
  });

  test('an id together with another text is rejected', async () => {
    const request = { documentId: sha256(bookQuery), query: '{ book(id: 7) { title } }' };
    expect(await post(request)).toEqual({ status: 400, codes: ['PERSISTED_QUERY_HASH_MISMATCH'] });
  });
});

describe('automatic persisted query', () => {
  const text = '{ book(id: 7) { title } }';
  const accept = 'application/graphql-response+json';

  test('an unknown hash is reported with the message, code and status that clients expect, and is not cacheable', async () => {
    const { url, post, get, fetchGet } = await facade();
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ extensions: persistedQuery(text) }),
    });
    expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
      200,
      'application/json; charset=utf-8',
      {
        errors: [
          {
            message: 'PersistedQueryNotFound',
            extensions: {
              code: 'PERSISTED_QUERY_NOT_FOUND',
              advice: 'retry',
              help: '/docs/errors#PERSISTED_QUERY_NOT_FOUND',
            },
          },
        ],
      },
    ]);
    expect(await post({ extensions: persistedQuery(text) }, { accept })).toEqual(notFound);
    expect(await get({ extensions: persistedQuery(text) }, { accept })).toEqual(notFound);
    expect(await post({ documentId: 'Book' })).toEqual(notFound);
    expect(await post({ documentId: 'Book' }, { accept })).toEqual({ ...notFound, status: 422 });
    const got = await fetchGet({ documentId: sha256(text) });
    expect(got.headers.get('cache-control')).toBe('no-store');
    expect(await got.json()).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
  });

  test.each([['post'], ['get']] as const)('a document is known by its hash once it was sent by %s', async (method) => {
    const requests = await facade();
    const extensions = persistedQuery(text);
    expect(await requests[method]({ extensions })).toEqual(notFound);
    expect(await requests[method]({ query: text, extensions })).toEqual(success);
    expect(await requests.post({ extensions })).toEqual(success);
    expect(await requests.get({ extensions })).toEqual(success);
    expect(await requests.get({ documentId: `sha256:${sha256(text)}` })).toEqual(success);
  });

  test('a hash with and without a prefix is one, wherever it stands', async () => {
    const { post, get } = await facade();
    expect(await post({ query: text, extensions: prefixed(text) })).toEqual(success);
    const names = [
      { extensions: prefixed(text) },
      { extensions: persistedQuery(text) },
      { documentId: sha256(text) },
      { documentId: `sha256:${sha256(text)}` },
    ];
    for (const name of names) expect([await post(name), await get(name)]).toEqual([success, success]);
  });

  test('trusted documents are all that runs, by a hash with and without a prefix', async () => {
    const only = await facade({ persistedOnly: 'on' });
    for (const extensions of [prefixed(bookQuery), persistedQuery(bookQuery)])
      expect(await only.post({ extensions, variables })).toEqual(success);
  });

  test('a document is not stored under a wrong hash', async () => {
    const { post, get } = await facade();
    const extensions = persistedQuery('{ book(id: 7) { id } }');
    const rejected = { status: 400, codes: ['PERSISTED_QUERY_HASH_MISMATCH'] };
    expect(await post({ query: text, extensions })).toEqual(rejected);
    expect(await get({ query: text, extensions })).toEqual(rejected);
    expect(await post({ query: text, documentId: 'Book' })).toEqual(rejected);
    expect(await post({ extensions })).toEqual(notFound);
  });

  test.each([
    ['a syntax error', '{ book', 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['too many root fields', `{ ${'a: __typename '.repeat(31)}}`, 'TOO_MANY_ROOT_FIELDS'],
  ])('a document with %s is not stored', async (_, wrong, code) => {
    const { post, get } = await facade();
    const extensions = persistedQuery(wrong);
    expect(await post({ query: wrong, extensions })).toEqual({ status: 200, codes: [code] });
    expect(await get({ query: wrong, extensions })).toEqual({ status: 200, codes: [code] });
    expect(await post({ extensions })).toEqual(notFound);
  });

  test('storing many documents evicts other stored ones, never a trusted one', async () => {
    const { post } = await facade();
    const long = (n: number) => `{ book(id: 7) { title } } #${n} ${'x'.repeat(19_900)}`;
    for (let n = 0; n < 110; n++)
      expect(await post({ query: long(n), extensions: persistedQuery(long(n)) })).toEqual(success);
    expect(await post({ extensions: persistedQuery(long(109)) })).toEqual(success);
    expect(await post({ extensions: persistedQuery(long(0)) })).toEqual(notFound);
    expect(await post({ extensions: persistedQuery(bookQuery), variables })).toEqual(success);
  }, 600_000);

  test('with automatic persisted queries turned off nothing is stored, and clients get PERSISTED_QUERY_NOT_SUPPORTED', async () => {
    const { post, get, url } = await facade({ automaticPersistedQueries: 'off' });
    const extensions = persistedQuery(text);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ extensions }),
    });
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        errors: [
          {
            message: 'PersistedQueryNotSupported',
            extensions: {
              code: 'PERSISTED_QUERY_NOT_SUPPORTED',
              advice: 'retry',
              help: '/docs/errors#PERSISTED_QUERY_NOT_SUPPORTED',
            },
          },
        ],
      },
    ]);
    expect(await post({ query: text, extensions })).toEqual(success);
    expect(await get({ extensions })).toEqual({ status: 200, codes: ['PERSISTED_QUERY_NOT_SUPPORTED'] });
    expect(await post({ extensions: persistedQuery(bookQuery), variables })).toEqual(success);
  });
});

test.each([
  { documentId: 7 },
  { extensions: { persistedQuery: { version: 2, sha256Hash: sha256(bookQuery) } } },
  { extensions: { persistedQuery: { version: 1 } } },
  { extensions: { persistedQuery: 'x' } },
])('a malformed document id is rejected: %j', async (request) => {
  const { post } = await facade();
  expect(await post(request)).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
  expect(await post({ query: bookQuery, variables, ...request })).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
});

test('other extensions are ignored, and a request without text and id is rejected', async () => {
  const { post, get } = await facade();
  expect(await post({ query: bookQuery, variables, extensions: { client: 'x' } })).toEqual(success);
  expect(await get({ query: bookQuery, variables, extensions: { client: 'x' } })).toEqual(success);
  for (const request of [{}, { variables }, { query: 7 }, { query: 7, documentId: sha256(bookQuery) }])
    expect(await post(request)).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
  expect(await post({ extensions: { client: 'x' } })).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
});

describe('with PERSISTED_ONLY on', async () => {
  const { post, get, url, resultOf, books } = await facade({ persistedOnly: 'on' });
  const other = '{ book(id: 7) { title } }';
  const rejected = { status: 403, codes: ['PERSISTED_ONLY'] };

  test('trusted documents run, by id or by their exact text', async () => {
    expect(await post({ documentId: sha256(bookQuery), variables })).toEqual(success);
    expect(await get({ extensions: persistedQuery(bookQuery), variables })).toEqual(success);
    expect(await post({ query: bookQuery, variables })).toEqual(success);
    expect(await get({ query: bookQuery, variables })).toEqual(success);
    expect(await post({ query: bookQuery, variables, extensions: persistedQuery(bookQuery) })).toEqual(success);
  });

  test.each<[string, Record<string, unknown>]>([
    ['an unknown document', { query: other }],
    ['a trusted document with an additional space', { query: `${bookQuery} `, variables }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
    ['the smallest document', { query: '{ __typename }' }],
    ['an unknown document with its hash', { query: other, extensions: persistedQuery(other) }],
    ['an unknown hash', { extensions: persistedQuery(other) }],
    ['an unknown documentId', { documentId: 'Book' }],
    ['an unknown document with a trusted id', { query: other, documentId: sha256(bookQuery) }],
    ['a trusted id in the wrong place', { query: other, extensions: { documentId: sha256(bookQuery) } }],
  ])('%s is rejected, by POST and by GET, without an upstream call', async (_, request) => {
    const before = books.requests.length;
    expect(await post(request)).toEqual(rejected);
    expect(await post(request, { accept: 'application/graphql-response+json' })).toEqual(rejected);
    expect(await post(request, { accept: 'text/event-stream, multipart/mixed, application/json' })).toEqual(rejected);
    expect(await get(request)).toEqual(rejected);
    expect(books.requests.length).toBe(before);
  });

  test('other documents are rejected in every request format', async () => {
    const execute = async (body: BodyInit, headers: Record<string, string> = {}) =>
      resultOf(await fetch(url, { method: 'POST', headers: { 'x-graphql-csrf': '1', ...headers }, body }));
    const upload = (operations: object) => {
      const form = new FormData();
      form.set('operations', JSON.stringify(operations));
      form.set('map', '{}');
      return form;
    };
    expect(await execute(upload({ query: other }))).toEqual(rejected);
    expect(await execute(upload({ documentId: 'Book' }))).toEqual(rejected);
    expect(await execute(upload({ documentId: sha256(bookQuery), variables }))).toEqual(success);
    expect(await execute(new URLSearchParams({ query: other }))).toEqual(rejected);
    expect(await execute(other, { 'content-type': 'application/graphql' })).toEqual(rejected);
    expect(
      await execute(bookQuery.replace('$id: ID!', '$id: ID = 7'), { 'content-type': 'application/graphql' }),
    ).toEqual(rejected);
  });
});
