// Measures how much agents in a loop slow people down: node scripts/agents-load.mjs [pairs of turns] [seconds of a turn] [people a second] [agents]
// Turns without and with the agents alternate, so that other load of the machine affects both. Everything runs on 127.0.0.1: the facade and
// the origin in processes of their own, and between them, in this process, a proxy with the latency of a service over a network.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram, nodeFlags } from '../build.mjs';

const [PAIRS = 10, SECONDS = 5, RATE = 40, AGENTS = 1] = process.argv.slice(2).map(Number);
const SERVICE_MS = 20;
/** The rate limit of the basic film tier applies to this one. */
const TOKEN = 'demo-bob';

await buildProgram();
const dataDir = mkdtempSync(join(tmpdir(), 'catalog-agents-'));
const keepAlive = new Agent({ keepAlive: true });
const origin = await start(['origin'], { ORIGIN_PORT: '0' }, /origin +(\S+)/);
let rejectedByOrigin = 0;
const proxy = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const onward = request(origin.url + url, { agent: keepAlive, method, headers }, (answer) => {
    if (answer.statusCode === 429) rejectedByOrigin++;
    setTimeout(() => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    }, SERVICE_MS);
  });
  onward.on('error', () => outgoing.destroy()); // the facade retries
  incoming.pipe(onward);
}).listen(0, '127.0.0.1');
await once(proxy, 'listening');
const service = `http://127.0.0.1:${proxy.address().port}`;
const settings = { PORT: '0', MCP: 'on', ACCESS_TOKEN: 'demo-app', RECORD_TTL_SECONDS: '0' };
const env = { ...settings, NODE_ENV: 'production', BASE_URL: service, EVENT_BASE_URL: service };
const facade = await start([], env, /graph +(\S+)\/graphql/);

/** People request a page. Agents call all tools that read, those of films most often; they are soon rejected, and continue. */
const page = { query: readFileSync('operations/book.graphql', 'utf8') };
const [columns, ...rows] = JSON.parse(readFileSync('demo/books.json', 'utf8')).books;
const books = rows.map((row) => row[columns.indexOf('id')]);
const tools = [
  ...[
    ['Film', { id: '1295644' }],
    ['Book', { id: '27025715' }],
    ['Film', { id: '1295644' }],
  ],
  ...[
    ['Search', { query: '百年' }],
    ['Film', { id: '1295644' }],
    ['Event', { id: '99000412' }],
  ],
];
let peopleFailed = 0;
let agentCalls = 0;

const ask = async (id) => {
  const { errors } = await post('/graphql', { ...page, variables: { id } });
  if (errors) peopleFailed++;
};
const callTool = async ([name, given]) => {
  await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
  agentCalls++;
};

const without = [];
const withAgents = [];
await turn(0); // until everything is compiled
await turn(AGENTS);
agentCalls = 0;
const [idleBefore, allBefore] = machine();
for (let pair = 0; pair < PAIRS; pair++) {
  const order = pair % 2 ? [withAgents, without] : [without, withAgents];
  for (const times of order) times.push(await turn(times === withAgents ? AGENTS : 0));
}

const [idleAfter, allAfter] = machine();

const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];
const row = (turns) => ({
  requests: turns.flat().length,
  'p50 ms': quantile(turns.flat(), 0.5).toFixed(1),
  'p90 ms': quantile(turns.flat(), 0.9).toFixed(1),
  'p99 ms': quantile(turns.flat(), 0.99).toFixed(1),
});
console.table({ without: row(without), 'with agents': row(withAgents) });
const ratios = withAgents.map((times, at) => quantile(times, 0.99) / quantile(without[at], 0.99));
const all = quantile(withAgents.flat(), 0.99) / quantile(without.flat(), 0.99);
const idle = Math.round((100 * (idleAfter - idleBefore)) / (allAfter - allBefore));
console.log(`The machine was idle for ${idle} % of the time. With 0 agents the ratios say how much of them is chance.`);
console.log(
  `p99 beside ${AGENTS} looping: ${all.toFixed(2)} times that without, over all turns; ${quantile(ratios, 0.5).toFixed(2)} in the middle ` +
    `pair (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}). ${agentCalls} calls of tools, ` +
    `${Math.round(agentCalls / PAIRS / SECONDS)} a second; ${rejectedByOrigin} answers 429 of the service; ${peopleFailed} errors of people.`,
);
for (const { child } of [facade, origin]) child.kill('SIGTERM');
await Promise.all([facade, origin].map(({ child }) => child.exitCode ?? once(child, 'exit')));
rmSync(dataDir, { recursive: true, force: true });
process.exit();

/** The milliseconds of each request of people, from when it was due, so that the wait to be sent counts too. */
async function turn(agents) {
  const times = [];
  const until = performance.now() + SECONDS * 1_000;
  const loops = Array.from({ length: agents }, async () => {
    for (let at = 0; performance.now() < until; at++) await callTool(tools[at % tools.length]);
  });
  const asking = [];
  for (let due = performance.now(), at = 0; due < until; due += 1_000 / RATE, at++) {
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    asking.push(ask(books[at % books.length]).then(() => times.push(performance.now() - due)));
  }
  await Promise.all([...asking, ...loops]);
  return times;
}

async function post(path, body) {
  const isAgent = path === '/mcp';
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(isAgent && { authorization: `Bearer ${TOKEN}` }),
  };
  const sent = request(facade.url + path, { agent: keepAlive, method: 'POST', headers }).end(JSON.stringify(body));
  let answer;
  try {
    [answer] = await once(sent, 'response');
  } catch (error) {
    // An idle connection that the other end has closed meanwhile.
    if (sent.reusedSocket) return post(path, body);
    throw error;
  }
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part;
  return JSON.parse(text);
}

/** The idle time of all cores, and all their time. */
function machine() {
  const times = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/ +/).slice(1).map(Number);
  return [times[3], times.reduce((sum, time) => sum + time)];
}

async function start(args, more, pattern) {
  const child = spawn(process.execPath, [...nodeFlags, 'dist/main.js', ...args], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', DATA_DIR: dataDir, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let said = '';
  while (!pattern.test(said)) said += String((await once(child.stdout, 'data'))[0]);
  return { child, url: pattern.exec(said)[1] };
}
