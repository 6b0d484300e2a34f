import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { agent, post } from '../../../../support/agent.ts';
import { journey } from '../../../../support/journey.ts';
import { thorough } from '../../../../support/optional.ts';

let url: string;
beforeAll(async () => {
  ({ url } = (await journey({ mcp: 'on', mcpFree: 'on', mcpOperations: 'operations' })).facade);
});

interface Response {
  jsonrpc: string;
  id: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { code?: string } };
}
const send = async (body: unknown, headers?: Record<string, string>) => {
  const { status, text } = await post(url, body, headers);
  return { status, response: JSON.parse(text || 'null') as Response };
};
const ping = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'ping' });
const message = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 'a', method, params });

test.each(['{"jsonrpc":', '', '{', '{"jsonrpc":"2.0",}', "{'jsonrpc':'2.0'}", 'ping', '\u0000', '[1', 'NaN'])(
  'a body that is not JSON is a parse error with our code beside it: %j',
  async (body) => {
    const { status, response } = await send(body);
    expect(status).toBe(400);
    expect(response).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, data: { code: 'BAD_REQUEST' } },
    });
  },
);

test('bytes that are not UTF-8 are a parse error', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = Buffer.from(JSON.stringify(ping('é')), 'latin1');
  const response = await fetch(new URL('/mcp', url), { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
});

test.each([
  [{ hello: 'world' }, null],
  [{ ...ping(), jsonrpc: undefined }, 1],
  [{ ...ping(), jsonrpc: '1.0' }, 1],
  [{ ...ping(), jsonrpc: 2 }, 1],
  [ping(null), null],
  [ping(1.5), null],
  [ping(2 ** 53), null],
  [ping(true), null],
  [ping([1]), null],
  [ping({}), null],
  [{ ...ping('x'), method: 7 }, 'x'],
  [{ ...ping('x'), method: null }, 'x'],
  [{ jsonrpc: '2.0', id: 3 }, 3],
  [{ ...ping(4), params: 'text' }, 4],
  [{ ...ping(4), params: 1 }, 4],
  ['ping', null],
  [7, null],
  [true, null],
  ['null', null],
])('%j is an invalid request, and its id is returned if it is one', async (body, id) => {
  const { status, response } = await send(body === 'ping' ? '"ping"' : body);
  expect([status, response]).toMatchObject([400, { jsonrpc: '2.0', id, error: { code: -32600 } }]);
});

test('JSON that is no message is an invalid request, whatever it is', async () => {
  const value = fc.jsonValue().filter((each) => !Array.isArray(each));
  const check = fc.asyncProperty(value, async (body) => {
    const { status, response } = await send(JSON.stringify(body));
    expect([status, response.id, response.error?.code]).toEqual([400, null, -32600]);
  });
  await fc.assert(check, { numRuns: thorough ? 50 : 25 });
});

test.each([
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {} }, 'clientInfo'],
  ['initialize', { protocolVersion: 1, capabilities: {}, clientInfo: { name: 'a', version: '1' } }, 'protocolVersion'],
  ['initialize', undefined, 'params'],
  ['tools/call', {}, 'name'],
  ['tools/call', undefined, 'params'],
  ['tools/call', { name: 7 }, 'name'],
  ['tools/call', { name: null }, 'name'],
  ['tools/call', { name: 'Book', arguments: [] }, 'arguments'],
  ['tools/call', { name: 'Book', arguments: 'x' }, 'arguments'],
  ['tools/list', { cursor: 1 }, 'cursor'],
  ['tools/list', { cursor: 'next' }, 'cursor'],
  ['tools/list', [], 'params'],
  ['tools/call', ['Book'], 'params'],
])('%s with %j is invalid params, and the message names the member', async (method, params, member) => {
  const { response } = await send(message(method, params));
  expect(response.error).toMatchObject({ code: -32602, message: expect.stringContaining(`\`${member}\``) as string });
  expect(response.error!.message).not.toMatch(/[{}\n]/);
  expect(response.id).toBe('a');
});

test.each(['nothing', 'prompts/list', 'tools/list ', 'constructor', '__proto__', '', 'server/discover2'])(
  'the method %j is not found',
  async (method) => {
    const { response } = await send(message(method));
    expect([response.id, response.error?.code]).toEqual(['a', -32601]);
  },
);

test.each([
  ['tools/call', { name: 'schema', arguments: null }],
  ['tools/call', { name: 'schema', arguments: null, _meta: null }],
  ['tools/call', { name: 'schema', arguments: {}, _meta: { progressToken: null } }],
  ['tools/list', null],
  ['tools/list', { cursor: null, _meta: null }],
  ['ping', null],
  [
    'initialize',
    {
      protocolVersion: '2025-06-18',
      capabilities: { roots: null, sampling: null, elicitation: null, experimental: null },
      clientInfo: { name: 'a', title: null, version: '1', websiteUrl: null, icons: null },
    },
  ],
])('null stands for what is left out: %s with %j', async (method, params) => {
  const { response } = await send(message(method, params));
  expect(response.error).toBeUndefined();
  expect(response.result).not.toHaveProperty('isError');
});

test('null inside the arguments of a tool stays a value', async () => {
  const query = 'query ($skip: Boolean! = true) { book(id: "1003078") @skip(if: $skip) { id } }';
  const call = async (variables: object) =>
    (await send(message('tools/call', { name: 'query', arguments: { query, variables } }))).response.result;
  expect(await call({})).toMatchObject({ structuredContent: { data: {} } });
  expect(await call({ skip: null })).toMatchObject({ isError: true, structuredContent: { data: null } });
});

test('a number and its text are two ids', async () => {
  const ids = await Promise.all([ping(1), ping('1')].map(async (each) => (await send(each)).response.id));
  expect(ids).toEqual([1, '1']);
});

test('notifications and responses of the client are accepted without a response', async () => {
  for (const body of [
    { jsonrpc: '2.0', method: 'notifications/initialized', params: null },
    { jsonrpc: '2.0', method: 'notifications/anything' },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } },
  ]) {
    expect(await send(body)).toEqual({ status: 202, response: null });
  }
});

test('the message of an error has no code before it, so that a client puts one there only once', async () => {
  const { response } = await send(message('tools/call', { name: 'nope' }));
  expect(response.error).toMatchObject({ code: -32602, message: 'Unknown tool: nope' });
  const { client } = await agent(url);
  await expect(client.callTool({ name: 'nope' })).rejects.toThrow(/^MCP error -32602: Unknown tool: nope$/);
});

test('a body that is not application/json is rejected, as a page of another site could send it', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const { status, response } = await send(ping(), { 'content-type': type });
    expect([status, response.error?.data?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  expect((await send(ping(), { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(200);
});
