import { beforeAll, expect, test } from 'vitest';
import { facadeOver } from '../../../support/agent.ts';

let url: string;
beforeAll(async () => {
  const settings = { mcpAuthorizationServer: 'https://login.example', corsOrigins: 'https://inspector.example' };
  ({ url } = (await facadeOver('http://127.0.0.1:9', settings)).facade);
});

const METADATA = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
const preflight = (path: string, origin: string, headers: string, method = 'POST') =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });
const allowed = (response: Response) => response.headers.get('access-control-allow-headers')?.split(', ') ?? [];

test.each(METADATA)('pages of every origin read the public metadata at %s', async (path) => {
  for (const origin of ['https://inspector.example', 'https://other.example', 'http://localhost:6274', 'null']) {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url + path, { method, headers: { origin, 'mcp-protocol-version': '2025-11-25' } });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      if (method === 'GET')
        expect(await response.json()).toMatchObject({ authorization_servers: ['https://login.example'] });
    }
    const asked = await preflight(path, origin, 'mcp-protocol-version', 'GET');
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(allowed(asked)).toContain('mcp-protocol-version');
    expect(asked.headers.get('access-control-allow-methods')).toContain('GET');
  }
});

test('the metadata are still not served under a foreign host name, and can only be read', async () => {
  const { request } = await import('node:http');
  const statusOf = (host: string) =>
    new Promise<number>((resolve) => {
      request(url + METADATA[1], { headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      }).end();
    });
  expect([await statusOf('rebound.example'), await statusOf('localhost:1')]).toEqual([403, 200]);
  expect((await fetch(url + METADATA[1], { method: 'POST' })).status).toBe(405);
});

test('a listed page may send the headers of every edition and of tracing to /mcp, and reads where to log in', async () => {
  const wanted = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'baggage'];
  const asked = await preflight('/mcp', 'https://inspector.example', wanted.join(', '));
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, 'https://inspector.example']);
  expect(allowed(asked)).toEqual(expect.arrayContaining(wanted));
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { origin: 'https://inspector.example', 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Diary","arguments":{"user":"alice"}}}',
  });
  expect(response.status).toBe(401);
  expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate');
});

test('a page that is not listed gets no CORS headers of /mcp', async () => {
  const asked = await preflight('/mcp', 'https://other.example', 'content-type');
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('a listed page may send what its libraries add, as to /graphql', async () => {
  const asked = await preflight('/mcp', 'https://inspector.example', 'content-type, x-cloud-trace-context');
  expect(allowed(asked)).toContain('x-cloud-trace-context');
  const odd = await preflight('/mcp', 'https://inspector.example', 'x-odd(');
  expect(odd.headers.get('access-control-allow-headers')).not.toContain('x-odd');
});

test('an address that ends with a slash is that of the route, and errors below it are JSON-RPC', async () => {
  const post = (path: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
  for (const path of ['/mcp', '/mcp/', '/mcp/?x=1']) {
    const response = await post(path);
    expect([path, response.status, await response.json()]).toEqual([path, 200, { jsonrpc: '2.0', id: 1, result: {} }]);
  }
  for (const path of METADATA) expect((await fetch(`${url}${path}/`)).status).toBe(200);
  for (const path of ['/mcp/sse', '/mcp//']) {
    const response = await post(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: expect.any(Number) as number },
    });
  }
});
