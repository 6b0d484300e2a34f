import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { pino } from 'pino';
import { expect } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { type TestFlags, configWith } from './config.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from './open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { afterUse } from './hooks.ts';

/** The structured content of a tool result. */
export interface ToolOutput {
  data: Record<string, unknown> | null;
  errors?: { code: string; message: string; whatToDo?: string; retryAfter?: number; path?: string }[];
  cut?: { path: string; shown: number; of: number }[];
  cost: { calls: { catalog: number; events: number }; left?: { limit: number; remaining: number } };
  plan?: { min: number; max: number };
}

/** The official client, connected to a facade's /mcp. It uses the newest version of the protocol by default. */
export async function agent(url: string, token?: string, version?: string) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const older: FetchLike = (to, init) => {
    if (version === undefined || typeof init?.body !== 'string') return fetch(to, init);
    return fetch(to, {
      ...init,
      body: init.body.replace(/"protocolVersion":"[^"]+"/, `"protocolVersion":"${version}"`),
    });
  };
  const options = { requestInit: { headers }, fetch: older };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), options);
  await client.connect(transport);
  if (version !== undefined) expect(transport.protocolVersion).toBe(version);
  afterUse(() => client.close());

  async function call(name: string, given: Record<string, unknown> = {}) {
    const result = await client.callTool({ name, arguments: given });
    const [content] = result.content as { type: string; text: string }[];
    return {
      isError: result.isError === true,
      text: content?.text ?? '',
      output: result.structuredContent as ToolOutput,
    };
  }
  return { client, call };
}

/** A facade with MCP over a service, and its log lines. */
export async function facadeOver(service: string, settings: TestFlags = {}) {
  const logged: string[] = [];
  const config = configWith(
    {
      BASE_URL: service,
      EVENT_BASE_URL: service,
      PORT: '0',
      MCP: 'on',
      MCP_OPERATIONS: 'operations',
      LOG_LEVEL: 'trace',
    },
    settings,
  );
  const upstream = createUpstream(catalogService, { ...config, baseUrl: service, eventBaseUrl: service });
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const facade = await openServer(config, { schema, upstream, log });
  afterUse(async () => {
    await facade.leave();
    await upstream.close();
  });
  return { facade, logged };
}

/** Sends one JSON-RPC request without a client library. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}
