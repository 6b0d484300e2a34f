import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
export const withoutRedis = 'Redis is tested where redis-server is installed: apt-get install -y redis-server';

/** A Redis of the test's own, on a free port, keeping nothing on disk. */
export async function redisServer() {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  async function start() {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    });
    const probe = new Redis(url, { retryStrategy: () => 50 });
    probe.on('error', () => undefined);
    await probe.ping();
    probe.disconnect();
  }
  async function stop(signal: NodeJS.Signals = 'SIGKILL') {
    const ended = new Promise((resolve) => child?.once('close', resolve));
    child?.kill(signal);
    await ended;
  }
  await start();
  afterAll(() => void child?.kill('SIGKILL'));
  return {
    url,
    start,
    stop,
    /** It answers nobody until it is thawed, and closes no connection. */
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    /** Every key and everything in it. */
    async dump(): Promise<string> {
      const redis = new Redis(url);
      const lines: string[] = [];
      for (const key of await redis.keys('*')) {
        const isSet = (await redis.type(key)) === 'zset';
        lines.push(`${key} = ${isSet ? (await redis.zrange(key, 0, -1)).join(' ') : await redis.get(key)}`);
      }
      redis.disconnect();
      return lines.join('\n');
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Waits until it is so, ten seconds at most. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const ends = performance.now() + 10_000;
  while (!(await isSo())) {
    if (performance.now() > ends) throw new Error('it did not become so');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
