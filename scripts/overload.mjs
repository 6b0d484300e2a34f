// Measures the facade at up to four times its capacity: node scripts/overload.mjs [rounds] [seconds] [connections]
// Everything runs on 127.0.0.1 in processes of its own: the built facade, a stub of the service, and the clients. The latter two use bare
// sockets and prepared bytes, so that they need little CPU; what they need is printed.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { bundle } from '../build.mjs';

/** Every connection sends its next request as soon as it has a response, whatever the status. */
const ALL = 'all at once';
/** The load of each round, as a multiple of the estimate; the maximum accepted is the peak. */
const TIMES = [0.5, 0.75, 1, 1.5, 2, 4, ALL];
const SERVICE_MS = 20;
/** The CPU, in cores, that other processes may use during a measurement. Above it, measure again and take the calmest attempt. */
const OTHERS_MAX = 0.25;
const ATTEMPTS = 3;
const IDS = 2_000;

const roles = { service, callers };
process.on('disconnect', () => process.exit()); // child processes end with the parent
await (roles[process.argv[2]] ?? measure)();

async function measure() {
  const [rounds = 3, seconds = 5, connections = 3_000] = process.argv.slice(2).map(Number);
  await bundle();
  const self = fileURLToPath(import.meta.url);
  const stub = fork(self, ['service']);
  const [servicePort] = await once(stub, 'message');
  const address = `http://127.0.0.1:${servicePort}`;
  const facade = spawn(process.execPath, ['--enable-source-maps', 'dist/main.js'], {
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
  const { port } = new URL(/graph +(\S+)\/graphql/.exec(String(banner))[1]);
  const crowd = fork(self, ['callers', port, String(connections)]);
  await once(crowd, 'message');

  const pids = { facade: facade.pid, callers: crowd.pid, service: stub.pid };
  const spent = () => [...Object.values(pids).map(cpuSeconds), machineSeconds()];
  /** The rates of responses by outcome, and the CPU used, in cores. */
  const attempted = async (order) => {
    const before = spent();
    const began = performance.now();
    crowd.send(order);
    const [seen] = await once(crowd, 'message');
    const took = (performance.now() - began) / 1_000;
    const [facade, callers, service, all] = spent().map((after, at) => (after - before[at]) / took);
    return { ...seen, cpu: { facade, callers, service, others: all - facade - callers - service } };
  };
  const measured = async (order) => {
    let calmest;
    for (let attempt = 0; attempt < ATTEMPTS && !(calmest?.cpu.others < OTHERS_MAX); attempt++) {
      const next = await attempted(order);
      if (!calmest || next.cpu.others < calmest.cpu.others) calmest = next;
    }
    return calmest;
  };

  await measured({ callers: 64, seconds: 6 }); // warm-up
  const estimate = (await measured({ callers: 320, seconds: 4 })).accepted;
  console.log(
    `estimate ${Math.round(estimate)}/s, of 320 clients that send again after each response; ${connections} connections below`,
  );
  const seen = TIMES.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, times] of TIMES.entries()) {
      seen[at].push(
        await measured(times === ALL ? { callers: connections, seconds } : { rate: estimate * times, seconds }),
      );
    }
  }
  const rows = seen.map((each, at) => ({ times: TIMES[at], ...middle(each) }));
  const peak = Math.max(...rows.map(({ accepted }) => accepted));
  console.table(
    rows.map(({ times, offered, accepted, refused, unsent, lost, p50, p99, slowest, refusedP99, cpu }) => ({
      times,
      'offered/s': Math.round(offered),
      'accepted/s': Math.round(accepted),
      'of peak': `${Math.round((accepted / peak) * 100)} %`,
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
    })),
  );
  const ofPeak = ({ accepted }) => `${Math.round((accepted / peak) * 100)} %`;
  const most = TIMES.indexOf(4);
  const { offered, p99 } = rows[most];
  console.log(
    `peak ${Math.round(peak)}/s; offered ${(offered / peak).toFixed(1)} times that, ${ofPeak(rows[most])} of it are accepted ` +
      `(each round: ${seen[most].map(ofPeak).join(', ')}), p99 ${Math.round(p99)} ms`,
  );
  crowd.kill();
  facade.kill('SIGTERM');
  const [code] = await once(facade, 'exit');
  console.log(`ended with ${code}`);
  stub.kill();
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

async function callers() {
  const [port, most] = process.argv.slice(3).map(Number);
  const requests = Array.from({ length: IDS }, (_, id) => {
    const body = `{"query":"query($id:ID!){book(id:$id){title authors summary rating{average}}}","variables":{"id":"${id}"}}`;
    return `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  });
  /** Idle connections, in the order in which they became idle, so that all of them are used. */
  const idle = queue();
  const buffer = Buffer.alloc(65_536); // shared by all: it is read before the next chunk
  let turn = 0;

  function connection(whenOpen) {
    const mine = { socket: undefined, done: undefined };
    let status = '';
    let missing = 0;
    mine.socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback(size) {
          if (missing === 0) {
            const text = buffer.latin1Slice(0, size);
            const end = text.indexOf('\r\n\r\n');
            const length = text.indexOf('content-length: ');
            if (end < 0 || length < 0 || !mine.done) return; // an unsolicited response announces that the connection is closed
            status = text.slice(9, 12);
            missing = end + 4 + parseInt(text.slice(length + 16, length + 24), 10);
          }
          missing -= size;
          if (missing > 0) return;
          missing = 0;
          const { done } = mine;
          mine.done = undefined;
          idle.push(mine);
          done(status);
        },
      },
    });
    mine.socket.on('connect', () => {
      idle.push(mine);
      whenOpen();
    });
    mine.socket.on('error', () => undefined);
    mine.socket.on('close', () => {
      mine.done?.('lost');
      connection(() => undefined);
    });
  }

  // Connect beforehand and in groups: a burst of connections waits for the kernel, not for the facade.
  for (let n = 0; n < most; n += 100) {
    await Promise.all(Array.from({ length: Math.min(100, most - n) }, () => new Promise(connection)));
  }

  /** Returns false if no connection is idle. */
  function ask(then) {
    let mine = idle.shift();
    while (mine?.socket.destroyed) mine = idle.shift();
    if (!mine) return false;
    mine.done = then;
    mine.socket.write(requests[turn++ % IDS], 'latin1');
    return true;
  }

  /** Counts responses after the first second and before the end; the times are those of requests sent until then. */
  const counting = (seconds) => {
    const began = performance.now() + 1_000;
    return { began, ends: began + seconds * 1_000, count: {}, times: { 200: [], 503: [], lost: [] } };
  };
  const note = ({ began, ends, count, times }, status, since) => {
    const now = performance.now();
    if (now < began) return;
    if (now < ends) count[status] = (count[status] ?? 0) + 1;
    times[status]?.push(now - since);
  };

  /** Closed loop: a number of clients, each sending again after its response. */
  async function closed(callers, seconds) {
    const seen = counting(seconds);
    const caller = async () => {
      for (let now = performance.now(); now < seen.ends; now = performance.now()) {
        await new Promise((resolve) =>
          ask((status) => {
            note(seen, status, now);
            resolve();
          }),
        );
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return seen;
  }

  /** Open loop: a fixed rate, whatever the responses; the time of a request counts from when it was due. */
  async function open(rate, seconds) {
    const seen = counting(seconds);
    let due = performance.now();
    let outstanding = 0;
    for (let now = due; now < seen.ends; now = performance.now()) {
      for (; due < now; due += 1_000 / rate) {
        const since = due;
        const sent = ask((status) => {
          outstanding--;
          note(seen, status, since);
        });
        if (sent) outstanding++;
        else note(seen, 'unsent', since);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return seen;
  }

  process.on('message', async ({ rate, callers, seconds }) => {
    const { count, times } = rate ? await open(rate, seconds) : await closed(callers, seconds);
    const at = (of, share) => of.sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0;
    const perSecond = (status) => (count[status] ?? 0) / seconds;
    process.send({
      offered: Object.values(count).reduce((sum, n) => sum + n, 0) / seconds,
      accepted: perSecond(200),
      refused: perSecond(503),
      unsent: perSecond('unsent'),
      lost: count.lost ?? 0,
      p50: at(times[200], 0.5),
      p99: at(times[200], 0.99),
      slowest: at(times[200], 1),
      refusedP99: at(times[503], 0.99),
    });
  });
  process.send('ready');
}

/** A FIFO queue; shifting an array would move its items. */
function queue() {
  let first = [];
  let last = [];
  return {
    push: (value) => last.push(value),
    shift() {
      if (first.length === 0) [first, last] = [last.reverse(), first];
      return first.pop();
    },
  };
}
