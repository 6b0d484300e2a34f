/** The Redis in which idempotency keys are kept. If it loses a key, a write may be made twice. */
import { memoryIn, writesToDisk } from './info.ts';
import type { TransportSettings } from '../../http/pool.ts';
import { readTlsFiles } from '../../../config/upstream-tls.ts';
import type { OnAvailabilityChange } from '../../availability.ts';
import { type RedisConnection, openRedis } from './connection.ts';

/** Opens the Redis of IDEMPOTENCY_REDIS_URL; undefined if that is not set: keys are in the one that replicas share. */
export function openKeyRedis(
  settings: TransportSettings,
  namespace: string,
  onOutage: OnAvailabilityChange | undefined,
): RedisConnection | undefined {
  const { idempotencyRedisUrl: url } = settings;
  if (url === undefined) return undefined;
  const report = (reason: string | undefined) => onOutage?.('redis of idempotency keys', reason);
  const variable = 'IDEMPOTENCY_REDIS_URL';
  return openRedis({ url, variable, namespace, tls: readTlsFiles('redis', settings), report });
}

/** A sentence if there is a Redis that may forget keys; undefined also if it does not answer, or its user may not ask for INFO. */
export async function lossWarning(keys: RedisConnection | undefined): Promise<string | undefined> {
  const info = keys?.redis.status === 'ready' ? await keys.redis.call('INFO').catch(() => '') : '';
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
