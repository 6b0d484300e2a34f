/**
 * Measures what several processes and a Redis cost and save: `npm run bench:fleet`. Arms of a row are loaded in turns in one run, so that
 * only their ratios count. Needs redis-server.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ask, listening, load, requestOf } from './load.ts';
import { type Running, contestants, cpuSeconds, freePort, start } from './process.ts';
import { orderOf, workloads } from './workloads.ts';

const ROUNDS = 12;
const MS = 500;
/** Each process has to compile its hot functions by itself. */
const WARM_UP_MS = 8_000;
const CONNECTIONS = 32;
/** Requests of a process in a tick: more than are sent. */
const PART = 10_000;
const product = contestants.find(({ name }) => name === 'product')!;
const upstream = await start('upstream.js', {});
const address = `http://127.0.0.1:${upstream.port}`;
const redisPort = await startRedis();
const redis = new Redis(redisPort, '127.0.0.1');
const shared = { REDIS_URL: `redis://127.0.0.1:${redisPort}` };
const alone = {};
/** Requests that were made. */
let sent = 0;

/** Processes that are loaded together. */
interface Arm {
  name: string;
  /** The settings of each process. */
  processes: Record<string, string>[];
}

interface Row {
  name: string;
  workload: string;
  upstreamIs: string;
  arms: Arm[];
  /** One request is sent again and again, as for a page that many open. */
  isOnePage?: boolean;
}

interface Result {
  name: string;
  operations: number;
  seconds: number;
  calls: number;
  commands: number;
  cpu: number;
}

const times = (count: number, settings: Record<string, string>) => Array.from({ length: count }, () => settings);

console.log('| row | arm | op/s | calls/s | calls/op | Redis commands/op | CPU ms/op |');
console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
const rows: Row[] = [
  {
    name: 'one page again and again',
    workload: 'W3',
    upstreamIs: 'latency=20&reuse=3600',
    isOnePage: true,
    arms: [
      { name: 'one process', processes: [alone] },
      { name: 'the same with Redis', processes: [shared] },
    ],
  },
  {
    name: 'everything cached',
    workload: 'W3',
    upstreamIs: 'latency=20&reuse=3600',
    arms: [
      { name: 'one process', processes: [alone] },
      { name: 'the same with Redis', processes: [shared] },
    ],
  },
  {
    name: 'every record due each second',
    workload: 'W3',
    upstreamIs: 'latency=20&reuse=1',
    arms: [
      { name: 'one process', processes: [alone] },
      { name: 'the same with Redis', processes: [shared] },
      { name: 'four with Redis', processes: times(4, shared) },
    ],
  },
  {
    name: 'nothing kept',
    workload: 'W1',
    upstreamIs: 'latency=0&reuse=0',
    arms: [
      { name: 'one process', processes: [alone] },
      { name: 'the same with Redis', processes: [shared] },
      { name: 'two', processes: times(2, alone) },
    ],
  },
];
const wanted = process.argv[2] ?? '';
for (const row of rows.filter(({ name }) => name.includes(wanted))) await compare(row);
if ('a crowd of 60'.includes(wanted)) {
  await crowd(1, 1);
  for (const count of [1, 2, 4]) await crowd(count, 60);
}
redis.disconnect();
await upstream.stop();
process.exit(0);

async function startRedis(): Promise<number> {
  const port = await freePort();
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
    stdio: 'ignore',
  });
  child.on('error', () => {
    console.log('redis-server is not installed: the rows of several processes and a Redis are not measured.');
    process.exit(1);
  });
  process.on('exit', () => child.kill('SIGKILL'));
  await listening(port, () => child.exitCode !== null);
  return port;
}

async function openArm({ processes }: Arm): Promise<Running[]> {
  const running: Running[] = [];
  for (const settings of processes)
    running.push(await start(product.script, { ...product.env(address, 20), ...settings }, product.flags));
  return running;
}

async function closeArm(running: readonly Running[]): Promise<void> {
  await Promise.all(running.map(({ stop }) => stop()));
}

async function counted(): Promise<number> {
  return ((await (await fetch(`${address}/admin/count`)).json()) as { calls: number }).calls;
}

/** Of the processes; what scripts call is counted by Redis too, and left out here. */
async function commandsOfRedis(): Promise<number> {
  const stats = await redis.info('commandstats');
  const called = [...stats.matchAll(/cmdstat_(evalsha|hget|zrem):calls=(\d+)/g)];
  return called.reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

/** Requests that were not sent before, because an equal one would be served as a whole from the response cache. */
function requestsOf(name: string, count = PART): Buffer[] {
  const workload = workloads.find((each) => each.name === name)!;
  const query = workload.document as string;
  const order = orderOf(workload);
  return Array.from({ length: count }, () => {
    const at = sent++;
    return requestOf('/graphql', {
      query,
      variables: workload.variables(order[at % order.length]!),
      extensions: { at },
    });
  });
}

/** Each process gets requests of its own, as behind a balancer. */
async function compare({ name: row, workload, upstreamIs, arms, isOnePage }: Row): Promise<void> {
  await fetch(`${address}/admin/set?${upstreamIs}`);
  const page = requestsOf(workload, 1);
  const send = (processes: readonly Running[], ms: number) => {
    const options = { connections: CONNECTIONS / processes.length, ms };
    const requests = processes.map(() => (isOnePage ? page : requestsOf(workload)));
    return () => Promise.all(processes.map(({ port }, at) => load(port, requests[at]!, options)));
  };
  const running = [];
  for (const arm of arms) running.push(await openArm(arm));
  const results: Result[] = arms.map(({ name }) => ({
    name,
    operations: 0,
    seconds: 0,
    calls: 0,
    commands: 0,
    cpu: 0,
  }));
  const isCached = !upstreamIs.includes('reuse');
  for (let round = -1; round < ROUNDS; round++)
    for (const [at, processes] of running.entries()) {
      // The caches of arms are separate in memory only: without this an arm would find what another has stored.
      if (round === -1) await redis.flushall();
      const run = send(processes, round === -1 ? WARM_UP_MS : MS);
      await counted();
      const [commands, cpu] = [await commandsOfRedis(), processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0)];
      const measured = await run();
      if (round === -1) {
        // What is to be cached must be in the cache.
        for (let more = 0; isCached && more < 20 && (await counted()) > 0; more++) await send(processes, WARM_UP_MS)();
        continue;
      }
      const result = results[at]!;
      result.operations += measured.reduce((sum, { operations }) => sum + operations, 0);
      result.seconds += measured[0]!.seconds;
      result.calls += await counted();
      result.commands += (await commandsOfRedis()) - commands;
      result.cpu += processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0) - cpu;
    }
  for (const { name, operations, seconds, calls, commands, cpu } of results)
    console.log(
      `| ${row} | ${name} | ${(operations / seconds).toFixed(0)} | ${(calls / seconds).toFixed(0)} | ${(calls / operations).toFixed(2)} | ${(commands / operations).toFixed(2)} | ${((1000 * cpu) / operations).toFixed(3)} |`,
    );
  for (const processes of running) await closeArm(processes);
}

/** Clients ask for one page that no cache has: the calls of one client alone are the least. */
async function crowd(count: number, clients: number): Promise<void> {
  await fetch(`${address}/admin/set?latency=20`);
  await redis.flushall();
  const running = await openArm({ name: '', processes: times(count, shared) });
  const [request] = requestsOf('W3', 1);
  await sleep(500); // until all are connected to Redis
  await counted();
  await Promise.all(Array.from({ length: clients }, (_, at) => ask(running[at % count]!.port, request!)));
  console.log(
    `| a crowd of ${clients} at one cold page | ${count} over Redis: ${await counted()} calls in all | | | | | |`,
  );
  await closeArm(running);
}
