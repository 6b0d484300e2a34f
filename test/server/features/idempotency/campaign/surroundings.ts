/** Facades and their Redis, and what is done to them while writes are made. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Program, startProgram } from '../../../../support/program.ts';
import { redisServer } from '../../../../support/redis.ts';
import { redisSentinel, startRedis } from '../../../../support/redis-process.ts';
import { CALL_TIMEOUT_MS, SETTLE_MS } from './client.ts';
import { largeBook } from './lanes.ts';
import type { Surroundings } from './run-writes.ts';

/** A process of the facade that always has the same address. */
async function facadeProcess(env: NodeJS.ProcessEnv) {
  let program: Program = await startProgram({ ...env, PORT: '0' });
  const { url } = program;
  return {
    url,
    pid: () => program.pid,
    async kill() {
      await program.stop('SIGKILL');
      program = await startProgram({ ...env, PORT: new URL(url).port });
    },
    stop: () => program.stop('SIGKILL'),
  };
}

const settings = (service: string): NodeJS.ProcessEnv => ({
  BASE_URL: service,
  EVENT_BASE_URL: service,
  UPSTREAM_SETTLE_MS: String(SETTLE_MS),
  CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS),
  RETRY_AFTER_SECONDS: '1',
});

type Facade = Awaited<ReturnType<typeof facadeProcess>>;

const surround = (facades: readonly Facade[], rest: Partial<Surroundings> = {}): Surroundings => ({
  urls: facades.map(({ url }) => url),
  ...rest,
  close: () => Promise.all(facades.map((facade) => facade.stop())),
});

const both = (env: NodeJS.ProcessEnv, other: NodeJS.ProcessEnv = {}) =>
  Promise.all([facadeProcess(env), facadeProcess({ ...env, ...other })]);

export async function twoKilled(service: string): Promise<Surroundings> {
  const facades = await both({ ...settings(service), REDIS_URL: (await redisServer()).url });
  let turn = 0;
  return surround(facades, { disturb: () => facades[turn++ % 2]!.kill(), pauseMs: 3_000, disturbances: 1 });
}

export const oneInMemory = async (service: string): Promise<Surroundings> =>
  surround([await facadeProcess(settings(service))]);

/** Each time one of the two is stopped for longer than leases of keys last. */
export async function paused(service: string): Promise<Surroundings> {
  const facades = await both({ ...settings(service), REDIS_URL: (await redisServer()).url });
  let turn = 0;
  return surround(facades, {
    pauseMs: 700,
    disturbances: 1,
    async disturb() {
      const pid = facades[turn++ % 2]!.pid();
      process.kill(pid, 'SIGSTOP');
      await sleep(4_500);
      process.kill(pid, 'SIGCONT');
    },
  });
}

/** The Redis of both does not answer for a while, twice; then it ends, and its replica takes its place. */
export async function failedOver(service: string): Promise<Surroundings> {
  const { url, primary } = await redisSentinel();
  const facades = await both({ ...settings(service), REDIS_URL: url });
  let turn = 0;
  return surround(facades, {
    pauseMs: 1_000,
    disturbances: 3,
    async disturb() {
      turn++;
      if (turn === 3) return primary.kill();
      if (turn > 3) return;
      process.kill(primary.pid, 'SIGSTOP');
      await sleep(700); // Sentinels replace it after a second
      process.kill(primary.pid, 'SIGCONT');
    },
  });
}

/** A snapshot is taken, and a moment later the Redis of both ends and starts from it: rows of that moment are lost. */
export async function restored(service: string): Promise<Surroundings> {
  let redis = await startRedis();
  const { port, directory } = redis;
  const facades = await both({ ...settings(service), REDIS_URL: `redis://127.0.0.1:${port}` });
  return surround(facades, {
    pauseMs: 1_000,
    disturbances: 2,
    async disturb() {
      const client = new Redis(port, '127.0.0.1');
      await client.save();
      client.disconnect();
      await sleep(500);
      redis.kill();
      await sleep(100);
      redis = await startRedis(['--dir', directory], { port });
    },
  });
}

/** What is loaded before the program: its clock is an hour ahead. */
const ahead = `data:text/javascript,${encodeURIComponent(`
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given) { given.length === 0 ? super(RealDate.now() + 3_600_000) : super(...given); }
    static now() { return RealDate.now() + 3_600_000; }
  };`)}`;

export async function clocksApart(service: string): Promise<Surroundings> {
  const env = { ...settings(service), REDIS_URL: (await redisServer()).url };
  return surround(await both(env, { NODE_OPTIONS: `--import=${ahead}` }));
}

const policies = ['lru', 'lfu', 'random'].flatMap((how) => [`allkeys-${how}`, `volatile-${how}`]);
const MAX_BYTES = 6_000_000;

/** A Redis with little memory. */
async function small(args: readonly string[] = []) {
  const started = await startRedis(['--maxmemory', String(MAX_BYTES), ...args]);
  const client = new Redis(started.port, '127.0.0.1', { maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  return {
    url: `redis://127.0.0.1:${started.port}`,
    client,
    /** With what other programs keep there: half of it has a time to live. */
    async fill(bytes: number) {
      const value = 'x'.repeat(2_000);
      const batch = client.pipeline();
      for (let at = 0; at < bytes / value.length; at++)
        if (at % 2) batch.set(`filler:${Math.random()}`, value);
        else batch.set(`filler:${Math.random()}`, value, 'EX', 600);
      await batch.exec().catch(() => undefined);
    },
    close: () => client.disconnect(),
  };
}

/** Policies of eviction, in turn; each time it is filled, emptied, or both. */
const forget =
  (redis: Awaited<ReturnType<typeof small>>, given = [...policies, 'volatile-ttl']) =>
  async (turn: number) => {
    await redis.client.config('SET', 'maxmemory-policy', given[turn % given.length]!);
    if (turn % 3 === 2) await redis.client.flushall();
    else await redis.fill(2 * MAX_BYTES);
  };

/** The cache evicts by each policy, is emptied and restarted; keys are in a Redis of their own, which is restarted and has a file. */
export async function evictingCache(service: string): Promise<Surroundings> {
  const cache = await small();
  const keys = await restartable();
  const facades = await both({ ...settings(service), REDIS_URL: cache.url, IDEMPOTENCY_REDIS_URL: keys.url });
  const forgetSome = forget(cache, [...policies, 'volatile-ttl', 'noeviction']);
  let turn = 0;
  return {
    ...surround(facades, {
      pauseMs: 500,
      disturbances: 4,
      async disturb() {
        if (turn % 4 === 3) await keys.restart();
        await forgetSome(turn++);
      },
    }),
    close: async () => {
      cache.close();
      await Promise.all(facades.map((facade) => facade.stop()));
    },
  };
}

async function restartable() {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
  let running = await startRedis(args);
  const { port, directory } = running;
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      running.kill();
      await sleep(100);
      running = await startRedis([...args, '--dir', directory], { port });
    },
  };
}

/**
 * One Redis for all, which forgets. A process answers for the writes that it has made, so retries go there. By `volatile-lru` and
 * `volatile-lfu` it is full of what lasts, and refuses each write of a key: then clients are told IDEMPOTENCY_UNAVAILABLE, and nothing is sent.
 */
export async function forgetfulRedis(service: string): Promise<Surroundings> {
  const redis = await small();
  const facades = await both({ ...settings(service), REDIS_URL: redis.url });
  const forgetSome = forget(redis);
  let turn = 0;
  return {
    ...surround(facades, {
      ...{ isSticky: true, pauseMs: 400, disturbances: 4 },
      disturb: () => forgetSome(turn++),
      recover: () => redis.client.flushall(),
    }),
    close: async () => {
      redis.close();
      await Promise.all(facades.map((facade) => facade.stop()));
    },
  };
}

/** One Redis for all that evicts nothing, while reads would fill it several times. */
export async function filledByReads(service: string): Promise<Surroundings> {
  const redis = await small(['--maxmemory-policy', 'noeviction']);
  const facades = await both({ ...settings(service), REDIS_URL: redis.url });
  let next = 0;
  let readBytes = 0;
  async function read(): Promise<void> {
    const books = Array.from({ length: 10 }, (_, at) => `b${at}: book(id: "${largeBook(next + at)}") { summary }`);
    next += books.length;
    const body = JSON.stringify({ query: `{ ${books.join(' ')} }` });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${facades[(next / 10) % 2]!.url}/graphql`, { method: 'POST', headers, body });
    const { data } = (await response.json()) as { data?: Record<string, { summary: string } | null> };
    for (const book of Object.values(data ?? {})) readBytes += book?.summary.length ?? 0;
  }
  return {
    ...surround(facades, {
      pauseMs: 50,
      disturbances: 12,
      disturb: () => Promise.all(Array.from({ length: 5 }, read)),
    }),
    close: async () => {
      redis.close();
      if (readBytes < MAX_BYTES) throw new Error(`only ${readBytes} bytes were read`);
      await Promise.all(facades.map((facade) => facade.stop()));
    },
  };
}
