/** The locks of changes among replicas, in the Redis of the keys: each is a lease that its holder renews. */
import { hash, randomUUID } from 'node:crypto';
import type { TakeLease } from '../../../upstream/change-locks.ts';
import type { RedisConnection } from '../../../upstream/redis/connection/connection.ts';
import { NOW, defineScript } from '../../../upstream/redis/scripts/script.ts';
import { LOCK_MS, RENEWED_MS } from './store/key-store.ts';

/** How long it is remembered when the last change of a record ended: longer than a read takes. */
const ENDED_MS = 60_000;

/** KEYS: the lock. ARGV: holder. Returns the time, and when the last change ended; nothing if another holds it. */
const TAKE = `${NOW}
local holder, upTo, ended = unpack(redis.call('HMGET', KEYS[1], 'holder', 'until', 'ended'))
if holder and holder ~= ARGV[1] and tonumber(upTo) > now then return {} end
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', now + ${LOCK_MS})
redis.call('PEXPIRE', KEYS[1], ${ENDED_MS})
return {now, tonumber(ended or 0)}`;

const LEAVE = `${NOW}
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return end
redis.call('HDEL', KEYS[1], 'holder')
redis.call('HSET', KEYS[1], 'ended', now)
redis.call('PEXPIRE', KEYS[1], ${ENDED_MS})`;

export function createChangeLeases(connection: RedisConnection): TakeLease {
  const call = connection.channel({ what: 'locks of changes', timeoutMs: 1_000 });
  const takeLease = defineScript(connection, 'catalogChange_take', TAKE);
  const leaveLease = defineScript(connection, 'catalogChange_leave', LEAVE);
  return async (name) => {
    const keys = [connection.key(`change:${hash('sha256', name, 'base64url')}`)];
    const holder = randomUUID();
    const take = () => call(() => takeLease(keys, [holder])) as Promise<[] | [number, number] | undefined>;
    const taken = await take();
    if (!taken) return undefined;
    const [now, endedAt] = taken;
    if (now === undefined || endedAt === undefined) return 'held';
    const renewal = setInterval(() => void take(), RENEWED_MS).unref();
    const leave = (): void => {
      clearInterval(renewal);
      void call(() => leaveLease(keys, [holder]));
    };
    return { now, endedAt, leave };
  };
}
