// Mixed load for some minutes, to detect growth: node scripts/soak.mjs [minutes] [requests a second]
// Everything runs on 127.0.0.1: the facade with its origin, a faulty proxy between them, and clients of all kinds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { Agent, createServer, request as forward } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram, nodeFlags } from '../build.mjs';

const MINUTES = Number(process.argv[2] ?? 10);
const RATE = Number(process.argv[3] ?? 60);
const SAMPLE_MS = 5_000;

await buildProgram();
const dataDir = mkdtempSync(join(tmpdir(), 'catalog-soak-'));
const started = async (args, env, pattern) => {
  const child = spawn(process.execPath, [...nodeFlags, 'dist/main.js', ...args], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  while (!pattern.test(said)) said += String((await once(child.stdout, 'data'))[0]);
  return { child, url: pattern.exec(said)[1] };
};
const origin = await started(['origin'], { ORIGIN_PORT: '0' }, /origin +(\S+)/);

/** A proxy that forwards most requests, and resets, delays, truncates or rejects the rest. */
const agent = new Agent({ keepAlive: true });
const between = createServer((incoming, outgoing) => {
  const luck = Math.random();
  if (luck < 0.01) return void incoming.socket.resetAndDestroy();
  if (luck < 0.02) return void outgoing.writeHead(503).end();
  if (luck < 0.03) return void outgoing.writeHead(200, { 'content-length': 1_000 }).write('{"id":');
  const { hostname, port } = new URL(origin.url);
  const { method, url, headers } = incoming;
  const onward = forward({ agent, hostname, port, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}).listen(0, '127.0.0.1');
await once(between, 'listening');
const address = `http://127.0.0.1:${between.address().port}`;
const upstreams = { BASE_URL: address, EVENT_BASE_URL: address, ACCESS_TOKEN: 'demo-app' };
const quick = { USAGE: 'on', CALL_TIMEOUT_MS: '2000', RECORD_TTL_SECONDS: '5', PORT: '0' };
const facade = await started([], { ...upstreams, ...quick }, /graph +(\S+)\/graphql/);
const { port } = new URL(facade.url);

const search = (await (await fetch(`${origin.url}/v2/book/search?q=的&count=100&fields=id`)).json()).books.map(
  ({ id }) => id,
);
const pages = readdirSync('operations')
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => readFileSync(`operations/${name}`, 'utf8'))
  .map((query) => ({ query, variables: JSON.parse(/^# variables: (.*)$/m.exec(query)?.[1] ?? '{}') }));
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const count = {};
const seen = (what) => (count[what] = (count[what] ?? 0) + 1);

async function post(body, headers = {}, signal) {
  const answer = await fetch(`${facade.url}/graphql`, {
    method: 'POST',
    body,
    signal,
    headers: { 'content-type': 'application/json', ...headers },
  });
  await answer.arrayBuffer();
  seen(answer.status);
}
const ask = (query, variables, token) =>
  post(JSON.stringify({ query, variables }), token ? { authorization: `Bearer ${token}` } : {});
const token = () =>
  pick(['demo-alice', 'demo-bob', 'demo-carol', undefined, `stranger-${Math.floor(Math.random() * 5_000)}`]);

const clients = [
  () =>
    ask(
      'query($id:ID!){book(id:$id){title authors rating{average} tags{name} annotations(first:3){nodes{content}}}}',
      { id: pick(search) },
      token(),
    ),
  () =>
    ask(
      'query($q:String){searchBooks(query:$q,first:10){totalCount nodes{title viewerCollection{status}}}}',
      { q: pick(['的', '活', '书', 'x']) },
      token(),
    ),
  () => ask('{ inTheaters(first: 5) { nodes { title directors { name } } } }', {}, token()),
  () => ask('{ searchEvents(first: 5) { nodes { title participants(first: 3) { nodes { name } } } } }', {}, token()),
  () => {
    const { query, variables } = pick(pages);
    return ask(query, variables, token());
  },
  () => ask(`{ a${Math.floor(Math.random() * 1e9)}: book(id: ${pick(search)}) { title } }`), // always a new document
  () =>
    ask(
      'mutation($i:CollectBookInput!){collectBook(input:$i){collection{status}}}',
      { i: { bookId: pick(search), status: pick(['READ', 'WISH']), onConflict: 'UPDATE' } },
      pick(['demo-alice', 'demo-bob']),
    ),
  () => ask('{ nope'),
  () => ask(`{ book(id: 1) { ${'id '.repeat(2_000)} } }`),
  () => post('x'.repeat(1_100_000)),
  () =>
    post(
      JSON.stringify({ query: '{ searchBooks(query: "的", first: 50) { nodes { title summary } } }' }),
      {},
      AbortSignal.timeout(5 + Math.floor(Math.random() * 30)),
    ).catch(() => seen('left')),
  () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"qu',
        ),
      );
      socket.on('error', resolve).on('close', resolve);
      setTimeout(() => socket.destroy(), 200);
    }),
  async () => void (await (await fetch(`${facade.url}/metrics`)).text()),
  async () => void (await (await fetch(`${facade.url}/ready`)).text()),
  async () => {
    const form = new FormData();
    form.set(
      'operations',
      JSON.stringify({
        query:
          'mutation($f:Upload!){createAnnotation(input:{bookId:"1",content:"x",pictures:[{number:1,file:$f}]}){__typename}}',
        variables: { f: null },
      }),
    );
    form.set('map', '{"0":["variables.f"]}');
    form.set('0', new Blob([new Uint8Array(200_000)]), 'x.png');
    const answer = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      body: form,
      headers: { 'x-graphql-csrf': '1', authorization: 'Bearer demo-alice' },
    });
    await answer.arrayBuffer();
    seen(`form ${answer.status}`);
  },
];

const samples = [];
async function sample() {
  const text = await (await fetch(`${facade.url}/metrics`)).text();
  const read = (name) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  const fds = readdirSync(`/proc/${facade.child.pid}/fd`).length;
  samples.push({
    rss: read('process_resident_memory_bytes'),
    heap: read('nodejs_heap_size_used_bytes'),
    timers: read('nodejs_active_resources\\{type="Timeout"\\}') || 0, // prom-client leaves out types without a resource
    handles: read('nodejs_active_handles_total'),
    fds,
  });
}

const begun = performance.now();
let sent = 0;
let under = 0;
let sampled = 0;
while (performance.now() - begun < MINUTES * 60_000) {
  const passed = performance.now() - begun;
  for (; sent < (passed / 1_000) * RATE; sent++) {
    if (under >= 500) continue;
    under++;
    void pick(clients)()
      .catch((error) => seen(error.cause?.code ?? error.name))
      .finally(() => under--);
  }
  if (passed > sampled * SAMPLE_MS) {
    sampled++;
    await sample();
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
while (under > 0) await new Promise((resolve) => setTimeout(resolve, 50));
await new Promise((resolve) => setTimeout(resolve, 90_000)); // idle connections of clients are kept for 66 s, or a quarter more
await sample();
const last = samples.pop();

/** The median of an interval, so that garbage collections do not matter. */
const middle = (list, name) => list.map((each) => each[name]).sort((a, b) => a - b)[Math.floor(list.length / 2)];
const quarter = (nth) =>
  samples.slice(Math.floor((samples.length * (nth - 1)) / 4), Math.floor((samples.length * nth) / 4));
console.log(`${sent} requests in ${MINUTES} minutes`, JSON.stringify(count));
for (const name of ['rss', 'heap', 'timers', 'handles', 'fds']) {
  const quarters = [1, 2, 3, 4].map((nth) => middle(quarter(nth), name));
  const [early, late] = quarters.slice(2);
  if (late > early * 1.2) process.exitCode = 1; // it grows
  const shown = (value) => (value > 1e6 ? `${(value / 1e6).toFixed(1)} MB` : value);
  console.log(
    `${name.padEnd(8)} quarters ${quarters.map(shown).join(', ')}  last over third ${early ? (((late - early) / early) * 100).toFixed(1) : 0} %  at rest ${shown(last[name])}`,
  );
}

// Each upstream call is counted once, whatever the clients did.
const { operations } = await (await fetch(`${facade.url}/usage`)).json();
const metrics = await (await fetch(`${facade.url}/metrics`)).text();
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
const upstreamCalls = sum(
  [...metrics.matchAll(/^catalog_upstream_calls_total\{.*\} (\d+)$/gm)].map(([, n]) => Number(n)),
);
console.log(`usage: ${sum(operations.map((each) => each.calls))} calls; by the metric ${upstreamCalls}`);
const usage = spawn(process.execPath, ['dist/main.js', 'usage', facade.url], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
await once(usage, 'exit');
facade.child.kill('SIGTERM');
console.log('facade ended with', (await once(facade.child, 'exit'))[0]);
origin.child.kill('SIGTERM');
console.log('origin ended with', (await once(origin.child, 'exit'))[0]);
between.closeAllConnections();
between.close();
agent.destroy();
rmSync(dataDir, { recursive: true });
