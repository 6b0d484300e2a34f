/** The connection to the Redis that replicas share, and the names of its keys. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as IORedis from 'ioredis';
import { settlesWithin } from '../../lib/promises.ts';
import { type OnAvailabilityChange, createAvailabilityMonitor, errorCodeOf } from '../availability.ts';
import { type RedisCall, createChannel } from './channel.ts';
import { type Pause, createPause } from './pause.ts';

/** Of one server, a Sentinel's primary, or a cluster: all commands of this program go to one slot, so they are the same for each. */
export type RedisClient = IORedis.Redis | IORedis.Cluster;

export interface RedisConnection {
  redis: RedisClient;
  /** The full name of a key. All have one hash tag: in a cluster they are in one slot, so that a script may use several. */
  key: (name: string) => string;
  /** Calls of one kind, which are waited for so long. `what` names them in the log. */
  channel: (what: string, timeoutMs: number, pause?: Pause) => RedisCall;
  /** Refused commands, by the first word of the error. */
  refusals: ReadonlyMap<string, number>;
  close: () => Promise<void>;
}

const RECONNECT_MS = 500;
const QUIT_MS = 200;

/** `namespace`: keys of other namespaces are not visible. */
export function openRedis(
  url: string,
  namespace: string,
  onAvailabilityChange?: OnAvailabilityChange,
): RedisConnection {
  const tag = createHash('sha256').update(namespace).digest('base64url').slice(0, 8);
  const redis = createClient(url);
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
  return {
    redis,
    key: (name) => `catalog:{${tag}}:${name}`,
    channel: (what, timeoutMs, pause = createPause()) =>
      createChannel(redis, { what, timeoutMs, pause, availability, report, onRefusal }),
    refusals,
    async close(): Promise<void> {
      closing = true;
      const ended = redis.quit().catch(() => undefined);
      await settlesWithin(QUIT_MS, ended);
      redis.disconnect();
    },
  };
}

/** Calls are never queued or repeated by the client: their time may be over. */
function createClient(url: string): RedisClient {
  // Loaded here because most facades run without it.
  const { Redis: Client } = createRequire(import.meta.url)('ioredis') as typeof IORedis;
  return new Client(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(RECONNECT_MS, 50 * times),
    // A primary that became a replica refuses writes: the address leads to the new primary.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
}
