/** The Redis between replicas: one server or a cluster, started once a run; and what happens to it and to its connections. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';

const children: ChildProcess[] = [];
const directory = mkdtempSync(join(tmpdir(), 'oracle-redis-'));
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const say = (port: number, ...words: string[]): string =>
  spawnSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).stdout;

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
  while (!say(port, 'ping').startsWith('PONG')) await setTimeout(20);
  return port;
}

/** The connection of one replica, which can be cut. */
export interface Link {
  url: string;
  /** Closes the connections; the replica connects again. */
  cut(): void;
  /** For good, as when the process of the replica is killed. */
  end(): void;
}

export interface SharedRedis {
  link(): Promise<Link>;
  /** Names and values of all keys. */
  dump(): Promise<Map<string, string>>;
  clear(): Promise<unknown>;
  loseScripts(): Promise<unknown>;
  /** Makes a replica of each primary the primary; nothing without a cluster. */
  failOver(): Promise<void>;
}

async function openServer(): Promise<SharedRedis> {
  const port = await start();
  return {
    ...commandsOf(() => [port]),
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

async function openCluster(): Promise<SharedRedis> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '500', '--repl-diskless-sync-delay', '0'];
  const ports: number[] = [];
  for (let node = 0; node < 6; node++) ports.push(await start(...settings, '--cluster-port', String(await freePort())));
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'], {
    stdio: 'ignore',
  });
  const isWith = (role: string) => (port: number) => say(port, 'info', 'replication').includes(`role:${role}`);
  const isSettled = () =>
    ports.every((port) => say(port, 'cluster', 'info').includes('cluster_state:ok')) &&
    ports.filter(isWith('slave')).every((port) => say(port, 'info', 'replication').includes('master_link_status:up'));
  while (!isSettled()) await setTimeout(50);
  let known: number[] | undefined;
  let links = 0;
  const primaries = () => (known ??= ports.filter(isWith('master')));
  return {
    ...commandsOf(primaries),
    // Each replica is a user, so that its connections can be told from those of others.
    link() {
      const user = `replica${links++}`;
      const sayAll = (...words: string[]) => {
        for (const port of ports) say(port, ...words);
      };
      sayAll('acl', 'setuser', user, 'on', '>secret', '~*', '&*', '+@all');
      return Promise.resolve({
        url: `redis+cluster://${user}:secret@${nodes.join(',')}`,
        cut: () => sayAll('client', 'kill', 'user', user),
        end: () => sayAll('acl', 'deluser', user),
      });
    },
    async failOver() {
      known = undefined;
      const before = ports.filter(isWith('slave'));
      for (const port of before) say(port, 'cluster', 'failover');
      while (!before.every(isWith('master')) || !isSettled()) await setTimeout(20);
    },
  };
}

function commandsOf(primaries: () => readonly number[]) {
  const clients = new Map<number, Redis>();
  const clientOf = (port: number): Redis => {
    let client = clients.get(port);
    if (!client) clients.set(port, (client = new Redis(port, '127.0.0.1')));
    return client;
  };
  const ofAll = (act: (client: Redis) => Promise<unknown>) =>
    Promise.all(primaries().map((port) => act(clientOf(port))));
  return {
    async dump() {
      const found = new Map<string, string>();
      await ofAll(async (client) => {
        for (const key of await client.keys('*'))
          if ((await client.type(key)) === 'string') found.set(key, (await client.get(key)) ?? '');
      });
      return found;
    },
    clear: () => ofAll((client) => client.flushall()),
    loseScripts: () => ofAll((client) => client.script('FLUSH')),
  };
}

let opened: Promise<SharedRedis> | undefined;
export const sharedRedis = (isCluster: boolean): Promise<SharedRedis> =>
  (opened ??= isCluster ? openCluster() : openServer());
