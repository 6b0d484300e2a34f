/** The contestants as processes: how they are started and requested, and the resources they use. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listening } from './load.ts';
import type { Workload } from './workloads.ts';

export interface Contestant {
  name: string;
  /** A bundle in dist, or an absolute path. */
  script: string;
  flags?: readonly string[];
  env: (upstream: string, latencyMs: number) => Record<string, string>;
  /** The request path of a workload. */
  path: (workload: Workload) => string;
}

const graphql = () => '/graphql';

/** The flags of Node that `npm start` has. */
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: { start: string };
};
const productFlags = scripts.start.split(' ').filter((word) => word.startsWith('--'));
/** All contestants get the same settings of the heap: each of them gains from these. */
const heapFlags = productFlags.filter((flag) => flag !== '--enable-source-maps');

/** With upstream latency, workloads of many calls need more connections: at 5 ms, 64 would be the bottleneck. The product opens more by itself. */
const connections = (latencyMs: number) => String(latencyMs > 0 ? 256 : 64);
const peer = (upstream: string, latencyMs: number) => ({ UPSTREAM: upstream, CONNECTIONS: connections(latencyMs) });

export const contestants: Contestant[] = [
  {
    name: 'product',
    script: 'main.js',
    flags: productFlags,
    env: (upstream) => ({
      BASE_URL: upstream,
      EVENT_BASE_URL: upstream,
      ACCESS_TOKEN: 'bench',
      FILM_TIER: 'advance',
      LOG_LEVEL: 'silent',
    }),
    path: graphql,
  },
  {
    name: 'limit',
    script: 'limit.js',
    flags: heapFlags,
    env: peer,
    path: ({ name, likeWorkload = name }) => `/${likeWorkload.toLowerCase()}`,
  },
  { name: 'apollo', script: 'apollo.js', flags: heapFlags, env: peer, path: () => '/' },
  { name: 'yoga', script: 'yoga.js', flags: heapFlags, env: peer, path: graphql },
];

export interface Running {
  port: number;
  pid: number;
  stop: () => Promise<void>;
}

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

export async function start(
  script: string,
  env: Record<string, string>,
  flags: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  const child = spawn(process.execPath, [...flags, resolve(dist, script)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  const ended = once(child, 'exit').then(() => children.delete(child));
  await listening(port, () => !children.has(child));
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The kernel counts in hundredths of a second. */
const TICKS = 100;

/** CPU seconds of all threads of the process, user and kernel. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

export function rssMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}
