/**
 * Measures how the product scales: with the number of processes, with an upstream latency of 5 ms, and with the nodes of a response.
 * Prints tables; docs/scale.md has the first.
 */
import { cpus } from 'node:os';
import { ask, load, requestOf } from './load.ts';
import { type Running, contestants, cpuSeconds, start } from './process.ts';
import { orderOf, workloads } from './workloads.ts';

const LATENCY_MS = 5;
const CONNECTIONS = 64;
const ROUNDS = 3;
const MS = 3_000;

const product = contestants.find(({ name }) => name === 'product')!;
const upstream = await start('upstream.js', {});
const address = `http://127.0.0.1:${upstream.port}`;
const open = (latencyMs: number) => start(product.script, product.env(address, latencyMs), product.flags);
const counted = async () => (await (await fetch(`${address}/admin/count`)).json()) as { calls: number };

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`,
);
await fetch(`${address}/admin/set?latency=${LATENCY_MS}&reuse=0`);
console.log('| workload | processes | op/s | calls/op | CPU ms/op | p50 ms | p99 ms |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
if (!process.argv.includes('--sizes'))
  for (const name of ['W1', 'W2', 'W3']) for (const count of [1, 2, 4]) await processes(name, count);

await fetch(`${address}/admin/set?latency=0&reuse=0`);
console.log('\n| nodes | calls | ms | CPU ms | CPU us a node |');
console.log('| ---: | ---: | ---: | ---: | ---: |');
await sizes();
await upstream.stop();

async function processes(name: string, count: number): Promise<void> {
  const workload = workloads.find((each) => each.name === name)!;
  const requests = orderOf(workload).map((variant) =>
    requestOf('/graphql', { query: workload.document, variables: workload.variables(variant) }),
  );
  const running: Running[] = [];
  for (let each = 0; each < count; each++) running.push(await open(LATENCY_MS));
  const all = (ms: number) =>
    Promise.all(running.map(({ port }) => load(port, requests, { connections: CONNECTIONS / count, ms })));
  await all(MS);
  const cpu = () => running.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  await counted();
  const before = cpu();
  const measured = (await all(ROUNDS * MS)).flat();
  const spent = cpu() - before;
  const { calls } = await counted();
  const operations = measured.reduce((sum, each) => sum + each.operations, 0);
  const latencies = measured.flatMap((each) => each.latencies).sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(1);
  const perSecond = operations / ((ROUNDS * MS) / 1000);
  console.log(
    `| ${name} | ${count} | ${perSecond.toFixed(0)} | ${(calls / operations).toFixed(1)} | ${((1000 * spent) / operations).toFixed(2)} | ${at(0.5)} | ${at(0.99)} |`,
  );
  for (const { stop } of running) await stop();
}

/** Pages of the chart with the fields of W4 per node: one document, so one response with that many nodes. */
async function sizes(): Promise<void> {
  const { port, pid, stop } = await open(0);
  for (const nodes of [10, 100, 1_000]) {
    const first = Math.min(nodes, 100);
    const pages = Array.from(
      { length: nodes / first },
      (_, page) => `p${page}: top250(first: ${first}, offset: ${page}) { nodes { id title } }`,
    );
    const request = requestOf('/graphql', { query: `{ ${pages.join(' ')} }` });
    const repeats = Math.ceil(20_000 / nodes);
    for (let at = 0; at < repeats; at++) {
      const { errors } = (await ask(port, request)) as { errors?: unknown };
      if (errors) throw new Error(JSON.stringify(errors));
    }
    await counted();
    const before = cpuSeconds(pid);
    const started = performance.now();
    for (let at = 0; at < repeats; at++) await ask(port, request);
    const ms = (performance.now() - started) / repeats;
    const cpu = (1000 * (cpuSeconds(pid) - before)) / repeats;
    const calls = (await counted()).calls / repeats;
    console.log(
      `| ${nodes} | ${calls} | ${ms.toFixed(2)} | ${cpu.toFixed(2)} | ${((1000 * cpu) / nodes).toFixed(1)} |`,
    );
  }
  await stop();
}
