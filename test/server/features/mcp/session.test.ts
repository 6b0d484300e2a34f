import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { catalogService } from '../../../../src/graph/service/descriptor.ts';
import { createFacade } from '../../../../src/facade.ts';
import { createMethods } from '../../../../src/server/features/mcp/methods.ts';
import type { AgentRequest } from '../../../../src/server/features/mcp/agent-slots.ts';
import { agent, facadeOver, post } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';

const TOKEN = 'demo-alice';
let setup: Awaited<ReturnType<typeof journey>>;
let url: string;
let logged: string[];
beforeAll(async () => {
  setup = await journey();
  const over = await facadeOver(setup.proxy.url, { accessToken: 'demo-app' });
  url = over.facade.url;
  logged = over.logged;
});

const message = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const initialize = (protocolVersion: string) =>
  message('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });
const contentOf = ({ text }: { text: string }) =>
  JSON.parse(text) as { result?: Record<string, unknown>; error?: { code: number; message: string } };

test.each(SUPPORTED_PROTOCOL_VERSIONS)('version %s of the protocol is supported', async (version) => {
  const opened = await post(url, initialize(version));
  expect(opened.headers.get('content-type')).toBe('application/json');
  expect(contentOf(opened).result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'catalog-graphql' } });
  const headers = { 'mcp-protocol-version': version };
  expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).status).toBe(202);
  expect(contentOf(await post(url, message('tools/list'), headers)).result).toMatchObject({
    tools: expect.any(Array) as [],
  });
  const called = contentOf(
    await post(url, message('tools/call', { name: 'Book', arguments: { id: '1003078' } }), headers),
  );
  expect(called.result).toMatchObject({ structuredContent: { data: { book: { id: 'Book:1003078' } } } });
});

test.each(SUPPORTED_PROTOCOL_VERSIONS)('the client of the SDK works in version %s', async (version) => {
  const { client, call } = await agent(url, TOKEN, version);
  expect((await client.listTools()).tools.length).toBeGreaterThan(10);
  expect((await call('Book', { id: '1003078' })).output.data).toMatchObject({ book: { id: 'Book:1003078' } });
  await expect(client.callTool({ name: 'Nothing' })).rejects.toThrow('Unknown tool: Nothing');
  expect(await client.ping()).toEqual({});
});

test('initialize with an unknown version returns a known one, and an unknown version in a header is rejected', async () => {
  expect(contentOf(await post(url, initialize('1999-01-01'))).result).toMatchObject({
    protocolVersion: SUPPORTED_PROTOCOL_VERSIONS[0],
  });
  const { status } = await post(url, message('tools/list'), { 'mcp-protocol-version': '1999-01-01' });
  expect(status).toBe(400);
});

test.each([
  ['an unknown tool', message('tools/call', { name: 'Nothing' }), -32602],
  ['an unknown method', message('nothing/at/all'), -32601],
  ['a tool without a name', message('tools/call', {}), -32602],
  ['a tool as a task', message('tools/call', { name: 'Book', task: { ttl: 1 } }), -32602],
  ['a resource', message('resources/read', { uri: 'catalog://Book/1' }), -32601],
])('%s is a protocol error, without upstream calls', async (_, sent, code) => {
  setup.proxy.start();
  expect(contentOf(await post(url, sent)).error?.code).toBe(code);
  expect(setup.proxy.stop()).toEqual([]);
});

test.each([
  ['malformed JSON', '{', 400],
  ['half of a character', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', 400],
  ['a body that is not JSON-RPC', '{"a":1}', 400],
  ['a list of messages', [message('ping', {}, 1), message('ping', {}, 2)], 400],
  [
    'a message with 10,001 values',
    message('ping', { _meta: { values: Array.from({ length: 10_001 }, () => 0) } }),
    413,
  ],
  ['a body over the limit', message('tools/call', { name: 'Book', arguments: { id: 'x'.repeat(1_100_000) } }), 413],
])('%s is rejected', async (_, sent, status) => {
  expect((await post(url, sent)).status).toBe(status);
});

test('huge and nested arguments are errors, without additional upstream calls', async () => {
  setup.proxy.start();
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, at]));
  for (const given of [{ id: 'x'.repeat(900_000) }, many, { id: '../../etc/passwd' }, { __proto__: 1 }]) {
    const { text } = await post(url, message('tools/call', { name: 'Event', arguments: given }));
    if (!('__proto__' in given)) expect(text).toMatch(/"isError":true|"error"/);
    expect(text.length).toBeLessThan(21_000);
  }
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const call = JSON.stringify(message('tools/call', { name: 'Event', arguments: { id: '@' } })).replace('"@"', nested);
  expect((await post(url, call)).text).toMatch(/"isError":true|"error"/);
  expect(setup.proxy.stop().every(({ line }) => line.startsWith('GET /event/'))).toBe(true);
});

test('only POST is allowed: there are no streams and no sessions', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await fetch(new URL('/mcp', url), { method, headers: { accept: 'text/event-stream' } });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS']);
  }
});

test.each([
  ['a page of another site', { origin: 'https://evil.example' }],
  ['a page with the scheme file', { origin: 'file://' }],
  ['an opaque origin', { origin: 'null' }],
])('%s is rejected', async (_, headers) => {
  const { status, text } = await post(url, message('tools/list'), headers);
  expect([status, text]).toMatchObject([403, expect.stringContaining('ORIGIN_NOT_ALLOWED')]);
});

test('a foreign host name that resolves to this machine is rejected as Host; our own name and IP addresses are not', async () => {
  const { request } = await import('node:http');
  const { facade } = await facadeOver(setup.proxy.url, {
    mcpUrl: 'https://api.example/mcp',
    corsOrigins: 'https://shop.example,http://localhost:*',
  });
  const statusOf = (host: string, origin?: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        host,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(origin && { origin }),
      };
      const sent = request(`${facade.url}/mcp`, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(message('tools/list')));
    });
  expect(await statusOf('rebound.example')).toBe(403);
  expect(await statusOf('localhost.evil.example')).toBe(403);
  for (const host of ['api.example', 'localhost:4000', '127.0.0.1', '[::1]:80', '10.0.0.7:4000'])
    expect([host, await statusOf(host)]).toEqual([host, 200]);
  expect(await statusOf('api.example', 'https://api.example')).toBe(200);
  expect(await statusOf('localhost:4000', 'http://localhost:4000')).toBe(200);
  expect(await statusOf('api.example', 'https://shop.example')).toBe(200);
  expect(await statusOf('api.example', 'https://other.example')).toBe(403);
  expect(await statusOf('localhost:4000', 'http://localhost:6274')).toBe(200);
  for (const origin of ['http://localhost.evil.example', 'http://localhost:80@evil.example', 'https://localhost:6274'])
    expect([origin, await statusOf('localhost:4000', origin)]).toEqual([origin, 403]);
});

test('the token is sent to the service and nowhere else', async () => {
  const { call } = await agent(url, TOKEN);
  const { output } = await call('Book', { id: '27025715' });
  expect(output.data).toMatchObject({ book: { viewerCollection: expect.anything() as unknown } });
  await post(url, '{', { authorization: `Bearer ${TOKEN}` });
  await post(url, message('tools/call', { name: 'Book', arguments: { id: 'no such' } }), {
    authorization: 'Bearer secret-token',
  });
  const rejected = await (await agent(url, 'secret-token')).call('Diary', { user: 'alice' });
  expect(rejected.output.errors![0]!.code).toBe('UNAUTHENTICATED');
  expect(logged.length).toBeGreaterThan(0);
  for (const text of [...logged, rejected.text]) expect(text).not.toMatch(/secret-token|demo-alice|demo-app/);
});

test('with an authorization server, a tool that needs a token responds with 401 and where to get one', async () => {
  const { facade } = await facadeOver(setup.proxy.url, {
    ...{ mcpAuthorizationServer: 'https://login.example', mcpUrl: 'https://api.example/mcp' },
  });
  const diary = message('tools/call', { name: 'Diary', arguments: { user: 'alice' } });
  const anonymous = await post(facade.url, diary);
  expect(anonymous.status).toBe(401);
  const metadata = 'https://api.example/.well-known/oauth-protected-resource/mcp';
  expect(anonymous.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
  const wrong = await post(facade.url, diary, { authorization: 'Bearer wrong' });
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${metadata}", error="invalid_token"`,
  ]);
  expect((await post(facade.url, diary, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  expect((await post(facade.url, message('tools/list'))).status).toBe(200);
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    expect(await (await fetch(facade.url + path)).json()).toMatchObject({
      resource: 'https://api.example/mcp',
      authorization_servers: ['https://login.example'],
    });
  }
  expect((await fetch(`${url}/.well-known/oauth-protected-resource`)).status).toBe(404);
});

test('an unexpected error is logged, and masked for the client', async () => {
  const lines: string[] = [];
  const fail = () => Promise.reject(new Error('a secret of ours'));
  const inputSchema = { type: 'object' as const, properties: {} };
  const parts = {
    service: catalogService,
    tools: new Map([['Broken', { tool: { name: 'Broken', inputSchema }, call: fail }]]),
    log: pino({}, { write: (line: string) => void lines.push(line) }),
  };
  const request = { exchange: { requestId: 'r1', request: { headers: {} } } } as unknown as AgentRequest;
  for (const respond of Object.values(createMethods(parts))) {
    const called = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Broken' } } as const;
    const { outcome } = await respond(called, request);
    expect(outcome).toMatchObject({ code: -32603, message: 'Something went wrong.', data: { requestId: 'r1' } });
  }
  expect(lines.filter((line) => line.includes('a secret of ours'))).toHaveLength(2);
});

test('an embedded facade serves /mcp under the configured host only', async () => {
  const facade = createFacade({
    ...{ baseUrl: setup.proxy.url, eventBaseUrl: setup.proxy.url, accessToken: 'demo-app', logLevel: 'silent' },
    ...{ mcp: true, mcpUrl: 'https://api.example/mcp' },
  });
  const execute = async (url: string) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return facade.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(message('tools/list')) }));
  };
  expect((await execute('https://other.example/mcp')).status).toBe(403);
  const answer = (await (await execute('https://api.example/mcp')).json()) as { result: { tools: { name: string }[] } };
  expect(answer.result.tools.map(({ name }) => name)).toContain('Book');
  await facade.close();
});

test('with MCP off there is no route, and no module of it is loaded', async () => {
  expect((await post(setup.facade.url, message('ping'))).status).toBe(404);
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, from] of text.matchAll(/^(?:import|export)\b(?! type)[^;]*? from '([^']+)';/gms)) {
      expect(from).not.toMatch(/modelcontextprotocol/);
      if (from!.startsWith('.')) visit(join(dirname(file), from!));
    }
  };
  for (const entry of ['src/main.ts', 'src/facade.ts']) visit(entry);
  expect(found.size).toBeGreaterThan(50);
  expect([...found].filter((file) => file.includes('features/mcp'))).toEqual(['src/server/features/mcp/feature.ts']);
});
