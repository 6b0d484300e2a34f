/** Checks once at the start whether a Redis can be used: an error that only an operator can mend must not look like an outage. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { RedisAddress } from '../../../config/redis-address.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import type { RedisClient } from './client.ts';
import { type RedisRefusal, describeRefusal } from './refusal.ts';

/** How long the start waits for the connection, and then for answers. Without them the facade starts, because Redis is optional at run time. */
const CONNECT_MS = 2_000;

/**
 * Commands that scripts use, each once: ACLs apply to them too, and older servers lack some. Each key is of one type, because another process
 * may run the same; keys are literal, because some proxies allow no others.
 */
const COMMANDS: readonly [command: string, rest: string][] = [
  ['TIME', ''],
  ['SET', "KEYS[1], '1', 'PX', 1000"],
  ['GET', 'KEYS[1]'],
  ['GETRANGE', 'KEYS[1], 0, 1'],
  ['EXISTS', 'KEYS[1]'],
  ['PTTL', 'KEYS[1]'],
  ['PEXPIRE', 'KEYS[1], 1000'],
  ['DEL', 'KEYS[1]'],
  ['ZADD', "KEYS[2], 1, 'a'"],
  ['ZRANGE', 'KEYS[2], 0, -1'],
  ['ZRANGEBYSCORE', "KEYS[2], '-inf', 2"],
  ['ZSCORE', "KEYS[2], 'a'"],
  ['ZRANK', "KEYS[2], 'a'"],
  ['ZCARD', 'KEYS[2]'],
  ['ZREM', "KEYS[2], 'b'"],
  ['ZREMRANGEBYSCORE', "KEYS[2], '-inf', 2"],
  ['XADD', "KEYS[3], '*', 'a', '1'"],
  ['XRANGE', "KEYS[3], '-', '+', 'COUNT', 1"],
  ['XREVRANGE', "KEYS[3], '+', '-', 'COUNT', 1"],
  ['HSET', "KEYS[4], 'a', '1'"],
  ['HLEN', 'KEYS[4]'],
  ['HGET', "KEYS[4], 'a'"],
  ['HMGET', "KEYS[4], 'a', 'b'"],
  ['HGETALL', 'KEYS[4]'],
  ['HINCRBY', "KEYS[4], 'c', 1"],
  ['HRANDFIELD', 'KEYS[4]'],
  ['HDEL', "KEYS[4], 'a'"],
  ['RPUSH', "KEYS[5], 'a'"],
  ['LRANGE', 'KEYS[5], 0, -1'],
  ['LTRIM', 'KEYS[5], -1, -1'],
  ['SADD', "KEYS[6], 'a'"],
];

/** Returns the first command that failed, and its error. */
const CHECK = `
local failed, why
local function note(command, reply)
  if not failed and type(reply) == 'table' and reply.err then failed, why = command, reply.err end
end
${COMMANDS.map(([name, rest]) => `note('${name}', redis.pcall('${name}'${rest && `, ${rest}`}))`).join('\n')}
return failed and {failed, why} or {}`;

/** Keys of the check, more than any script needs; values that are a time, a number and a name. */
const KEYS = 8;
const VALUES = Array.from({ length: 16 }, () => '1');

export interface CheckedRedis {
  redis: RedisClient;
  address: RedisAddress;
  /** The setting that has the address, for sentences about it. */
  variable: string;
  key: (name: string) => string;
}

/**
 * A sentence if the Redis cannot be used as it is set; undefined if it can, or cannot be reached now. The scripts are run on keys of the check:
 * a server or a proxy may refuse them for what no command shows. What they say of senseless values does not matter.
 */
export async function checkRedis(checked: CheckedRedis, scripts: readonly string[]): Promise<string | undefined> {
  const { redis } = checked;
  const problem = await connected(redis);
  if (problem !== undefined) return describeRefusal({ message: problem }, checked);
  if (redis.status !== 'ready') return undefined;
  let refusal: RedisRefusal | undefined;
  const check = findRefusal(checked, scripts).then((found) => void (refusal = found));
  await settlesWithin(CONNECT_MS, check);
  return refusal && describeRefusal(refusal, checked);
}

async function findRefusal({ redis, address, key }: CheckedRedis, scripts: readonly string[]) {
  const isCluster = address.kind === 'cluster';
  if (!isCluster && (await infoOf(redis, 'cluster')).includes('cluster_enabled:1')) return { message: 'MOVED' };
  const run = randomBytes(6).toString('hex');
  const keys = Array.from({ length: KEYS }, (_, at) => key(`check:${run}:${at}`));
  try {
    if (!isCluster) await redis.call('SELECT', address.database);
    const [command, message] = (await redis.eval(CHECK, KEYS, ...keys)) as [string?, string?];
    if (command !== undefined) {
      const version = /^redis_version:(\S+)/m.exec(await infoOf(redis, 'server'))?.[1];
      return { command, message: message ?? '', ...(version !== undefined && { version }) };
    }
    for (const script of scripts) {
      const refusal = await refusalOf(redis.eval(script, KEYS, ...keys, ...VALUES));
      if (refusal !== undefined) return { message: refusal, isOfScript: true };
    }
    return undefined;
  } catch (error) {
    return { message: (error as Error).message };
  } finally {
    await redis.del(...keys).catch(() => undefined);
  }
}

const refusalOf = (reply: Promise<unknown>): Promise<string | undefined> =>
  reply.then(
    () => undefined,
    (error: Error) => error.message,
  );

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

const infoOf = async (redis: RedisClient, section: string): Promise<string> =>
  String(await redis.call('INFO', section).catch(() => ''));
