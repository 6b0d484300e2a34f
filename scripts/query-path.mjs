// Counts what requests pass in the facade: node build.mjs src/main.ts && node scripts/query-path.mjs [--write | --list NAME]
// Each function of src gets a line that records its entry; the origin runs in a process of its own. After three requests, of five the one
// with the fewest entries counts: a timer may fire beside the others. Fails if entries or files are more than a tenth above query-path.json;
// --write puts the counts there, --list prints the entries of one request in their order. Where redis-server is not installed, what passes
// Redis is not counted.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

const WARM = 3;
const COUNTED = 5;
const TOLERANCE = 1.1;
const root = fileURLToPath(new URL('..', import.meta.url));
const bounds = join(root, 'scripts/query-path.json');

const { createGraphServer, createCore, allFeatures, readConfig, createLog, createCancellationToken, bookEndpoints } =
  await instrumentedFacade();
const origin = await startOrigin();
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
const redis = hasRedis ? await startRedis() : undefined;
const names = { update: '1003078', 'keyed update': '6082808', 'retry of it': '27025715' };

const rows = {};
const uncached = await openFacade({ RECORD_TTL_SECONDS: '0' });
await count('book', () => uncached.send('{ book(id: "1003078") { title publishedOn } }'));
const listed = await uncached.send('{ city(id: "beijing") { id events(first: 1) { nodes { id } } } }');
const event = listed.city.events.nodes[0].id;
await count('event', () => uncached.send(`{ node(id: "${event}") { ... on Event { title organizer { name } } } }`));
await count('record load', () => uncached.loadRecord());
await uncached.close();
for (const [suffix, env] of Object.entries({ '': {}, ...(redis && { ' with Redis': { REDIS_URL: redis.url } }) })) {
  const facade = await openFacade(env);
  await count(`cached book${suffix}`, () => facade.send('{ book(id: "1003078") { title publishedOn } }'));
  await count(`replacement${suffix}`, (turn) => facade.send(write(turn, names.update, 'REPLACE')));
  await count(`update${suffix}`, (turn) => facade.send(write(turn, names.update, 'UPDATE')));
  await count(`keyed update${suffix}`, (turn) =>
    facade.send(write(turn, names['keyed update'], 'UPDATE'), randomUUID()),
  );
  const key = randomUUID();
  await count(`retry of it${suffix}`, () => facade.send(write(0, names['retry of it'], 'UPDATE'), key));
  await facade.close();
}
origin.stop();
redis?.stop();

console.table(rows);
if (process.argv.includes('--write')) writeFileSync(bounds, `${JSON.stringify(rows, null, 2)}\n`);
else
  for (const [name, held] of Object.entries(JSON.parse(readFileSync(bounds, 'utf8')))) {
    if (!rows[name] && !redis) continue;
    if (rows[name]?.entries <= TOLERANCE * held.entries && rows[name].files <= TOLERANCE * held.files) continue;
    console.error(`${name}: more than a tenth above ${held.entries} entries or ${held.files} files.`);
    process.exitCode = 1;
  }

/** A mutation whose text is new, in each of its turns. */
function write(turn, id, onConflict) {
  const input = `bookId: "${id}", status: ${turn % 2 ? 'READING' : 'READ'}, isPrivate: false, onConflict: ${onConflict}`;
  return `mutation M${onConflict}${turn} { collectBook(input: { ${input} }) { book { title } } }`;
}

async function count(name, request) {
  for (let turn = 0; turn < WARM; turn++) await request(turn);
  const counted = [];
  for (let turn = WARM; turn < WARM + COUNTED; turn++) {
    const entries = [];
    globalThis.entered = (place) => entries.push(place);
    await request(turn);
    await new Promise((resolve) => setTimeout(resolve, 50)); // what follows the response
    globalThis.entered = undefined;
    counted.push(entries);
  }
  const entries = counted.reduce((fewest, other) => (other.length < fewest.length ? other : fewest));
  const files = entries.map((place) => place.split(':')[0]);
  const changes = files.filter((file, at) => at > 0 && file !== files[at - 1]).length;
  rows[name] = { entries: entries.length, functions: new Set(entries).size, files: new Set(files).size, changes };
  if (process.argv.includes('--list') && process.argv.includes(name)) console.log(entries.join('\n'));
}

async function openFacade(env) {
  const config = readConfig({ BASE_URL: origin.url, EVENT_BASE_URL: origin.url, LOG_LEVEL: 'error', ...env });
  const core = createCore(config, createLog('error', { write: () => undefined }));
  const { server, shutDown } = createGraphServer(core, allFeatures({}));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/graphql`;
  return {
    async send(query, key) {
      const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-alice' };
      if (key) headers['idempotency-key'] = key;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
      const body = await response.json();
      if (body.errors) throw new Error(JSON.stringify(body.errors));
      return body.data;
    },
    loadRecord() {
      const sender = { authorization: 'Bearer demo-alice', address: '127.0.0.1', requestId: 'query-path' };
      const { records } = core.upstream.forOperation(sender, createCancellationToken());
      const source = { endpoint: bookEndpoints.byId, input: (id) => ({ id }) };
      return records.load('Book', source, '1003078', ['id', 'title'], { id: '1003078' }, undefined);
    },
    async close() {
      await shutDown();
      await core.close();
    },
  };
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

async function startRedis() {
  const port = await freePort();
  const arguments_ = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', arguments_, { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) =>
    child.stdout.on('data', (text) => String(text).includes('Ready to accept') && resolve(undefined)),
  );
  return { url: `redis://127.0.0.1:${port}`, stop: () => child.kill() };
}

async function freePort() {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address();
  await new Promise((resolve) => taken.close(resolve));
  return port;
}
