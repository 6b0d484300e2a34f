import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../src/config/documents/trusted-documents.ts';
import { agent } from '../support/agent.ts';
import { journey } from '../support/journey.ts';
import { startProgram } from '../support/program.ts';
import { startFacade } from '../support/start-facade.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const old = 'query Old { book(id: "6082808") { title } }';
const fresh = 'query Fresh { book(id: "6082808") { id title } }';
const manifestOf = (...texts: string[]) =>
  JSON.stringify(Object.fromEntries(texts.map((text) => [sha256Of(text), text])));

/** As editors and deployments do it. */
function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

async function post(url: string, body: object) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
const byHash = (url: string, text: string) => post(url, { documentId: `sha256:${sha256Of(text)}` });

/** Waits for what the watch does within a few looks. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

test('a manifest that is replaced under load is used, and no request fails', async () => {
  const path = join(folder(), 'manifest.json');
  writeFileSync(path, manifestOf(old));
  const { facade } = await journey({ persistedOperations: path, persistedOnly: 'on' });
  const statuses = new Set<number>();
  let isOver = false;
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) statuses.add((await byHash(facade.url, old)).status);
  });
  expect((await byHash(facade.url, fresh)).status).not.toBe(200);
  replace(path, manifestOf(old, fresh));
  await until(async () => (await byHash(facade.url, fresh)).status === 200);
  isOver = true;
  await Promise.all(load);
  expect([...statuses]).toEqual([200]);
});

test('a document that is no longer in the manifest is rejected, also if its response was stored', async () => {
  const path = join(folder(), 'manifest.json');
  const named = (body: string) =>
    JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: 'book', body }] });
  writeFileSync(path, named(old));
  const { facade } = await journey({ persistedOperations: path });
  const read = () => post(facade.url, { documentId: 'book' });
  expect((await read()).text).toBe('{"data":{"book":{"title":"百年孤独"}}}');
  expect((await read()).text).toBe('{"data":{"book":{"title":"百年孤独"}}}'); // stored by now
  writeFileSync(path, named(fresh));
  await facade.reload();
  expect((await read()).text).toBe('{"data":{"book":{"id":"Book:6082808","title":"百年孤独"}}}');
  writeFileSync(path, manifestOf(old));
  await facade.reload();
  expect((await read()).text).toContain('PERSISTED_QUERY_NOT_FOUND');
});

test('a broken manifest changes nothing: it is logged, and told by readiness, until it is mended', async () => {
  const path = join(folder(), 'manifest.json');
  writeFileSync(path, manifestOf(old));
  const { facade, logged } = await startFacade({ persistedOperations: path, persistedOnly: 'on' });
  const ready = async () => (await (await fetch(`${facade.url}/ready`)).json()) as { manifests: object };
  expect((await ready()).manifests).toEqual({ PERSISTED_OPERATIONS: 'current' });
  for (const broken of ['{', '{}', JSON.stringify({ [sha256Of(old)]: fresh }), '{"a":"query {"}']) {
    logged.length = 0;
    writeFileSync(path, broken);
    await facade.reload();
    expect((await ready()).manifests).toEqual({ PERSISTED_OPERATIONS: 'outdated' });
    expect(logged.join('')).toMatch(/"level":50.*PERSISTED_OPERATIONS cannot be used as it is now/);
    expect((await byHash(facade.url, old)).text).not.toContain('PERSISTED');
  }
  rmSync(path);
  await facade.reload();
  expect((await ready()).manifests).toEqual({ PERSISTED_OPERATIONS: 'outdated' });
  writeFileSync(path, manifestOf(old));
  await facade.reload();
  expect((await ready()).manifests).toEqual({ PERSISTED_OPERATIONS: 'current' });
});

test('a new manifest with a document that can never run is used, and the document is rejected when it is sent', async () => {
  const path = join(folder(), 'manifest.json');
  writeFileSync(path, manifestOf(old));
  const { facade } = await startFacade({ persistedOperations: path });
  const outdated = 'query Outdated { nope }';
  writeFileSync(path, manifestOf(old, outdated));
  await facade.reload();
  expect(JSON.stringify(await byHash(facade.url, outdated))).toContain('Cannot query field');
  expect(await byHash(facade.url, old)).toMatchObject({ status: 200 });
});

test('a mounted ConfigMap is read again when its link changes, manifest and operations of agents alike', async () => {
  const mount = folder();
  /** As Kubernetes does it: files are links into `..data`, which is a link to the folder of the present version. */
  function publish(version: string, files: Record<string, string>): void {
    mkdirSync(join(mount, version));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(mount, version, name), content);
    symlinkSync(version, join(mount, '..data_tmp'));
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
  }
  publish('..1', { 'manifest.json': manifestOf(old), 'a.graphql': old });
  for (const name of ['manifest.json', 'a.graphql']) symlinkSync(`..data/${name}`, join(mount, name));
  const { facade } = await journey({
    ...{ persistedOperations: join(mount, 'manifest.json'), mcp: 'on', mcpOperations: mount },
  });
  const tools = async () => (await (await agent(facade.url)).client.listTools()).tools.map(({ name }) => name);
  expect(await tools()).toEqual(['Old']);
  publish('..2', { 'manifest.json': manifestOf(fresh), 'a.graphql': fresh });
  await until(async () => (await tools())[0] === 'Fresh');
  await until(async () => (await byHash(facade.url, fresh)).status === 200);
  publish('..3', { 'manifest.json': manifestOf(fresh), 'a.graphql': 'query Broken { nope }' });
  await facade.reload();
  expect(await tools()).toEqual(['Fresh']);
  const { manifests } = (await (await fetch(`${facade.url}/ready`)).json()) as { manifests: object };
  expect(manifests).toEqual({ PERSISTED_OPERATIONS: 'current', MCP_OPERATIONS: 'outdated' });
});

test('SIGHUP reads the manifest again', async () => {
  const path = join(folder(), 'manifest.json');
  writeFileSync(path, manifestOf(old));
  const env = { PORT: '0', ORIGIN_PORT: '0', PERSISTED_OPERATIONS: path, PERSISTED_ONLY: 'on' };
  const program = await startProgram(env);
  writeFileSync(path, manifestOf(old, fresh));
  process.kill(program.pid, 'SIGHUP');
  await until(async () => (await byHash(program.url, fresh)).status === 200);
  program.expectUnharmed();
  expect((await program.stop()).code).toBe(0);
});
