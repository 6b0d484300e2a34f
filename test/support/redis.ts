import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
export const withoutRedis = 'Redis is tested where redis-server is installed: apt-get install -y redis-server';

/** A test that starts one does not come to end it. */
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A Redis of the test's own, on a free port, keeping nothing on disk. */
export async function redisServer() {
  let port = 0;
  let child: ChildProcess | undefined;

  /** False where somebody else has the port meanwhile. */
  async function start(): Promise<boolean> {
    const mine = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    child = mine;
    running.add(mine);
    mine.once('exit', () => running.delete(mine));
    const failed = once(mine, 'exit').then(() => false);
    const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null });
    probe.on('error', () => undefined);
    const answered = probe.info('server').then((told) => told.includes(`process_id:${mine.pid}\r\n`));
    const isUp = await Promise.race([answered, failed]);
    probe.disconnect();
    return isUp;
  }
  async function stop(signal: NodeJS.Signals = 'SIGKILL') {
    const ended = new Promise((resolve) => child?.once('close', resolve));
    child?.kill(signal);
    await ended;
  }
  await until(async () => {
    port = await freePort();
    return start();
  });
  const url = `redis://127.0.0.1:${port}`;
  return {
    url,
    /** Where it was before: that is where it is looked for. */
    start: () => until(start),
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

/** Waits until it is so, for many turns of a timer: on a machine that stands still for a while, time would be up at once. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await isSo()); turns++) {
    if (turns === 2_000) throw new Error('it did not become so');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
