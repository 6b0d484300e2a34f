import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Flags } from '../../../src/config/read.ts';
import { besieged } from '../../support/besieged.ts';
import type { Shown } from '../../support/facade.ts';
import { json } from '../../support/hostile.ts';
import { temporaryDirectory } from '../../support/service.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const directory = temporaryDirectory();

const bookQuery = 'query Book($id: ID!) { book(id: $id) { title } }';
const twoQueries = 'query A { book(id: 7) { title } } query B { book(id: 7) { id } }';
const write = 'mutation Write { deleteNote(input: { id: "1" }) { __typename } }';
const pieces = 'query Pieces { book(id: 7) { id ... @defer { title } } }';
const trusted = [bookQuery, twoQueries, write, pieces];
const manifest = join(directory, 'manifest.json');
writeFileSync(manifest, JSON.stringify(Object.fromEntries(trusted.map((text) => [sha256(text), text]))));

const answer = { data: { book: { title: '活着' } } };
const persistedQuery = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

/** A facade that trusts the documents of the manifest, unless other settings say so. */
async function facade(settings: Flags = {}) {
  const house = await besieged({ persistedOperations: manifest, ...settings });
  house.books.behave(json(JSON.stringify({ id: '7', title: '活着' })));
  const told = async (response: Response) => {
    const { data, errors } = (await response.json()) as Shown;
    return {
      status: response.status,
      ...(data === undefined ? {} : { data: data as unknown }),
      ...(errors ? { codes: errors.map(({ extensions }) => extensions.code) } : {}),
    };
  };
  const post = async (body: object, headers: Record<string, string> = {}) =>
    told(
      await fetch(house.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
  const getting = (asked: Record<string, unknown>, headers: Record<string, string> = {}) =>
    fetch(
      `${house.url}?${new URLSearchParams(
        Object.entries(asked).map(([name, value]): [string, string] => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ).toString()}`,
      { headers },
    );
  const get = async (...asked: Parameters<typeof getting>) => told(await getting(...asked));
  return { ...house, post, get, getting, told };
}

const untold = { status: 200, codes: ['PERSISTED_QUERY_NOT_FOUND'] };
const good = { status: 200, ...answer };
const variables = { id: '7' };

describe('a trusted document', async () => {
  const { post, get, url, told, getting } = await facade();
  const names: [string, object][] = [
    ['its documentId', { documentId: `sha256:${sha256(bookQuery)}` }],
    ['the bare hash', { documentId: sha256(bookQuery) }],
    ['the extension of Apollo', { extensions: persistedQuery(bookQuery) }],
  ];

  test.each(names)('is run by %s, through POST and GET', async (_, name) => {
    expect(await post({ ...name, variables })).toEqual(good);
    expect(await get({ ...name, variables })).toEqual(good);
  });

  test('is run with its text beside the name too, by a form, and without one as ever', async () => {
    const documentId = sha256(bookQuery);
    expect(await post({ documentId, query: bookQuery, variables })).toEqual(good);
    expect(await post({ documentId, query: null, variables })).toEqual(good);
    expect(await post({ query: bookQuery, variables })).toEqual(good);
    const form = new URLSearchParams({ documentId, variables: JSON.stringify(variables) });
    expect(await told(await fetch(url, { method: 'POST', headers: { 'x-graphql-csrf': '1' }, body: form }))).toEqual(
      good,
    );
  });

  test('may have several operations, and an answer in pieces', async () => {
    const documentId = sha256(twoQueries);
    expect(await post({ documentId, operationName: 'A' })).toEqual(good);
    expect(await get({ documentId, operationName: 'A' })).toEqual(good);
    expect(await post({ documentId })).toMatchObject({ codes: ['OPERATION_RESOLUTION_FAILURE'] });
    const answer = await getting({ documentId: sha256(pieces) }, { accept: 'multipart/mixed' });
    expect(answer.headers.get('content-type')).toContain('multipart/mixed');
    expect(await answer.text()).toContain('活着');
  });

  test('that writes is refused by GET, and by POST runs into what it needs', async () => {
    const documentId = sha256(write);
    expect((await get({ documentId })).status).toBe(405);
    expect(await post({ documentId })).toMatchObject({ status: 200, codes: ['LOGIN_REQUIRED'] });
  });

  test('is not what another text is called by', async () => {
    const asked = { documentId: sha256(bookQuery), query: '{ book(id: 7) { title } }' };
    expect(await post(asked)).toEqual({ status: 400, codes: ['PERSISTED_QUERY_HASH_MISMATCH'] });
  });
});

describe('a document that nobody has sent yet', () => {
  const text = '{ book(id: 7) { title } }';
  const accept = 'application/graphql-response+json';

  test('is told as clients expect it: by message and code, 200 in plain JSON, and kept in no cache', async () => {
    const { url, post, get, getting } = await facade();
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
            extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', help: '/docs/errors#PERSISTED_QUERY_NOT_FOUND' },
          },
        ],
      },
    ]);
    expect(await post({ extensions: persistedQuery(text) }, { accept })).toEqual({ ...untold, status: 400 });
    expect(await get({ extensions: persistedQuery(text) }, { accept })).toEqual({ ...untold, status: 400 });
    expect(await post({ documentId: 'Book' })).toEqual(untold);
    const got = await getting({ documentId: sha256(text) });
    expect(got.headers.get('cache-control')).toBe('no-store');
    expect(await got.json()).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
  });

  test.each([['post'], ['get']] as const)('is known by its hash once it was sent, by %s', async (method) => {
    const asks = await facade();
    const extensions = persistedQuery(text);
    expect(await asks[method]({ extensions })).toEqual(untold);
    expect(await asks[method]({ query: text, extensions })).toEqual(good);
    expect(await asks.post({ extensions })).toEqual(good);
    expect(await asks.get({ extensions })).toEqual(good);
    expect(await asks.get({ documentId: `sha256:${sha256(text)}` })).toEqual(good);
  });

  test('is not kept under a hash that is not its own', async () => {
    const { post, get } = await facade();
    const extensions = persistedQuery('{ book(id: 7) { id } }');
    const refused = { status: 400, codes: ['PERSISTED_QUERY_HASH_MISMATCH'] };
    expect(await post({ query: text, extensions })).toEqual(refused);
    expect(await get({ query: text, extensions })).toEqual(refused);
    expect(await post({ query: text, documentId: 'Book' })).toEqual(refused);
    expect(await post({ extensions })).toEqual(untold);
  });

  test.each([
    ['does not parse', '{ book', 'GRAPHQL_PARSE_FAILED'],
    ['asks for what is not there', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['goes over a limit', `{ ${'a: __typename '.repeat(31)}}`, 'TOO_MANY_ROOT_FIELDS'],
  ])('is not kept when it %s', async (_, wrong, code) => {
    const { post, get } = await facade();
    const extensions = persistedQuery(wrong);
    expect(await post({ query: wrong, extensions })).toEqual({ status: 200, codes: [code] });
    expect(await get({ query: wrong, extensions })).toEqual({ status: 200, codes: [code] });
    expect(await post({ extensions })).toEqual(untold);
  });

  test('a flood of them makes room at the cost of each other, never of a trusted one', async () => {
    const { post } = await facade();
    const long = (n: number) => `{ book(id: 7) { title } } #${n} ${'x'.repeat(19_900)}`;
    for (let n = 0; n < 110; n++)
      expect(await post({ query: long(n), extensions: persistedQuery(long(n)) })).toEqual(good);
    expect(await post({ extensions: persistedQuery(long(109)) })).toEqual(good);
    expect(await post({ extensions: persistedQuery(long(0)) })).toEqual(untold);
    expect(await post({ extensions: persistedQuery(bookQuery), variables })).toEqual(good);
  }, 600_000);

  test('is not kept where that is switched off, and clients are told not to try', async () => {
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
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', help: '/docs/errors#PERSISTED_QUERY_NOT_SUPPORTED' },
          },
        ],
      },
    ]);
    expect(await post({ query: text, extensions })).toEqual(good);
    expect(await get({ extensions })).toEqual({ status: 200, codes: ['PERSISTED_QUERY_NOT_SUPPORTED'] });
    expect(await post({ extensions: persistedQuery(bookQuery), variables })).toEqual(good);
  });
});

test.each([
  { documentId: 7 },
  { extensions: { persistedQuery: { version: 2, sha256Hash: sha256(bookQuery) } } },
  { extensions: { persistedQuery: { version: 1 } } },
  { extensions: { persistedQuery: 'x' } },
])('a name that cannot be one is refused: %j', async (asked) => {
  const { post } = await facade();
  expect(await post(asked)).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
  expect(await post({ query: bookQuery, variables, ...asked })).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
});

test('extensions that name no document are nothing to it, and neither text nor name is no question', async () => {
  const { post, get } = await facade();
  expect(await post({ query: bookQuery, variables, extensions: { client: 'x' } })).toEqual(good);
  expect(await get({ query: bookQuery, variables, extensions: { client: 'x' } })).toEqual(good);
  for (const asked of [{}, { variables }, { query: 7 }, { query: 7, documentId: sha256(bookQuery) }])
    expect(await post(asked)).toEqual({ status: 400, codes: ['BAD_REQUEST'] });
  expect(await post({ extensions: { client: 'x' } })).toEqual({ status: 200, codes: ['BAD_REQUEST'] });
});

test('what is asked for by name is counted by what became of it', async () => {
  const { post, metrics } = await facade();
  await post({ documentId: sha256(bookQuery), variables });
  await post({ documentId: 'Book' });
  await post({ query: '{', extensions: persistedQuery('{') });
  const counted = (await metrics.text()).match(/^catalog_persisted_documents_total.*$/gm);
  expect(counted).toEqual([
    'catalog_persisted_documents_total{outcome="trusted"} 1',
    'catalog_persisted_documents_total{outcome="unknown"} 1',
    'catalog_persisted_documents_total{outcome="sent"} 1',
  ]);
  expect(await metrics.text()).toContain('catalog_errors_total{code="GRAPHQL_PARSE_FAILED"} 1\n');
});

describe('where only trusted documents are run', async () => {
  const { post, get, url, told, books } = await facade({ persistedOnly: 'on' });
  const other = '{ book(id: 7) { title } }';
  const refused = { status: 403, codes: ['PERSISTED_ONLY'] };

  test('they are, by name or by their exact text', async () => {
    expect(await post({ documentId: sha256(bookQuery), variables })).toEqual(good);
    expect(await get({ extensions: persistedQuery(bookQuery), variables })).toEqual(good);
    expect(await post({ query: bookQuery, variables })).toEqual(good);
    expect(await get({ query: bookQuery, variables })).toEqual(good);
    expect(await post({ query: bookQuery, variables, extensions: persistedQuery(bookQuery) })).toEqual(good);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another text', { query: other }],
    ['the same text but for a space', { query: `${bookQuery} `, variables }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
    ['the least there is', { query: '{ __typename }' }],
    ['a text that is registered with its hash', { query: other, extensions: persistedQuery(other) }],
    ['a hash that nobody knows', { extensions: persistedQuery(other) }],
    ['a documentId that nobody knows', { documentId: 'Book' }],
    ['another text under a trusted name', { query: other, documentId: sha256(bookQuery) }],
    ['a trusted name in the wrong place', { query: other, extensions: { documentId: sha256(bookQuery) } }],
  ])('%s is refused, by POST and by GET, and asks nothing of the service', async (_, asked) => {
    const before = books.heard.length;
    expect(await post(asked)).toEqual(refused);
    expect(await post(asked, { accept: 'application/graphql-response+json' })).toEqual(refused);
    expect(await post(asked, { accept: 'text/event-stream, multipart/mixed, application/json' })).toEqual(refused);
    expect(await get(asked)).toEqual(refused);
    expect(books.heard.length).toBe(before);
  });

  test('it is refused in every form that a question may have', async () => {
    const ask = async (body: BodyInit, headers: Record<string, string> = {}) =>
      told(await fetch(url, { method: 'POST', headers: { 'x-graphql-csrf': '1', ...headers }, body }));
    const upload = (operations: object) => {
      const form = new FormData();
      form.set('operations', JSON.stringify(operations));
      form.set('map', '{}');
      return form;
    };
    expect(await ask(upload({ query: other }))).toEqual(refused);
    expect(await ask(upload({ documentId: 'Book' }))).toEqual(refused);
    expect(await ask(upload({ documentId: sha256(bookQuery), variables }))).toEqual(good);
    expect(await ask(new URLSearchParams({ query: other }))).toEqual(refused);
    expect(await ask(other, { 'content-type': 'application/graphql' })).toEqual(refused);
    expect(await ask(bookQuery.replace('$id: ID!', '$id: ID = 7'), { 'content-type': 'application/graphql' })).toEqual(
      refused,
    );
  });
});
