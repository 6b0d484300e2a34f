// Measures the time to the first response, and the memory of an idle facade: node scripts/start-time.mjs [rounds]
// `npm start` with an empty data directory and with a filled one, and the facade alone with a running origin.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../build.mjs';

const ROUNDS = Number(process.argv[2] ?? 7);
const POLL_MS = 5;
const REST_MS = 20_000;
const QUERY = JSON.stringify({ query: '{ book(id: "6082808") { title } }' });
const ANSWER = '{"data":{"book":{"title":"百年孤独"}}}';

const root = fileURLToPath(new URL('..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'catalog-start-'));
const times = { empty: [], filled: [] };
const memory = { atOnce: [], atRest: [] };

for (let round = 0; round < ROUNDS; round++) {
  rmSync(dataDir, { recursive: true, force: true });
  for (const state of ['empty', 'filled']) {
    const program = await start('npm', ['start'], { ORIGIN_PORT: String(await freePort()) });
    times[state].push(program.ms);
    await program.stop();
  }
}
tell('npm start, data empty', times.empty, 'ms');
tell('npm start, data filled', times.filled, 'ms');

const originPort = await freePort();
const origin = spawn(process.execPath, ['dist/main.js', 'origin'], how({ ORIGIN_PORT: String(originPort) }));
const address = `http://127.0.0.1:${originPort}`;
for (let round = 0; round < Math.min(ROUNDS, 3); round++) {
  const upstream = { BASE_URL: address, EVENT_BASE_URL: address, ACCESS_TOKEN: 'demo-app' };
  const program = await start(process.execPath, [...nodeFlags, 'dist/main.js'], upstream);
  memory.atOnce.push(await residentOf(program.port));
  await setTimeout(REST_MS);
  memory.atRest.push(await residentOf(program.port));
  await program.stop();
}
tell('facade alone, after its first answer', memory.atOnce, 'MB');
tell(`facade alone, ${REST_MS / 1000} s later`, memory.atRest, 'MB');
origin.kill('SIGTERM');
await once(origin, 'exit');
rmSync(dataDir, { recursive: true, force: true });

/** Starts a program and sends requests until the response is right. */
async function start(command, args, env) {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(command, args, how({ ...env, PORT: String(port) }));
  const ended = once(child, 'exit').then(([code]) => {
    if (!child.isStopped) throw new Error(`${command} ended with ${code} before it responded`);
  });
  while ((await Promise.race([ask(port), ended])) !== ANSWER) await setTimeout(POLL_MS);
  const ms = performance.now() - begun;
  return {
    port,
    ms,
    async stop() {
      child.isStopped = true;
      process.kill(-child.pid, 'SIGTERM'); // the program too: npm does not pass the signal on to it
      await ended;
    },
  };
}

function how(env) {
  const { PATH, HOME } = process.env;
  const settings = { LOG_LEVEL: 'error', DATA_DIR: dataDir, ...env };
  return {
    cwd: root,
    detached: true, // a process group of its own
    env: { PATH, HOME, npm_config_update_notifier: 'false', ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  };
}

function ask(port) {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(
      { host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve(text));
      },
    );
    sent.on('error', () => resolve(undefined));
    sent.end(QUERY);
  });
}

/** Megabytes, from the metrics of the facade. */
async function residentOf(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)[1]) / 1e6;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The minimum is the program on an idle machine; the median is what this machine shows. */
function tell(what, values, unit) {
  const sorted = values.toSorted((a, b) => a - b);
  const [least, middle] = [sorted[0], sorted[Math.floor(sorted.length / 2)]];
  console.log(
    `${what.padEnd(38)} least ${least.toFixed(0)} ${unit}  median ${middle.toFixed(0)} ${unit}  of ${sorted.length}`,
  );
}
