import { createServer, request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { adviceByCode } from '../../../../client/src/errors.ts';
import { agent, facadeOver, post } from '../../../support/agent.ts';
import { listen } from '../../../support/listen.ts';

/** Responses of the service that are held back. */
const held: (() => void)[] = [];
let service: string;
let url: string;
beforeAll(async () => {
  const server = createServer((_, response) => {
    held.push(() => response.writeHead(404, { 'content-type': 'application/json' }).end('{}'));
  });
  service = await listen(server);
  ({ url } = (await facadeOver(service)).facade);
});

const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
const call = (name: string, given: object) => ({ ...ping, method: 'tools/call', params: { name, arguments: given } });

/** Sends any method and headers, `Host` too. */
const send = (method: string, headers: Record<string, string>, body = JSON.stringify(ping)) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      `${url}/mcp`,
      { method, headers: { 'content-type': 'application/json', ...headers } },
      (got) => {
        let text = '';
        got.setEncoding('utf8').on('data', (part: string) => (text += part));
        got.on('end', () => resolve({ status: got.statusCode!, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

const rejection = (code: string, more: object = {}) => ({
  jsonrpc: '2.0',
  error: {
    code: -32_000,
    message: expect.stringMatching(/\.$/) as string,
    data: {
      code,
      advice: adviceByCode[code],
      help: `/docs/errors#${code}`,
      requestId: expect.any(String) as string,
      ...more,
    },
  },
  id: null,
});

test.each([
  ['a page of another site', 'POST', { origin: 'https://evil.example' }, 403, 'ORIGIN_NOT_ALLOWED'],
  ['another host', 'POST', { host: 'evil.example' }, 403, 'ORIGIN_NOT_ALLOWED'],
  ['a port that no URL has', 'POST', { host: '127.0.0.1:99999' }, 403, 'ORIGIN_NOT_ALLOWED'],
  ['a malformed host', 'POST', { host: 'a b' }, 400, 'BAD_REQUEST'],
  ['another method', 'PUT', {}, 405, 'METHOD_NOT_ALLOWED'],
  ['an encoded body', 'POST', { 'content-encoding': 'gzip' }, 415, 'UNSUPPORTED_ENCODING'],
  ['a Content-Length beyond the limit', 'POST', { 'content-length': '99999999' }, 413, 'BODY_TOO_LARGE'],
])('%s is rejected with a JSON-RPC error that has its code in `data`', async (_, method, headers, status, code) => {
  const answer = await send(method, headers);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([status, rejection(code)]);
});

test.each([
  ['a body beyond the limit', 'x'.repeat(1_100_000), 413, 'BODY_TOO_LARGE'],
  ['half of a character', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', 400, 'INVALID_TEXT'],
])('%s is rejected with a JSON-RPC error', async (_, body, status, code) => {
  const answer = await post(url, body);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([status, rejection(code)]);
});

test('a required login is a JSON-RPC error too', async () => {
  const { facade } = await facadeOver(service, { mcpAuthorizationServer: 'https://login.example' });
  const { status, text } = await post(facade.url, call('Diary', { user: 'alice' }));
  expect([status, JSON.parse(text)]).toEqual([401, rejection('UNAUTHENTICATED')]);
});

test('an overload is a JSON-RPC error with retryAfter on /mcp, and a GraphQL error elsewhere', async () => {
  const helpUrl = 'https://help.example/errors';
  const { facade } = await facadeOver(service, { maxRunningOperations: '1', maxWaitingOperations: '0', helpUrl });
  const { client } = await agent(facade.url);
  const running = post(facade.url, call('Book', { id: '1003078' }));
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const rejected = await post(facade.url, ping);
  expect([rejected.status, JSON.parse(rejected.text)]).toMatchObject([
    503,
    {
      jsonrpc: '2.0',
      error: { code: -32_000, data: { code: 'OVERLOADED', help: `${helpUrl}#OVERLOADED`, retryAfter: 1 } },
      id: null,
    },
  ]);
  await expect(client.listTools()).rejects.toThrow('OVERLOADED');
  const person = await fetch(`${facade.url}/graphql`, { method: 'POST', body: '{}' });
  expect(await person.json()).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED' } }] });
  for (const answer of held) answer();
  expect((await running).status).toBe(200);
});

test.each([
  ['a body that is not JSON', 'POST', '{', 'BAD_REQUEST'],
  ['another method', 'PUT', '', 'METHOD_NOT_ALLOWED'],
])('%s is rejected with the help link of HELP_URL', async (_, method, body, code) => {
  const { facade } = await facadeOver(service, { helpUrl: 'https://help.example/errors' });
  const headers = { 'content-type': 'application/json' };
  const rejected = await fetch(`${facade.url}/mcp`, { method, headers, body });
  expect(await rejected.json()).toMatchObject({ error: { data: { help: `https://help.example/errors#${code}` } } });
});

test('with MCP off, /mcp is an unknown path', async () => {
  const { facade } = await facadeOver(service, { mcp: 'off' });
  expect(JSON.parse((await post(facade.url, ping)).text)).toMatchObject({
    errors: [{ extensions: { code: 'NOT_FOUND' } }],
  });
});
