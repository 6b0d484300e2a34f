import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { made } from '../support/made.ts';
import { service, temporaryDirectory } from '../support/service.ts';

const module = pathToFileURL(await made('facade')).href;

/** What an embedding program does: a query, a mutation, an upload of a file, parts of incremental delivery, and the end. */
const program = `
const [module, service] = process.argv.slice(2);
const { createFacade } = await import(module);
const facade = createFacade({ baseUrl: service, eventBaseUrl: service, logLevel: 'warn', onLog: (line) => console.error(line) });
const send = async (body, headers = {}) => {
  const own = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const init = { method: 'POST', headers: { ...own, authorization: 'Bearer demo-alice', 'x-graphql-csrf': '1', ...headers }, body };
  const response = await facade.fetch(new Request('http://host/graphql', init));
  return [response.status, await response.text()];
};
const book = await send(JSON.stringify({ query: '{ book(id: "6082808") { title } city(id: "beijing") { name } }' }));
const parts = await send(JSON.stringify({ query: '{ book(id: "6082808") { id ... @defer { title } } }' }), { accept: 'multipart/mixed' });
const form = new FormData();
const input = { title: 'from another runtime', content: '<图片p_1>', pictures: [{ number: 1, file: null }] };
form.set('operations', JSON.stringify({ query: 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { storedPictures } }', variables: { input } }));
form.set('map', '{"0":["variables.input.pictures.0.file"]}');
form.set('0', new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...new Array(200).fill(0)])]), 'a.png');
const note = await send(form);
await facade.close();
console.log(JSON.stringify({ book, parts, note }));
`;

test.each([
  ['Bun', 'bun', []],
  ['Deno', 'deno', ['run', '--allow-all', '--node-modules-dir=manual']],
])('a facade inside a program of %s answers, writes and ends', async (_, name, args) => {
  const { url } = await service();
  const file = join(temporaryDirectory(), 'program.mjs');
  writeFileSync(file, program);
  const runtime = resolve('test/runtimes/node_modules/.bin', name);
  const { stdout, stderr } = await promisify(execFile)(runtime, [...args, file, module, url]);
  const { book, parts, note } = JSON.parse(stdout) as Record<'book' | 'parts' | 'note', [number, string]>;
  expect(stderr).toBe('');
  expect(book).toEqual([200, '{"data":{"book":{"title":"百年孤独"},"city":{"name":"北京"}}}']);
  expect(parts).toEqual([200, expect.stringContaining('"title":"百年孤独"')]);
  expect(note).toEqual([200, '{"data":{"createNote":{"storedPictures":[1]}}}']);
});

test.each([
  ['Bun', 'bun', []],
  ['Deno', 'deno', ['run', '--allow-all', '--node-modules-dir=manual']],
])('the example of a second service runs in a program of %s', async (_, name, args) => {
  const { url } = await service();
  const runtime = resolve('test/runtimes/node_modules/.bin', name);
  const env = { ...process.env, BASE_URL: url, EVENT_BASE_URL: url };
  const example = resolve('examples/second-service/main.mjs');
  const { stdout, stderr } = await promisify(execFile)(runtime, [...args, example], { env });
  expect(stderr).toBe('');
  expect(stdout).toContain('"title":"百年孤独","availability":{"inStock":3,"price":"39.50"}');
});
