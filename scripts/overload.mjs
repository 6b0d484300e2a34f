// Asks for four times what the facade can do, and says what becomes of it: node scripts/overload.mjs [seconds]
// Everything runs on 127.0.0.1: the built facade in a process of its own, a stub of the service and the callers in this one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { bundle } from '../build.mjs';

const SECONDS = Number(process.argv[2] ?? 10);
const IDS = 2_000;
const CONNECTIONS_MAX = 3_000;

await bundle();
const service = createServer((request, response) => {
  const id = /\/book\/(\w+)/.exec(request.url ?? '')?.[1] ?? '0';
  const body = JSON.stringify({
    id,
    title: '活着',
    author: ['余华'],
    summary: '书'.repeat(300),
    rating: { average: '9.4' },
  });
  setTimeout(
    () => response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store').end(body),
    20,
  );
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const address = `http://127.0.0.1:${service.address().port}`;
const facade = spawn(process.execPath, ['dist/main.js'], {
  env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'error', BASE_URL: address, EVENT_BASE_URL: address },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [banner] = await once(facade.stdout, 'data');
const url = /graph +(\S+)\/graphql/.exec(String(banner))[1];
const { hostname, port } = new URL(url);

// Sockets of our own: an HTTP client would be the first thing to be overloaded.
const idle = [];
let connections = 0;
function connection() {
  const socket = connect(Number(port), hostname);
  const mine = { socket, done: undefined };
  let text = '';
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1 || !mine.done) return; // what nobody asked for says that the connection is closed
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    const status = text.slice(9, 12);
    text = '';
    idle.push(mine);
    mine.done?.(status);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    connections--;
    if (idle.includes(mine)) idle.splice(idle.indexOf(mine), 1);
    mine.done?.('lost');
  });
  connections++;
  return mine;
}

let asked = 0;
/** False where no connection is free. */
function ask(seen, then) {
  const mine = idle.pop() ?? (connections < CONNECTIONS_MAX ? connection() : undefined);
  if (!mine) return false;
  const body = `{"query":"query($id:ID!){book(id:$id){title authors summary rating{average}}}","variables":{"id":"${asked++ % IDS}"}}`;
  const started = performance.now();
  mine.done = (status) => {
    mine.done = undefined;
    seen.count[status] = (seen.count[status] ?? 0) + 1;
    if (status === '200') seen.times.push(performance.now() - started);
    then?.();
  };
  mine.socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return true;
}

function told(name, { count, times }, seconds) {
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  const accepted = Math.round((count[200] ?? 0) / seconds);
  console.log(
    `${name.padEnd(26)} accepted ${accepted}/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  ${JSON.stringify(count)}`,
  );
  return accepted;
}

/** As many callers as it takes, each asking again when it is answered. */
async function closed(callers, seconds) {
  const seen = { count: {}, times: [] };
  const end = performance.now() + seconds * 1_000;
  const caller = async () => {
    while (performance.now() < end) await new Promise((resolve) => ask(seen, resolve));
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return seen;
}

/** So many a second, whatever becomes of them. */
async function open(rate, seconds) {
  const seen = { count: {}, times: [] };
  const started = performance.now();
  let sent = 0;
  let outstanding = 0;
  while (performance.now() - started < seconds * 1_000) {
    const due = ((performance.now() - started) / 1_000) * rate;
    for (; sent < due; sent++) {
      if (ask(seen, () => outstanding--)) outstanding++;
      else seen.count.unsent = (seen.count.unsent ?? 0) + 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const took = (performance.now() - started) / 1_000;
  while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  return { seen, took };
}

await closed(50, 8); // until everything is compiled and kept
let peak = 0;
for (const callers of [8, 32, 128, 256]) peak = Math.max(peak, told(`${callers} callers`, await closed(callers, 4), 4));
/** Beforehand: a crowd that connects at once waits for the system, not for the facade. */
async function connectAll() {
  for (let n = 0; n < CONNECTIONS_MAX; n += 100) {
    const wave = Array.from({ length: Math.min(100, CONNECTIONS_MAX - connections) }, connection);
    await Promise.all(wave.map((mine) => once(mine.socket, 'connect')));
    idle.push(...wave);
  }
}
await connectAll();
for (const times of [1, 2, 4]) {
  const { seen, took } = await open(peak * times, SECONDS);
  const accepted = told(`${times} times ${peak}/s`, seen, took);
  console.log(`${''.padEnd(26)} ${Math.round((accepted / peak) * 100)} % of the peak`);
}
facade.kill('SIGTERM');
const [code] = await once(facade, 'exit');
console.log(`ended with ${code}`);
for (const { socket } of idle.splice(0)) socket.destroy();
service.close();
