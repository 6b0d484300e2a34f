import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { DEFAULT_TIMEOUTS } from '../../src/upstream/redis/shared-state.ts';
import { afterEachFile } from './hooks.ts';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** How long a request waits for Redis outside of tests. */
export const BRIEF_TIMEOUTS = { ...DEFAULT_TIMEOUTS };
/** In tests Redis has time: what it does not answer in time is served as without it, and a busy machine is not what they test. */
const PATIENT_TIMEOUTS = { record: 20_000, window: 20_000 };
Object.assign(DEFAULT_TIMEOUTS, PATIENT_TIMEOUTS);

/** Replicas that the test opens from now on wait as briefly as outside of tests: for a Redis that does not answer. */
export function waitBriefly(): void {
  Object.assign(DEFAULT_TIMEOUTS, BRIEF_TIMEOUTS);
  onTestFinished(() => void Object.assign(DEFAULT_TIMEOUTS, PATIENT_TIMEOUTS));
}

/** Killed after the tests, also after one that fails. */
const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A Redis on a free port without persistence. */
export async function redisServer() {
  let port = 0;
  let child: ChildProcess | undefined;

  /** False if another process has taken the port. */
  async function start(): Promise<boolean> {
    const started = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    child = started;
    running.add(started);
    started.once('exit', () => running.delete(started));
    const failed = once(started, 'exit').then(() => false);
    const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null });
    probe.on('error', () => undefined);
    const answered = probe.info('server').then((info) => info.includes(`process_id:${started.pid}\r\n`));
    // A server of another protocol on the port answers with an error.
    const isUp = await Promise.race([answered.catch(() => false), failed]);
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
    /** On the same port as before. */
    start: () => until(start),
    stop,
    /** It does not respond until it is thawed, and closes no connection. */
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    /** All keys and values. */
    async dump(): Promise<string> {
      const redis = new Redis(url);
      const lines: string[] = [];
      for (const key of await redis.keys('*')) {
        lines.push(`${key} = ${await valueOf(redis, key)}`);
      }
      redis.disconnect();
      return lines.join('\n');
    },
  };
}

async function valueOf(redis: Redis, key: string): Promise<string | null> {
  const type = await redis.type(key);
  if (type === 'zset') return (await redis.zrange(key, '0', '-1')).join(' ');
  if (type === 'hash') return JSON.stringify(await redis.hgetall(key));
  if (type === 'set') return (await redis.smembers(key)).join(' ');
  if (type === 'list') return (await redis.lrange(key, 0, -1)).join(' ');
  return type === 'stream' ? JSON.stringify(await redis.xrange(key, '-', '+')) : redis.get(key);
}

/** The system gives ports from 32768 upwards to others, also between the look at one and its use. Workers begin far from each other. */
let lastPort = 10_000 + ((997 * process.pid) % 20_000);

export async function freePort(): Promise<number> {
  const port = ++lastPort;
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => server.close(resolve));
  return isFree ? port : freePort();
}

/** Waits for a condition. The limit counts timer turns, not time, because a machine may stall. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await condition()); turns++) {
    if (turns === 2_000) throw new Error('it did not become so');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
