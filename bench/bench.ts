/**
 * Compares the product with a hand-written aggregator, Apollo Server and plain Yoga, all with the same upstream. In each round every
 * contestant has a turn, in changing order; ratios are computed within a round. All responses are verified before and after the load.
 * The rows of several processes and a Redis follow.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type Measured, ask, load, requestOf } from './load.ts';
import { type Contestant, type Running, contestants, cpuSeconds, rssMegabytes, start } from './process.ts';
import { type Result, tableOf, verdictOf } from './report.ts';
import { type Workload, orderOf, workloads } from './workloads.ts';

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    contestants: { type: 'string' },
    latency: { type: 'string', default: '0,5' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    /** Runs the product with --cpu-prof; the profile is written to this directory. */
    profile: { type: 'string' },
  },
});

/** The number of responses verified before the load, and after it. */
const SAMPLES = 5;
const REUSE_SECONDS = 60;
/** A pause, so that a contestant does not pay for the garbage collection of the previous one. */
const REST_MS = given.quick ? 20 : 100;

const connections = Number(given.connections);
const chosen = workloads.filter(({ name }) => given.only?.split(',').includes(name) ?? true);
const playing = contestants.filter(({ name }) => given.contestants?.split(',').includes(name) ?? true);

interface Round {
  contestant: string;
  measured: Measured;
  calls: number;
  bytes: number;
  cpu: number;
  rss: number;
}

const results: Result[] = [];
const upstream = await start('upstream.js', {});
const startedAt = new Date();
for (const latencyMs of given.latency.split(',').map(Number)) {
  // Without latency the throughput counts: many short rounds, because the speed of shared cores changes from second to second, and
  // all contestants of a round should have the same. With latency the p99 counts, which takes a thousand operations.
  const rounds = Number(given.rounds ?? (given.quick ? (latencyMs ? 1 : 6) : latencyMs ? 9 : 40));
  const ms = 1000 * Number(given.seconds ?? (latencyMs ? (given.quick ? 0.5 : 2) : given.quick ? 0.25 : 0.5));
  const running = new Map<Contestant, Running>();
  for (const contestant of playing) running.set(contestant, await open(contestant, latencyMs));
  for (const workload of chosen) {
    process.stderr.write(`${workload.name} at ${latencyMs} ms: ${workload.title}\n`);
    results.push(...(await compare(workload, latencyMs, running, { rounds, ms })));
  }
  for (const { stop } of running.values()) await stop();
}
await upstream.stop();

for (const latencyMs of new Set(results.map((result) => result.latencyMs))) {
  console.log(`\nUpstream latency ${latencyMs} ms, ${connections} client connections\n`);
  console.log(tableOf(results.filter((result) => result.latencyMs === latencyMs)));
}
console.log(`\n${verdictOf(results)}\n`);
const machine = `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`;
console.log(`${startedAt.toISOString().slice(0, 10)}, ${machine}`);
writeFileSync(
  fileURLToPath(new URL('../bench/results.json', import.meta.url)),
  `${JSON.stringify({ startedAt, machine, quick: given.quick, connections, results }, undefined, 2)}\n`,
);
const isWhole = !given.quick && !given.only && !given.contestants;
if (isWhole) spawnSync(process.execPath, [fileURLToPath(new URL('fleet.js', import.meta.url))], { stdio: 'inherit' });

async function open({ name, script, flags = [], env }: Contestant, latencyMs: number): Promise<Running> {
  const profiling = given.profile && name === 'product' ? ['--cpu-prof', `--cpu-prof-dir=${given.profile}`] : [];
  return start(script, env(address(upstream), latencyMs), [...flags, ...profiling]);
}

async function compare(
  workload: Workload,
  latencyMs: number,
  running: ReadonlyMap<Contestant, Running>,
  { rounds, ms }: { rounds: number; ms: number },
): Promise<Result[]> {
  const order = orderOf(workload);
  const taking = playing.filter(({ name }) => workload.contestants?.includes(name) ?? true);
  const requests = new Map(
    taking.map((contestant) => [contestant, order.map((variant) => requestFor(contestant, workload, variant))]),
  );
  const played: Round[][] = [];
  // Warm up without latency: otherwise there are too few operations for the JIT compiler.
  await setUpstream(workload, 0);
  for (const contestant of taking) {
    const { port } = running.get(contestant)!;
    await verify(contestant, workload, port, order.slice(0, SAMPLES));
    await load(port, requests.get(contestant)!, { connections, ms: warmUpMs(workload === chosen[0]) });
  }
  await setUpstream(workload, latencyMs);
  for (let round = 0; round < rounds; round++) {
    const each: Round[] = [];
    for (const contestant of inTurn(taking, round)) {
      const { port, pid } = running.get(contestant)!;
      await sleep(REST_MS);
      await countedUpstream();
      const before = cpuSeconds(pid);
      const measured = await load(port, requests.get(contestant)!, { connections, ms });
      const cpu = cpuSeconds(pid) - before;
      each.push({ contestant: contestant.name, measured, ...(await countedUpstream()), cpu, rss: rssMegabytes(pid) });
    }
    played.push(each);
  }
  for (const contestant of taking)
    await verify(contestant, workload, running.get(contestant)!.port, order.slice(-SAMPLES));
  return taking.map(({ name }) => summary(workload.name, latencyMs, name, played));
}

/** Each contestant begins equally often, and follows each other contestant equally often. */
function inTurn(playing: readonly Contestant[], round: number): Contestant[] {
  const turn = Math.floor(round / 2) % playing.length;
  const order = [...playing.slice(turn), ...playing.slice(0, turn)];
  return round % 2 === 0 ? order : order.reverse();
}

/** Until the JIT compiler has compiled the hot functions, which differ by workload. Shorter in a quick run. */
function warmUpMs(isFresh: boolean): number {
  if (given.quick) return isFresh ? 2000 : 600;
  return 10_000;
}

async function setUpstream({ reuse, hasOtherNamespaces }: Workload, latencyMs: number): Promise<void> {
  const namespaces = hasOtherNamespaces ? 'other' : 'real';
  const set = `latency=${latencyMs}&reuse=${reuse ? REUSE_SECONDS : 0}&namespaces=${namespaces}`;
  await fetch(`${address(upstream)}/admin/set?${set}`);
}

function requestFor({ path }: Contestant, workload: Workload, variant: number): Buffer {
  const variables = workload.variables(variant);
  const { document } = workload;
  const query = typeof document === 'string' ? document : document(variant);
  return requestOf(path(workload), { query, variables });
}

async function verify(contestant: Contestant, workload: Workload, port: number, variants: number[]): Promise<void> {
  for (const variant of variants) {
    const variables = workload.variables(variant);
    const actual = await ask(port, requestFor(contestant, workload, variant));
    const expected: unknown = JSON.parse(JSON.stringify({ data: workload.truth(variables) }));
    if (isDeepStrictEqual(actual, expected)) continue;
    const [is, must] = [actual, expected].map((value) => JSON.stringify(value));
    const at = [...is!].findIndex((character, index) => character !== must![index]);
    throw new Error(
      `${contestant.name} has a wrong response to ${workload.name} with ${JSON.stringify(variables)}:\n${is!.slice(Math.max(0, at - 100), at + 300)}\nexpected:\n${must!.slice(Math.max(0, at - 100), at + 300)}`,
    );
  }
}

function summary(workload: string, latencyMs: number, name: string, played: readonly Round[][]): Result {
  const speedOf = (round: readonly Round[], who: string) => {
    const measured = round.find(({ contestant }) => contestant === who)?.measured;
    return measured && measured.operations / measured.seconds;
  };
  const cpuOf = (round: readonly Round[], who: string) => {
    const one = round.find(({ contestant }) => contestant === who);
    return one && (1000 * one.cpu) / one.measured.operations;
  };
  const p99In = (round: readonly Round[], who: string) => {
    const measured = round.find(({ contestant }) => contestant === who)?.measured;
    return measured && ofHundred(99, inOrder(measured.latencies));
  };
  /** The median over the rounds of a comparison within each round, because a stall of the machine hits one contestant of one round. */
  const against = (who: string, of: typeof speedOf, compare: (mine: number, other: number) => number) => {
    const compared = played.flatMap((round) => {
      const other = of(round, who);
      return other === undefined ? [] : compare(of(round, name)!, other);
    });
    return compared.length > 0 ? median(compared) : undefined;
  };
  const ratio = (one: number, other: number) => one / other;
  const mine = played.map((round) => round.find(({ contestant }) => contestant === name)!);
  const perOperation = (of: (round: Round) => number) =>
    sum(mine.map(of)) / sum(mine.map(({ measured }) => measured.operations));
  const latencies = inOrder(mine.flatMap(({ measured }) => measured.latencies));
  return {
    workload,
    latencyMs,
    contestant: name,
    perSecond: median(played.map((round) => speedOf(round, name)!)),
    ofLimit: against('limit', speedOf, ratio),
    ofApollo: against('apollo', speedOf, ratio),
    cpuOfLimit: against('limit', cpuOf, ratio),
    extraCpu: against('limit', cpuOf, (one, other) => one - other),
    p99OfLimit: against('limit', p99In, ratio),
    p50: ofHundred(50, latencies),
    p99: ofHundred(99, latencies),
    calls: perOperation(({ calls }) => calls),
    kilobytes: perOperation(({ bytes }) => bytes) / 1000,
    cpu: median(played.map((round) => cpuOf(round, name)!)),
    rss: Math.max(...mine.map(({ rss }) => rss)),
    operations: latencies.length,
  };
}

async function countedUpstream(): Promise<{ calls: number; bytes: number }> {
  return (await (await fetch(`${address(upstream)}/admin/count`)).json()) as { calls: number; bytes: number };
}

function address({ port }: Running): string {
  return `http://127.0.0.1:${port}`;
}
function inOrder(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
/** A percentile of sorted values. */
function ofHundred(many: number, ordered: readonly number[]): number {
  return ordered[Math.floor((ordered.length * many) / 100)]!;
}
function median(values: readonly number[]): number {
  return ofHundred(50, inOrder(values));
}
function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
