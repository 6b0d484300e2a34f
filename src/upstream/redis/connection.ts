/** The connection to the Redis that replicas share, and the names of its keys. */
import { createHash } from 'node:crypto';
import { readRedisAddress } from '../../config/redis-address.ts';
import { settlesWithin } from '../../lib/promises.ts';
import { type OnAvailabilityChange, createAvailabilityMonitor, errorCodeOf } from '../availability.ts';
import { type RedisCall, createChannel } from './channel.ts';
import { RECONNECT_MS, type RedisClient, createRedisClient } from './client.ts';
import { checkRedis } from './start-check.ts';
import { type Pause, createPause } from './pause.ts';

export interface RedisConnection {
  redis: RedisClient;
  /** The full name of a key. All have one hash tag: in a cluster they are in one slot, so that a script may use several. */
  key: (name: string) => string;
  /** Calls of one kind, which are waited for so long. `what` names them in the log. */
  channel: (what: string, timeoutMs: number, pause?: Pause) => RedisCall;
  /** Refused commands, by the first word of the error. */
  refusals: ReadonlyMap<string, number>;
  /** A sentence if it cannot be used as it is set. */
  check: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

const QUIT_MS = 200;

/** `namespace`: keys of other namespaces are not visible. */
export function openRedis(
  url: string,
  namespace: string,
  onAvailabilityChange?: OnAvailabilityChange,
  ca?: string,
): RedisConnection {
  const tag = createHash('sha256').update(namespace).digest('base64url').slice(0, 8);
  const address = readRedisAddress(url);
  if (!address) throw new Error('This is not an address of Redis.'); // the settings are checked before
  const redis = createRedisClient(address, ca);
  const report = (reason: string | undefined) => onAvailabilityChange?.('redis', reason);
  const availability = createAvailabilityMonitor(report);
  const refusals = new Map<string, number>();
  const onRefusal = (code: string) => void refusals.set(code, (refusals.get(code) ?? 0) + 1);
  let closing = false;
  // Without a listener an outage would end the process.
  redis.on('error', (error: unknown) => availability.onFailure(errorCodeOf(error), true));
  redis.on('close', () => {
    if (!closing) availability.onFailure('closed', true);
  });
  redis.on('ready', () => availability.onSuccess());
  // ioredis gives up for good if the news of a failover comes while it looks for the primary.
  redis.on('end', () => {
    const again = () => {
      if (!closing) redis.connect().catch(() => undefined);
    };
    setTimeout(again, RECONNECT_MS).unref();
  });
  return {
    redis,
    key: (name) => `catalog:{${tag}}:${name}`,
    channel: (what, timeoutMs, pause = createPause()) =>
      createChannel(redis, { what, timeoutMs, pause, availability, report, onRefusal }),
    refusals,
    check: () => checkRedis(redis, address, `catalog:{${tag}}:check`),
    async close(): Promise<void> {
      closing = true;
      const ended = redis.quit().catch(() => undefined);
      await settlesWithin(QUIT_MS, ended);
      redis.disconnect();
    },
  };
}
