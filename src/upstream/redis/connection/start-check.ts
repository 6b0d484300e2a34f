/** Whether a Redis can be used at all, checked once at the start: what never gets right by itself must not be found out by its silence. */
import { once } from 'node:events';
import type { RedisAddress } from '../../../config/redis-address.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import type { RedisClient } from './client.ts';

/** How long the start waits for the connection, and then for answers. Without them the facade starts, because Redis is optional at run time. */
const CONNECT_MS = 2_000;

/** Commands that the scripts use, each once, on a key of its own; ACLs apply to the commands of scripts too. */
const CHECK = `
redis.call('TIME')
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('GET', KEYS[1])
redis.call('GETRANGE', KEYS[1], 0, 1)
redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], 1000)
redis.call('DEL', KEYS[1])
redis.call('ZADD', KEYS[1], 1, 'a')
redis.call('ZRANGE', KEYS[1], 0, -1)
redis.call('ZREM', KEYS[1], 'b')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', 2)
redis.call('DEL', KEYS[1])
redis.call('XADD', KEYS[1], '1-1', 'a', '1')
redis.call('XRANGE', KEYS[1], '-', '+')
redis.call('XREVRANGE', KEYS[1], '+', '-')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'a', '1')
redis.call('HLEN', KEYS[1])
redis.call('HGET', KEYS[1], 'a')
redis.call('HRANDFIELD', KEYS[1])
redis.call('HDEL', KEYS[1], 'a')
return 1`;

/** A sentence if the Redis cannot be used as it is set; undefined if it can, or cannot be reached now. */
export async function checkRedis(
  redis: RedisClient,
  address: RedisAddress,
  name: string,
  key: string,
): Promise<string | undefined> {
  const refusal = await connected(redis);
  if (refusal !== undefined) return describe(refusal, address, name);
  if (redis.status !== 'ready') return undefined;
  let problem: string | undefined;
  const check = tryCommands(redis, address, name, key).then((found) => void (problem = found));
  await settlesWithin(CONNECT_MS, check);
  return problem;
}

async function tryCommands(
  redis: RedisClient,
  address: RedisAddress,
  name: string,
  key: string,
): Promise<string | undefined> {
  if (address.kind !== 'cluster' && (await isClusterMode(redis))) return describe('MOVED', address, name);
  try {
    if (address.kind !== 'cluster') await redis.call('SELECT', address.database);
    await redis.eval(CHECK, 1, key);
    return undefined;
  } catch (error) {
    return describe((error as Error).message, address, name);
  }
}

/** Resolves with the message of the server if it refuses the connection. */
async function connected(redis: RedisClient): Promise<string | undefined> {
  let refusal: string | undefined;
  const failed = new Promise<void>((resolve) => {
    redis.once('error', (error: Error & { lastNodeError?: Error; code?: string }) => {
      refusal = (error.lastNodeError ?? error).message;
      resolve();
    });
  });
  const ready = redis.status === 'ready' ? Promise.resolve() : once(redis, 'ready').catch(() => undefined);
  await settlesWithin(CONNECT_MS, Promise.race([ready, failed]));
  return redis.status === 'ready' ? undefined : refusal;
}

async function isClusterMode(redis: RedisClient): Promise<boolean> {
  const info = await redis.call('INFO', 'cluster').catch(() => '');
  return String(info).includes('cluster_enabled:1');
}

/** Never the message itself: it may be of a proxy, and repeat what it was sent. */
function describe(
  message: string,
  { kind, hosts, tls, username, database }: RedisAddress,
  name: string,
): string | undefined {
  const user = username === undefined ? 'the default user' : `user ${username}`;
  if (/WRONGPASS|invalid (username-)?password|AUTH failed/i.test(message))
    return `The Redis of ${name} refuses the password of ${user}.`;
  if (/NOAUTH|without any password configured/.test(message))
    return `The Redis of ${name} needs a password: redis://:password@host.`;
  if (/DB index|SELECT is not allowed/.test(message)) return `The Redis of ${name} has no database ${database}.`;
  if (/cluster support disabled/.test(message))
    return `The Redis of ${name} is not in cluster mode: leave out +cluster.`;
  if (/MOVED|CROSSSLOT/.test(message) && kind !== 'cluster') {
    const [{ host, port } = { host: 'host', port: 6379 }] = hosts;
    return `The Redis of ${name} is in cluster mode: use ${tls ? 'rediss' : 'redis'}+cluster://${host}:${port}.`;
  }
  // Anything else may be temporary: LOADING, READONLY, OOM.
  if (!/NOPERM|no permissions|executing the script can't|unknown command/i.test(message)) return undefined;
  const command = /'([\w|]{1,40})'/.exec(message)?.[1];
  const isOfKeys = /\bkeys?\b/.test(message);
  const what = isOfKeys
    ? 'use keys that begin with catalog:'
    : `run ${command?.toUpperCase() ?? 'a command of its scripts'}`;
  return `The Redis of ${name} does not let ${user} ${what}. What it needs is in docs/operations.md.`;
}
