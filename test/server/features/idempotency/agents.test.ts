import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type ToolOutput, agent, facadeOver, post } from '../../../support/agent.ts';
import { directService } from '../../../support/keyed-writes.ts';
import { losingProxy } from '../../../support/losing-proxy.ts';
import { service } from '../../../support/service.ts';

const mcpOperations = mkdtempSync(join(tmpdir(), 'keyed-'));
writeFileSync(
  join(mcpOperations, 'comment.graphql'),
  `mutation Comment($noteId: ID!, $content: String!) {
    createNoteComment(input: { noteId: $noteId, content: $content }) { comment { id content } }
  }`,
);

let proxy: Awaited<ReturnType<typeof losingProxy>>;
let client: Awaited<ReturnType<typeof agent>>['client'];
let noteId: string;
let url: string;
beforeAll(async () => {
  const origin = await service();
  proxy = await losingProxy(origin.url, () => undefined);
  const direct = directService(origin.url, 'demo-alice', 'alice');
  noteId = (await direct.json('POST', '/v2/notes', { title: 'a note', content: 'with comments' })).id;
  const { facade } = await facadeOver(proxy.url, { mcpOperations, mcpWrites: 'on' });
  ({ url } = facade);
  ({ client } = await agent(url, 'demo-alice'));
});

/** Calls the tool with a key in its metadata. */
async function comment(content: string, key?: unknown) {
  const result = await client.callTool({
    name: 'Comment',
    arguments: { noteId, content },
    ...(key !== undefined && { _meta: { 'catalog-graphql/idempotency-key': key } }),
  });
  const { data, errors } = result.structuredContent as ToolOutput;
  return { isError: result.isError === true, data, code: errors?.[0]?.code };
}

/** How many writes with the content the service carried out. */
const writesOf = (content: string): number =>
  proxy.reached.filter(({ body, status }) => body.includes(content) && status < 300).length;

test('a tool call that is repeated with its key gets the first response, and the service gets one write', async () => {
  const [key, content] = [randomUUID(), randomUUID()];
  const first = await comment(content, key);
  expect(first).toMatchObject({ isError: false, data: { createNoteComment: { comment: { content } } } });
  expect(await comment(content, key)).toEqual(first);
  expect(writesOf(content)).toBe(1);
});

test('a tool call without a key, or with another one, writes again', async () => {
  const content = randomUUID();
  for (const key of [undefined, undefined, randomUUID(), randomUUID()])
    expect(await comment(content, key)).toMatchObject({ isError: false });
  expect(writesOf(content)).toBe(4);
});

test('the key of a tool call is rejected with other arguments', async () => {
  const [key, content, other] = [randomUUID(), randomUUID(), randomUUID()];
  await comment(content, key);
  expect(await comment(other, key)).toMatchObject({ isError: true, code: 'IDEMPOTENCY_KEY_REUSED' });
  expect([writesOf(content), writesOf(other)]).toEqual([1, 0]);
});

test.each([[''], [' '], ['a b'], [7], [0], [true], [false], [['a']], [{ key: 'a' }]])(
  'the key %j of a tool call is rejected, and nothing is written',
  async (key) => {
    const content = randomUUID();
    expect(await comment(content, key)).toMatchObject({ isError: true, code: 'BAD_IDEMPOTENCY_KEY' });
    expect(writesOf(content)).toBe(0);
  },
);

/** Posts the call with a key in its header, one in its metadata, or both. */
const posted = async (content: string, { header, meta }: { header?: string; meta?: string }) => {
  const params = {
    ...{ name: 'Comment', arguments: { noteId, content } },
    ...(meta !== undefined && { _meta: { 'catalog-graphql/idempotency-key': meta } }),
  };
  const headers = { authorization: 'Bearer demo-alice', ...(header !== undefined && { 'idempotency-key': header }) };
  const response = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
  const { result } = JSON.parse(response.text) as { result: { structuredContent: ToolOutput } };
  const { data, errors } = result.structuredContent;
  return { data, code: errors?.[0]?.code, replayed: response.headers.get('idempotency-replayed') };
};

test('the header is the key of a call that has none in its metadata, and a response that is sent again is marked', async () => {
  const [header, content] = [randomUUID(), randomUUID()];
  const first = await posted(content, { header });
  expect(first).toMatchObject({ data: { createNoteComment: { comment: { content } } }, replayed: null });
  expect(await posted(content, { header })).toEqual({ ...first, replayed: 'true' });
  expect(await posted(content, { meta: header })).toEqual({ ...first, replayed: 'true' });
  expect(writesOf(content)).toBe(1);
  const meta = randomUUID();
  expect(await posted(content, { header, meta })).toMatchObject({ code: undefined, replayed: null });
  expect(writesOf(content)).toBe(2);
});

test('a page may send the header, and read the mark', async () => {
  const origin = 'http://localhost:5173';
  const headers = { origin, 'access-control-request-method': 'POST' };
  const preflight = await fetch(new URL('/mcp', url), { method: 'OPTIONS', headers });
  expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key');
  expect(preflight.headers.get('access-control-expose-headers')).toContain('idempotency-replayed');
});
