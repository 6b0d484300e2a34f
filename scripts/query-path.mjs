// Counts what queries pass in the facade: node build.mjs src/main.ts && node scripts/query-path.mjs [--write | --list NAME]
// They are two fields of a book, an event by its id with its organizer, an update with a new document, and the load of one record, which is
// the part of a query that belongs to upstream. Each function of src gets a line that records its entry; the origin runs in a process of
// its own, and the fourth request counts. Fails if entries or files are more than a tenth above the table in docs/architecture.md;
// --write puts the counts there, --list prints the entries of one query in their order.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

const WARM = 3;
const TOLERANCE = 1.1;
const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs/architecture.md');
const table = /(<!-- path -->\n\n).*?(<!-- \/path -->)/s;

const { createGraphServer, createCore, allFeatures, readConfig, createLog, createCancellationToken, bookEndpoints } =
  await instrumentedFacade();
const origin = await startOrigin();
const config = readConfig({
  BASE_URL: origin.url,
  EVENT_BASE_URL: origin.url,
  RECORD_TTL_SECONDS: '0',
  LOG_LEVEL: 'error',
});
const core = createCore(config, createLog('error', { write: () => undefined }));
const { server, shutDown } = createGraphServer(core, allFeatures({}));
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${server.address().port}/graphql`;

async function send(query) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const body = await response.json();
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data;
}

function loadRecord() {
  const sender = { authorization: 'Bearer demo-alice', address: '127.0.0.1', requestId: 'query-path' };
  const { records } = core.upstream.forOperation(sender, createCancellationToken());
  const source = { endpoint: bookEndpoints.byId, input: (id) => ({ id }) };
  return records.load('Book', source, '1003078', ['id', 'title'], { id: '1003078' }, undefined);
}

const listed = await send('{ city(id: "beijing") { id events(first: 1) { nodes { id } } } }');
const event = listed.city.events.nodes[0].id;
const queries = {
  book: () => send('{ book(id: "1003078") { title publishedOn } }'),
  event: () => send(`{ node(id: "${event}") { ... on Event { title organizer { name } } } }`),
  update: (turn) =>
    send(
      `mutation M${turn} { collectBook(input: { bookId: "1003078", status: READING, isPrivate: false, onConflict: UPDATE }) { book { title } } }`,
    ),
  'record load': loadRecord,
};
const rows = [];
for (const [name, query] of Object.entries(queries)) {
  for (let turn = 0; turn < WARM; turn++) await query(turn);
  const entries = [];
  globalThis.entered = (place) => entries.push(place);
  await query(WARM);
  await new Promise((resolve) => setTimeout(resolve, 50)); // what follows the response
  globalThis.entered = undefined;
  const files = entries.map((place) => place.split(':')[0]);
  const changes = files.filter((file, at) => at > 0 && file !== files[at - 1]).length;
  rows.push([name, entries.length, new Set(entries).size, new Set(files).size, changes]);
  if (process.argv.includes('--list') && process.argv.includes(name)) console.log(entries.join('\n'));
}
await shutDown();
await core.close();
origin.stop();

const lines = [['', 'entries', 'functions', 'files', 'changes of file'], ['-', '-:', '-:', '-:', '-:'], ...rows];
const shown = lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
console.log(shown);
const text = readFileSync(page, 'utf8');
if (process.argv.includes('--write')) {
  const written = text.replace(table, `$1${shown}\n\n$2`);
  writeFileSync(page, await format(written, { ...(await resolveConfig(page)), filepath: page }));
} else {
  const [held] = table.exec(text);
  for (const [name, entries, , files] of rows) {
    const [, allowedEntries, allowedFiles] = new RegExp(`\\| ${name} +\\| +(\\d+) +\\| +\\d+ +\\| +(\\d+)`).exec(held);
    if (entries <= TOLERANCE * allowedEntries && files <= TOLERANCE * allowedFiles) continue;
    console.error(`${name}: more than a tenth above the table in docs/architecture.md.`);
    process.exitCode = 1;
  }
}

/** The facade from src, with a line at the entry of each function. */
async function instrumentedFacade() {
  const outfile = join(root, 'dist/query-path.js');
  await build({
    stdin: {
      contents: `
        export { createGraphServer } from './src/server/server.ts';
        export { createCore } from './src/server/core.ts';
        export { allFeatures } from './src/server/features/features.ts';
        export { readConfig } from './src/config/read.ts';
        export { createLog } from './src/lib/log.ts';
        export { createCancellationToken } from './src/lib/cancellation.ts';
        export { bookEndpoints } from './src/api/book.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    absWorkingDir: root,
    outfile,
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
  return import(pathToFileURL(outfile).href);
}

/** The source with a call of `entered` at the entry of each function. */
function instrumented(path) {
  const text = readFileSync(path, 'utf8');
  const file = relative(root, path);
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const inserts = [];
  const visit = (node, name) => {
    if (ts.isFunctionLike(node) && node.body) {
      const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const shown = node.name?.getText(source) ?? name;
      const call = `globalThis.entered?.(${JSON.stringify(`${file}:${line + 1}:${character + 1} ${shown}`)})`;
      if (ts.isBlock(node.body)) inserts.push([node.body.getStart(source) + 1, `${call};`]);
      else inserts.push([node.body.getStart(source), `(${call}, `], [node.body.end, ')']);
    }
    ts.forEachChild(node, (child) => visit(child, node.name?.getText(source) ?? ''));
  };
  visit(source, '');
  let made = text;
  // From the end; of two at one place the outer one is inserted last, so that it comes first.
  const order = inserts.map((insert, index) => [...insert, index]);
  order.sort((a, b) => b[0] - a[0] || (a[1] === ')' ? a[2] - b[2] : b[2] - a[2]));
  for (const [at, what] of order) made = made.slice(0, at) + what + made.slice(at);
  return made;
}

async function startOrigin() {
  const data = mkdtempSync(join(tmpdir(), 'query-path-'));
  const port = await freePort();
  const env = { ...process.env, DATA_DIR: data, ORIGIN_PORT: String(port) };
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'origin'], { env, stdio: 'ignore' });
  const originUrl = `http://127.0.0.1:${port}`;
  while (!(await fetch(originUrl).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 100));
  const stop = () => {
    child.kill();
    rmSync(data, { recursive: true, force: true });
  };
  return { url: originUrl, stop };
}

async function freePort() {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address();
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
