// Counts what whole queries pass in the facade: node build.mjs src/main.ts && node scripts/query-path.mjs
// They are two fields of a book, an event by its id with its organizer, and an update with a new document.
// Each function of src gets a line that records its entry; the origin runs in a process of its own, and the fourth request counts. Printed
// are function entries, functions, files and changes of file.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

const WARM = 3;
/** The entries and files of today. More than a tenth above them fails. */
const HELD = { book: [356, 76], event: [1494, 85], update: [768, 84] };
const root = fileURLToPath(new URL('..', import.meta.url));

/** The source with a call of `entered` at the entry of each function. */
function instrumented(path) {
  const text = readFileSync(path, 'utf8');
  const file = relative(root, path);
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const inserts = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const call = `globalThis.entered?.(${JSON.stringify(`${file}:${node.pos}`)})`;
      if (ts.isBlock(node.body)) inserts.push([node.body.getStart(source) + 1, `${call};`]);
      else inserts.push([node.body.getStart(source), `(${call}, `], [node.body.end, ')']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let made = text;
  // From the end; of two at one place the outer one is inserted last, so that it comes first.
  const order = inserts.map((insert, index) => [...insert, index]);
  order.sort((a, b) => b[0] - a[0] || (a[1] === ')' ? a[2] - b[2] : b[2] - a[2]));
  for (const [at, what] of order) made = made.slice(0, at) + what + made.slice(at);
  return made;
}

const bundle = join(root, 'dist/query-path.js');
await build({
  stdin: {
    contents: `
      export { createGraphServer, createParts } from './src/server/server.ts';
      export { readConfig } from './src/config/read.ts';
      export { createLog } from './src/lib/log.ts';`,
    resolveDir: root,
    loader: 'ts',
  },
  absWorkingDir: root,
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  plugins: [
    {
      name: 'entries',
      setup: ({ onLoad }) =>
        onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({ contents: instrumented(path), loader: 'ts' })),
    },
  ],
});
const { createGraphServer, createParts, readConfig, createLog } = await import(pathToFileURL(bundle).href);

const data = mkdtempSync(join(tmpdir(), 'query-path-'));
const originPort = await freePort();
const env = { ...process.env, DATA_DIR: data, ORIGIN_PORT: String(originPort) };
const origin = spawn(process.execPath, [join(root, 'dist/main.js'), 'origin'], { env, stdio: 'ignore' });
const service = `http://127.0.0.1:${originPort}`;
while (!(await fetch(service).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 100));

const config = readConfig({ BASE_URL: service, EVENT_BASE_URL: service, RECORD_TTL_SECONDS: '0', LOG_LEVEL: 'error' });
const parts = createParts(config, createLog('error', { write: () => undefined }));
const { server, shutDown } = createGraphServer(config, parts);
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${server.address().port}/graphql`;
const send = async (query) => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
};

const { data: listed } = JSON.parse(await send('{ city(id: "beijing") { id events(first: 1) { nodes { id } } } }'));
const event = listed?.city?.events?.nodes?.[0]?.id ?? '';
const queries = {
  book: () => '{ book(id: "1003078") { title publishedOn } }',
  event: () => `{ node(id: "${event}") { ... on Event { title organizer { name } } } }`,
  update: (turn) =>
    `mutation M${turn} { collectBook(input: { bookId: "1003078", status: READING, private: false, onConflict: UPDATE }) { book { title } } }`,
};
for (const [name, queryOf] of Object.entries(queries)) {
  for (let turn = 0; turn < WARM; turn++) await send(queryOf(turn));
  const entries = [];
  globalThis.entered = (place) => entries.push(place);
  const text = await send(queryOf(WARM));
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.entered = undefined;
  const files = entries.map((place) => place.split(':')[0]);
  const hops = files.filter((file, at) => at > 0 && file !== files[at - 1]).length;
  const measured = [entries.length, new Set(files).size];
  if (text.includes('"errors"') || measured.some((count, at) => count > 1.1 * HELD[name][at])) process.exitCode = 1;
  console.log(
    `${name}: ${entries.length} entries, ${new Set(entries).size} functions, ${new Set(files).size} files, ${hops} changes of file${text.includes('"errors"') ? ` (${text})` : ''}`,
  );
}
await shutDown();
await parts.upstream.close();
origin.kill();
rmSync(data, { recursive: true, force: true });

async function freePort() {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address();
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
