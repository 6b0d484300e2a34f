import { createServer } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { facadeOver, post } from '../../../support/agent.ts';
import { listen } from '../../../support/listen.ts';

/** A service that knows every token, and lets none of them call anything. */
let service: string;
let code = 1001;
beforeAll(async () => {
  const server = createServer((request, response) => {
    if (request.url === '/event/1/wishers')
      return void response.writeHead(202, { 'content-type': 'application/json' }).end('{}');
    const body = JSON.stringify({ code, msg: 'uri_not_found', request: `${request.method} ${request.url}` });
    response.writeHead(code === 1001 ? 404 : 403, { 'content-type': 'application/json' }).end(body);
  });
  service = await listen(server);
});

const SETTINGS = { mcpAuthorizationServer: 'https://login.example', mcpUrl: 'https://api.example/mcp', mcpFree: 'on' };
const METADATA = 'resource_metadata="https://api.example/.well-known/oauth-protected-resource/mcp"';
const query = (text: string) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'query', arguments: { query: text } } },
});
const token = { authorization: 'Bearer a-token' };

test.each([
  ['a book', query('{ book(id: "1003078") { title } }'), 'book_basic_r'],
  ['a film', query('{ subject(id: "1291546") { title } }'), 'movie_basic_r'],
  ['both', query('{ subject(id: "1291546") { title } book(id: "1003078") { title } }'), 'movie_basic_r book_basic_r'],
])('a token that may not read %s gets 403 with the scopes that are missing', async (_, body, scopes) => {
  const { facade } = await facadeOver(service, SETTINGS);
  const { status, headers, text } = await post(facade.url, body, token);
  const challenge = headers.get('www-authenticate') ?? '';
  expect([status, challenge]).toEqual([
    403,
    expect.stringMatching(/^Bearer error="insufficient_scope", scope="[\w ]+", /),
  ]);
  expect(/scope="([^"]+)"/.exec(challenge)![1]!.split(' ').sort()).toEqual(scopes.split(' ').sort());
  expect(challenge).toContain(METADATA);
  expect(JSON.parse(text)).toMatchObject({ error: { code: -32000, data: { code: 'FORBIDDEN' } }, id: null });
});

test('without a token the same request needs a login first', async () => {
  const { facade } = await facadeOver(service, { ...SETTINGS, accessToken: 'app' });
  const { status, headers } = await post(facade.url, query('{ book(id: "1003078") { title } }'));
  expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer ${METADATA}`]);
});

test('where nobody issues tokens, it is an error of the result', async () => {
  const { facade } = await facadeOver(service, { mcpFree: 'on' });
  const { status, text } = await post(facade.url, query('{ book(id: "1003078") { title } }'), token);
  expect([status, JSON.parse(text)]).toMatchObject([
    200,
    { result: { structuredContent: { errors: [{ code: 'FORBIDDEN' }] } } },
  ]);
});

test('a record that the person may not see is no question of scopes', async () => {
  code = 1000;
  const { facade } = await facadeOver(service, SETTINGS);
  const { status, text } = await post(facade.url, query('{ note(id: "7") { title } }'), token);
  code = 1001;
  expect([status, JSON.parse(text)]).toMatchObject([
    200,
    { result: { structuredContent: { errors: [{ code: 'FORBIDDEN' }] } } },
  ]);
});

test('a write that was made is not denied for what follows it: a client that logs in would send it again', async () => {
  const { facade } = await facadeOver(service, { ...SETTINGS, mcpWrites: 'on' });
  const collect = 'collectBook(input: { bookId: "2", status: READ }) { created }';
  const interest = 'addEventInterest(input: { id: "1" }) { __typename }';
  const both = await post(facade.url, query(`mutation { ${interest} ${collect} }`), token);
  expect([both.status, JSON.parse(both.text)]).toMatchObject([
    200,
    {
      result: {
        structuredContent: { data: { addEventInterest: {}, collectBook: null }, errors: [{ code: 'FORBIDDEN' }] },
      },
    },
  ]);
  const { status } = await post(facade.url, query(`mutation { ${collect} }`), token);
  expect(status).toBe(403);
});
