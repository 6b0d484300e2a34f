/** Checks once at the start whether a Redis can be used: an error that only an operator can mend must not look like an outage. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { RedisAddress } from '../../../config/redis-address.ts';
import { optionalLookup } from '../../../lib/lookup.ts';
import { settlesWithin } from '../../../lib/promises.ts';
import type { RedisClient } from './client.ts';

/** How long the start waits for the connection, and then for answers. Without them the facade starts, because Redis is optional at run time. */
const CONNECT_MS = 2_000;
const PROBE_MS = 500;
/** What the scripts of the facade need: a write, the time, and keys that are no literals. */
const PROBE = "for at = 1, 1 do redis.call('SET', KEYS[at], '', 'PX', 1) end return redis.call('TIME')";

export interface CheckedRedis {
  redis: RedisClient;
  address: RedisAddress;
  /** The setting that has the address, for sentences about it. */
  variable: string;
  key: (name: string) => string;
}

/** A sentence if the Redis cannot be used as it is set; undefined if it can, or cannot be reached now. */
export async function checkRedis(checked: CheckedRedis): Promise<string | undefined> {
  const { redis, address, variable } = checked;
  let problem: string | undefined;
  const failed = once(redis, 'error').then(([error]) => void (problem = describe(messageOf(error as Error), address)));
  const ready = redis.status === 'ready' ? undefined : once(redis, 'ready').catch(() => undefined);
  await settlesWithin(CONNECT_MS, Promise.race([ready, failed]));
  if (redis.status === 'ready') {
    const check = problemOf(checked).then((found) => void (problem = found));
    await settlesWithin(CONNECT_MS, check);
  } else if (await isOtherwise(address))
    problem = address.tls ? 'does not speak TLS: use redis://.' : 'speaks TLS: use rediss://.';
  return problem && `The Redis of ${variable} ${problem}`;
}

async function problemOf({ redis, address, key }: CheckedRedis): Promise<string | undefined> {
  const { kind, database } = address;
  const info = kind === 'cluster' ? '' : String(await redis.call('INFO', 'cluster').catch(() => ''));
  if (info.includes('cluster_enabled:1')) return describe('MOVED', address);
  const message = await Promise.resolve(kind === 'cluster' ? undefined : redis.call('SELECT', database))
    .then(() => redis.eval(PROBE, 1, key('check')))
    .then(() => '', messageOf);
  return describe(message, address);
}

/** The error of a cluster contains that of the node which was tried last. */
const messageOf = (error: Error & { lastNodeError?: Error }): string => (error.lastNodeError ?? error).message;

/** Errors that do not end by themselves, as LOADING, READONLY and OOM do. */
const REFUSED =
  /NOPERM|no permissions|DB index|SELECT is not allowed|executing the script can't|ACL failure|unknown (redis )?command|bad lua script|undeclared key|not supported|unsupported|disabled|forbidden/i;

/** Never the message itself: it may be of a proxy, and repeat what it was sent. */
function describe(message: string, { kind, hosts, tls, username }: RedisAddress): string | undefined {
  const [{ host, port } = { host: 'host', port: 6379 }] = hosts;
  const user = username === undefined ? 'the default user' : `user ${username}`;
  if (/WRONGPASS|invalid (username-)?password|AUTH failed/i.test(message)) return `refuses the password of ${user}.`;
  if (message.includes('NOAUTH')) return 'needs a password: redis://:password@host.';
  if (message.includes('cluster support disabled')) return 'is not in cluster mode: leave out +cluster.';
  if (/MOVED|CROSSSLOT/.test(message) && kind !== 'cluster')
    return `is in cluster mode: use ${tls ? 'rediss' : 'redis'}+cluster://${host}:${port}.`;
  const code = /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'ERR';
  return REFUSED.test(message)
    ? `refuses what it is asked (${code}): docs/redis.md#replicas has what it, its user and proxies must allow.`
    : undefined;
}

/** Whether the first host speaks TLS though the address is without, or the other way round. Nothing secret is sent, so any certificate will do. */
async function isOtherwise({ hosts: [first], tls }: RedisAddress): Promise<boolean> {
  const to = { ...first!, lookup: optionalLookup };
  const socket = tls ? connect(to) : connectTls({ ...to, rejectUnauthorized: false });
  // Without TLS, Redis answers this, if only with an error. With TLS, it closes a connection that is not secure.
  socket.write('PING\r\n');
  const isOther = once(socket, tls ? 'data' : 'secureConnect').then(
    ([reply]) => !tls || /^[+-]/.test(String(reply)),
    () => false,
  );
  try {
    return (await settlesWithin(PROBE_MS, isOther)) && (await isOther);
  } finally {
    socket.destroy();
  }
}
