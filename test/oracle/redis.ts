/** The Redis between replicas: one server or a cluster, started once a run; and what happens to it and to its connections. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';

const children: ChildProcess[] = [];
const directory = mkdtempSync(join(tmpdir(), 'oracle-redis-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const clients = new Map<number, Redis>();
function clientOf(port: number): Redis {
  let client = clients.get(port);
  if (client) return client;
  client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null });
  client.on('error', () => undefined); // it is not up yet: the client connects again
  clients.set(port, client);
  return client;
}
const say = async (port: number, ...[command, ...words]: [string, ...string[]]): Promise<string> =>
  String(await clientOf(port).call(command, ...words));

async function every(ports: readonly number[], holds: (port: number) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(ports.map(holds))).every(Boolean);
}

async function listening(listener: Server): Promise<number> {
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return (listener.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(...more: string[]): Promise<number> {
  const port = await freePort();
  const place = mkdtempSync(join(directory, 'server-'));
  const all = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', place];
  const child = spawn('redis-server', [...all, ...more], { stdio: 'ignore' });
  child.unref();
  children.push(child);
  await say(port, 'ping');
  return port;
}

/** The connection of one replica, which can be cut. */
export interface Link {
  url: string;
  /** Closes the connections; the replica connects again. */
  cut(): unknown;
  /** For good, as when the process of the replica is killed. */
  end(): unknown;
}

export interface SharedRedis {
  link(): Promise<Link>;
  /** Names and values of all keys. */
  dump(): Promise<Map<string, string>>;
  clear(): Promise<unknown>;
  loseScripts(): Promise<unknown>;
  /** Removes the notes of what was invalidated, as a full Redis may. */
  evictNotes(): Promise<unknown>;
  /** Makes a replica of each primary the primary; nothing without a cluster. */
  failOver(): Promise<void>;
}

async function openServer(): Promise<SharedRedis> {
  const port = await start();
  return {
    ...commandsOf(() => Promise.resolve([port])),
    async link() {
      const sockets = new Set<Socket>();
      const proxy = createServer((near) => {
        const far = connect(port, '127.0.0.1');
        for (const [socket, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(socket);
          socket.on('error', () => undefined);
          socket.on('close', () => (sockets.delete(socket), other.destroy()));
          socket.pipe(other);
        }
      });
      const own = await listening(proxy);
      proxy.unref();
      const cut = () => {
        for (const socket of sockets) socket.destroy();
      };
      return { url: `redis://127.0.0.1:${own}`, cut, end: () => (proxy.close(), cut()) };
    },
    failOver: () => Promise.resolve(),
  };
}

const NODE_TIMEOUT_MS = 500;
/** Primaries refuse to vote on a failover so soon after another. */
const BETWEEN_FAILOVERS_MS = 2.2 * NODE_TIMEOUT_MS;
const POLL_MS = 20;
const PRIMARIES = 3;
/** A replica that did not become the primary by then is asked again. */
const FAILOVER_MS = 6_000;

async function openCluster(): Promise<SharedRedis> {
  const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  // Only `failOver` changes primaries: a failover by itself loses what was written last.
  const manual = ['--cluster-replica-no-failover', 'yes'];
  const settings = ['--cluster-enabled', 'yes', ...timeout, ...manual, '--repl-diskless-sync-delay', '0'];
  const ports: number[] = [];
  for (let node = 0; node < 2 * PRIMARIES; node++)
    ports.push(await start(...settings, '--cluster-port', String(await freePort())));
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'], {
    stdio: 'ignore',
  });
  const isWith = (role: string) => async (port: number) =>
    (await say(port, 'info', 'replication')).includes(`role:${role}`);
  async function portsWith(role: string): Promise<number[]> {
    const has = await Promise.all(ports.map(isWith(role)));
    return ports.filter((_, at) => has[at]);
  }
  // For a moment after a failover two nodes take themselves for the primary.
  const isSettled = async () =>
    (await portsWith('master')).length === PRIMARIES &&
    every(ports, async (port) => {
      const [cluster, replication] = await Promise.all([
        say(port, 'cluster', 'info'),
        say(port, 'info', 'replication'),
      ]);
      return cluster.includes('cluster_state:ok') && /role:master|master_link_status:up/.test(replication);
    });
  while (!(await isSettled())) await setTimeout(50);
  let links = 0;
  // Only `failOver` changes them.
  let primaries = await portsWith('master');
  let failedOverAt = -Infinity;
  const sayAll = (...words: [string, ...string[]]) => Promise.all(ports.map((port) => say(port, ...words)));
  return {
    ...commandsOf(() => Promise.resolve(primaries)),
    // Each replica is a user, so that its connections can be told from those of others.
    async link() {
      const user = `replica${links++}`;
      await sayAll('acl', 'setuser', user, 'on', '>secret', '~*', '&*', '+@all');
      return {
        url: `redis+cluster://${user}:secret@${nodes.join(',')}`,
        cut: () => sayAll('client', 'kill', 'user', user),
        end: () => sayAll('acl', 'deluser', user),
      };
    },
    // One after another: nodes that ask for votes at the same time wait for long before they ask again. Each case has its keys in one slot,
    // so mostly one primary has any.
    async failOver() {
      await setTimeout(Math.max(0, failedOverAt + BETWEEN_FAILOVERS_MS - performance.now()));
      for (const port of await portsWith('slave')) {
        if ((await say(port, 'dbsize')) === '0') continue;
        let askedAt = -Infinity;
        while (!(await isWith('master')(port)) || !(await isSettled())) {
          if (performance.now() - askedAt > FAILOVER_MS) {
            askedAt = performance.now();
            await say(port, 'cluster', 'failover').catch(() => undefined); // it may be the primary by now
          }
          await setTimeout(POLL_MS);
        }
      }
      primaries = await portsWith('master');
      failedOverAt = performance.now();
    },
  };
}

function commandsOf(primaries: () => Promise<readonly number[]>) {
  const ofAll = async (act: (client: Redis) => Promise<unknown>) =>
    Promise.all((await primaries()).map((port) => act(clientOf(port))));
  return {
    async dump() {
      const found = new Map<string, string>();
      await ofAll(async (client) => {
        const value = async (key: string) => {
          if ((await client.type(key)) === 'string') found.set(key, (await client.get(key)) ?? '');
        };
        await Promise.all((await client.keys('*')).map(value)); // in one round trip for each command
      });
      return found;
    },
    clear: () => ofAll((client) => client.flushall()),
    evictNotes: () =>
      ofAll(async (client) => Promise.all((await client.keys('*:cleared:*')).map((key) => client.del(key)))),
    loseScripts: () => ofAll((client) => client.script('FLUSH')),
  };
}

let opened: Promise<SharedRedis> | undefined;
export const sharedRedis = (isCluster: boolean): Promise<SharedRedis> =>
  (opened ??= isCluster ? openCluster() : openServer());
