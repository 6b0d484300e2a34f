// Counts the functions that one upstream call enters: node scripts/call-path.mjs [--list]
// Counts function entries in src while a record is loaded by one request over a real socket, as V8's precise coverage counts them (an
// async function also at each await): of the call itself, and with loading and cache around it, from `RecordLoader.load` to its result.
// Everything is warm: the connection is open and the token is known. --list names each function.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const WARM_CALLS = 20;
const root = fileURLToPath(new URL('..', import.meta.url));
const bundle = `${root}dist/call-path.js`;
const { outputFiles } = await build({
  stdin: {
    contents: `
      export { createUpstream } from './src/upstream/client.ts';
      export { createCancellationToken } from './src/lib/cancellation.ts';
      export { bookEndpoints } from './src/api/book.ts';
      export { readConfig } from './src/config/read.ts';`,
    resolveDir: root,
    loader: 'ts',
  },
  absWorkingDir: root,
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});
const code = outputFiles ? outputFiles[0].text : await import('node:fs').then((fs) => fs.readFileSync(bundle, 'utf8'));
const { createUpstream, createCancellationToken, bookEndpoints, readConfig } = await import(pathToFileURL(bundle).href);

const service = createServer((request, response) => {
  const [, id] = /\/book\/(\d+)/.exec(request.url);
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ id, title: 'One Hundred Years of Solitude' }));
});
service.listen(0, '127.0.0.1');
await once(service, 'listening');
const baseUrl = `http://127.0.0.1:${service.address().port}`;
const upstream = createUpstream({ ...readConfig({}), baseUrl, eventBaseUrl: baseUrl });

const source = { endpoint: bookEndpoints.byId, input: (id) => ({ id }) };
const operation = () =>
  upstream.forOperation(
    { authorization: 'Bearer reader', address: '127.0.0.1', requestId: 'call-path' },
    createCancellationToken(),
  );
const load = (of, id) => of.records.load('Book', source, String(id), ['id', 'title'], { id: String(id) }, undefined);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let id = 1; id <= WARM_CALLS; id++) await load(operation(), id);
const measured = operation();
await session.post('Profiler.takePreciseCoverage');
await load(measured, WARM_CALLS + 1);
const { result } = await session.post('Profiler.takePreciseCoverage');
await upstream.close();
service.close();
service.closeAllConnections();

/** esbuild writes the name of each file before its code. */
const starts = [...code.matchAll(/^\/\/ (src\/\S+\.ts)$/gm)].map(({ index, 1: file }) => ({ index, file }));
const fileAt = (offset) => starts.findLast(({ index }) => index <= offset)?.file ?? 'elsewhere';
const files = new Map();
for (const { functionName, ranges } of result.find(({ url }) => url.endsWith('/dist/call-path.js')).functions) {
  const [{ startOffset, count }] = ranges;
  if (count === 0 || startOffset === 0) continue;
  const file = fileAt(startOffset);
  if (functionName === '<instance_members_initializer>') continue; // a part of the constructor
  const functions = files.get(file) ?? files.set(file, []).get(file);
  functions.push({ name: functionName || '(anonymous)', count });
}
const entriesOf = (functions) => functions.reduce((sum, { count }) => sum + count, 0);
const isAround = (file) => /upstream\/(loading|cache|upstream-session)/.test(file);
for (const [file, functions] of [...files].sort((a, b) => entriesOf(b[1]) - entriesOf(a[1]))) {
  console.log(String(entriesOf(functions)).padStart(4), file);
  if (process.argv.includes('--list')) for (const { name, count } of functions) console.log(`       ${count} ${name}`);
}
const totalOf = (some) =>
  `${some.reduce((sum, [, each]) => sum + entriesOf(each), 0)} function entries in ${some.length} files`;
console.log(
  `the call: ${totalOf([...files].filter(([file]) => !isAround(file)))}; with loading and cache: ${totalOf([...files])}`,
);
