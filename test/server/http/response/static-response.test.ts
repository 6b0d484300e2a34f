// ETag, HEAD, QUERY, Server-Timing and CORS of reads.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { printMarkedSchema } from '../../../../src/engine/null-conditions.ts';
import { schema } from '../../../../src/graph/schema.ts';
import { startFacade } from '../../../support/start-facade.ts';
import { json } from '../../../support/hostile.ts';

const book = json(JSON.stringify({ id: '7', title: 'x' }));
const query = '{ book(id: 7) { title } }';
const result = { data: { book: { title: 'x' } } };
const alice = { authorization: 'Bearer demo-alice' };

/** A facade over a service with one book. */
async function facade(env: NodeJS.ProcessEnv = {}) {
  const setup = await startFacade({ recordTtlSeconds: '60' }, env);
  setup.books.behave(book);
  const url = `${setup.url}?${new URLSearchParams({ query }).toString()}`;
  const get = (headers: Record<string, string> = {}, method = 'GET') => fetch(url, { method, headers });
  return { ...setup, get };
}

test('a GET with the current ETag is answered with 304', async () => {
  const { get } = await facade();
  const first = await get();
  const etag = first.headers.get('etag')!;
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
  for (const ifNoneMatch of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await get({ 'if-none-match': ifNoneMatch });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(again.headers.get('cache-control')).toMatch(/^public, max-age=/);
    expect(again.headers.get('vary')).toContain('Authorization');
  }
  const other = await get({ 'if-none-match': 'W/"other"' });
  expect([other.status, await other.json()]).toEqual([200, result]);
});

test('the ETag of a private response is valid for its token only, and a no-store response has none', async () => {
  const { get, books } = await facade();
  const tags = [await get(), await get(alice), await get({ authorization: 'Bearer demo-bob' }), await get(alice)].map(
    ({ headers }) => headers.get('etag'),
  );
  expect(tags[1]).toBe(tags[3]);
  expect(new Set(tags).size).toBe(3);
  expect((await get({ 'if-none-match': tags[1]!, authorization: 'Bearer demo-bob' })).status).toBe(200);
  const anew = await facade();
  anew.books.behave(json(JSON.stringify({ code: 1000, msg: 'x', request: 'x' }), 400));
  const rejected = await anew.get({ 'if-none-match': '*' });
  expect([rejected.status, rejected.headers.get('etag')]).toEqual([200, null]);
  expect(books.requests.length).toBeGreaterThan(0);
});

test('HEAD has the headers of GET, and no body', async () => {
  const { get } = await facade();
  const [whole, head] = [await get(), await get({}, 'HEAD')];
  expect([head.status, await head.text()]).toEqual([200, '']);
  for (const name of ['content-type', 'content-length', 'etag', 'vary'])
    expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
});

test('QUERY has the same response as GET', async () => {
  const { url, get } = await facade();
  const send = (body: object | string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'QUERY',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const whole = await send({ query: 'query ($id: ID!) { book(id: $id) { title } }', variables: { id: 7 } });
  expect([whole.status, await whole.json()]).toEqual([200, result]);
  const plain = await get();
  for (const name of ['content-type', 'etag', 'vary'])
    expect([name, whole.headers.get(name)]).toEqual([name, plain.headers.get(name)]);
  expect(whole.headers.get('cache-control')).toMatch(/^public, max-age=/);
  expect((await send({ query }, { 'if-none-match': plain.headers.get('etag')! })).status).toBe(304);
  expect(await (await send({ query }, { accept: 'text/html, */*;q=0.1' })).json()).toEqual(result);
  const bare = await send(query, { 'content-type': 'application/graphql' });
  expect(await bare.json()).toEqual(result);
});

test('QUERY rejects mutations and multipart forms', async () => {
  const { url, books } = await facade();
  const send = (type: string, body: string) => fetch(url, { method: 'QUERY', headers: { 'content-type': type }, body });
  const mutation = 'mutation { collectBook(input: {bookId: 7, status: WISH}) { created } }';
  expect((await send('application/json', JSON.stringify({ query: mutation }))).status).toBe(405);
  expect((await send('multipart/form-data; boundary=x', 'x')).status).toBe(415);
  expect((await send('application/json', '{')).status).toBe(400);
  expect(books.requests).toEqual([]);
  const options = await fetch(url, { method: 'OPTIONS' });
  expect([options.headers.get('allow'), options.headers.get('accept-query')]).toEqual([
    'GET, HEAD, POST, QUERY, OPTIONS',
    'application/json',
  ]);
});

test('the schema is served at /graphql/schema.graphql to clients that may use introspection', async () => {
  const on = await facade();
  const sent = await fetch(`${on.url}/schema.graphql`);
  expect(await sent.text()).toBe(printMarkedSchema(schema));
  expect(sent.headers.get('content-type')).toBe('application/graphql; charset=utf-8');
  const again = await fetch(`${on.url}/schema.graphql`, { headers: { 'if-none-match': sent.headers.get('etag')! } });
  expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'no-cache']);
  expect((await fetch(`${on.url}/schema.graphql`, { method: 'POST' })).status).toBe(405);
  const off = await facade({ INTROSPECTION: 'off' });
  expect((await fetch(`${off.url}/schema.graphql`)).status).toBe(404);
});

test('the error page is sent again only after it changed', async () => {
  const { facade: setup } = await facade();
  const first = await fetch(`${setup.url}/docs/errors`);
  const again = await fetch(`${setup.url}/docs/errors`, { headers: { 'if-none-match': first.headers.get('etag')! } });
  expect([again.status, again.headers.get('vary')]).toEqual([304, first.headers.get('vary')]);
});

test('Server-Timing reports upstream calls and their duration, outside production or if turned on', async () => {
  const post = (url: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...alice },
      body: JSON.stringify({ query }),
    });
  const timing = async ({ url }: { url: string }) => (await post(url)).headers.get('server-timing');
  const setup = await facade();
  expect(await timing(setup)).toMatch(/^total;dur=[\d.]+, upstream;desc="calls: 1";dur=[\d.]+, cache;desc="calls: 0"$/);
  expect(await timing(setup)).toContain('upstream;desc="calls: 0";dur=0.0, cache;desc="calls: 1"');
  expect((await setup.get()).headers.get('server-timing')).toContain('cache;desc="calls: 1"');
  expect(await timing(await facade({ NODE_ENV: 'production' }))).toBeNull();
  expect(await timing(await facade({ NODE_ENV: 'production', EXPLAIN: 'on' }))).toContain('total');
  expect(await timing(await facade({ EXPLAIN: 'off' }))).toBeNull();
});

test('Catalog-Cost tells in production too how many calls an operation made, could have made, and was saved', async () => {
  const setup = await facade({ NODE_ENV: 'production' });
  const post = async (text: string) => {
    const headers = { 'content-type': 'application/json', origin: 'https://app.example', ...alice };
    const response = await fetch(setup.url, { method: 'POST', headers, body: JSON.stringify({ query: text }) });
    await response.arrayBuffer();
    return response.headers.get('catalog-cost');
  };
  expect(await post(query)).toBe('calls=1, most=1, saved=0');
  expect(await post(query)).toBe('calls=0, most=1, saved=1');
  expect(await post('{ __typename }')).toBe('calls=0, most=0, saved=0');
  expect(await post('{ nothing }')).toBeNull();
});

test('a stored response has cost no call, and one in parts tells its cost in its last part', async () => {
  const setup = await facade();
  const send = async (text: string, accept: string) => {
    const headers = { 'content-type': 'application/json', accept };
    const response = await fetch(setup.url, { method: 'POST', headers, body: JSON.stringify({ query: text }) });
    return [response.headers.get('catalog-cost'), await response.text()];
  };
  expect(await send(query, 'application/json')).toEqual(['calls=1, most=1, saved=0', JSON.stringify(result)]);
  expect(await send(query, 'application/json')).toEqual(['calls=0', JSON.stringify(result)]);
  const inParts = '{ book(id: 7) { title ... @defer { annotations { nodes { content } } } } }';
  const [header, parts] = await send(inParts, 'multipart/mixed;deferSpec=20220824, application/json');
  expect(header).toBeNull();
  expect(parts!.split('"hasNext":true')[0]).not.toContain('catalogCost');
  expect(parts!.split('"hasNext":true').at(-1)).toContain(
    '"hasNext":false,"extensions":{"catalogCost":"calls=1, most=2, saved=1"}',
  );
});

/** Sends a query for a film, or another, to a facade in production or not. */
async function films(env: NodeJS.ProcessEnv = {}) {
  const setup = await startFacade({ recordTtlSeconds: '60' }, { ACCESS_TOKEN: 'own', FILM_TIER: 'basic', ...env });
  setup.books.behave(json(JSON.stringify({ id: '1', title: 'x', subjects: [] })));
  return async (given: Record<string, string>, method = 'GET', text = '{ subject(id: 1) { title } }') => {
    const url = `${setup.url}?${new URLSearchParams({ query: text }).toString()}`;
    if (method === 'GET') return (await fetch(url, { headers: given })).headers;
    const headers = { ...given, 'content-type': 'application/json' };
    return (await fetch(setup.url, { method, headers, body: JSON.stringify({ query: text }) })).headers;
  };
}
const own = { authorization: 'Bearer own' };

test('RateLimit tells what is left to a limited token, in production too; the policy stays behind EXPLAIN', async () => {
  const send = await films();
  const first = await send(own);
  expect(first.get('ratelimit-policy')).toBe('"films";q=40;w=60');
  expect(first.get('ratelimit')).toMatch(/^"films";r=39;t=(59|60|61)$/);
  const inProduction = await films({ NODE_ENV: 'production' });
  const [quiet, again] = [await inProduction(own), await inProduction(own)];
  expect(quiet.get('ratelimit')).toMatch(/^"films";r=39;t=(59|60|61)$/);
  expect(again.get('ratelimit')).toMatch(/^"films";r=39;t=(59|60|61)$/);
  expect([quiet.get('ratelimit-policy'), quiet.get('server-timing')]).toEqual([null, null]);
});

test('the last part of a response in parts tells what is left to a limited token, and nothing to other callers', async () => {
  const setup = await startFacade({ recordTtlSeconds: '60' }, { ACCESS_TOKEN: 'own', FILM_TIER: 'basic' });
  setup.books.behave(json(JSON.stringify({ id: '1', title: 'x', subjects: [] })));
  const text = '{ subject(id: 1) { title ... @defer { reviews { nodes { title } } } } }';
  const send = async (given: Record<string, string>) => {
    const accept = 'multipart/mixed;deferSpec=20220824, application/json';
    const headers = { 'content-type': 'application/json', accept, ...given };
    const response = await fetch(setup.url, { method: 'POST', headers, body: JSON.stringify({ query: text }) });
    expect(response.headers.get('ratelimit')).toBeNull();
    const parts = (await response.text()).split('"hasNext":true');
    expect(parts[0]).not.toContain('rateLimit');
    return parts.at(-1);
  };
  expect(await send(own)).toMatch(
    /"catalogCost":"calls=\d, most=\d+, saved=\d","rateLimit":"\\"films\\";r=3\d;t=\d+"\}/,
  );
  const isPublic = await send({});
  expect(isPublic).toContain('"catalogCost"');
  expect(isPublic).not.toContain('rateLimit');
});

test('a public or stored response, and one to a caller without a limit, has no RateLimit', async () => {
  const basic = await films({ NODE_ENV: 'production' });
  const isPublic = await basic({});
  expect([isPublic.get('cache-control'), isPublic.get('ratelimit')]).toEqual([
    expect.stringMatching(/^public, max-age=/),
    null,
  ]);
  await basic({}, 'POST');
  const stored = await basic({}, 'POST');
  expect([stored.get('catalog-cost'), stored.get('ratelimit')]).toEqual(['calls=0', null]);
  const before = await basic(own);
  // Only the advance tier, which has no limit, gets this chart.
  const shown = await basic(own, 'POST', '{ weeklyChart { entries { rank } } }');
  const after = await basic(own);
  expect([before, shown, after].map((headers) => headers.has('ratelimit'))).toEqual([true, false, false]);
  expect(after.has('catalog-cost')).toBe(true);
});

test('outside production CORS allows pages of this machine, and the headers by which clients name themselves', async () => {
  const { url } = await facade();
  const preflight = (at: string, origin: string) =>
    fetch(at, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'apollographql-client-name',
      },
    });
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://localhost']) {
    const { headers } = await preflight(url, origin);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, QUERY');
    for (const name of [
      'apollographql-client-name',
      'graphql-client-version',
      'x-apollo-operation-name',
      'traceparent',
    ])
      expect(headers.get('access-control-allow-headers')!.split(', ')).toContain(name);
    expect(headers.get('access-control-expose-headers')).toContain('etag');
  }
  const production = await facade({ NODE_ENV: 'production' });
  const listed = await facade({
    CORS_ORIGINS: 'https://shop.example,http://dev.example:*,capacitor://localhost,ionic://localhost:*',
  });
  const allowed = async (at: string, origin: string) =>
    (await preflight(at, origin)).headers.has('access-control-allow-origin');
  for (const origin of [
    'https://localhost:1',
    'http://localhost.evil:1',
    'http://localhost:1.evil',
    'http://evil',
    'null',
  ])
    expect([origin, await allowed(url, origin)]).toEqual([origin, false]);
  expect(await allowed(production.url, 'http://localhost:5173')).toBe(false);
  expect(await allowed(listed.url, 'http://dev.example:8080')).toBe(true);
  expect(await allowed(listed.url, 'https://shop.example:8080')).toBe(false);
  expect(await allowed(listed.url, 'capacitor://localhost')).toBe(true);
  expect(await allowed(listed.url, 'ionic://localhost:8100')).toBe(true);
  expect(await allowed(listed.url, 'capacitor://localhost:8100')).toBe(false);
  expect(await allowed(listed.url, 'tauri://localhost')).toBe(false);
  expect(await allowed(listed.url, 'http://localhost:5173')).toBe(false);
});

test('a HEAD leaves its connection usable', async () => {
  const { facade: setup } = await facade();
  const socket = connect(setup.port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
  const path = `/graphql?query=${encodeURIComponent(query)}`;
  socket.write(`HEAD ${path} HTTP/1.1\r\nhost: x\r\n\r\nGET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(received.match(/"title":"x"/g)).toHaveLength(1);
});
