import { describe, expect, test } from 'vitest';
import { json } from '../../support/hostile.ts';
import { startFacade } from '../../support/start-facade.ts';

const { url, books } = await startFacade();
books.behave(json('{"id":"7","title":"活着"}'));

const query = '{ book(id: "7") { title } }';
const found = { data: { book: { title: '活着' } } };

/** The ways to send parameters, each as a function of the parameters. */
const ways: [string, (params: Record<string, unknown>) => Promise<Response>][] = [
  ['POST', (params) => post('application/json', JSON.stringify(params))],
  ['POST as graphql+json', (params) => post('application/graphql+json', JSON.stringify(params))],
  ['a form', (params) => post('application/x-www-form-urlencoded', encoded(params))],
  ['GET', (params) => fetch(`${url}?${encoded(params)}`)],
  ['QUERY', (params) => post('application/json', JSON.stringify(params), 'QUERY')],
  [
    'a multipart form',
    (params) => {
      const body = new FormData();
      body.append('operations', JSON.stringify(params));
      body.append('map', '{}');
      return fetch(url, { method: 'POST', headers: { 'x-graphql-csrf': '1' }, body });
    },
  ],
];

function post(type: string, body: string | Buffer, method = 'POST'): Promise<Response> {
  return fetch(url, { method, headers: { 'content-type': type, 'x-graphql-csrf': '1' }, body: body as BodyInit });
}

const encoded = (params: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString();

describe.each(ways)('by %s', (_, send) => {
  test.each([
    ['id', 'x'],
    ['doc_id', '1'],
    ['hash', 'x'],
    ['cacheKey', { a: [1] }],
    ['hasOwnProperty', 1],
    ['toString', 'x'],
  ])('a member of the name %s is ignored', async (name, value) => {
    const response = await send({ [name]: value, query });
    expect([response.status, await response.json()]).toEqual([200, found]);
  });

  test('a member that is null is as if it were absent', async () => {
    const nothing = { operationName: '', variables: null, extensions: null };
    const response = await send({ ...nothing, query });
    expect([response.status, await response.json()]).toEqual([200, found]);
  });

  test('a persistedQuery that is null, or has no hash, is as if it were absent', async () => {
    for (const persistedQuery of [null, { version: 1, sha256Hash: null }]) {
      const response = await send({ query, extensions: { persistedQuery } });
      expect([response.status, await response.json()]).toEqual([200, found]);
    }
  });

  test('a request of null members alone has no document', async () => {
    const response = await send({ extensions: { persistedQuery: null } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  });

  test('the version of a persisted query may be a string', async () => {
    const sha256Hash = 'a'.repeat(64);
    const response = await send({ extensions: { persistedQuery: { version: '1', sha256Hash } } });
    expect(await response.json()).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
    const unknown = await send({ extensions: { persistedQuery: { version: '2', sha256Hash } } });
    expect(await unknown.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  });
});

test('empty fields of a form or a GET are absent', async () => {
  const absent = { operationName: '', variables: '', extensions: '', documentId: '', onError: '' };
  const search = encoded({ query, ...absent });
  expect(await (await fetch(`${url}?${search}`)).json()).toEqual(found);
  expect(await (await post('application/x-www-form-urlencoded', search)).json()).toEqual(found);
  const nothing = encoded({ query: '', ...absent });
  for (const response of [await fetch(`${url}?${nothing}`), await post('application/x-www-form-urlencoded', nothing)]) {
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  }
});

describe('a byte order mark', () => {
  const MARK = '\ufeff';
  test.each([
    ['JSON', 'application/json', JSON.stringify({ query })],
    ['graphql+json', 'application/graphql+json', JSON.stringify({ query })],
    ['a document', 'application/graphql', query],
    ['a form', 'application/x-www-form-urlencoded', encoded({ query })],
  ])('before %s is ignored', async (_, type, body) => {
    expect(await (await post(type, MARK + body)).json()).toEqual(found);
  });

  test('before variables and extensions of a form or a GET is ignored', async () => {
    const search = encoded({ query, variables: `${MARK}{}`, extensions: `${MARK}{}` });
    expect(await (await fetch(`${url}?${search}`)).json()).toEqual(found);
    expect(await (await post('application/x-www-form-urlencoded', search)).json()).toEqual(found);
  });

  test('is rejected anywhere else', async () => {
    expect((await post('application/json', `${MARK}${MARK}{}`)).status).toBe(400);
    expect((await post('application/json', ` ${MARK}${JSON.stringify({ query })}`)).status).toBe(400);
  });
});

describe('/graphql/ is /graphql', () => {
  test('for every method', async () => {
    const search = encoded({ query });
    expect(await (await fetch(`${url}/?${search}`)).json()).toEqual(found);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query });
    for (const method of ['POST', 'QUERY'])
      expect(await (await fetch(`${url}/`, { method, headers, body })).json()).toEqual(found);
    expect((await fetch(`${url}/`, { method: 'HEAD' })).status).toBe(400);
    expect((await fetch(`${url}/`, { method: 'OPTIONS' })).status).toBe(204);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });

  test('browsers are led to the page whose files they find', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml' };
    const response = await fetch(`${url}/?query=%7Ba%7D&variables=%7B%7D`, { headers, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([
      308,
      '../graphql?query=%7Ba%7D&variables=%7B%7D',
    ]);
    expect((await fetch(`${url}/`, { headers })).url).toBe(url);
  });
});
