/** The Redis in which idempotency keys are kept. If it loses a key, a write may be made twice. */
import { memoryIn, writesToDisk } from './info.ts';
import type { TransportSettings } from '../../http/pool.ts';
import { readTlsFiles } from '../../../config/upstream-tls.ts';
import type { OnAvailabilityChange } from '../../availability.ts';
import { type RedisConnection, openRedis } from './connection.ts';

export interface KeyRedis {
  connection: RedisConnection;
  /** The connection, if it is to another Redis than the one that replicas share. */
  own: RedisConnection | undefined;
}

/** Opens the Redis of IDEMPOTENCY_REDIS_URL, or returns the one that replicas share; undefined if neither is set. */
export function openKeyRedis(
  settings: TransportSettings,
  namespace: string,
  shared: RedisConnection | undefined,
  onOutage: OnAvailabilityChange | undefined,
): KeyRedis | undefined {
  const { idempotencyRedisUrl: url } = settings;
  if (url === undefined) return shared && { connection: shared, own: undefined };
  const report = (reason: string | undefined) => onOutage?.('redis of idempotency keys', reason);
  const variable = 'IDEMPOTENCY_REDIS_URL';
  const own = openRedis({ url, variable, namespace, tls: readTlsFiles('redis', settings), report });
  return { connection: own, own };
}

/** A sentence if a Redis may forget keys; undefined also if it does not answer, or its user may not ask for INFO. */
export async function lossWarning({ redis }: RedisConnection): Promise<string | undefined> {
  const info = redis.status === 'ready' ? await redis.call('INFO').catch(() => '') : '';
  const found = keyLossIn(String(info));
  return found && `${found.problem} ${found.advice}`;
}

/** How the Redis of idempotency keys may lose them, and what to do about it; undefined if it may not. `info`: memory and persistence. */
export function keyLossIn(info: string): { problem: string; advice: string } | undefined {
  const { maxBytes, policy = 'noeviction' } = memoryIn(info);
  const losses = [
    ...(maxBytes > 0 && policy !== 'noeviction' ? [`may evict them (${policy})`] : []),
    // Also with snapshots, which lack the last keys.
    ...(writesToDisk(info) === false ? ['may lose them at a restart (appendonly no)'] : []),
  ];
  if (losses.length === 0) return undefined;
  return {
    problem: `The Redis of the idempotency keys ${losses.join(' and ')}: writes that are sent again may be made twice.`,
    advice: 'Set IDEMPOTENCY_REDIS_URL to one with maxmemory-policy noeviction and appendonly yes.',
  };
}
