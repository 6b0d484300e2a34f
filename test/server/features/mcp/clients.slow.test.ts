/** The client of the newest SDK, which asks for the newest edition, and falls back to the older ones. */
import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ToolOutput, facadeOver } from '../../../support/agent.ts';
import { embedded } from '../../../support/embedded.ts';
import { journey } from '../../../support/journey.ts';
import { startNginx } from '../../../support/nginx.ts';
import { hasProgram } from '../../../support/optional.ts';

let service: string;
beforeAll(async () => {
  service = (await journey()).proxy.url;
});
const started = async () => (await facadeOver(service, { accessToken: 'demo-app' })).facade.url;

interface Way {
  url: string;
  fetch: FetchLike;
}
const ways: [string, boolean, () => Promise<Way>][] = [
  ['a socket', true, async () => ({ url: await started(), fetch })],
  [
    'createFacade',
    true,
    async () => {
      const facade = embedded(service, { mcp: true, mcpOperations: 'operations' });
      return { url: 'http://localhost', fetch: async (to, init) => facade.fetch(new Request(to, init)) };
    },
  ],
  ['nginx', hasProgram('nginx'), async () => ({ url: await startNginx([await started(), await started()]), fetch })],
];

/** A connected client, and what it has sent. */
async function connected({ url, fetch }: Way, mode: 'auto' | 'legacy') {
  const sent: string[] = [];
  const counting: FetchLike = (to, init) => {
    const headers = new Headers(init?.headers);
    sent.push(`${headers.get('mcp-method') ?? '-'} ${headers.get('mcp-protocol-version') ?? '-'}`);
    return fetch(to, init);
  };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: 'Bearer demo-alice' } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit, fetch: counting }));
  onTestFinished(() => client.close());
  return { client, sent };
}

const modes = [
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const;

describe.each(ways)('over %s', (_, isThere, open) => {
  test.skipIf(!isThere).each(modes)('a client with the mode %s works in edition %s', async (mode, edition) => {
    const { client, sent } = await connected(await open(), mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(edition);
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    const { structuredContent, isError } = await client.callTool({ name: 'Book', arguments: { id: '27025715' } });
    expect(isError).toBeUndefined();
    const { data, cost } = structuredContent as ToolOutput;
    expect(data).toMatchObject({ book: { id: 'Book:27025715', viewerCollection: expect.anything() as unknown } });
    expect(cost.calls.events).toBe(0);
    expect((await client.callTool({ name: 'Search', arguments: { query: '百年' } })).structuredContent).toMatchObject({
      data: { searchBooks: { totalCount: 4 } },
    });
    await expect(client.callTool({ name: 'Nothing' })).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown tool: Nothing',
    });
    const later = sent.filter((each) => !each.startsWith('- -'));
    if (mode === 'auto') expect(sent[0]).toBe(`server/discover ${edition}`);
    expect(later.every((each) => each.endsWith(edition))).toBe(true);
  });
});

test.skipIf(!hasProgram('nginx'))('nginx passes where to log in, and the preflight requests of pages', async () => {
  const settings = { mcpAuthorizationServer: 'https://login.example', corsOrigins: 'https://shop.example' };
  const facades = [await facadeOver(service, settings), await facadeOver(service, settings)] as const;
  const url = await startNginx([facades[0].facade.url, facades[1].facade.url]);
  const headers = { 'content-type': 'application/json' };
  const params = { name: 'Diary', arguments: { user: 'alice' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const denied = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
  const [, metadata] = /resource_metadata="([^"]+)"/.exec(denied.headers.get('www-authenticate') ?? '')!;
  const read = await fetch(metadata!, { headers: { origin: 'https://any.example' } });
  expect([denied.status, read.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(await read.json()).toMatchObject({ resource: `${url}/mcp`, authorization_servers: ['https://login.example'] });
  const asked = await fetch(`${url}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-headers': 'mcp-method, mcp-name' },
  });
  expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([
    204,
    expect.stringContaining('mcp-method, mcp-name') as string,
  ]);
});

test('a client of the newest edition keeps the lists for as long as the server says', async () => {
  const { client, sent } = await connected({ url: await started(), fetch }, 'auto');
  const first = await client.listTools();
  const count = sent.length;
  expect(await client.listTools()).toEqual(first);
  expect(sent.slice(count)).toEqual([]);
});
