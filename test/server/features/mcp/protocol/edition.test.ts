/** Edition 2026-07-28: each request names its edition, and the server keeps no session. */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { agent, facadeOver, post } from '../../../../support/agent.ts';
import { journey } from '../../../../support/journey.ts';

const EDITION = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const META = { [VERSION_KEY]: EDITION, 'io.modelcontextprotocol/clientCapabilities': {} };

let setup: Awaited<ReturnType<typeof journey>>;
let url: string;
beforeAll(async () => {
  setup = await journey();
  ({ url } = (await facadeOver(setup.proxy.url, { accessToken: 'demo-app' })).facade);
});

interface Response {
  id: unknown;
  result?: Record<string, unknown> & { contents?: { text: string }[] };
  error?: { code: number; message: string; data?: { supported?: string[]; requested?: string } };
}
type Headers = Record<string, string | undefined>;

/** The headers of a request with this body, some replaced or left out. */
const headersFor = (method: string, { name }: Record<string, unknown>, changed: Headers = {}) => {
  const named = method === 'tools/call' ? name : undefined;
  const all: Headers = {
    'mcp-protocol-version': EDITION,
    'mcp-method': method,
    'mcp-name': named as string,
    ...changed,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<string, string>;
};
async function ask(method: string, params: Record<string, unknown> = {}, changed: Headers = {}, meta: object = META) {
  const body = { jsonrpc: '2.0', id: 'q', method, params: { ...params, _meta: meta } };
  const { status, text, headers } = await post(url, body, headersFor(method, params, changed));
  return { status, headers, ...(JSON.parse(text) as Response) };
}

test('server/discover names the editions, capabilities and the server, without an earlier request', async () => {
  const { status, headers, result } = await ask('server/discover');
  expect([status, headers.get('mcp-session-id')]).toEqual([200, null]);
  expect(result).toEqual({
    resultType: 'complete',
    supportedVersions: [EDITION, ...SUPPORTED_PROTOCOL_VERSIONS],
    capabilities: { tools: {} },
    instructions: expect.stringContaining('film calls') as string,
    ttlMs: 300_000,
    cacheScope: 'public',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'catalog-graphql', version: expect.any(String) as string } },
  });
});

test('the list of tools is the same as with a session, and clients may share it for five minutes', async () => {
  const { result } = await ask('tools/list');
  const { resultType, ttlMs, cacheScope, _meta, ...list } = result!;
  expect([resultType, ttlMs, cacheScope]).toEqual(['complete', 300_000, 'public']);
  expect(_meta).toHaveProperty(['io.modelcontextprotocol/serverInfo']);
  const older = JSON.parse((await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).text) as Response;
  expect(older.result).toEqual(list);
  // A token shows no other list.
  expect((await ask('tools/list', {}, { authorization: 'Bearer demo-alice' })).result).toEqual(result);
});

test('a call has a structured result with price and shares as with a session, and no time to live', async () => {
  const { status, result } = await ask('tools/call', { name: 'Book', arguments: { id: '1003078' } });
  const { resultType, _meta, ...rest } = result!;
  expect([status, resultType]).toEqual([200, 'complete']);
  expect(rest).toMatchObject({
    content: [{ type: 'text' }],
    structuredContent: { data: { book: { id: 'Book:1003078' } }, cost: { calls: { events: 0 } } },
  });
  expect(rest).not.toHaveProperty('ttlMs');
  const { call } = await agent(url);
  const older = await call('Book', { id: '1003078' });
  expect(Object.keys(rest.structuredContent as object)).toEqual(Object.keys(older.output));
});

test('a failed call is a result too, and an unknown tool an error', async () => {
  const failed = await ask('tools/call', { name: 'Book', arguments: { nothing: '1' } });
  expect(failed).toMatchObject({ status: 200, result: { isError: true, resultType: 'complete' } });
  expect(await ask('tools/call', { name: 'Nothing' })).toMatchObject({
    status: 200,
    error: { code: -32602, message: 'Unknown tool: Nothing' },
  });
});

test.each([
  'nothing',
  'initialize',
  'ping',
  'prompts/list',
  'resources/list',
  'subscriptions/listen',
  'logging/setLevel',
  'constructor',
])('the method %s is not found: 404 and -32601', async (method) => {
  expect(await ask(method)).toMatchObject({ status: 404, id: 'q', error: { code: -32601 } });
});

test.each(['1900-01-01', '2027-01-01', '2026-07-29', 'latest', ''])(
  'the unknown edition %j is 400 and -32022, with the list of those that are known',
  async (version) => {
    const answer = await ask(
      'tools/list',
      {},
      { 'mcp-protocol-version': version },
      { ...META, [VERSION_KEY]: version },
    );
    expect(answer).toMatchObject({ status: 400, id: 'q', error: { code: -32022, data: { requested: version } } });
    expect(answer.error!.data!.supported).toEqual([EDITION, ...SUPPORTED_PROTOCOL_VERSIONS]);
  },
);

test.each(['1999-01-01', '2099-01-01', 'latest'])(
  'a header with the unknown edition %s is 400 and -32022 without `_meta` too',
  async (version) => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const supported = [EDITION, ...SUPPORTED_PROTOCOL_VERSIONS];
    for (const body of [ping, { ...ping, method: 'server/discover' }]) {
      const { status, text } = await post(url, body, { 'mcp-protocol-version': version });
      const { error } = JSON.parse(text) as Response;
      expect([status, error]).toMatchObject([400, { code: -32022, data: { supported } }]);
    }
  },
);

test('initialize negotiates the edition, so its header may name any other than one without sessions', async () => {
  const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const sent = (version: string) =>
    post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, { 'mcp-protocol-version': version });
  for (const version of ['2099-01-01', '1999-01-01', SUPPORTED_PROTOCOL_VERSIONS[1]!]) {
    const { result } = JSON.parse((await sent(version)).text) as Response;
    expect(result).toMatchObject({ protocolVersion: SUPPORTED_PROTOCOL_VERSIONS[0] });
  }
  const { status, text } = await sent(EDITION);
  expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: -32020 } }]);
});

test.each(SUPPORTED_PROTOCOL_VERSIONS)('an edition with sessions may be named in `_meta`: %s', async (version) => {
  const answer = await ask('tools/list', {}, { 'mcp-protocol-version': version }, { [VERSION_KEY]: version });
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.result!)).toEqual(['tools']);
});

test.each<[string, string, Record<string, unknown>, Headers]>([
  ['another edition', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }],
  ['an unknown edition', 'tools/list', {}, { 'mcp-protocol-version': '1999-01-01' }],
  ['no edition', 'tools/list', {}, { 'mcp-protocol-version': undefined }],
  ['another method', 'tools/list', {}, { 'mcp-method': 'tools/call' }],
  ['the method in another case', 'tools/list', {}, { 'mcp-method': 'Tools/List' }],
  ['no method', 'tools/list', {}, { 'mcp-method': undefined }],
  ['no method for one that is unknown', 'nothing', {}, { 'mcp-method': undefined }],
  ['another tool', 'tools/call', { name: 'Book' }, { 'mcp-name': 'Film' }],
  ['the tool in another case', 'tools/call', { name: 'Book' }, { 'mcp-name': 'book' }],
  ['no tool', 'tools/call', { name: 'Book' }, { 'mcp-name': undefined }],
  ['another tool in Base64', 'tools/call', { name: 'Book' }, { 'mcp-name': `=?base64?${btoa('Film')}?=` }],
  ['a broken Base64', 'tools/call', { name: 'Book' }, { 'mcp-name': '=?base64?Qm9va===?=' }],
  ['a marker in capitals', 'tools/call', { name: 'Book' }, { 'mcp-name': `=?BASE64?${btoa('Book')}?=` }],
])('headers that disagree with the body are 400 and -32020: %s', async (_, method, params, changed) => {
  expect(await ask(method, params, changed)).toMatchObject({ status: 400, id: 'q', error: { code: -32020 } });
});

test('no error repeats more than the beginning of what was sent', async () => {
  const long = 'x'.repeat(100_000);
  for (const [method, params, headers, meta] of [
    [long, {}, { 'mcp-method': 'tools/list' }, META],
    [long, {}, {}, { ...META, [VERSION_KEY]: '2025-11-25' }],
    ['tools/list', {}, {}, { ...META, [VERSION_KEY]: long }],
    ['tools/list', {}, {}, { ...META, 'io.modelcontextprotocol/clientInfo': { [long]: 1 } }],
    ['tools/call', { name: long }, { 'mcp-name': 'x' }, META],
    ['tools/list', { cursor: { [long]: 1 } }, {}, META],
  ] as const) {
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
    const { text } = await post(url, body, headersFor(method.slice(0, 1_000), {}, headers));
    expect([text.length < 1_000, text]).toEqual([true, expect.stringContaining('"error"')]);
  }
});

test('a name that no header can hold is repeated in Base64', async () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
  const check = fc.asyncProperty(names, async (name) => {
    const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`;
    const answer = await ask('tools/call', { name }, { 'mcp-name': encoded });
    expect([answer.status, answer.error?.code]).toEqual([200, -32602]);
    const wrong = `=?base64?${Buffer.from(`${name}x`).toString('base64')}?=`;
    expect((await ask('tools/call', { name }, { 'mcp-name': wrong })).error?.code).toBe(-32020);
  });
  await fc.assert(check, { numRuns: 25 });
  const called = await ask(
    'tools/call',
    { name: 'Book', arguments: { id: '1003078' } },
    { 'mcp-name': '=?base64?Qm9vaw==?=' },
  );
  expect(called.result).toMatchObject({ structuredContent: { data: { book: { id: 'Book:1003078' } } } });
});

test.each<[string, object]>([
  ['no capabilities', { [VERSION_KEY]: EDITION }],
  ['capabilities that are no object', { ...META, 'io.modelcontextprotocol/clientCapabilities': 'all' }],
  ['a client without a name', { ...META, 'io.modelcontextprotocol/clientInfo': { version: '1' } }],
  ['no edition', { 'io.modelcontextprotocol/clientCapabilities': {} }],
  ['nothing', {}],
])('a request whose `_meta` has %s is 400 and -32602', async (_, meta) => {
  expect(await ask('tools/list', {}, {}, meta)).toMatchObject({ status: 400, id: 'q', error: { code: -32602 } });
});

test('server/discover without `_meta` is malformed as well, with and without the headers', async () => {
  for (const headers of [{}, headersFor('server/discover', {})]) {
    const { status, text } = await post(url, { jsonrpc: '2.0', id: 1, method: 'server/discover' }, headers);
    expect([status, JSON.parse(text)]).toMatchObject([400, { id: 1, error: { code: -32602 } }]);
  }
});

test('a client may leave out its name, or write null for it', async () => {
  const meta = { ...META, 'io.modelcontextprotocol/clientInfo': null };
  expect((await ask('tools/list', { cursor: null }, {}, meta)).status).toBe(200);
});

test.each<Record<string, string>>([{}, { 'mcp-protocol-version': EDITION }, { 'mcp-protocol-version': '2025-03-26' }])(
  'there are no batches: with the headers %j, a list of messages is one error',
  async (headers) => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const modern = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } };
    for (const body of [[], [ping], [ping, modern], Array.from({ length: 100 }, () => ping)]) {
      const { status, text } = await post(url, body, headers);
      const error = { code: -32600, message: 'A body has one message, not a list of them.' };
      expect([status, JSON.parse(text)]).toEqual([400, { jsonrpc: '2.0', id: null, error }]);
    }
  },
);

test('a notification is accepted without a body, and one of an unknown edition is rejected', async () => {
  const notification = (version: string) => ({
    ...{ jsonrpc: '2.0', method: 'notifications/anything', params: { _meta: { ...META, [VERSION_KEY]: version } } },
  });
  const sent = (version: string) => post(url, notification(version), { 'mcp-protocol-version': version });
  expect(await sent(EDITION)).toMatchObject({ status: 202, text: '' });
  expect((await sent('1999-01-01')).status).toBe(400);
});

test('a session id, and the number of the last event, are ignored', async () => {
  const answer = await ask('tools/list', {}, { 'mcp-session-id': 'any', 'last-event-id': '7' });
  expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
});
