/** Runs the examples of docs/agents.md: the ways to connect, and the session. */
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, expect, test } from 'vitest';
import { HttpError, httpErrorBody } from '../../../../src/server/http/response/http-error.ts';
import { agent } from '../../../support/agent.ts';
import { journey } from '../../../support/journey.ts';
import { temporaryDirectory } from '../../../support/service.ts';

const page = readFileSync('docs/agents.md', 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, language, text]) => ({
  language,
  text: text!,
}));
/** The block with these words, and its JSON if it has commas at the end of lists. */
const shown = (words: string) => blocks.find(({ text }) => text.includes(words))!.text;
const json = (words: string) => JSON.parse(shown(words).replaceAll(/,(?=\s*[}\]])/g, '')) as object;

const SHOWN_AT = 'http://localhost:4000';
let url: string;
beforeAll(async () => {
  ({ url } = (await journey({ mcp: 'on', mcpOperations: 'operations', recordTtlSeconds: '0' })).facade);
});

/** Compares a part of the response: `…` stands for any text; objects may have more members and lists more items. */
function expectShown(response: unknown, part: unknown, path = ''): void {
  if (part === '…') return expect([path, typeof response]).toEqual([path, 'string']);
  if (typeof part !== 'object' || part === null) return expect([path, response]).toEqual([path, part]);
  for (const [name, value] of Object.entries(part))
    expectShown((response as Record<string, unknown> | null)?.[name], value, `${path}.${name}`);
}

test('a desktop client connects with the printed configuration', async () => {
  const { mcpServers } = json('mcpServers') as {
    mcpServers: Record<string, { type: string; url: string; headers: Record<string, string> }>;
  };
  const { type, url: address, headers } = mcpServers.catalog!;
  expect(type).toBe('http');
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(address.replace(SHOWN_AT, url)), { requestInit: { headers } }),
  );
  const { isError } = await client.callTool({ name: 'Diary', arguments: { user: 'alice' } });
  expect(isError).toBeUndefined();
  await client.close();
});

test('the printed program runs', async () => {
  const folder = temporaryDirectory();
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const epilogue =
    'console.log(JSON.stringify({ names: tools.map(({ name }) => name), structuredContent }));\nawait client.close();\n';
  writeFileSync(join(folder, 'program.mjs'), `${shown('new Client(').replace(SHOWN_AT, url)}\n${epilogue}`);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')]);
  const { names, structuredContent } = JSON.parse(stdout) as { names: string[]; structuredContent: object };
  expect(names).toContain('Book');
  expect(structuredContent).toMatchObject({ data: { book: { id: 'Book:1003078' } } });
});

test('the session has the printed responses', async () => {
  const { client, call } = await agent(url, 'demo-bob');
  const spaced = (text: string) => text.replaceAll(/\s+/g, ' ');
  for (const { name, description } of (await client.listTools()).tools)
    if (name === 'Book' || name === 'Film') expect(spaced(shown('Book '))).toContain(spaced(`${name} ${description}`));

  expectShown((await call('Search', { query: '百年' })).output, json('"searchBooks"'));
  let failed = await call('Film', { id: '1295644' });
  while (!failed.isError || failed.output.cost.calls.catalog > 0) failed = await call('Film', { id: '1295644' });
  const [error] = failed.output.errors!;
  const seconds = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(String(error!.retryAfter), '42')) as unknown;
  expectShown(seconds(failed.output), json('RATE_LIMITED'));
});

test('a rejection is as printed', () => {
  const message = 'The server is overloaded.';
  const error = new HttpError('OVERLOADED', message, { headers: { 'retry-after': '1' } });
  expect(JSON.parse(httpErrorBody(error, { helpUrl: undefined }, 'json-rpc'))).toEqual(json('-32000'));
});
