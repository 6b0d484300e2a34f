/** Programs of Redis for the oracle: started once a run, on free ports of 127.0.0.1, and ended with the run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const children = new Set<ChildProcess>();
const directory = mkdtempSync(join(tmpdir(), 'oracle-redis-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const clients = new Map<number, Redis>();
export function clientOf(port: number): Redis {
  let client = clients.get(port);
  if (client) return client;
  client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => RETRY_MS });
  client.on('error', () => undefined); // it is not up yet: the client connects again
  clients.set(port, client);
  return client;
}
const RETRY_MS = 10;
export const say = async (port: number, ...[command, ...words]: [string, ...string[]]): Promise<string> =>
  String(await clientOf(port).call(command, ...words));

export async function listening(listener: Server): Promise<number> {
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return (listener.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Program {
  port: number;
  /** Ends it as a loss of power does, and starts it with what is on its disk. */
  restart: () => Promise<void>;
}

export async function startProgram(...more: string[]): Promise<Program> {
  const port = await freePort();
  const place = mkdtempSync(join(directory, 'server-'));
  const all = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', place];
  const run = async () => {
    const child = spawn('redis-server', [...all, ...more], { stdio: 'ignore' });
    child.unref();
    children.add(child);
    await say(port, 'ping');
    return child;
  };
  let child = await run();
  return {
    port,
    async restart() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      children.delete(child);
      child = await run();
    },
  };
}

/** The connection of one replica, which can be cut. */
export interface Link {
  url: string;
  /** Closes the connections; the replica connects again. */
  cut: () => unknown;
  /** For good, as when the process of the replica is killed. */
  end: () => unknown;
  /** Nothing passes the connections of now any more, and nobody closes them. Not of a cluster. */
  goSilent?: () => unknown;
  /** Replies are late by so many ms from now on. Not of a cluster. */
  delayReplies?: (ms: number) => unknown;
}

export interface SharedRedis {
  link: () => Promise<Link>;
  /** Names and values of all keys. */
  dump: () => Promise<Map<string, string>>;
  clear: () => Promise<unknown>;
  loseScripts: () => Promise<unknown>;
  /** Removes the notes of what was invalidated, as a full Redis may. */
  evictNotes: () => Promise<unknown>;
  /** Makes a replica of each primary the primary; only of a cluster. */
  failOver?: () => Promise<void>;
  /** Begins to move the slot of the keys to another primary, with some of them. Returns what ends it. Only of a cluster. */
  moveSlot?: () => Promise<() => Promise<void>>;
  /** Keeps a snapshot of now; not of a cluster. */
  keepSnapshot?: () => Promise<unknown>;
  /** Restarts it with the last snapshot; not of a cluster. */
  restore?: () => Promise<void>;
}

export function commandsOf(primaries: () => Promise<readonly number[]>) {
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
      ofAll(async (client) => Promise.all((await client.keys('*:counter:*')).map((key) => client.del(key)))),
    loseScripts: () => ofAll((client) => client.script('FLUSH')),
  };
}
