// Measures the facade at up to four times its capacity: node scripts/overload.mjs [rounds] [seconds] [connections]
// Everything runs on 127.0.0.1 in processes of its own: the built facade, a stub of the service, and the clients. The latter two use bare
// sockets and prepared bytes, so that they need little CPU; what they need is printed.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { buildProgram, nodeFlags } from '../build.mjs';
import { callers } from './overload-callers.mjs';

/** Every connection sends its next request as soon as it has a response, whatever the status. */
const ALL = 'all at once';
/** The load of each round, as a multiple of the estimate; the maximum accepted is the peak. */
const TIMES = [0.5, 0.75, 1, 1.5, 2, 4, ALL];
const SERVICE_MS = 20;
/** The CPU, in cores, that other processes may use during a measurement. Above it, measure again and take the calmest attempt. */
const OTHERS_MAX = 0.25;
const ATTEMPTS = 3;

const roles = { service, callers };
process.on('disconnect', () => process.exit()); // child processes end with the parent
await (roles[process.argv[2]] ?? measure)();

async function measure() {
  const [rounds = 3, seconds = 5, connections = 3_000] = process.argv.slice(2).map(Number);
  await buildProgram();
  const self = fileURLToPath(import.meta.url);
  const stub = fork(self, ['service']);
  const [servicePort] = await once(stub, 'message');
  const { facade, port } = await startFacade(`http://127.0.0.1:${servicePort}`);
  const crowd = fork(self, ['callers', port, String(connections)]);
  await once(crowd, 'message');

  const pids = { facade: facade.pid, callers: crowd.pid, service: stub.pid };
  const measured = (order) => calmest(() => attempted(crowd, pids, order));
  await measured({ callers: 64, seconds: 6 }); // warm-up
  const clients = Math.min(320, connections); // without a connection, a client would wait for ever
  const estimate = (await measured({ callers: clients, seconds: 4 })).accepted;
  console.log(
    `estimate ${Math.round(estimate)}/s, of ${clients} clients that send again after each response; ${connections} connections below`,
  );
  const seen = TIMES.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, times] of TIMES.entries()) {
      const load = times === ALL ? { callers: connections } : { rate: estimate * times };
      seen[at].push(await measured({ ...load, seconds }));
    }
  }
  report(seen);

  crowd.kill();
  facade.kill('SIGTERM');
  const [code] = await once(facade, 'exit');
  console.log(`ended with ${code}`);
  stub.kill();
}

/** The built facade, with this address as its service, and the port it listens at. */
async function startFacade(address) {
  const facade = spawn(process.execPath, [...nodeFlags, 'dist/main.js'], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      LOG_LEVEL: 'error',
      BASE_URL: address,
      EVENT_BASE_URL: address,
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('MAX_'))),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [banner] = await once(facade.stdout, 'data');
  return { facade, port: new URL(/graph +(\S+)\/graphql/.exec(String(banner))[1]).port };
}

/** The result of the attempt during which other processes used the least CPU. */
async function calmest(attempt) {
  let best;
  for (let n = 0; n < ATTEMPTS && !(best?.cpu.others < OTHERS_MAX); n++) {
    const next = await attempt();
    if (!best || next.cpu.others < best.cpu.others) best = next;
  }
  return best;
}

/** The rates of responses by outcome, and the CPU used, in cores. */
async function attempted(crowd, pids, order) {
  const spent = () => [...Object.values(pids).map(cpuSeconds), machineSeconds()];
  const before = spent();
  const began = performance.now();
  crowd.send(order);
  const [seen] = await once(crowd, 'message');
  const took = (performance.now() - began) / 1_000;
  const [facade, callers, service, all] = spent().map((after, at) => (after - before[at]) / took);
  return { ...seen, cpu: { facade, callers, service, others: all - facade - callers - service } };
}

/** Prints the median of the rounds for each load, and a summary of the highest offered rate. */
function report(seen) {
  const rows = seen.map((each, at) => ({ times: TIMES[at], ...middle(each) }));
  const peak = Math.max(...rows.map(({ accepted }) => accepted));
  const ofPeak = ({ accepted }) => `${Math.round((accepted / peak) * 100)} %`;
  console.table(rows.map((row) => tableRow(row, ofPeak(row))));
  const most = TIMES.indexOf(4);
  const { offered, p99 } = rows[most];
  console.log(
    `peak ${Math.round(peak)}/s; offered ${(offered / peak).toFixed(1)} times that, ${ofPeak(rows[most])} of it are accepted ` +
      `(each round: ${seen[most].map(ofPeak).join(', ')}), p99 ${Math.round(p99)} ms`,
  );
}

function tableRow({ times, lost, cpu, ...figures }, ofPeak) {
  const { offered, accepted, refused, unsent, p50, p99, slowest, refusedP99 } = figures;
  return {
    times,
    'offered/s': Math.round(offered),
    'accepted/s': Math.round(accepted),
    'of peak': ofPeak,
    'refused/s': Math.round(refused),
    'unsent/s': Math.round(unsent), // no connection was free on the side of the clients
    lost,
    'p50 ms': Math.round(p50),
    'p99 ms': Math.round(p99),
    'slowest ms': Math.round(slowest),
    'refused p99 ms': Math.round(refusedP99),
    'cpu facade': cpu.facade.toFixed(2),
    callers: cpu.callers.toFixed(2),
    service: cpu.service.toFixed(2),
    others: cpu.others.toFixed(2),
  };
}

/** The median over the rounds, of each figure. */
function middle(each) {
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const figures = (of) =>
    Object.fromEntries(
      Object.entries(of[0]).map(([name, value]) => {
        const values = of.map((one) => one[name]);
        return [name, typeof value === 'object' ? figures(values) : median(values)];
      }),
    );
  return figures(each);
}

/** CPU seconds of all threads of a process, user and kernel; the kernel counts in hundredths. */
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** CPU seconds of the whole machine. */
function machineSeconds() {
  const [, user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/ +/);
  return (Number(user) + Number(nice) + Number(system) + Number(irq) + Number(softirq)) / 100;
}

/** A service that takes 20 ms for each book. */
async function service() {
  const responses = new Map();
  const server = createServer((socket) => {
    let pending = '';
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const id = /\/book\/(\w+)/.exec(pending.slice(0, end))?.[1] ?? '0';
        pending = pending.slice(end + 4);
        let bytes = responses.get(id);
        if (!bytes) responses.set(id, (bytes = book(id)));
        setTimeout(() => socket.writable && socket.write(bytes), SERVICE_MS);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
}

function book(id) {
  const body = JSON.stringify({
    id,
    title: '活着',
    author: ['余华'],
    summary: '书'.repeat(300),
    rating: { average: '9.4' },
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
